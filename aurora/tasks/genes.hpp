// The check that every task makes of the genes that it is given.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace aurora {

/// Throws DataError unless there are `count` genes, all within [0, 1]. `owner` is who has them, for
/// the message: "maze controller".
void check_genes(std::span<const float> genes, std::size_t count, std::string_view owner);

}  // namespace aurora
