// Metrics on a grid over the hand-coded descriptor space (paper, section V-C).
#pragma once

#include <cstddef>
#include <span>

#include "aurora/core/matrix.hpp"
#include "aurora/core/task_spec.hpp"

namespace aurora {

/// A resolution x resolution grid over a rectangle; x and y are the first two ground-truth values.
struct Grid {
  double x_min = 0, x_max = 1;
  double y_min = 0, y_max = 1;
  std::size_t resolution = 40;

  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  /// The cell that holds (x, y); kOutside beyond the bounds (which themselves belong to the grid).
  std::size_t cell(double x, double y) const;
};

struct GridMetrics {
  double coverage = 0;  // % of cells with at least one individual
  double grid_mean_fitness =
      0;                // mean over the filled cells of the best fitness in each; 0 if none
  double qd_score = 0;  // sum over the filled cells of (best fitness - worst_fitness)
};

/// The grid over the hand-coded descriptor of a task.
Grid descriptor_grid(const TaskSpec& task, std::size_t resolution = 40);

/// Points outside the bounds are dropped.
GridMetrics grid_metrics(const Grid& grid, MatrixView<const float> ground_truth,
                         std::span<const float> fitness, double worst_fitness);

}  // namespace aurora
