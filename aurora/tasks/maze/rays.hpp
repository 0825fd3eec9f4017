// The lasers' rays: integer lines through the pixels of the map, and their tabulated outcomes.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aurora/tasks/maze/map.hpp"

namespace aurora::maze {

inline constexpr float kLaserRange = 100;

/// Steps that a walk can take at most: the largest offset of the end pixel along an axis.
inline constexpr int kMaxSteps = 34;

/// The number of steps that stands for "met no wall".
inline constexpr int kNoHit = kMaxSteps + 1;

/// One step of a walk: where it stands, and the pixels it looks at (relative to its start).
struct RayStep {
  Pixel at;
  std::array<Pixel, 3> looked_at{};
  int looks = 0;
};

/// The walk from pixel (0, 0) to `end`: one step for each pixel along the longer axis (y on ties).
///
/// The line runs from centre to centre. A step moves one pixel along the major axis, and one along
/// the minor axis as well where the line at the new place is more than half a pixel away from the
/// old row; exactly half stays (Bresenham's error term). A step looks at the pixel it arrives in;
/// if the minor coordinate changed, also at the square that the line cuts on its way from the old
/// pixel to the new one: the one straight ahead if the line crosses the border between the two
/// columns before the border between the two rows, the one beside if after, and both if it runs
/// exactly through their common corner. The start itself is not looked at.
std::vector<RayStep> ray_steps(Pixel end);

/// Steps until a walk from `start` towards `start + end` first looks at a wall; kNoHit if it never
/// does. This is the rule itself, and the oracle of RayTable.
int walk_ray(const Map& map, Pixel start, Pixel end);

/// Where a ray that starts in a pixel first meets a wall, for every pixel of the map and every end
/// pixel that a laser can have: 200 x 200 x 536 bytes, filled in less than 0.1 s.
class RayTable {
 public:
  explicit RayTable(const Map& map);

  /// Where the walk stands when it first looks at a wall, relative to the start. A ray that meets
  /// none answers with an offset far beyond the lasers' range. `end` must be an end pixel that a
  /// laser of range 100 can have from somewhere in the pixel `start`.
  Pixel hit(Pixel start, Pixel end) const {
    const std::size_t ray = ray_of(end);
    const Stop stop = stops_[ray * kStops + steps_[row(start) + ray]];
    return {stop.i, stop.j};
  }

  /// Steps until the hit, as walk_ray(); kNoHit if there is none.
  int steps(Pixel start, Pixel end) const { return steps_[row(start) + ray_of(end)]; }

  /// The end pixels that lasers can have, relative to their start.
  const std::vector<Pixel>& ends() const { return ends_; }

 private:
  struct Stop {
    std::int8_t i, j;
  };
  static constexpr int kSide = 2 * kMaxSteps + 1;
  static constexpr std::size_t kStops = kNoHit + 1;

  std::size_t row(Pixel start) const {
    return static_cast<std::size_t>(start.j * kMapSize + start.i) * ends_.size();
  }
  std::size_t ray_of(Pixel end) const {
    const int ray =
        rays_[static_cast<std::size_t>((end.j + kMaxSteps) * kSide + end.i + kMaxSteps)];
    assert(ray >= 0);
    return static_cast<std::size_t>(ray);
  }
  void fill_steps(const Map& map);

  std::vector<Pixel> ends_;
  std::vector<std::int16_t> rays_;   // by end pixel, kSide x kSide: its place in ends_, or -1
  std::vector<Stop> stops_;          // by ray and number of steps
  std::vector<std::uint8_t> steps_;  // by pixel of the map (row-major) and ray
};

}  // namespace aurora::maze
