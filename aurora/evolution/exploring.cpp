// First where nobody is, then everywhere: parents are drawn by their novelty at the beginning of a
// run, more and more of them with equal chances, and in the end all.
//
// Novelty finds the ends of a space early and then goes on looking there, while fitness needs
// children of everybody.
#include <algorithm>
#include <memory>
#include <numeric>

#include "aurora/evolution/selector.hpp"

namespace aurora {
namespace {

struct ExploringConfig {
  double iterations = 1000;  // until all members are alike
};

class Exploring final : public Selector {
 public:
  explicit Exploring(const ExploringConfig& config) : config_(config) {}

  std::vector<float> weights(SelectionView& view, std::uint32_t iteration) const override {
    const double share = 1 - static_cast<double>(iteration) / config_.iterations;
    if (share <= 0) return {};  // all alike; nothing has to be computed
    std::vector<float> weights = view.novelty();
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!(sum > 0)) return {};
    const double alike = (1 - share) / static_cast<double>(weights.size());
    for (float& weight : weights) {
      weight = static_cast<float>(alike + share * static_cast<double>(weight) / sum);
    }
    return weights;
  }
  bool ranks() const override { return false; }

 private:
  ExploringConfig config_;
};

}  // namespace

SelectorEntry exploring_selector() {
  using Config = ExploringConfig;
  return part<Config>("exploring", "novelty at first, then more and more all members alike")
      .option("iterations", &Config::iterations, Range{1, 1e9},
              "exploring: iterations until all members are alike; a fifth of the run unless said")
      .depends(
          "iterations",
          [](const Mix& mix) { return std::max(1.0, static_cast<double>(mix.iterations) / 5); })
      .made_by([](const Config& config, const SelectorContext&) {
        return std::make_unique<Exploring>(config);
      });
}

}  // namespace aurora
