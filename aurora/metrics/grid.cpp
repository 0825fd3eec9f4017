#include "aurora/metrics/grid.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <vector>

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

}  // namespace aurora
