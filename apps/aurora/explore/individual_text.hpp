// One individual in words, for the page.
#pragma once

#include <cstddef>
#include <string>

#include "apps/aurora/explore/open_container.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {

/// Its numbers, and those nearest to it in the descriptor space.
Json individual_json(const OpenContainer& container, std::size_t row);

}  // namespace aurora::explore
