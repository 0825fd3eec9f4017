#include "aurora/metrics/orientation.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/metrics/grid.hpp"
#include "aurora/metrics/metric.hpp"

namespace aurora {

double orientation_coverage(MatrixView<const float> ground_truth, std::size_t pitch,
                            std::size_t roll) {
  assert(pitch < ground_truth.cols() && roll < ground_truth.cols());
  // The float nearest to pi is a little more than pi, and an angle may be that.
  constexpr double kPi = std::numbers::pi_v<float>;
  constexpr Grid kGrid{.x_min = -kPi, .x_max = kPi, .y_min = -kPi, .y_max = kPi, .resolution = 16};
  constexpr std::size_t kCells = kGrid.resolution * kGrid.resolution;
  std::vector<char> filled(kCells);
  for (std::size_t i = 0; i < ground_truth.rows(); ++i) {
    const std::size_t cell = kGrid.cell(ground_truth(i, pitch), ground_truth(i, roll));
    if (cell != Grid::kOutside) filled[cell] = 1;
  }
  return 100.0 * static_cast<double>(std::ranges::count(filled, 1)) / (kCells / 2.0);
}

namespace {

bool has_axis(const TaskSpec& task, std::string_view name) {
  return std::ranges::find(task.ground_truth, name, &Axis::name) != task.ground_truth.end();
}

std::size_t axis_called(const TaskSpec& task, std::string_view name) {
  const auto axis = std::ranges::find(task.ground_truth, name, &Axis::name);
  return static_cast<std::size_t>(axis - task.ground_truth.begin());
}

class OrientationMetric final : public Metric {
 public:
  explicit OrientationMetric(const TaskSpec& task)
      : pitch_(axis_called(task, "pitch")), roll_(axis_called(task, "roll")) {}
  std::vector<MetricColumn> columns() const override { return {{"orientation_coverage", "%"}}; }
  void measure(const Individuals& members, std::span<double> out) const override {
    out[0] = orientation_coverage(members.ground_truth, pitch_, roll_);
  }

 private:
  std::size_t pitch_;
  std::size_t roll_;
};

}  // namespace

MetricEntry orientation_metric() {
  return part<NoOptions>("orientation_coverage", "in how many ways a robot comes to lie")
      .refuses([](const NoOptions&, const Mix& mix) -> std::string {
        if (has_axis(mix.task, "pitch") && has_axis(mix.task, "roll")) return {};
        return "the task '" + mix.task.name +
               "': it must have ground-truth axes 'pitch' and 'roll' for its orientation coverage";
      })
      .made_by([](const NoOptions&, const MetricContext& context) {
        return std::make_unique<OrientationMetric>(context.task);
      });
}

}  // namespace aurora
