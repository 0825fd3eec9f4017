#include "aurora/tasks/maze/map.hpp"

#include <cmath>

namespace aurora::maze {
namespace {

constexpr std::array<Wall, 8> kWalls{{
    {0, 132.6, 174, 145.8, 18.3},    // A
    {174, 145, 384, 81, 16.2},       // B
    {380, 81, 397.5, 81, 15},        // B'
    {174, 138, 174, 457.5, 15},      // C
    {174, 304.4, 460, 464.3, 13.7},  // D
    {256, 256, 600, 435, 13.5},      // E
    {0, 212, 106, 347, 16.1},        // F
    {214, 597, 322.5, 472.5, 14.7},  // G
}};

// The frame around the maze: outside these bounds everything is wall.
constexpr double kInteriorMin = 7.5;
constexpr double kInteriorMax = 589.5;

// A robot covers the pixels within this many pixels of its centre's.
constexpr int kRobotPixels = 3;

bool inside(const Wall& wall, double x, double y) {
  const double dx = wall.x1 - wall.x0;
  const double dy = wall.y1 - wall.y0;
  const double length = std::hypot(dx, dy);
  const double along = ((x - wall.x0) * dx + (y - wall.y0) * dy) / length;
  const double across = ((x - wall.x0) * dy - (y - wall.y0) * dx) / length;
  return along >= 0 && along <= length && std::abs(across) <= wall.thickness / 2;
}

bool solid(double x, double y) {
  if (x < kInteriorMin || x > kInteriorMax || y < kInteriorMin || y > kInteriorMax) return true;
  for (const Wall& wall : kWalls) {
    if (inside(wall, x, y)) return true;
  }
  return false;
}

/// The direction in which an offset other than (0, 0) lies: parallel to and on the same side.
int direction_of(Pixel offset) {
  for (int d = 0; d < kDirections; ++d) {
    const Pixel p = kDirectionOffsets[static_cast<std::size_t>(d)];
    const bool parallel = p.i * offset.j == p.j * offset.i;
    if (parallel && p.i * offset.i + p.j * offset.j > 0) return d;
  }
  return -1;
}

}  // namespace

std::span<const Wall> walls() {
  return kWalls;
}

Map::Map() : free_(kPitch * kPitch, 0), touched_(kMapSize * kMapSize) {
  for (int j = 0; j < kMapSize; ++j) {
    for (int i = 0; i < kMapSize; ++i) {
      if (solid(kPixelSize * i, kPixelSize * j)) continue;
      free_[static_cast<std::size_t>((j + kMargin) * kPitch + i + kMargin)] = 0xFF;
    }
  }
  for (int j = 0; j < kMapSize; ++j) {
    for (int i = 0; i < kMapSize; ++i) {
      touched_[static_cast<std::size_t>(j * kMapSize + i)] = touched_at({i, j});
    }
  }
}

bool Map::wall(Pixel p) const {
  if (p.i < 0 || p.i >= kMapSize || p.j < 0 || p.j >= kMapSize) return true;
  return *free_row(p.i, p.j) == 0;
}

std::uint16_t Map::touched_at(Pixel p) const {
  if (wall(p)) return 0xFFFF;
  unsigned directions = 0;
  for (int dj = -kRobotPixels; dj <= kRobotPixels; ++dj) {
    for (int di = -kRobotPixels; di <= kRobotPixels; ++di) {
      const int square = di * di + dj * dj;
      if (square == 0 || square > kRobotPixels * kRobotPixels) continue;
      if (wall({p.i + di, p.j + dj})) directions |= 1U << direction_of({di, dj});
    }
  }
  return static_cast<std::uint16_t>(directions);
}

}  // namespace aurora::maze
