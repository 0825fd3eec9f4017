#include "aurora/tasks/hexapod/controller.hpp"

#include <cmath>
#include <numbers>

#include "aurora/tasks/genes.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::size_t kTaps = 21;
constexpr double kSigma = 3;
constexpr double kCoxaRange = std::numbers::pi / 8;
constexpr double kFemurRange = std::numbers::pi / 4;
constexpr std::size_t kLegGenes = kGenes / kLegs;

std::array<double, kTaps> gaussian() {
  std::array<double, kTaps> taps;
  double sum = 0;
  for (std::size_t i = 0; i < kTaps; ++i) {
    const double distance = static_cast<double>(i) - static_cast<double>(kTaps - 1) / 2;
    taps[i] = std::exp(-distance * distance / (2 * kSigma * kSigma));
    sum += taps[i];
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

double rounded(float gene) {
  return std::round(1000.0 * gene) / 1000.0;
}

}  // namespace

Signal smooth_square_wave(double amplitude, double phase, double duty) {
  static const std::array<double, kTaps> taps = gaussian();
  const auto samples = static_cast<double>(kSamples);
  const auto high = static_cast<std::size_t>(samples * duty);
  const auto shift = static_cast<std::size_t>(samples * phase);
  Signal signal;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::size_t first = i + shift + kSamples - kTaps / 2;
    double sum = 0;
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
      sum += (first + tap) % kSamples < high ? taps[tap] : -taps[tap];
    }
    signal[i] = amplitude * sum;
  }
  return signal;
}

Controller::Controller(std::span<const float> genes) {
  check_genes(genes, kGenes, "hexapod controller");
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const auto signal = [&](std::size_t first) {
      const auto g = genes.subspan(leg * kLegGenes + first, 3);
      return smooth_square_wave(rounded(g[0]), rounded(g[1]), rounded(g[2]));
    };
    const Signal coxa = signal(0);
    const Signal femur = signal(3);
    for (std::size_t i = 0; i < kSamples; ++i) {
      targets_[i][leg * kLegJoints] = -kCoxaRange * coxa[i];
      targets_[i][leg * kLegJoints + 1] = kFemurRange * femur[i];
      targets_[i][leg * kLegJoints + 2] = kFemurRange * femur[i];  // the tibia stays vertical
    }
  }
}

std::array<double, kJoints> Controller::targets(double time) const {
  return targets_[static_cast<std::size_t>(static_cast<double>(kSamples) * time) % kSamples];
}

}  // namespace aurora::hexapod
