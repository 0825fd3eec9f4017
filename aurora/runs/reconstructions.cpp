#include "aurora/runs/reconstructions.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace aurora {
namespace {

constexpr std::size_t kShown = 12;

}  // namespace

std::vector<std::size_t> spread_rows(const Individuals& individuals, const std::vector<Axis>& axes,
                                     std::size_t count) {
  const auto offset = [&](std::size_t axis, std::size_t a, std::size_t b) {
    const double length = axes[axis].max - axes[axis].min;
    return (individuals.ground_truth(a, axis) - individuals.ground_truth(b, axis)) / length;
  };
  std::vector<std::size_t> order(individuals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t row) { return individuals.ids[row]; });
  std::vector<double> nearest(order.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, order.size())) {
    // The first of equals, so the lowest id.
    const auto farthest = std::ranges::max_element(nearest) - nearest.begin();
    const std::size_t row = order[static_cast<std::size_t>(farthest)];
    chosen.push_back(row);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double x = offset(0, order[i], row);
      const double y = offset(1, order[i], row);
      nearest[i] = order[i] == row ? -1 : std::min(nearest[i], x * x + y * y);
    }
  }
  return chosen;
}

Reconstructions reconstruct_some(const Encoder& encoder, const Individuals& individuals,
                                 const TaskSpec& task) {
  const std::vector<std::size_t> rows = spread_rows(individuals, task.ground_truth, kShown);
  SensoryData data(individuals.sensory.shape(), rows.size());
  Reconstructions some{{}, Matrix<float>(rows.size(), task.sensory.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    some.ids.push_back(individuals.ids[rows[i]]);
    data.copy_row(individuals.sensory, rows[i], i);
  }
  Workers workers;
  encoder.reconstruct(data.view(), some.values, workers);
  return some;
}

}  // namespace aurora
