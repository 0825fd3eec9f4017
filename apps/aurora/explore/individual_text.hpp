// One individual in words: in JSON for the page, and as files to take away.
#pragma once

#include <cstddef>
#include <string>

#include "apps/aurora/explore/open_container.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {

/// Its numbers, and those nearest to it in the descriptor space.
Json individual_json(const OpenContainer& container, std::size_t row);

/// A file of JSON with all that is stored of it but its sensory data, in the words of `aurora
/// nearest`.
std::string individual_file(const OpenContainer& container, std::size_t row);

/// The same as arrays, in NumPy's NPZ.
std::string individual_npz(const OpenContainer& container, std::size_t row);

}  // namespace aurora::explore
