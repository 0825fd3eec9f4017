// How many ways of lying there a walking robot was found in (docs/algorithms.md).
#pragma once

#include <cstddef>

#include "aurora/core/matrix.hpp"

namespace aurora {

/// % of the cells with at least one individual, on a 16 x 16 grid over pitch and roll in
/// [-pi, pi]^2, which are two columns of the ground truth. Half of the square cannot be reached by
/// construction: 128 cells are 100 %.
double orientation_coverage(MatrixView<const float> ground_truth, std::size_t pitch,
                            std::size_t roll);

}  // namespace aurora
