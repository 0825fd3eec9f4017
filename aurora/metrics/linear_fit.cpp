#include "aurora/metrics/linear_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace aurora {
namespace {

using Eigen::Index;

constexpr double kRidge = 1e-9;

Eigen::VectorXd means(MatrixView<const float> data, std::size_t columns) {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Index>(columns));
  for (std::size_t row = 0; row < data.rows(); ++row) {
    for (std::size_t c = 0; c < columns; ++c) sums(static_cast<Index>(c)) += data(row, c);
  }
  return sums / static_cast<double>(std::max<std::size_t>(data.rows(), 1));
}

}  // namespace

double explained_variance(MatrixView<const float> inputs, MatrixView<const float> values,
                          std::size_t targets) {
  assert(inputs.rows() == values.rows() && targets <= values.cols());
  if (inputs.rows() <= inputs.cols() + 1) return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<Index>(inputs.cols());
  const auto m = static_cast<Index>(targets);
  const Eigen::VectorXd input_mean = means(inputs, inputs.cols());
  const Eigen::VectorXd value_mean = means(values, targets);
  Eigen::MatrixXd within = Eigen::MatrixXd::Zero(n, n);
  Eigen::MatrixXd across = Eigen::MatrixXd::Zero(n, m);
  Eigen::VectorXd total = Eigen::VectorXd::Zero(m);
  Eigen::VectorXd x(n);
  Eigen::VectorXd y(m);
  for (std::size_t row = 0; row < inputs.rows(); ++row) {
    for (Index i = 0; i < n; ++i) x(i) = inputs(row, static_cast<std::size_t>(i)) - input_mean(i);
    for (Index i = 0; i < m; ++i) y(i) = values(row, static_cast<std::size_t>(i)) - value_mean(i);
    within.selfadjointView<Eigen::Lower>().rankUpdate(x);
    across += x * y.transpose();
    total += y.cwiseAbs2();
  }
  // Inputs of one size each, so that one small number on the diagonal keeps those that are dead or
  // follow from others from mattering.
  const Eigen::VectorXd scale = within.diagonal().unaryExpr(
      [](double square) { return square > 0 ? 1 / std::sqrt(square) : 0.0; });
  Eigen::MatrixXd correlation = scale.asDiagonal() *
                                Eigen::MatrixXd(within.selfadjointView<Eigen::Lower>()) *
                                scale.asDiagonal();
  correlation.diagonal().array() += kRidge;
  const Eigen::MatrixXd scaled_across = scale.asDiagonal() * across;
  const Eigen::MatrixXd weights = correlation.llt().solve(scaled_across);
  double sum = 0;
  int varying = 0;
  for (Index i = 0; i < m; ++i) {
    if (!(total(i) > 0)) continue;
    sum += std::clamp(weights.col(i).dot(scaled_across.col(i)) / total(i), 0.0, 1.0);
    ++varying;
  }
  if (varying == 0) return 0;
  // The fit is judged by the rows that it was made from, which any input explains a little.
  const auto rows = static_cast<double>(inputs.rows());
  const double left = (1 - sum / varying) * (rows - 1) / (rows - static_cast<double>(n) - 1);
  return std::max(1 - left, 0.0);
}

}  // namespace aurora
