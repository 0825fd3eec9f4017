#include "aurora/pictures/canvas.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace aurora {
namespace {

constexpr Window kPixels = {.left = 0, .right = 100, .top = 0, .bottom = 100};

/// How many pixels are black, smooth edges counted by their darkness.
double ink(const Image& image) {
  double sum = 0;
  for (const std::uint8_t value : image.pixels) sum += 255 - value;
  return sum / (3 * 255);
}

TEST(Canvas, ShapesHaveTheirAreas) {
  Canvas disc(100, 100, kPixels);
  disc.disc({50.3, 49.2}, 20, kBlack);
  EXPECT_NEAR(ink(disc.image()), std::numbers::pi * 400, 4);

  Canvas ring(100, 100, kPixels);
  ring.ring({50.3, 49.2}, 20, 4, kBlack);
  EXPECT_NEAR(ink(ring.image()), std::numbers::pi * (22 * 22 - 18 * 18), 4);

  Canvas line(100, 100, kPixels);
  line.line({20, 30}, {80, 75}, 6, kBlack);  // 75 long, and two half discs
  EXPECT_NEAR(ink(line.image()), 75 * 6 + std::numbers::pi * 9, 4);

  Canvas half(100, 100, kPixels);
  half.disc({50, 50}, 20, kBlack, 0.5);
  EXPECT_NEAR(ink(half.image()), std::numbers::pi * 200, 4);
}

TEST(Canvas, PolygonsEitherWayRound) {
  const std::array<Place, 4> square = {{{20.5, 20}, {70.5, 20}, {70.5, 60}, {20.5, 60}}};
  const std::array<Place, 4> reversed = {square[3], square[2], square[1], square[0]};
  Canvas one(100, 100, kPixels);
  one.polygon(square, kBlack);
  EXPECT_NEAR(ink(one.image()), 2000, 1);
  EXPECT_EQ(one.image().at(50, 40), kBlack);
  EXPECT_EQ(one.image().at(80, 40), kWhite);
  EXPECT_NEAR(one.image().at(20, 40).red, 128, 1);  // half covered
  Canvas other(100, 100, kPixels);
  other.polygon(reversed, kBlack);
  EXPECT_EQ(one.image(), other.image());
}

TEST(Canvas, TheWindowMayBeUpsideDown) {
  Canvas canvas(100, 50, {.left = -1, .right = 1, .top = 1, .bottom = 0});
  EXPECT_EQ(canvas.pixels(0.5), 25);
  canvas.disc({0.5, 0.8}, 4, kBlack);
  EXPECT_EQ(canvas.image().at(75, 10), kBlack);
  EXPECT_EQ(canvas.image().at(75, 40), kWhite);
}

TEST(Canvas, WhatIsOutsideOrNowhereIsLeftOut) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Canvas canvas(100, 100, kPixels);
  canvas.disc({kNaN, 50}, 10, kBlack);
  canvas.disc({50, kInfinity}, 10, kBlack);
  canvas.ring({kNaN, kNaN}, 10, 3, kBlack);
  canvas.line({0, 0}, {-kInfinity, 3}, 10, kBlack);
  canvas.polygon(std::array<Place, 3>{{{0, 0}, {kNaN, 10}, {50, 50}}}, kBlack);
  canvas.polygon(std::array<Place, 2>{{{0, 0}, {50, 50}}}, kBlack);
  canvas.disc({-1e12, 1e12}, 10, kBlack);
  EXPECT_EQ(canvas.image(), Image(100, 100));

  canvas.disc({0, 0}, 10, kBlack);  // a quarter of it is inside
  EXPECT_NEAR(ink(canvas.image()), std::numbers::pi * 25, 2);
}

TEST(Canvas, PathsGoFromBlueToOrange) {
  EXPECT_GT(time_colour(0).blue, time_colour(0).red);
  EXPECT_GT(time_colour(1).red, time_colour(1).blue);
  EXPECT_EQ(time_colour(-1), time_colour(0));
  EXPECT_EQ(time_colour(2), time_colour(1));
  std::array<Place, 91> places;
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = {5.0 + static_cast<double>(i), 50};
  Canvas canvas(100, 100, kPixels);
  draw_path(canvas, places, 2);
  EXPECT_NEAR(canvas.image().at(6, 50).red, time_colour(0).red, 12);
  EXPECT_NEAR(canvas.image().at(93, 50).blue, time_colour(1).blue, 12);
  draw_path(canvas, std::span<const Place>(places).first(1), 2);  // no line, no harm
  draw_path(canvas, {}, 2);
}

}  // namespace
}  // namespace aurora
