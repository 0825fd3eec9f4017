// A threshold that stays as it is; members are looked at again when their descriptors change.
#include <memory>

#include "aurora/containers/container.hpp"
#include "aurora/containers/threshold.hpp"

namespace aurora {
namespace {

struct FixedConfig {
  double value = 1;
};

class Fixed final : public Threshold {
 public:
  explicit Fixed(const FixedConfig& config) : Threshold(config.value) {}
  bool wants_update(const IterationEnd& end, std::size_t) const override {
    return end.descriptors_changed;
  }
};

}  // namespace

ThresholdEntry fixed_threshold_part() {
  return part<FixedConfig>("fixed", "the same for the whole run")
      .option("value", &FixedConfig::value, Range{0, 1e30, true}, "fixed: the threshold (d_min)")
      .made_by([](const FixedConfig& config, const ThresholdContext&) {
        return std::make_unique<Fixed>(config);
      });
}

}  // namespace aurora
