// Container size control, the paper's proportional rule (section IV-B).
#include <algorithm>
#include <memory>

#include "aurora/containers/container.hpp"
#include "aurora/containers/threshold.hpp"

namespace aurora {
namespace {

struct CscConfig {
  double gain = 5e-6;  // K_CSC; that of the paper, whose containers hold 10,000
};

class Csc final : public Threshold {
 public:
  Csc(const CscConfig& config, std::size_t target_size)
      : Threshold(kThresholdWithoutExtent), gain_(config.gain), target_size_(target_size) {}

  void start(const Container& container) override {
    value_ = initial_threshold(container.individuals().descriptors, target_size_);
  }
  void encoder_updated(const Container& container, double, Workers&) override {
    if (!encoder_updated_) start(container);
    encoder_updated_ = true;
  }
  void follow(std::size_t size) override {
    value_ = csc_threshold(value_, gain_, size, target_size_);
  }

 private:
  void save(std::vector<NamedNumber>& numbers) const override {
    numbers.push_back({"threshold.encoder_updated", encoder_updated_ ? 1.0 : 0.0});
  }
  void load(std::span<const NamedNumber> numbers) override {
    encoder_updated_ = number_called(numbers, "threshold.encoder_updated", 0) != 0;
  }

  double gain_;
  std::size_t target_size_;
  bool encoder_updated_ = false;
};

}  // namespace

double csc_threshold(double threshold, double gain, std::size_t size, std::size_t target_size) {
  // With a gain above 1 / target_size the rule itself can give 0 or less.
  constexpr double kSmallestFactor = 0.01;
  const double excess = static_cast<double>(size) - static_cast<double>(target_size);
  return bounded_threshold(threshold * std::max(1 + gain * excess, kSmallestFactor));
}

ThresholdEntry csc_threshold_part() {
  return part<CscConfig>("csc", "container size control, proportional (the paper's)")
      .option("gain", &CscConfig::gain, Range{0, 1, true},
              "csc: how fast it follows (K_CSC); 0.05 / container.target_size unless said")
      .depends("gain", [](const Mix& mix) { return 0.05 / static_cast<double>(mix.target_size); })
      .made_by([](const CscConfig& config, const ThresholdContext& context) {
        return std::make_unique<Csc>(config, context.target_size);
      });
}

}  // namespace aurora
