#include "aurora/metrics/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "aurora/core/random.hpp"

namespace aurora {
namespace {

TEST(Grid, BoundsBelongToTheGridAndBeyondIsOutside) {
  const Grid grid{.x_min = 0, .x_max = 600, .y_min = 0, .y_max = 600};
  EXPECT_EQ(grid.cell(0, 0), 0u);
  EXPECT_EQ(grid.cell(14.999, 0), 0u);
  EXPECT_EQ(grid.cell(15, 0), 1u);
  EXPECT_EQ(grid.cell(0, 15), 40u);
  EXPECT_EQ(grid.cell(600, 600), 1599u);
  EXPECT_EQ(grid.cell(600.001, 0), Grid::kOutside);
  EXPECT_EQ(grid.cell(0, -0.001), Grid::kOutside);
  EXPECT_EQ(grid.cell(std::nan(""), 1), Grid::kOutside);
}

TEST(GridMetrics, OfNothingIsZero) {
  const GridMetrics metrics = grid_metrics({}, {}, {}, -10);
  EXPECT_EQ(metrics.coverage, 0);
  EXPECT_EQ(metrics.grid_mean_fitness, 0);
  EXPECT_EQ(metrics.qd_score, 0);
}

TEST(GridMetrics, KeepTheBestOfEachCell) {
  Matrix<float> where(4, 3);
  const float x[] = {0.1F, 0.11F, 0.9F, 5.0F};  // two in one cell, one outside
  for (std::size_t i = 0; i < 4; ++i) where(i, 0) = where(i, 1) = x[i];
  const std::vector<float> fitness = {-3, -1, -5, 100};
  const Grid grid{.resolution = 10};
  const GridMetrics metrics = grid_metrics(grid, where, fitness, -10);
  EXPECT_DOUBLE_EQ(metrics.coverage, 2.0);
  EXPECT_DOUBLE_EQ(metrics.grid_mean_fitness, -3.0);
  EXPECT_DOUBLE_EQ(metrics.qd_score, 14.0);
}

TEST(GridMetrics, AgreeWithAMapOfCells) {
  Stream stream(1, Purpose::user);
  const Grid grid{.x_min = -1.2, .x_max = 1.2, .y_min = -1, .y_max = 1};
  Matrix<float> where(5000, 2);
  std::vector<float> fitness(5000);
  std::map<std::pair<int, int>, double> cells;
  for (std::size_t i = 0; i < fitness.size(); ++i) {
    where(i, 0) = static_cast<float>(stream.normal());
    where(i, 1) = static_cast<float>(stream.normal());
    fitness[i] = static_cast<float>(-10 * stream.uniform());
    const double x = where(i, 0), y = where(i, 1);
    if (std::abs(x) > 1.2 || std::abs(y) > 1) continue;
    const std::pair cell{static_cast<int>(std::floor((x + 1.2) / 0.06)),
                         static_cast<int>(std::floor((y + 1) / 0.05))};
    const auto [it, fresh] = cells.try_emplace(cell, fitness[i]);
    if (!fresh) it->second = std::max(it->second, static_cast<double>(fitness[i]));
  }
  double sum = 0;
  for (const auto& [cell, best] : cells) sum += best;
  const double n = static_cast<double>(cells.size());
  const GridMetrics metrics = grid_metrics(grid, where, fitness, -10);
  EXPECT_NEAR(metrics.coverage, n / 16, 0.07);  // a point on a rounded edge may change its cell
  EXPECT_NEAR(metrics.grid_mean_fitness, sum / n, 0.02);
  EXPECT_NEAR(metrics.qd_score, sum + 10 * n, 10);
}

}  // namespace
}  // namespace aurora
