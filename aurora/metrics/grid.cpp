#include "aurora/metrics/grid.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>
#include <vector>

#include "aurora/metrics/metric.hpp"

namespace aurora {

std::size_t Grid::cell(double x, double y) const {
  // Written so that NaN is outside.
  if (!(x >= x_min && x <= x_max && y >= y_min && y <= y_max)) return kOutside;
  const auto along = [this](double value, double min, double max) {
    const double share = (value - min) / (max - min) * static_cast<double>(resolution);
    return std::min(static_cast<std::size_t>(share), resolution - 1);
  };
  return along(y, y_min, y_max) * resolution + along(x, x_min, x_max);
}

GridMetrics grid_metrics(const Grid& grid, MatrixView<const float> ground_truth,
                         std::span<const float> fitness, double worst_fitness) {
  assert(ground_truth.rows() == fitness.size());
  constexpr double kEmpty = -std::numeric_limits<double>::infinity();
  std::vector<double> best(grid.resolution * grid.resolution, kEmpty);
  for (std::size_t i = 0; i < fitness.size(); ++i) {
    const std::size_t cell = grid.cell(ground_truth(i, 0), ground_truth(i, 1));
    if (cell != Grid::kOutside) best[cell] = std::max(best[cell], static_cast<double>(fitness[i]));
  }
  double sum = 0;
  std::size_t filled = 0;
  for (const double value : best) {
    if (value == kEmpty) continue;
    sum += value;
    ++filled;
  }
  if (filled == 0) return {};
  const double n = static_cast<double>(filled);
  return {.coverage = 100.0 * n / static_cast<double>(best.size()),
          .grid_mean_fitness = sum / n,
          .qd_score = sum - n * worst_fitness};
}

namespace {

struct GridConfig {
  std::size_t resolution = 40;
};

class GridMetric final : public Metric {
 public:
  GridMetric(const GridConfig& config, const TaskSpec& task)
      : grid_(descriptor_grid(task, config.resolution)), worst_fitness_(task.worst_fitness) {}

  std::vector<MetricColumn> columns() const override {
    return {{"coverage", "%"}, {"grid_mean_fitness"}, {"qd_score"}};
  }
  void measure(const Individuals& members, std::span<double> out) const override {
    const GridMetrics metrics =
        grid_metrics(grid_, members.ground_truth, members.fitness, worst_fitness_);
    out[0] = metrics.coverage;
    out[1] = metrics.grid_mean_fitness;
    out[2] = metrics.qd_score;
  }

 private:
  Grid grid_;
  double worst_fitness_;
};

}  // namespace

Grid descriptor_grid(const TaskSpec& task, std::size_t resolution) {
  const Axis& x = task.ground_truth[0];
  const Axis& y = task.ground_truth[1];
  return {.x_min = x.min, .x_max = x.max, .y_min = y.min, .y_max = y.max, .resolution = resolution};
}

MetricEntry grid_metric() {
  return part<GridConfig>("grid", "coverage, grid mean fitness and QD score")
      .option("resolution", &GridConfig::resolution, 1, 10'000, "cells along each of the two axes")
      .standard()
      .made_by([](const GridConfig& config, const MetricContext& context) {
        return std::make_unique<GridMetric>(config, context.task);
      });
}

}  // namespace aurora
