#include "aurora/tasks/maze/rays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "aurora/core/random.hpp"

namespace aurora::maze {
namespace {

using Point = std::pair<int, int>;

std::vector<Point> looked_at(const RayStep& step) {
  std::vector<Point> points;
  for (int n = 0; n < step.looks; ++n) {
    const Pixel p = step.looked_at[static_cast<std::size_t>(n)];
    points.emplace_back(p.i, p.j);
  }
  std::sort(points.begin(), points.end());
  return points;
}

TEST(MazeRays, AStraightRayLooksOnlyAhead) {
  const std::vector<RayStep> steps = ray_steps({0, -3});
  ASSERT_EQ(steps.size(), 3U);
  for (int k = 1; k <= 3; ++k) {
    const RayStep& step = steps[static_cast<std::size_t>(k - 1)];
    EXPECT_EQ(step.at, (Pixel{0, -k}));
    EXPECT_EQ(looked_at(step), (std::vector<Point>{{0, -k}}));
  }
}

TEST(MazeRays, ARayThroughACornerLooksAtBothSquaresBesideIt) {
  // From (0, 0) to (3, 1) the line meets the corner (1.5, 0.5) in its second step.
  const std::vector<RayStep> steps = ray_steps({3, 1});
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(looked_at(steps[0]), (std::vector<Point>{{1, 0}}));
  EXPECT_EQ(looked_at(steps[1]), (std::vector<Point>{{1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(steps[1].at, (Pixel{2, 1}));
  EXPECT_EQ(looked_at(steps[2]), (std::vector<Point>{{3, 1}}));
}

TEST(MazeRays, ARayLooksAtTheSquareThatItCutsOnItsWay) {
  // (4, 1): the row changes at x = 2, in the third step since exactly half stays; beside.
  const std::vector<RayStep> beside = ray_steps({4, 1});
  EXPECT_EQ(beside[1].at, (Pixel{2, 0}));
  EXPECT_EQ(looked_at(beside[2]), (std::vector<Point>{{2, 1}, {3, 1}}));
  // (5, 2) towards -x, -y: the row changes at |x| = 1.25 (beside) and 3.75 (ahead).
  const std::vector<RayStep> both = ray_steps({-5, -2});
  EXPECT_EQ(looked_at(both[1]), (std::vector<Point>{{-2, -1}, {-1, -1}}));
  EXPECT_EQ(looked_at(both[3]), (std::vector<Point>{{-4, -2}, {-4, -1}}));
}

TEST(MazeRays, ARayLooksAtExactlyTheSquaresThatTheLineTouches) {
  const RayTable table{Map()};
  for (const Pixel end : table.ends()) {
    std::set<Point> looked{{0, 0}};
    for (const RayStep& step : ray_steps(end)) {
      for (const Point& p : looked_at(step)) looked.insert(p);
    }
    // A closed square meets the segment unless an axis or the segment's normal separates them.
    std::set<Point> touched;
    for (int j = std::min(0, end.j); j <= std::max(0, end.j); ++j) {
      for (int i = std::min(0, end.i); i <= std::max(0, end.i); ++i) {
        const int cross = std::abs(i * end.j - j * end.i);
        if (2 * cross <= std::abs(end.i) + std::abs(end.j)) touched.emplace(i, j);
      }
    }
    ASSERT_EQ(looked, touched) << end.i << ' ' << end.j;
  }
}

TEST(MazeRays, AWalkTakesOneStepForEachPixelOfTheMajorAxisAndEndsAtItsEnd) {
  const RayTable table{Map()};
  for (const Pixel end : table.ends()) {
    const std::vector<RayStep> steps = ray_steps(end);
    const bool y_major = std::abs(end.j) >= std::abs(end.i);
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(std::abs(y_major ? end.j : end.i)));
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Pixel at = steps[k].at;
      ASSERT_EQ(std::abs(y_major ? at.j : at.i), static_cast<int>(k) + 1);
    }
    EXPECT_EQ(steps.back().at, end);
    EXPECT_LE(static_cast<int>(steps.size()), kMaxSteps);
  }
}

TEST(MazeRays, AWalkStopsWhereItFirstLooksAtAWall) {
  const Map map;
  // Wall C starts at column 56; the frame's first column on the right is 197.
  EXPECT_EQ(walk_ray(map, {40, 90}, {33, 0}), 16);
  EXPECT_EQ(walk_ray(map, {180, 20}, {33, 0}), 17);
  EXPECT_EQ(walk_ray(map, {100, 20}, {33, 0}), kNoHit);
}

TEST(MazeRays, TheTableAgreesWithTheWalk) {
  const Map map;
  const RayTable table(map);
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Stream stream(kSeed, Purpose::user);
  int hits = 0;
  for (int n = 0; n < 600000; ++n) {
    const Pixel start{static_cast<int>(stream.below(kMapSize)),
                      static_cast<int>(stream.below(kMapSize))};
    const Pixel end = table.ends()[stream.below(table.ends().size())];
    const int steps = walk_ray(map, start, end);
    ASSERT_EQ(table.steps(start, end), steps)
        << start.i << ' ' << start.j << " towards " << end.i << ' ' << end.j;
    const Pixel hit = table.hit(start, end);
    if (steps == kNoHit) {
      ASSERT_GT(kPixelSize * std::hypot(hit.i, hit.j), kLaserRange + 2 * kPixelSize);
    } else {
      ++hits;
      ASSERT_EQ(hit, ray_steps(end)[static_cast<std::size_t>(steps - 1)].at);
    }
  }
  EXPECT_GT(hits, 100000);
  EXPECT_LT(hits, 500000);
}

TEST(MazeRays, TheTableHoldsEveryEndThatALaserCanHaveAndNoOther) {
  const RayTable table{Map()};
  std::set<Point> known;
  for (const Pixel end : table.ends()) known.emplace(end.i, end.j);
  EXPECT_EQ(known.size(), table.ends().size());

  // Along the circle, with the centre in the corners and in the middle of its pixel.
  std::set<Point> seen;
  for (int n = 0; n < 400000; ++n) {
    const double angle = 2 * std::numbers::pi * n / 400000;
    for (const float fy : {-1.499F, 0.0F, 1.499F}) {
      for (const float fx : {-1.499F, 0.0F, 1.499F}) {
        const float x = 300 + fx + kLaserRange * static_cast<float>(std::cos(angle));
        const float y = 300 + fy + kLaserRange * static_cast<float>(std::sin(angle));
        seen.emplace(pixel_index(x) - 100, pixel_index(y) - 100);
      }
    }
  }
  EXPECT_TRUE(std::includes(known.begin(), known.end(), seen.begin(), seen.end()));
  EXPECT_GE(seen.size() + 16, known.size());
}

}  // namespace
}  // namespace aurora::maze
