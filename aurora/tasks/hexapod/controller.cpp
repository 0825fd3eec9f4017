#include "aurora/tasks/hexapod/controller.hpp"

#include <cmath>
#include <memory>
#include <numbers>

#include "aurora/tasks/genes.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::size_t kTaps = 21;
constexpr double kCoxaRange = std::numbers::pi / 8;
constexpr double kFemurRange = std::numbers::pi / 4;
constexpr std::size_t kLegGenes = kGenes / kLegs;

// exp(-d^2 / (2 sigma^2)) for a distance of d samples: the C library's last bits differ between
// systems.
constexpr std::array<double, kTaps / 2 + 1> kGaussian = {1,
                                                         0.9459594689067654,
                                                         0.8007374029168081,
                                                         0.6065306597126334,
                                                         0.41111229050718745,
                                                         0.24935220877729622,
                                                         0.1353352832366127,
                                                         0.06572852861653047,
                                                         0.028565500784550377,
                                                         0.011108996538242306,
                                                         0.0038659201394728076};

std::array<double, kTaps> gaussian() {
  std::array<double, kTaps> taps;
  double sum = 0;
  for (std::size_t i = 0; i < kTaps; ++i) {
    taps[i] = kGaussian[i < kTaps / 2 ? kTaps / 2 - i : i - kTaps / 2];
    sum += taps[i];
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

/// Every smoothed wave that there is, with amplitude 1 and no shift: [samples that are high][i].
using Waves = std::array<std::array<double, kSamples>, kSamples + 1>;

std::unique_ptr<const Waves> make_waves() {
  const std::array<double, kTaps> taps = gaussian();
  auto waves = std::make_unique<Waves>();
  for (std::size_t high = 0; high <= kSamples; ++high) {
    for (std::size_t i = 0; i < kSamples; ++i) {
      double sum = 0;
      for (std::size_t tap = 0; tap < kTaps; ++tap) {
        const std::size_t sample = (i + kSamples - kTaps / 2 + tap) % kSamples;
        sum += sample < high ? taps[tap] : -taps[tap];
      }
      (*waves)[high][i] = sum;
    }
  }
  return waves;
}

double rounded(float gene) {
  return std::round(1000.0 * gene) / 1000.0;
}

}  // namespace

Signal smooth_square_wave(double amplitude, double phase, double duty) {
  static const std::unique_ptr<const Waves> waves = make_waves();
  const auto samples = static_cast<double>(kSamples);
  const auto high = static_cast<std::size_t>(samples * duty);
  const auto shift = static_cast<std::size_t>(samples * phase);
  const std::array<double, kSamples>& wave = (*waves)[high];
  Signal signal;
  for (std::size_t i = 0; i < kSamples; ++i) signal[i] = amplitude * wave[(i + shift) % kSamples];
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

const std::array<double, kJoints>& Controller::targets(double time) const {
  return targets_[static_cast<std::size_t>(static_cast<double>(kSamples) * time) % kSamples];
}

}  // namespace aurora::hexapod
