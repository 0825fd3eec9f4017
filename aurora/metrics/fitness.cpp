// The best and the mean fitness of the members; 0 while there are none.
#include <algorithm>
#include <memory>
#include <numeric>

#include "aurora/metrics/metric.hpp"

namespace aurora {
namespace {

class FitnessMetric final : public Metric {
 public:
  std::vector<MetricColumn> columns() const override {
    return {{"best_fitness"}, {"mean_fitness"}};
  }
  void measure(const Individuals& members, std::span<double> out) const override {
    const std::vector<float>& fitness = members.fitness;
    out[0] = fitness.empty() ? 0.0 : *std::ranges::max_element(fitness);
    out[1] = fitness.empty() ? 0.0
                             : std::accumulate(fitness.begin(), fitness.end(), 0.0) /
                                   static_cast<double>(fitness.size());
  }
};

}  // namespace

MetricEntry fitness_metric() {
  return part<NoOptions>("fitness", "the best and the mean fitness of the members")
      .standard()
      .made_by(
          [](const NoOptions&, const MetricContext&) { return std::make_unique<FitnessMetric>(); });
}

}  // namespace aurora
