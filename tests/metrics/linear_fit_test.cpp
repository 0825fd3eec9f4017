#include "aurora/metrics/linear_fit.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace aurora {
namespace {

/// Word for word: residuals of a least-squares fit by a decomposition that finds the rank.
double oracle(const Matrix<float>& inputs, const Matrix<float>& values, std::size_t targets) {
  const auto rows = static_cast<Eigen::Index>(inputs.rows());
  Eigen::MatrixXd x(rows, static_cast<Eigen::Index>(inputs.cols()) + 1);
  Eigen::MatrixXd y(rows, static_cast<Eigen::Index>(targets));
  for (Eigen::Index row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    x(row, 0) = 1;
    for (std::size_t c = 0; c < inputs.cols(); ++c) {
      x(row, static_cast<Eigen::Index>(c) + 1) = inputs(r, c);
    }
    for (std::size_t c = 0; c < targets; ++c) y(row, static_cast<Eigen::Index>(c)) = values(r, c);
  }
  const Eigen::MatrixXd fit = x * x.completeOrthogonalDecomposition().solve(y);
  double sum = 0;
  int varying = 0;
  for (Eigen::Index c = 0; c < y.cols(); ++c) {
    const double total = (y.col(c).array() - y.col(c).mean()).matrix().squaredNorm();
    if (total < 1e-12) continue;
    sum += 1 - (y.col(c) - fit.col(c)).squaredNorm() / total;
    ++varying;
  }
  return varying > 0 ? sum / varying : 0;
}

TEST(ExplainedVariance, IsThatOfALeastSquaresFit) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 300; ++round) {
    const std::size_t inputs = 1 + random() % 10;
    const std::size_t columns = 1 + random() % 4;
    const std::size_t targets = 1 + random() % columns;
    const std::size_t rows = inputs + 2 + random() % 200;
    Matrix<float> x(rows, inputs);
    Matrix<float> y(rows, columns);
    const float noise = 0.1F * static_cast<float>(random() % 30);
    for (std::size_t row = 0; row < rows; ++row) {
      for (float& value : x.row(row)) value = 1000 * normal(random);
      if (round % 3 == 1) x(row, inputs - 1) = 4;               // dead
      if (round % 3 == 2) x(row, inputs - 1) = -2 * x(row, 0);  // exact: says nothing new
      for (float& value : y.row(row)) value = x(row, 0) / 1000 + noise * normal(random) + 50;
      if (round % 5 == 0) y(row, 0) = 12;  // does not vary
    }
    EXPECT_NEAR(explained_variance(x, y, targets), oracle(x, y, targets), 1e-5) << round;
  }
}

TEST(ExplainedVariance, GoesFromNothingToAll) {
  Matrix<float> x(4, 1);
  Matrix<float> y(4, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    x(i, 0) = static_cast<float>(i % 2);
    y(i, 0) = 600 - 300 * x(i, 0);
    y(i, 1) = static_cast<float>(i / 2);
  }
  EXPECT_NEAR(explained_variance(x, y, 1), 1, 1e-8);
  EXPECT_NEAR(explained_variance(x, y, 2), 0.5, 1e-8);
  for (std::size_t i = 0; i < 4; ++i) x(i, 0) = 1;
  EXPECT_EQ(explained_variance(x, y, 2), 0);
  EXPECT_EQ(explained_variance(Matrix<float>(0, 3), Matrix<float>(0, 2), 2), 0);
  EXPECT_EQ(explained_variance(Matrix<float>(1, 3), Matrix<float>(1, 2), 2), 0);
}

}  // namespace
}  // namespace aurora
