#include "aurora/tasks/maze/map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tests/tasks/maze_reachable.hpp"

namespace aurora::maze {
namespace {

Pixel pixel_at(double x, double y) {
  return {pixel_index(static_cast<float>(x)), pixel_index(static_cast<float>(y))};
}

TEST(MazeMap, CoordinatesRoundToPixelsHalfAwayFromZero) {
  const std::pair<float, int> expected[] = {
      {0.0F, 0},     {1.49F, 0},    {1.5F, 1},     {4.49F, 1},  {4.5F, 2},   {60.0F, 20},
      {450.0F, 150}, {598.4F, 199}, {598.5F, 200}, {-1.49F, 0}, {-1.5F, -1}, {-4.5F, -2}};
  for (const auto& [coordinate, index] : expected) {
    EXPECT_EQ(pixel_index(coordinate), index) << coordinate;
  }
}

TEST(MazeMap, EveryWallIsSolidAlongItsCentreLineAndAsThickAsItSays) {
  const Map map;
  ASSERT_EQ(walls().size(), 8U);
  for (const Wall& wall : walls()) {
    const double length = std::hypot(wall.x1 - wall.x0, wall.y1 - wall.y0);
    for (double t = 0.1; t < 0.95; t += 0.1) {
      const double x = wall.x0 + t * (wall.x1 - wall.x0);
      const double y = wall.y0 + t * (wall.y1 - wall.y0);
      EXPECT_TRUE(map.wall(pixel_at(x, y))) << x << ' ' << y;
      // A pixel's centre is at most sqrt(2) * 1.5 units away from the point it is asked for.
      for (const double side : {-1.0, 1.0}) {
        const double nx = -side * (wall.y1 - wall.y0) / length;
        const double ny = side * (wall.x1 - wall.x0) / length;
        const double in = wall.thickness / 2 - 2.2;
        EXPECT_TRUE(map.wall(pixel_at(x + in * nx, y + in * ny))) << x << ' ' << y;
      }
    }
  }
}

TEST(MazeMap, FloorBesideTheWallsIsFree) {
  const Map map;
  // Just off walls C (x 166.5 to 181.5, y up to 457.5) and B' (x up to 397.5, y 73.5 to 88.5).
  EXPECT_TRUE(map.wall({56, 100}));
  EXPECT_FALSE(map.wall({55, 90}));
  EXPECT_TRUE(map.wall({60, 90}));
  EXPECT_FALSE(map.wall({61, 90}));
  EXPECT_TRUE(map.wall({58, 152}));
  EXPECT_FALSE(map.wall({58, 153}));
  EXPECT_TRUE(map.wall({132, 25}));
  EXPECT_FALSE(map.wall({132, 24}));
  EXPECT_TRUE(map.wall({132, 29}));
  EXPECT_FALSE(map.wall({132, 30}));
  EXPECT_FALSE(map.wall({133, 27}));
  EXPECT_FALSE(map.wall(pixel_at(kStartX, kStartY)));
}

TEST(MazeMap, TheFrameIsWallAndSoIsEverythingOutside) {
  const Map map;
  for (const int free : {3, 196}) {
    EXPECT_FALSE(map.wall({free, 10}));
    EXPECT_FALSE(map.wall({160, free}));
  }
  for (const int wall : {-1000, -1, 0, 2, 197, 199, 200, 1000}) {
    EXPECT_TRUE(map.wall({wall, 10})) << wall;
    EXPECT_TRUE(map.wall({160, wall})) << wall;
  }
}

TEST(MazeMap, FreeRowsAgreeWithWallIncludingTheMargin) {
  const Map map;
  for (int j = -Map::kMargin; j < kMapSize + Map::kMargin; ++j) {
    for (int i = -Map::kMargin; i < kMapSize + Map::kMargin; ++i) {
      ASSERT_EQ(*map.free_row(i, j), map.wall({i, j}) ? 0 : 0xFF) << i << ' ' << j;
    }
  }
}

TEST(MazeMap, DirectionsAscendAndHoldEveryOffsetUnderTheRobot) {
  double last = -std::numbers::pi;
  for (const Pixel p : kDirectionOffsets) {
    const double angle = std::atan2(p.j, p.i);
    EXPECT_GT(angle, last);
    last = angle;
  }
}

TEST(MazeMap, TouchedDirectionsAreThoseOfTheWallPixelsUnderTheRobot) {
  const Map map;
  int mixed = 0;
  for (int j = 0; j < kMapSize; ++j) {
    for (int i = 0; i < kMapSize; ++i) {
      std::set<double> angles;
      bool collides = map.wall({i, j});
      for (int dj = -3; dj <= 3; ++dj) {
        for (int di = -3; di <= 3; ++di) {
          if (di * di + dj * dj > 9 || !map.wall({i + di, j + dj})) continue;
          collides = true;
          if (di != 0 || dj != 0) angles.insert(std::atan2(dj, di));
        }
      }
      ASSERT_EQ(map.collides({i, j}), collides) << i << ' ' << j;
      if (map.wall({i, j})) continue;
      for (std::size_t d = 0; d < kDirections; ++d) {
        const double angle = std::atan2(kDirectionOffsets[d].j, kDirectionOffsets[d].i);
        const bool expected = std::any_of(angles.begin(), angles.end(),
                                          [&](double a) { return std::abs(a - angle) < 1e-9; });
        ASSERT_EQ((map.touched({i, j}) >> d & 1) != 0, expected) << i << ' ' << j << ' ' << d;
      }
      mixed += collides ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 1000);
}

TEST(MazeMap, ReachablePixelsAreAllThatARobotCanStandOn) {
  const Map map;
  const std::vector<std::uint8_t> reachable = reachable_pixels(map);
  ASSERT_EQ(reachable.size(), 40000U);
  int standing = 0;
  for (int j = 0; j < kMapSize; ++j) {
    for (int i = 0; i < kMapSize; ++i) {
      standing += map.collides({i, j}) ? 0 : 1;
      // No pocket of the maze is closed.
      ASSERT_EQ(reachable[static_cast<std::size_t>(j * kMapSize + i)] != 0, !map.collides({i, j}));
    }
  }
  // 29,347 by the wall table; the specification mentions 29,353.
  EXPECT_NEAR(standing, 29353, 10);
}

TEST(MazeMap, WallsLimitTheCoverageOfAFortyByFortyGrid) {
  const std::vector<std::uint8_t> reachable = reachable_pixels(Map());
  std::set<std::pair<int, int>> cells;
  for (int j = 0; j < kMapSize; ++j) {
    for (int i = 0; i < kMapSize; ++i) {
      if (reachable[static_cast<std::size_t>(j * kMapSize + i)] == 0) continue;
      // A cell of 15 units counts if the pixel's square, 3 units around its centre, reaches in.
      for (const double dy : {-1.499, 1.499}) {
        for (const double dx : {-1.499, 1.499}) {
          cells.emplace(static_cast<int>((3 * i + dx) / 15), static_cast<int>((3 * j + dy) / 15));
        }
      }
    }
  }
  EXPECT_NEAR(100.0 * static_cast<double>(cells.size()) / 1600, 84.4, 0.05);
}

}  // namespace
}  // namespace aurora::maze
