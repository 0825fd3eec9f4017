// Episodes of many robots at once.
#pragma once

#include <span>

#include "aurora/core/matrix.hpp"
#include "aurora/tasks/maze/map.hpp"
#include "aurora/tasks/maze/rays.hpp"
#include "aurora/tasks/maze/robot.hpp"

namespace aurora::maze {

/// Robots that fill the widest registers; batches that are a multiple of this are the fastest.
inline constexpr std::size_t kRobotsAtOnce = 16;

/// Runs the episode of every row of `genotypes`: bit by bit what run_episode() gives, at any place
/// in any batch and on every processor. Throws DataError as the Controller does.
void run_episodes(const Map& map, const RayTable& rays, MatrixView<const float> genotypes,
                  std::span<Episode> episodes);

}  // namespace aurora::maze
