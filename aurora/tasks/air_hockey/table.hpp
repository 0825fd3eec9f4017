// The Air-Hockey table: an arm with four motors in its middle, walls around it, a puck.
//
// Metres, seconds, kilograms and radians; the table is [-1, 1]^2.
#pragma once

#include <array>
#include <cstddef>

namespace aurora::air_hockey {

inline constexpr std::size_t kJoints = 4;           // with a motor each
inline constexpr std::size_t kGenes = 2 * kJoints;  // an angle a joint, for each phase
inline constexpr std::size_t kSteps = 1000;
inline constexpr std::size_t kPhaseSteps = 500;  // the puck appears between the phases
inline constexpr std::size_t kSampleEvery = 10;  // steps of the second phase
inline constexpr std::size_t kSamples = kPhaseSteps / kSampleEvery;
inline constexpr float kTimeStep = 0.01F;

inline constexpr float kTableHalf = 1;  // the walls' middle lines
inline constexpr float kWallHalfThickness = 0.01F;
inline constexpr float kBaseHalf = 0.0225F;
inline constexpr float kLinkLength = 0.225F;
inline constexpr float kLinkHalfThickness = 0.009F;
inline constexpr float kTipRadius = 0.0135F;
inline constexpr float kPuckRadius = 0.05F;

inline constexpr float kDensityRatio = 1.5F;  // of a link to the next, the first has 1 kg/m^2
inline constexpr float kTipDensity = 0.1F;
inline constexpr float kPuckDensity = 0.2F;
inline constexpr float kFriction = 0.8F;        // of what moves
inline constexpr float kGroundFriction = 0.4F;  // of that on base and walls, which have 0.2
inline constexpr float kPuckRestitution = 0.8F;
inline constexpr float kMotorTorque = 1;  // at most, N m
inline constexpr float kGain = 0.3F;      // commanded speed per error, 1/s

struct Point {
  float x = 0;
  float y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

inline constexpr Point kPuckStart = {0.55F, 0.5F};

/// The state after a step, for pictures and tests.
struct Moment {
  std::array<Point, kJoints + 1> arm;     // where each link begins, then the tip
  std::array<float, kJoints> commands{};  // commanded speeds during the step, rad/s
  Point puck = kPuckStart;                // stays there until it exists
  bool puck_exists = false;

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// The puck's x and y every kSampleEvery steps of the second phase, interleaved.
using Trajectory = std::array<float, 2 * kSamples>;

struct Episode {
  float fitness = 0;  // -sum over steps and joints of the squared commanded speed
  Trajectory puck;

  friend bool operator==(const Episode&, const Episode&) = default;
};

}  // namespace aurora::air_hockey
