// Coverage of a hand-coded descriptor of more than two dimensions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aurora/metrics/metric.hpp"

namespace aurora {
namespace {

constexpr double kMostCells = 1e15;  // numbers of cells are exact up to there

struct DescriptorConfig {
  std::size_t resolution = 5;
};

double cells_of(const DescriptorConfig& config, const TaskSpec& task) {
  return std::pow(static_cast<double>(config.resolution),
                  static_cast<double>(task.hand_coded_size));
}

class DescriptorMetric final : public Metric {
 public:
  DescriptorMetric(const DescriptorConfig& config, const TaskSpec& task)
      : resolution_(config.resolution),
        axes_(task.ground_truth.begin(),
              task.ground_truth.begin() + static_cast<std::ptrdiff_t>(task.hand_coded_size)),
        cells_(cells_of(config, task)) {}

  std::vector<MetricColumn> columns() const override { return {{"descriptor_coverage", "%"}}; }

  void measure(const Individuals& members, std::span<double> out) const override {
    std::vector<std::uint64_t> filled;
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::uint64_t cell = 0;
      if (find_cell(members.ground_truth.row(i), cell)) filled.push_back(cell);
    }
    std::ranges::sort(filled);
    filled.erase(std::unique(filled.begin(), filled.end()), filled.end());
    out[0] = 100.0 * static_cast<double>(filled.size()) / cells_;
  }

 private:
  /// False outside the bounds, which themselves belong to the grid, and for NaN.
  bool find_cell(std::span<const float> truth, std::uint64_t& cell) const {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const double value = truth[a];
      const Axis& axis = axes_[a];
      if (!(value >= axis.min && value <= axis.max)) return false;
      const double share =
          (value - axis.min) / (axis.max - axis.min) * static_cast<double>(resolution_);
      cell = cell * resolution_ + std::min(static_cast<std::uint64_t>(share), resolution_ - 1);
    }
    return true;
  }

  std::uint64_t resolution_;
  std::vector<Axis> axes_;
  double cells_;
};

}  // namespace

MetricEntry descriptor_metric() {
  return part<DescriptorConfig>("descriptor_coverage", "of the whole hand-coded descriptor")
      .option("resolution", &DescriptorConfig::resolution, 1, 10'000, "cells along each axis")
      .refuses([](const DescriptorConfig& config, const Mix& mix) -> std::string {
        if (cells_of(config, mix.task) <= kMostCells) return {};
        return "the task '" + mix.task.name + "': " + std::to_string(config.resolution) +
               " cells along each of " + std::to_string(mix.task.hand_coded_size) +
               " axes are too many (metrics.descriptor_coverage.resolution)";
      })
      .made_by([](const DescriptorConfig& config, const MetricContext& context) {
        return std::make_unique<DescriptorMetric>(config, context.task);
      });
}

}  // namespace aurora
