#include "aurora/tasks/maze/picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/tasks/maze/robot.hpp"

namespace aurora::maze {
namespace {

constexpr double kUnits = 9.375;

using Image = std::array<std::uint8_t, kPictureBytes>;

Image drawn(const Picture& picture, float x, float y) {
  Image image;
  image.fill(77);
  picture.draw(x, y, image);
  return image;
}

const std::uint8_t* rgb(std::span<const std::uint8_t> image, std::size_t u, std::size_t v) {
  return &image[(v * kPictureSide + u) * kChannels];
}

/// Positions that a robot can have, away from each other.
std::vector<std::pair<float, float>> positions(const Map& map, int count) {
  Stream stream(8, Purpose::user);
  std::vector<std::pair<float, float>> found;
  while (found.size() < static_cast<std::size_t>(count)) {
    const auto x = static_cast<float>(600 * stream.uniform() * 0.999);
    const auto y = static_cast<float>(600 * stream.uniform() * 0.999);
    const Pixel p{pixel_index(x), pixel_index(y)};
    if (p.i < kMapSize && p.j < kMapSize && !map.collides(p)) found.emplace_back(x, y);
  }
  return found;
}

TEST(MazePicture, DiscAreaIsThatOfAFineGridOfPoints) {
  for (const double x : {-12.0, -9.0, -3.5, 0.0, 2.0, 8.5, 12.0}) {
    for (const double y : {-12.0, -8.0, -1.0, 0.0, 4.0, 9.9, 12.0}) {
      double area = 0;
      constexpr double kFine = 0.02;
      for (double t = -10 + kFine / 2; t < std::min(y, 10.0); t += kFine) {
        const double half = std::sqrt(100 - t * t);
        area += kFine * std::clamp(x + half, 0.0, 2 * half);
      }
      EXPECT_NEAR(disc_area(10, x, y), area, 0.3) << x << ' ' << y;
    }
  }
  EXPECT_NEAR(disc_area(10, 10, 10), 100 * std::numbers::pi, 1e-9);
  EXPECT_NEAR(disc_area(10, 0, 0), 25 * std::numbers::pi, 1e-9);
  EXPECT_NEAR(disc_area(10, -10, 3), 0, 1e-9);
}

TEST(MazePicture, TheEmptyMazeIsTheAverageOfTheMap) {
  const Map map;
  const Picture picture(map);
  constexpr int kSamples = 40;
  for (std::size_t v = 0; v < kPictureSide; ++v) {
    for (std::size_t u = 0; u < kPictureSide; ++u) {
      int free = 0;
      for (int b = 0; b < kSamples; ++b) {
        for (int a = 0; a < kSamples; ++a) {
          const double x = kUnits * (static_cast<double>(u) + (a + 0.5) / kSamples);
          const double y = kUnits * (static_cast<double>(v) + (b + 0.5) / kSamples);
          const Pixel p{pixel_index(static_cast<float>(x)), pixel_index(static_cast<float>(y))};
          free += map.wall(p) ? 0 : 1;
        }
      }
      const double expected = 255.0 * free / (kSamples * kSamples);
      for (std::size_t c = 0; c < kChannels; ++c) {
        ASSERT_NEAR(rgb(picture.empty(), u, v)[c], expected, 14) << u << ' ' << v;
      }
      const bool uniform = free == 0 || free == kSamples * kSamples;
      if (uniform) {
        ASSERT_EQ(rgb(picture.empty(), u, v)[0], expected) << u << ' ' << v;
      }
    }
  }
}

TEST(MazePicture, WallsAreBlackAndFloorIsWhite) {
  const Picture picture{Map()};
  EXPECT_EQ(rgb(picture.empty(), 18, 32)[0], 0);    // inside wall C, at (174, 305)
  EXPECT_EQ(rgb(picture.empty(), 63, 63)[0], 0);    // the frame's corner
  EXPECT_EQ(rgb(picture.empty(), 6, 48)[0], 255);   // the start
  EXPECT_EQ(rgb(picture.empty(), 48, 6)[0], 255);   // at (455, 61): u and v are not swapped,
  EXPECT_EQ(rgb(picture.empty(), 10, 14)[2], 0);    // at (98, 136), inside wall A
  EXPECT_EQ(rgb(picture.empty(), 14, 10)[2], 255);  // nor are they here
}

TEST(MazePicture, TheBlueOfTheDiscIsItsAreaAndSitsAtItsPlace) {
  const Map map;
  const Picture picture(map);
  for (const auto& [x, y] : positions(map, 300)) {
    const Image image = drawn(picture, x, y);
    double area = 0;
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t v = 0; v < kPictureSide; ++v) {
      for (std::size_t u = 0; u < kPictureSide; ++u) {
        const std::uint8_t* p = rgb(image, u, v);
        ASSERT_EQ(p[0], p[1]);
        ASSERT_GE(p[2], p[0]);
        const double blue = (p[2] - p[0]) / 255.0 * kUnits * kUnits;
        area += blue;
        mean_x += blue * kUnits * (static_cast<double>(u) + 0.5);
        mean_y += blue * kUnits * (static_cast<double>(v) + 0.5);
      }
    }
    EXPECT_NEAR(area, 100 * std::numbers::pi, 2.5) << x << ' ' << y;
    // The pixels' means are not the mean of the disc, but never far from it.
    EXPECT_NEAR(mean_x / area, x, 0.7) << x << ' ' << y;
    EXPECT_NEAR(mean_y / area, y, 0.7) << x << ' ' << y;
  }
}

TEST(MazePicture, OnlyThePixelsUnderTheDiscDifferFromTheEmptyMaze) {
  const Map map;
  const Picture picture(map);
  for (const auto& [x, y] : positions(map, 300)) {
    const Image image = drawn(picture, x, y);
    int changed = 0;
    for (std::size_t v = 0; v < kPictureSide; ++v) {
      for (std::size_t u = 0; u < kPictureSide; ++u) {
        // The point of the pixel nearest to the centre of the disc.
        const double left = kUnits * static_cast<double>(u);
        const double top = kUnits * static_cast<double>(v);
        const double dx = std::clamp<double>(x, left, left + kUnits) - x;
        const double dy = std::clamp<double>(y, top, top + kUnits) - y;
        bool differs = false;
        for (std::size_t c = 0; c < kChannels; ++c) {
          differs |= rgb(image, u, v)[c] != rgb(picture.empty(), u, v)[c];
        }
        const bool under = std::hypot(dx, dy) <= kRobotRadius;
        ASSERT_TRUE(under || !differs) << u << ' ' << v;
        changed += differs ? 1 : 0;
      }
    }
    EXPECT_GE(changed, 5);
    EXPECT_LE(changed, 16);
  }
}

TEST(MazePicture, ADiscInTheMiddleOfAPixelFillsItAndSpreadsEvenly) {
  const Picture picture{Map()};
  const Image image = drawn(picture, 6.5F * 9.375F, 48.5F * 9.375F);
  const auto colour = [&](std::size_t u, std::size_t v) {
    const std::uint8_t* p = rgb(image, u, v);
    return std::array<int, 3>{p[0], p[1], p[2]};
  };
  EXPECT_EQ(colour(6, 48), (std::array<int, 3>{0, 0, 255}));
  EXPECT_EQ(colour(5, 48), colour(7, 48));
  EXPECT_EQ(colour(5, 48), colour(6, 47));
  EXPECT_EQ(colour(5, 47), colour(7, 49));
  EXPECT_EQ(colour(8, 48), (std::array<int, 3>{255, 255, 255}));
  // A share of floor stays white, in all three channels.
  EXPECT_EQ(colour(5, 48)[2], 255);
  EXPECT_LT(colour(5, 48)[0], colour(5, 47)[0]);
}

TEST(MazePicture, TheDiscHidesFloorAndNoWall) {
  // Beside wall C, which ends at x = 181.5; both share the pixels from 178.1 to 187.5.
  const Picture picture{Map()};
  const Image image = drawn(picture, 193.19F, 432.5F);
  int shared = 0;
  for (std::size_t v = 0; v < kPictureSide; ++v) {
    for (std::size_t u = 0; u < kPictureSide; ++u) {
      const std::uint8_t* p = rgb(image, u, v);
      const int floor = rgb(picture.empty(), u, v)[2];
      ASSERT_NEAR(p[2], floor, 1) << u << ' ' << v;
      shared += p[0] < p[2] && floor < 255 ? 1 : 0;
    }
  }
  EXPECT_GE(shared, 2);
}

TEST(MazePicture, IsAFunctionOfThePositionThatShowsSmallMoves) {
  const Picture one{Map()};
  const Picture other{Map()};
  const Image image = drawn(one, 300, 200);
  drawn(one, 100, 500);
  EXPECT_EQ(drawn(one, 300, 200), image);
  EXPECT_EQ(drawn(other, 300, 200), image);
  EXPECT_NE(drawn(one, 300.5F, 200), image);
  EXPECT_NE(drawn(one, 300, 200.5F), image);
}

}  // namespace
}  // namespace aurora::maze
