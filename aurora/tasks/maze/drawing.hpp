// How an episode in the maze looks.
#pragma once

#include <span>

#include "aurora/pictures/image.hpp"
#include "aurora/tasks/maze/robot.hpp"

namespace aurora::maze {

/// The maze with the robot's whole path, blue at first and orange at last, its start (a ring) and
/// its end with its heading; in the film also the lasers, and a red rim while a bumper is on.
Drawing draw_episode(std::span<const Moment> moments);

/// The maze without a robot, with a ring where it starts.
Image draw_backdrop();

}  // namespace aurora::maze
