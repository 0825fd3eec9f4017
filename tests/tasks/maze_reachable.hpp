// Where a robot of the Maze can get to, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aurora/tasks/maze/map.hpp"

namespace aurora::maze {

/// The pixels that a robot's centre can reach from the start without a collision, as a mask of
/// kMapSize x kMapSize (row-major, 1 = reachable). A step is at most 5 units long.
inline std::vector<std::uint8_t> reachable_pixels(const Map& map) {
  std::vector<std::uint8_t> reached(kMapSize * kMapSize, 0);
  std::vector<Pixel> open;
  const auto visit = [&](Pixel p) {
    std::uint8_t& mark = reached[static_cast<std::size_t>(p.j * kMapSize + p.i)];
    if (mark != 0 || map.collides(p)) return;
    mark = 1;
    open.push_back(p);
  };
  visit({pixel_index(kStartX), pixel_index(kStartY)});
  // A move of 5 units, 5/3 of a pixel, can change both pixel indices by 2, since from border to
  // border that is only a little more than sqrt(2) pixels; it cannot change one by 3.
  while (!open.empty()) {
    const Pixel p = open.back();
    open.pop_back();
    // Reachable pixels are free and three pixels away from the frame: p +- 2 is in the map.
    for (int dj = -2; dj <= 2; ++dj) {
      for (int di = -2; di <= 2; ++di) visit({p.i + di, p.j + dj});
    }
  }
  return reached;
}

}  // namespace aurora::maze
