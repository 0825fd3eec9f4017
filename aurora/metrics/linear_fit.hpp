// How much of one thing a linear function of another explains.
#pragma once

#include "aurora/core/matrix.hpp"

namespace aurora {

/// R^2 of the least-squares fit of the first `targets` columns of `values` by the columns of
/// `inputs` and a constant, averaged over those columns: 1 if they follow exactly, 0 if the inputs
/// say nothing. Columns that do not vary are left out; 0 if none does. All in double precision and
/// in the order of the rows. O(rows columns^2).
double explained_variance(MatrixView<const float> inputs, MatrixView<const float> values,
                          std::size_t targets);

}  // namespace aurora
