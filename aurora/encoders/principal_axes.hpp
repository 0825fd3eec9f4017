// What encoders share that are found instead of trained: the directions along which data varies
// most.
#pragma once

#include <cstddef>

#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

/// Leading eigenvectors of x^T x, for rows x that are centred, taken from the smaller of x^T x and
/// x x^T. Axes beyond the rank of the data are zero. The largest entry of each axis (by absolute
/// value, the first of equals) is positive. The same bits for any number of threads.
struct PrincipalAxes {
  Matrix<float> axes;      // count x columns of the data
  double unexplained = 0;  // mean squared distance of the data's values to their projection
};

/// DataError if there is no decomposition, as with data that is not finite.
PrincipalAxes principal_axes(MatrixView<const float> data, std::size_t count, Workers& workers);

/// Orthonormal, in random directions.
Matrix<float> random_axes(std::size_t count, std::size_t columns, Stream& stream);

}  // namespace aurora
