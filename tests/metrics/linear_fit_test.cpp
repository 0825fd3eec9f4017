#include "aurora/metrics/linear_fit.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

namespace aurora {
namespace {

/// Word for word: residuals of a least-squares fit by a decomposition that finds the rank, adjusted
/// for the number of inputs.
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
  if (varying == 0) return 0;
  const double m = static_cast<double>(inputs.rows()), n = static_cast<double>(inputs.cols());
  return std::max(0.0, 1 - (1 - sum / varying) * (m - 1) / (m - n - 1));
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
    EXPECT_NEAR(explained_variance(x, y, targets), oracle(x, y, targets), 1e-4) << round;
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
  EXPECT_NEAR(explained_variance(x, y, 2), 1 - 0.5 * 3 / 2, 1e-8);
  for (std::size_t i = 0; i < 4; ++i) x(i, 0) = 1;
  EXPECT_EQ(explained_variance(x, y, 2), 0);
}

// A fit always explains something of the rows that it is made from.
TEST(ExplainedVariance, OfNoiseIsAboutNothing) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  double sum = 0;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    Matrix<float> x(40, 20), y(40, 2);
    for (std::size_t row = 0; row < 40; ++row) {
      for (float& value : x.row(row)) value = normal(random);
      for (float& value : y.row(row)) value = normal(random);
    }
    sum += explained_variance(x, y, 2);
  }
  EXPECT_LT(sum / kRounds, 0.15);  // about one half without the adjustment
}

TEST(ExplainedVariance, NeedsMoreRowsThanAFitHasNumbers) {
  for (std::size_t rows = 0; rows <= 4; ++rows) {
    EXPECT_TRUE(std::isnan(explained_variance(Matrix<float>(rows, 3), Matrix<float>(rows, 2), 2)));
  }
  EXPECT_EQ(explained_variance(Matrix<float>(5, 3), Matrix<float>(5, 2), 2), 0);
}

}  // namespace
}  // namespace aurora
