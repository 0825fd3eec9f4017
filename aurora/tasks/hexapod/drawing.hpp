// How an episode of the hexapod looks.
#pragma once

#include <span>

#include "aurora/pictures/image.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

/// The robot from above (x to the right, y up) and, below or beside it, from the side (x to the
/// right): at four moments in the picture, all the way in the film. Dots on the floor stand 0.25 m
/// apart, others show the path of the base (blue at first, orange at last), and a yellow mark on
/// top of the base its front.
Drawing draw_episode(std::span<const Bodies> moments);

/// A line for each leg, dark while the robot stands on it; time goes to the right.
Image draw_gait(const Walk& walk, std::size_t width);

}  // namespace aurora::hexapod
