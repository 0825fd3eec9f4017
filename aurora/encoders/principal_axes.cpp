#include "aurora/encoders/principal_axes.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;

constexpr Index kTile = 64;   // side of the tiles of a product that one task computes
constexpr Index kSlab = 256;  // terms summed in single precision before going to double
// Axes whose variance is below this share of the largest are rounding noise.
constexpr double kRankTolerance = 1e-7;

/// x x^T in double precision, for a row-major x (rows of the result are rows of x).
/// Tiles and slabs are of fixed size: the same bits for any number of threads.
Eigen::MatrixXd outer_product(const Eigen::Ref<const RowMajor>& x, Workers& workers) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(x.rows(), x.rows());
  const Index tiles = (x.rows() + kTile - 1) / kTile;
  const auto compute_tile = [&](Index row, Index col) {
    const Index rows = std::min(kTile, x.rows() - row), cols = std::min(kTile, x.rows() - col);
    Eigen::MatrixXf part(rows, cols);
    for (Index k = 0; k < x.cols(); k += kSlab) {
      const Index terms = std::min(kSlab, x.cols() - k);
      part.noalias() = x.block(row, k, rows, terms) * x.block(col, k, cols, terms).transpose();
      product.block(row, col, rows, cols) += part.cast<double>();
    }
  };
  // The eigensolver reads the lower triangle only.
  workers.parallel_for(
      static_cast<std::size_t>(tiles * tiles), 1, [&](std::size_t task, std::size_t) {
        const Index i = static_cast<Index>(task) / tiles, j = static_cast<Index>(task) % tiles;
        if (j <= i) compute_tile(i * kTile, j * kTile);
      });
  return product;
}

/// Orients the axis: its largest entry is positive.
void fix_sign(std::span<float> axis) {
  const auto largest =
      std::ranges::max_element(axis, {}, [](float value) { return std::abs(value); });
  if (*largest >= 0.0F) return;
  for (float& value : axis) value = -value;
}

void store_normalised(const Eigen::VectorXd& vector, std::span<float> axis) {
  const double norm = vector.norm();
  for (std::size_t j = 0; j < axis.size(); ++j) {
    axis[j] = static_cast<float>(vector[static_cast<Index>(j)] / norm);
  }
  fix_sign(axis);
}

/// x^T weights: the axis that belongs to an eigenvector of x x^T.
Eigen::VectorXd combine(const Eigen::Ref<const RowMajor>& x, const Eigen::VectorXd& weights) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) sum += weights[i] * x.row(i).transpose().cast<double>();
  return sum;
}

}  // namespace

PrincipalAxes principal_axes(MatrixView<const float> data, std::size_t count, Workers& workers) {
  const Eigen::Map<const RowMajor> x(data.data(), static_cast<Index>(data.rows()),
                                     static_cast<Index>(data.cols()));
  const bool over_columns = x.cols() <= x.rows();
  const Eigen::MatrixXd product =
      over_columns ? outer_product(RowMajor(x.transpose()), workers) : outer_product(x, workers);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(product);
  if (solver.info() != Eigen::Success) {
    throw DataError("pca: the eigendecomposition failed; is the sensory data finite?");
  }

  // Eigenvalues come in ascending order.
  PrincipalAxes result{Matrix<float>(count, data.cols())};
  const Index side = product.rows();
  const double largest = std::max(solver.eigenvalues()[side - 1], 0.0);
  double explained = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Index e = side - 1 - static_cast<Index>(k);
    const double variance = e >= 0 ? solver.eigenvalues()[e] : 0.0;
    if (variance <= kRankTolerance * largest) continue;
    explained += variance;
    const Eigen::VectorXd vector = solver.eigenvectors().col(e);
    store_normalised(over_columns ? vector : combine(x, vector), result.axes.row(k));
  }
  const double values = static_cast<double>(x.rows()) * static_cast<double>(x.cols());
  result.unexplained = std::max(product.trace() - explained, 0.0) / values;
  return result;
}

/// One after the other is made orthogonal to those before it (twice: once loses digits).
Matrix<float> random_axes(std::size_t count, std::size_t columns, Stream& stream) {
  Eigen::MatrixXd axes(static_cast<Index>(columns), static_cast<Index>(count));
  Matrix<float> out(count, columns);
  for (Index k = 0; k < axes.cols(); ++k) {
    auto axis = axes.col(k);
    for (Index j = 0; j < axes.rows(); ++j) axis[j] = stream.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (Index other = 0; other < k; ++other) {
        axis -= axes.col(other).dot(axis) * axes.col(other);
      }
      axis.normalize();
    }
    store_normalised(axis, out.row(static_cast<std::size_t>(k)));
  }
  return out;
}

}  // namespace aurora
