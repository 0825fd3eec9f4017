// Episodes of many robots at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "aurora/core/matrix.hpp"
#include "aurora/tasks/maze/map.hpp"
#include "aurora/tasks/maze/rays.hpp"
#include "aurora/tasks/maze/robot.hpp"

namespace aurora::maze {

/// Robots that fill the widest registers; batches that are a multiple of this are the fastest.
inline constexpr std::size_t kRobotsAtOnce = 16;

/// A robot on its way: where it is, and what its lasers read there.
struct Sample {
  float x = 0;
  float y = 0;
  std::array<float, 3> lasers{};

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// An episode in samples at even intervals: after steps 40, 80, ..., 2000.
inline constexpr std::size_t kSamples = 50;
inline constexpr std::size_t kStepsPerSample = kSteps / kSamples;
using History = std::array<Sample, kSamples>;

/// Runs the episode of every row of `genotypes`: bit by bit what run_episode() gives, at any place
/// in any batch and on every processor. `histories` has a place for each, or none at all. Throws
/// DataError as the Controller does.
void run_episodes(const Map& map, const RayTable& rays, MatrixView<const float> genotypes,
                  std::span<Episode> episodes, std::span<History> histories = {});

}  // namespace aurora::maze
