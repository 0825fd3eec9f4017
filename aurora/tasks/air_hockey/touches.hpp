// Where two shapes of the table touch: boxes and discs, as Box2D sees them. A box has a skin of
// 1 cm around it; shapes touch when the skin does.
#pragma once

#include <array>
#include <cstddef>

#include "aurora/tasks/air_hockey/table.hpp"

namespace aurora::air_hockey {

inline constexpr float kSkin = 0.01F;  // of a box

/// Where a body is, and the direction of its x axis.
struct Frame {
  Point centre;
  Point axis = {1, 0};
};

struct Box {
  float half_x, half_y;
};

/// Up to two points of one shape beside a line of another, each in the frame of its own. The line
/// is of the first shape, unless it is of the second (`flipped`).
struct Touch {
  std::size_t count = 0;
  bool flipped = false;
  Point normal;                 // of the line, outwards
  Point line;                   // a point on it
  std::array<Point, 2> points;  // of the other shape; a disc's is its centre
  std::array<int, 2> keys{};    // what meets what; equal from step to step as long as it does
};

/// The line is the face of either box that is the furthest from the other box, the points are the
/// ends of the other's face that looks at it most, cut off beside the line.
Touch touch(const Frame& first, const Box& box, const Frame& second, const Box& other);

/// The line is the box's face that is nearest to the disc's centre, or touches its nearest corner.
Touch touch(const Frame& place, const Box& box, Point centre, float radius);

}  // namespace aurora::air_hockey
