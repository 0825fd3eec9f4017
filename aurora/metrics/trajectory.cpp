#include "aurora/metrics/trajectory.hpp"

#include <algorithm>
#include <bitset>
#include <cassert>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "aurora/metrics/grid.hpp"
#include "aurora/metrics/metric.hpp"

namespace aurora {

double trajectory_diversity(SensoryView trajectories) {
  constexpr Grid kGrid{.x_min = -1, .x_max = 1, .y_min = -1, .y_max = 1, .resolution = 10};
  constexpr std::size_t kCells = kGrid.resolution * kGrid.resolution;
  std::vector<std::bitset<kCells>> visited(kCells);  // by the trajectories that end in each cell
  for (std::size_t i = 0; i < trajectories.rows(); ++i) {
    const auto points = trajectories.row<float>(i);
    assert(points.size() >= 2 && points.size() % 2 == 0);
    const std::size_t end = kGrid.cell(points[points.size() - 2], points[points.size() - 1]);
    if (end == Grid::kOutside) continue;
    for (std::size_t p = 0; p < points.size(); p += 2) {
      const std::size_t cell = kGrid.cell(points[p], points[p + 1]);
      if (cell != Grid::kOutside) visited[end].set(cell);
    }
  }
  const std::size_t total =
      std::accumulate(visited.begin(), visited.end(), std::size_t{0},
                      [](std::size_t sum, const auto& cells) { return sum + cells.count(); });
  return 100.0 * static_cast<double>(total) / (kCells * kCells);
}

namespace {

class TrajectoryMetric final : public Metric {
 public:
  std::vector<MetricColumn> columns() const override { return {{"trajectory_diversity", "%"}}; }
  void measure(const Individuals& members, std::span<double> out) const override {
    out[0] = trajectory_diversity(members.sensory.view());
  }
};

}  // namespace

MetricEntry trajectory_metric() {
  return part<NoOptions>("trajectory_diversity", "how many ways lead to the same place")
      .refuses([](const NoOptions&, const Mix& mix) -> std::string {
        const SensoryShape& sensory = mix.task.sensory;
        if (sensory.element == ElementType::float32 && sensory.size() % 2 == 0) return {};
        return "the task '" + mix.task.name +
               "': it must sense (x, y) in floats for its trajectory diversity, not " +
               describe(sensory);
      })
      .made_by([](const NoOptions&, const MetricContext&) {
        return std::make_unique<TrajectoryMetric>();
      });
}

}  // namespace aurora
