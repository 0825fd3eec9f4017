// The hexapod's episode as the specification tells it: DART's own world, constraint solver and
// filters, with none of the short cuts of hexapod/simulation_dart.cpp.
#pragma once

#include <span>

#include "aurora/tasks/hexapod/geometry.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"

namespace aurora::hexapod {

/// The base's pose after an episode that starts `lift` above the usual height.
Transform oracle_episode(std::span<const float> genes, Actuators actuators, double lift = 0);

}  // namespace aurora::hexapod
