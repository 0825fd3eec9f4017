// A selector: it prefers those who have had few children. How many they had is a column that the
// individuals carry; checkpoints and results have it, too.
#include <memory>
#include <string>
#include <vector>

#include "examples/own_parts/parts.hpp"

using namespace aurora;

namespace {

struct FewChildrenConfig {
  double cost = 1;  // of a child, for its parent's chances
};

class FewChildren final : public Selector {
 public:
  explicit FewChildren(const FewChildrenConfig& config) : cost_(static_cast<float>(config.cost)) {}

  std::vector<std::string> columns() const override { return {"children"}; }

  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    std::vector<float> weights = view.column("children");
    for (float& weight : weights) weight = 1 / (1 + cost_ * weight);
    return weights;
  }

  // Whether a child was kept (birth.kept) makes no difference here.
  void learn(std::span<const Birth> births, MatrixView<float> values) const override {
    for (const Birth& birth : births) values(birth.parent, 0) += 1;
  }

 private:
  float cost_;
};

}  // namespace

SelectorEntry few_children() {
  return part<FewChildrenConfig>("few-children", "prefers those who have had few children")
      .option("cost", &FewChildrenConfig::cost, Range{0, 100},
              "of a child, for its parent's chances")
      .made_by([](const FewChildrenConfig& config, const SelectorContext&) {
        return std::make_unique<FewChildren>(config);
      });
}
