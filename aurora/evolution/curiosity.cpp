// Curiosity (Cully & Demiris 2018): whoever has children that are kept is asked for more of them.
#include <algorithm>
#include <memory>

#include "aurora/evolution/selector.hpp"

namespace aurora {
namespace {

struct CuriosityConfig {
  double reward = 1;     // for a child that is kept
  double penalty = 0.5;  // for one that is not
};

/// The score is a column that individuals carry, 0 at birth.
class Curiosity final : public Selector {
 public:
  explicit Curiosity(const CuriosityConfig& config) : config_(config) {}

  std::vector<std::string> columns() const override { return {"curiosity"}; }

  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    std::vector<float> weights = view.column("curiosity");
    for (float& weight : weights) weight = std::max(weight + 1, kLeast);
    return weights;
  }

  void learn(std::span<const Birth> births, MatrixView<float> values) const override {
    for (const Birth& birth : births) {
      values(birth.parent, 0) += static_cast<float>(birth.kept ? config_.reward : -config_.penalty);
    }
  }

 private:
  static constexpr float kLeast = 0.01F;  // nobody is given up
  CuriosityConfig config_;
};

}  // namespace

SelectorEntry curiosity_selector() {
  return part<CuriosityConfig>("curiosity", "prefers those whose children were kept")
      .option("reward", &CuriosityConfig::reward, Range{0, 100},
              "curiosity: for a child that is kept")
      .option("penalty", &CuriosityConfig::penalty, Range{0, 100},
              "curiosity: for a child that is not")
      .made_by([](const CuriosityConfig& config, const SelectorContext&) {
        return std::make_unique<Curiosity>(config);
      });
}

}  // namespace aurora
