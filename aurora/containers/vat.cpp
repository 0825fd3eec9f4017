// Volume adaptive threshold: from the diameter of the container (paper, section IV-B).
#include <cmath>
#include <memory>

#include "aurora/containers/container.hpp"
#include "aurora/containers/threshold.hpp"

namespace aurora {
namespace {

struct VatConfig {
  double vat_constant = 18;  // K_VAT
};

/// There is none (0) before the first encoder update.
class Vat final : public Threshold {
 public:
  Vat(const VatConfig& config, std::size_t target_size)
      : Threshold(0), constant_(config.vat_constant), target_size_(target_size) {}

  void encoder_updated(const Container& container, double, Workers& workers) override {
    value_ = vat_threshold(container.diameter(workers), constant_, target_size_,
                           container.individuals().descriptors.cols());
  }
  bool wants_update(const IterationEnd& end, std::size_t) const override { return end.update_due; }

 private:
  double constant_;
  std::size_t target_size_;
};

}  // namespace

double vat_threshold(double diameter, double constant, std::size_t target_size, std::size_t n) {
  return bounded_threshold(diameter / std::pow(constant * static_cast<double>(target_size),
                                               1.0 / static_cast<double>(n)));
}

ThresholdEntry vat_threshold_part() {
  return part<VatConfig>("vat", "volume adaptive threshold, from the container's diameter")
      .option("vat_constant", &VatConfig::vat_constant, Range{0, 1e6, true},
              "vat: how densely the volume is filled (K_VAT)")
      .made_by([](const VatConfig& config, const ThresholdContext& context) {
        return std::make_unique<Vat>(config, context.target_size);
      });
}

}  // namespace aurora
