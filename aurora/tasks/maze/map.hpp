// The maze: a 600 x 600 world drawn as 200 x 200 pixels (hard maze of Lehman and Stanley).
//
// Origin top-left, x right, y down, angles from +x towards +y. Pixel (i, j) is column i, row j; its
// centre stands at (3i, 3j). Everything a robot feels follows the pixels, never the exact walls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aurora::maze {

inline constexpr float kWorldSize = 600;
inline constexpr float kPixelSize = 3;
inline constexpr float kPixelsPerUnit = 1 / kPixelSize;
inline constexpr int kMapSize = 200;

inline constexpr float kStartX = 60;
inline constexpr float kStartY = 450;

struct Pixel {
  int i = 0;  // column, along x
  int j = 0;  // row, along y

  friend bool operator==(const Pixel&, const Pixel&) = default;
};

/// The pixel index of a coordinate: round(c / 3), half away from zero.
inline int pixel_index(float c) {
  const float p = c * kPixelsPerUnit;
  return static_cast<int>(p + (p < 0 ? -0.5F : 0.5F));
}

/// A solid rectangle given by its centre line and its full thickness, with butt ends.
struct Wall {
  double x0, y0, x1, y1, thickness;
};

std::span<const Wall> walls();

/// Directions from the centre of the robot to the pixels that it covers: the 28 offsets with
/// 0 < di^2 + dj^2 <= 9 lie in only 16 directions, which a bumper cannot tell apart any further.
/// In ascending order of angle within (-pi, pi].
inline constexpr int kDirections = 16;
inline constexpr std::array<Pixel, kDirections> kDirectionOffsets{{{-2, -1},
                                                                   {-1, -1},
                                                                   {-1, -2},
                                                                   {0, -1},
                                                                   {1, -2},
                                                                   {1, -1},
                                                                   {2, -1},
                                                                   {1, 0},
                                                                   {2, 1},
                                                                   {1, 1},
                                                                   {1, 2},
                                                                   {0, 1},
                                                                   {-1, 2},
                                                                   {-1, 1},
                                                                   {-2, 1},
                                                                   {-1, 0}}};

/// Their angles. Written out, since a last bit decides what a robot along one of them feels.
inline constexpr std::array<float, kDirections> kDirectionAngles{
    -2.6779451F, -2.3561945F, -2.0344439F, -1.5707964F, -1.1071488F, -0.7853982F,
    -0.4636476F, 0.0F,        0.4636476F,  0.7853982F,  1.1071488F,  1.5707964F,
    2.0344439F,  2.3561945F,  2.6779451F,  3.1415927F};

/// The pixels of the world and what a robot touches when its centre is in one of them. Constant.
class Map {
 public:
  /// Pixels kept around the map on every side, all wall: rays end in them at the latest.
  static constexpr int kMargin = 36;
  static constexpr int kPitch = kMapSize + 2 * kMargin;

  Map();

  /// Is the pixel wall? Any pixel may be asked for: outside the map everything is wall.
  bool wall(Pixel p) const;

  /// Does a robot whose centre is in this pixel of the map overlap a wall pixel?
  bool collides(Pixel p) const { return touched(p) != 0; }

  /// Bit d: a wall pixel lies in direction d (of kDirectionOffsets) under a robot centred here.
  /// If the centre itself is wall all bits are set. 0 is "no collision".
  std::uint16_t touched(Pixel p) const {
    return static_cast<std::uint16_t>(touched_[static_cast<std::size_t>(p.j * kMapSize + p.i)]);
  }

  /// touched() of all pixels, row by row.
  const std::int32_t* touched() const { return touched_.data(); }

  /// Row j of the map from column i on: 0 is wall, 0xFF is free. Reaches kMargin beyond the map.
  const std::uint8_t* free_row(int i, int j) const {
    return &free_[static_cast<std::size_t>((j + kMargin) * kPitch + i + kMargin)];
  }

 private:
  std::uint16_t touched_at(Pixel p) const;

  std::vector<std::uint8_t> free_;     // kPitch x kPitch
  std::vector<std::int32_t> touched_;  // kMapSize x kMapSize
};

}  // namespace aurora::maze
