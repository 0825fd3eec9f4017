// How much of one thing a linear function of another explains.
#pragma once

#include "aurora/core/matrix.hpp"

namespace aurora {

/// Adjusted R^2 of the least-squares fit of the first `targets` columns of `values` by the n
/// columns of `inputs` and a constant: with R^2 averaged over those columns and m rows, 1 - (1 -
/// R^2) (m - 1) / (m - n - 1), at least 0. It is 1 if they follow exactly, and about 0 if the
/// inputs say nothing, however many they are. Columns that do not vary are left out; 0 if none
/// does. NaN for n + 1 rows or fewer. All in double precision and in the order of the rows.
/// O(rows columns^2).
double explained_variance(MatrixView<const float> inputs, MatrixView<const float> values,
                          std::size_t targets);

}  // namespace aurora
