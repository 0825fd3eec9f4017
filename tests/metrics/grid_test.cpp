#include "aurora/metrics/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/metrics/metric.hpp"
#include "tests/core/values.hpp"

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

TEST(GridMetric, IsOverTheTasksFirstTwoAxesWithItsWorstFitness) {
  TaskSpec task;
  task.ground_truth = {{"x", -1, 3}, {"y", 0, 10}, {"z", 5, 6}};
  task.worst_fitness = -10;
  const Grid grid = descriptor_grid(task, 5);
  EXPECT_EQ(grid.x_min, -1);
  EXPECT_EQ(grid.x_max, 3);
  EXPECT_EQ(grid.y_min, 0);
  EXPECT_EQ(grid.y_max, 10);
  EXPECT_EQ(grid.resolution, 5U);
  EXPECT_EQ(descriptor_grid(task).resolution, 40U);

  Individuals members({.ground_truth_size = 3, .sensory = {}}, 200);
  Stream draw(2, Purpose::user);
  for (std::size_t i = 0; i < members.size(); ++i) {
    members.ground_truth(i, 0) = static_cast<float>(4 * draw.uniform() - 1);
    members.ground_truth(i, 1) = static_cast<float>(10 * draw.uniform());
    members.fitness[i] = static_cast<float>(-10 * draw.uniform());
  }
  const MetricEntry entry = grid_metric();
  EXPECT_EQ(entry.name, "grid");
  EXPECT_TRUE(entry.standard);
  for (const std::size_t resolution : {40U, 5U, 1U}) {
    const auto metric = make_part(entry, {task}, {"resolution=" + std::to_string(resolution)});
    std::vector<double> out(3);
    metric->measure(members, out);
    const GridMetrics expected =
        grid_metrics(descriptor_grid(task, resolution), members.ground_truth, members.fitness, -10);
    EXPECT_EQ(out, (std::vector<double>{expected.coverage, expected.grid_mean_fitness,
                                        expected.qd_score}));
    EXPECT_GT(expected.coverage, 0);
    metric->measure(Individuals({.ground_truth_size = 3, .sensory = {}}), out);
    EXPECT_EQ(out, std::vector<double>(3));
  }
  std::vector<std::string> columns;
  for (const MetricColumn& column : make_part(entry, {task})->columns()) {
    columns.push_back(column.name + ":" + column.unit);
  }
  EXPECT_EQ(columns, (std::vector<std::string>{"coverage:%", "grid_mean_fitness:", "qd_score:"}));
  EXPECT_FALSE(read_option(entry, "resolution=0"));
}

}  // namespace
}  // namespace aurora
