// The hexapod's episode as the specification tells it: DART's own world, constraint solver and
// filters, with none of the short cuts of hexapod/simulation_dart.cpp.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"

namespace aurora::hexapod {

/// One step of an episode: what moves before and after it, what touched the floor, and what the
/// joints were to do.
struct OracleStep {
  Motion before, after;
  Touches touches;
  std::array<double, kJoints> targets;
};

/// The base's pose after an episode that starts `lift` above the usual height.
Transform oracle_episode(std::span<const float> genes, Actuators actuators, double lift = 0,
                         const std::function<void(const OracleStep&)>& observe = {});

}  // namespace aurora::hexapod
