// One episode of the Air-Hockey arm on Box2D: four motors, two phases, a puck.
//
// Metres, seconds and radians; the table is [-1, 1]^2 with walls around it and the arm's base in
// its middle. Every episode has a world of its own (a few of its 1000 steps' worth to build), so
// nothing of one can reach another.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

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
inline constexpr float kGain = 0.3F;  // commanded speed per error, 1/s

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
};

/// Fills a table that Box2D fills with its first contact, in a way that threads could trip over.
/// Call it before threads share the engine; the second call does nothing.
void prepare_engine();

/// Runs an episode. Genes lie in [0, 1] and map to angles in [-pi, pi]: four for each phase.
/// DataError unless there are kGenes of them, all within [0, 1].
Episode run_episode(std::span<const float> genes);

/// The same episode, keeping every step. `trace` is overwritten and has kSteps entries after.
Episode trace_episode(std::span<const float> genes, std::vector<Moment>& trace);

}  // namespace aurora::air_hockey
