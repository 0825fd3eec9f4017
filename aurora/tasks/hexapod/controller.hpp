// The open-loop controller of the hexapod: 36 numbers give every joint a periodic signal.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

inline constexpr std::size_t kGenes = 36;
inline constexpr std::size_t kSamples = 100;  // of a period of 1 s

/// A period of a square wave that is +amplitude for the first trunc(100 duty) samples and
/// -amplitude after, smoothed by a Gaussian of 21 taps (sigma 3), and begun floor(100 phase)
/// samples late.
using Signal = std::array<double, kSamples>;
Signal smooth_square_wave(double amplitude, double phase, double duty);

class Controller {
 public:
  /// Leg L: genes 6L .. 6L+2 are amplitude, phase and duty of the coxa, 6L+3 .. 6L+5 those of femur
  /// and tibia together; all are rounded to three decimals. DataError unless there are 36 genes,
  /// all within [0, 1].
  explicit Controller(std::span<const float> genes);

  /// The joints' target angles at a time >= 0, in the order of robot.hpp.
  const std::array<double, kJoints>& targets(double time) const;

 private:
  std::array<std::array<double, kJoints>, kSamples> targets_;
};

}  // namespace aurora::hexapod
