// The wheeled robot of the maze: its controller, its motion, its sensors, and one episode.
//
// All of it in single precision. This is the plain version of the episode, one robot at a time; it
// is the oracle of run_episodes(), which runs many at once and gives the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/tasks/maze/functions.hpp"
#include "aurora/tasks/maze/map.hpp"
#include "aurora/tasks/maze/rays.hpp"

namespace aurora::maze {

inline constexpr std::size_t kGenes = 42;
inline constexpr std::size_t kSteps = 2000;  // T, the length of an episode
inline constexpr float kRobotRadius = 10;    // as drawn; what it collides with goes by pixels
inline constexpr float kWheelSeparation = 20;
inline constexpr float kMaxSpeed = 5;  // of a wheel, units per step

struct Pose {
  float x = kStartX;
  float y = kStartY;
  float heading = kPi / 4;  // within [-pi, pi]

  friend bool operator==(const Pose&, const Pose&) = default;
};

/// What the controller is given: five numbers, unscaled.
struct Senses {
  std::array<float, 3> lasers{kLaserRange, kLaserRange, kLaserRange};  // at +45, 0, -45 degrees
  float left_bumper = 0;                                               // 0 or 1
  float right_bumper = 0;

  friend bool operator==(const Senses&, const Senses&) = default;
};

/// The network's two outputs: speeds of the left and the right wheel as fractions of kMaxSpeed.
using Outputs = std::array<float, 2>;

/// A network with 5 inputs, 5 hidden units and 2 outputs. The outputs are one step late:
///   out_t = tanh(5 W2 h_(t-1) + b2),   h_t = tanh(5 W1 in_t + b1),   h_(-1) = 0.
class Controller {
 public:
  static constexpr std::size_t kInputs = 5;
  static constexpr std::size_t kHidden = 5;
  static constexpr std::size_t kOutputs = 2;

  /// Genes lie in [0, 1] and map to [-5, 5]; in this order: W1 (5 x 5, a row a hidden unit),
  /// W2 (2 x 5, a row an output), b1, b2. Throws as check() does.
  explicit Controller(std::span<const float> genes);

  /// Throws DataError unless there are 42 genes, all within [0, 1].
  static void check(std::span<const float> genes);

  /// The number that gene number `index` stands for, with the factor 5 in front of the weights.
  static float value(std::span<const float> genes, std::size_t index) {
    constexpr float kGeneRange = 5;  // genes map to [-kGeneRange, kGeneRange]
    constexpr float kGain = 5;
    constexpr std::size_t kWeights = (kInputs + kOutputs) * kHidden;
    const float parameter = kGeneRange * (2 * genes[index] - 1);
    return index < kWeights ? kGain * parameter : parameter;
  }

  /// Outputs of this step; remembers the hidden values for the next one.
  Outputs step(const Senses& senses);

 private:
  std::array<std::array<float, kHidden>, kInputs> w1_;   // 5 W1, transposed: a row an input
  std::array<std::array<float, kOutputs>, kHidden> w2_;  // 5 W2, transposed: a row a hidden unit
  std::array<float, kHidden> b1_;
  std::array<float, kOutputs> b2_;
  std::array<float, kHidden> hidden_{};
};

/// A pose, and its heading as a direction.
struct Arrival {
  Pose pose;
  Direction facing;
};

/// Where one step with these outputs leads if nothing is in the way: the exact arc.
Arrival move(const Pose& pose, const Outputs& outputs);

/// Which bumpers a collision sets, given the wall pixels under the robot (Map::touched) and its
/// heading: a direction in (0, pi/2) of the heading is on the right, in (-pi/2, 0) on the left.
struct Bumpers {
  bool left = false;
  bool right = false;

  friend bool operator==(const Bumpers&, const Bumpers&) = default;
};
Bumpers bumpers(std::uint16_t touched, float heading);

/// The three lasers' readings of a robot whose centre is in the map.
std::array<float, 3> read_lasers(const RayTable& rays, const Pose& pose, Direction facing);

/// A moment of an episode: the outputs of a step, and pose and senses once it is over.
struct Moment {
  Outputs outputs;
  Pose pose;
  Senses senses;

  friend bool operator==(const Moment&, const Moment&) = default;
};

struct Episode {
  Pose end;
  float fitness = 0;  // -sum of the squared outputs, in [-4000, 0]

  friend bool operator==(const Episode&, const Episode&) = default;
};

/// Runs an episode of kSteps steps from the start.
Episode run_episode(const Map& map, const RayTable& rays, std::span<const float> genes);

/// The same episode, keeping every step. `trace` is overwritten and has kSteps entries after.
Episode trace_episode(const Map& map, const RayTable& rays, std::span<const float> genes,
                      std::vector<Moment>& trace);

}  // namespace aurora::maze
