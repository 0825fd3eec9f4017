// The lasers' rays: integer lines through the pixels of the map, and their tabulated outcomes.
#pragma once

#include <array>
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
///
/// A robot moves little in a step and turns little, so the next look-up is for a pixel and a ray
/// close by. The table is laid out for that: a cache line holds the 4 x 4 pixels of a tile times 4
/// rays that are neighbours in angle. All arrays are of 32-bit words, which vector code can gather.
class RayTable {
 public:
  explicit RayTable(const Map& map);

  /// Where the walk stands when it first looks at a wall, relative to the start. A ray that meets
  /// none answers with an offset far beyond the lasers' range. `end` must be an end pixel that a
  /// laser of range 100 can have from somewhere in the pixel `start`.
  Pixel hit(Pixel start, Pixel end) const {
    const std::int32_t ray = rays_[ray_index(end)];
    const std::int32_t stop = stops_[static_cast<std::size_t>((ray >> 16) + steps_at(start, ray))];
    return {static_cast<std::int16_t>(stop), stop >> 16};
  }

  /// Steps until the hit, as walk_ray(); kNoHit if there is none.
  int steps(Pixel start, Pixel end) const { return steps_at(start, rays_[ray_index(end)]); }

  /// The end pixels that lasers can have, relative to their start; ascending by angle.
  const std::vector<Pixel>& ends() const { return ends_; }

  static constexpr int kSide = 2 * kMaxSteps + 1;

  /// By end pixel, kSide x kSide: the ray's place within a tile in the low half, where its stops
  /// begin in the high half.
  const std::int32_t* rays() const { return rays_.data(); }
  /// Four to a word: by tile, group of four rays, pixel in the tile (row-major), ray in the group.
  const std::int32_t* packed_steps() const { return steps_.data(); }
  /// By ray and number of steps: the offset reached, i in the low half and j in the high half.
  const std::int32_t* stops() const { return stops_.data(); }
  /// Bytes of a tile in packed_steps().
  std::int32_t tile_size() const { return tile_size_; }
  static constexpr int kTile = 4;  // pixels along a side
  static constexpr int kTilesPerRow = kMapSize / kTile;

 private:
  static constexpr std::size_t kStops = kNoHit + 1;
  static constexpr std::int32_t kGroup = 4;  // rays that share a cache line

  static std::size_t ray_index(Pixel end) {
    return static_cast<std::size_t>((end.j + kMaxSteps) * kSide + end.i + kMaxSteps);
  }
  /// The byte of a pixel's first ray.
  std::int32_t pixel_place(Pixel p) const {
    const std::int32_t tile = (p.j / kTile) * kTilesPerRow + p.i / kTile;
    return tile * tile_size_ + ((p.j % kTile) * kTile + p.i % kTile) * kGroup;
  }
  int steps_at(Pixel start, std::int32_t ray) const {
    const std::int32_t place = pixel_place(start) + (ray & 0xFFFF);
    return (steps_[static_cast<std::size_t>(place / 4)] >> (place % 4 * 8)) & 0xFF;
  }
  void fill_steps(const Map& map);

  std::vector<Pixel> ends_;
  std::int32_t tile_size_ = 0;
  std::vector<std::int32_t> rays_;
  std::vector<std::int32_t> stops_;
  std::vector<std::int32_t> steps_;
};

}  // namespace aurora::maze
