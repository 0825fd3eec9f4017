// Size control with a target that grows (growth.hpp, docs/algorithms.md): a container that may fill
// up to N at once winds its threshold down while it does.
#include <algorithm>
#include <memory>
#include <string>

#include "aurora/containers/container.hpp"
#include "aurora/containers/growth.hpp"
#include "aurora/containers/pid.hpp"
#include "aurora/containers/threshold.hpp"

namespace aurora {
namespace {

struct GrowingConfig : Growth {
  double rate = 0.05;  // of the threshold, at twice the target; the paper's K_CSC * N
  bool reseed = true;
};

class Growing final : public Threshold {
 public:
  Growing(const GrowingConfig& config, std::size_t target_size)
      : Threshold(kThresholdWithoutExtent), config_(config), target_size_(target_size) {}

  void start(const Container& container) override {
    ++iteration_;
    value_ = initial_threshold(container.individuals().descriptors, target());
  }

  void encoder_updated(const Container& container, double epsilon, Workers&) override {
    if (!encoder_updated_) {
      start(container);
    } else if (config_.reseed) {
      value_ = reseed_threshold(container, target(), epsilon);
    }
    encoder_updated_ = true;
  }

  void follow(std::size_t size) override {
    ++iteration_;
    value_ = csc_threshold(value_, config_.rate / static_cast<double>(target()), size, target());
  }

 private:
  std::size_t target() const { return config_.target(iteration_, target_size_); }

  void save(std::vector<NamedNumber>& numbers) const override {
    numbers.push_back({"threshold.encoder_updated", encoder_updated_ ? 1.0 : 0.0});
    numbers.push_back({"threshold.iteration", static_cast<double>(iteration_)});
  }
  void load(std::span<const NamedNumber> numbers) override {
    encoder_updated_ = number_called(numbers, "threshold.encoder_updated", 0) != 0;
    iteration_ = static_cast<std::size_t>(number_called(numbers, "threshold.iteration", 0));
  }

  GrowingConfig config_;
  std::size_t target_size_;
  std::size_t iteration_ = 0;  // that have ended with somebody in the container
  bool encoder_updated_ = false;
};

/// Those who look for the ends of the space need the room: a small container would let go of them.
bool wants_room(const std::string& selection) {
  return selection.starts_with("novelty") || selection == "surprise" || selection == "exploring";
}

}  // namespace

ThresholdEntry growing_threshold_part() {
  using Config = GrowingConfig;
  return part<Config>("growing", "size control whose target grows up to container.target_size")
      .option("rate", &Config::rate, Range{0, 1, true},
              "growing: how fast it follows, as a share of the threshold at twice the target")
      .option("start", &Config::start, Range{0, 1, true},
              "growing: the first target, as a share of container.target_size; 0.1 unless said, 1 "
              "with selectors that explore")
      .option("iterations", &Config::iterations, Range{1, 1e9},
              "growing: iterations until the target is container.target_size; half of the run "
              "unless said")
      .depends("start", [](const Mix& mix) { return wants_room(mix.selection) ? 1.0 : 0.1; })
      .depends(
          "iterations",
          [](const Mix& mix) { return std::max(1.0, static_cast<double>(mix.iterations) / 2); })
      .option("reseed", &Config::reseed,
              "growing: choose it anew after encoder updates, so that few are lost")
      .made_by([](const Config& config, const ThresholdContext& context) {
        return std::make_unique<Growing>(config, context.target_size);
      });
}

}  // namespace aurora
