// What the camera above the maze sees at the end of an episode: 64 x 64 RGB bytes, channels last.
//
// White floor, black walls, the robot a blue disc of radius 10 without a heading; every pixel is
// the average over its 9.375 x 9.375 units of the world, so a shift of a fraction of a unit shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "aurora/tasks/maze/map.hpp"

namespace aurora::maze {

inline constexpr std::size_t kPictureSide = 64;
inline constexpr std::size_t kChannels = 3;
inline constexpr std::size_t kPictureBytes = kPictureSide * kPictureSide * kChannels;

/// Area of the part of a disc of radius `radius` around (0, 0) with X <= x and Y <= y. Exact.
double disc_area(double radius, double x, double y);

class Picture {
 public:
  /// Draws the empty maze once, from the pixels of the map.
  explicit Picture(const Map& map);

  /// Draws the maze with the robot at (x, y). Only the few pixels under the disc are computed.
  void draw(float x, float y, std::span<std::uint8_t, kPictureBytes> out) const;

  /// The maze without a robot.
  std::span<const std::uint8_t, kPictureBytes> empty() const { return empty_; }

 private:
  std::array<double, kPictureSide * kPictureSide> floor_;  // fraction of each pixel that is floor
  std::array<std::uint8_t, kPictureBytes> empty_;
};

}  // namespace aurora::maze
