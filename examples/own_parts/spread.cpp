// A metric: how far the members end from each other, as the standard deviation of their places.
#include <cmath>
#include <memory>
#include <vector>

#include "examples/own_parts/parts.hpp"

using namespace aurora;

namespace {

class Spread final : public Metric {
 public:
  explicit Spread(const TaskSpec& task) : unit_(task.ground_truth[0].unit) {}

  std::vector<MetricColumn> columns() const override { return {{"spread", unit_}}; }

  void measure(const Individuals& members, std::span<double> out) const override {
    const auto n = static_cast<double>(members.size());
    double variance = 0;
    for (std::size_t axis = 0; axis < kHandCodedSize; ++axis) {
      double sum = 0, squares = 0;
      for (std::size_t row = 0; row < members.size(); ++row) {
        const double x = members.ground_truth(row, axis);
        sum += x;
        squares += x * x;
      }
      if (n > 0) variance += squares / n - (sum / n) * (sum / n);
    }
    out[0] = std::sqrt(std::max(variance, 0.0));
  }

 private:
  std::string unit_;
};

}  // namespace

MetricEntry spread() {
  return part<NoOptions>("spread", "how far the members end from each other")
      .made_by([](const NoOptions&, const MetricContext& context) {
        return std::make_unique<Spread>(context.task);
      });
}
