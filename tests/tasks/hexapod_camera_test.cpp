#include "aurora/tasks/hexapod/camera.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "aurora/core/random.hpp"

namespace aurora::hexapod {
namespace {

using Picture = std::vector<std::uint8_t>;

Picture rendered(std::span<const Solid> solids, std::size_t side = 64, const Camera& camera = {}) {
  Picture picture(side * side * 3, 99);
  render(camera, solids, side, picture);
  return picture;
}

Colour at(const Picture& picture, std::size_t u, std::size_t v) {
  const auto side = static_cast<std::size_t>(std::sqrt(picture.size() / 3));
  const std::uint8_t* p = &picture[(v * side + u) * 3];
  return {p[0], p[1], p[2]};
}

constexpr Colour kGrey = {177, 177, 177};
constexpr Colour kGreen = {0, 255, 0};

Solid box(const Vector& middle, const Vector& half) {
  return {Shape::box, half, {.position = middle}, kGreen};
}

Transform turned(double ax, double ay, double az) {
  Transform pose;
  for (Vector& v : pose.axes) {
    v = {v.x, std::cos(ax) * v.y - std::sin(ax) * v.z, std::sin(ax) * v.y + std::cos(ax) * v.z};
    v = {std::cos(ay) * v.x + std::sin(ay) * v.z, v.y, -std::sin(ay) * v.x + std::cos(ay) * v.z};
    v = {std::cos(az) * v.x - std::sin(az) * v.y, std::sin(az) * v.x + std::cos(az) * v.y, v.z};
  }
  return pose;
}

TEST(HexapodCamera, AnEmptyFloorIsGrey) {
  const Picture picture = rendered({});
  for (const std::uint8_t value : picture) ASSERT_EQ(value, 177);
}

TEST(HexapodCamera, ImageRightIsMinusXAndImageUpIsMinusY) {
  // A hand-sized box at (0.8, 0.5): left of the middle and below it.
  const Picture picture = rendered(std::vector{box({0.8, 0.5, 0.02}, {0.05, 0.05, 0.02})});
  double u_sum = 0, v_sum = 0;
  int count = 0;
  for (std::size_t v = 0; v < 64; ++v) {
    for (std::size_t u = 0; u < 64; ++u) {
      if (at(picture, u, v) == kGrey) continue;
      u_sum += static_cast<double>(u) + 0.5;
      v_sum += static_cast<double>(v) + 0.5;
      ++count;
    }
  }
  ASSERT_GT(count, 4);
  // The floor is seen for x in about [-1.155, 1.155].
  EXPECT_NEAR(u_sum / count, 32 - 32 * 0.8 / 1.155, 1);
  EXPECT_NEAR(v_sum / count, 32 + 32 * 0.5 / 1.155, 2);
}

TEST(HexapodCamera, TheNearerSolidHidesTheOther) {
  std::vector<Solid> solids = {box({0, 0, 0.1}, {0.5, 0.5, 0.1}),
                               box({0, 0, 0.5}, {0.1, 0.1, 0.1})};
  solids[1].colour = {255, 0, 0};
  const Picture picture = rendered(solids);
  std::swap(solids[0], solids[1]);
  EXPECT_EQ(rendered(solids), picture);  // in whatever order they come
  EXPECT_EQ(at(picture, 32, 32), (Colour{255, 0, 0}));
  EXPECT_EQ(at(picture, 32, 26), kGreen);
}

TEST(HexapodCamera, WhatIsBelowTheFloorIsHidden) {
  EXPECT_EQ(rendered(std::vector{box({0, 0, -0.2}, {0.1, 0.1, 0.1})}), rendered({}));
}

TEST(HexapodCamera, FacesAreShadedByTheTwoLights) {
  // From the side, with a view on one face each.
  const auto face = [](const Vector& from) {
    const Camera camera{.position = from, .target = {0, 0, 1}};
    return at(rendered(std::vector{box({0, 0, 1}, {0.2, 0.2, 0.2})}, 65, camera), 32, 32)[1];
  };
  EXPECT_NEAR(face({2, 0, 1}), 255 / std::sqrt(3), 1);   // +x: the first light
  EXPECT_NEAR(face({-2, 0, 1}), 255 / std::sqrt(3), 1);  // -x: the second
  EXPECT_EQ(face({0, 0.001, 3}), 255);                   // above: both, clipped
  EXPECT_EQ(face({0, 0.001, 0.01}), 0);                  // below: none
}

TEST(HexapodCamera, RoundSolidsAreThereByTheirSize) {
  // The area of the silhouette in a fine picture from straight above.
  const auto area = [](const Solid& solid) {
    const Camera camera{
        .position = {0, 0, 100}, .target = {0, 0, 0}, .up = {0, 1, 0}, .half_width = 0.01};
    const Picture picture = rendered(std::span(&solid, 1), 200, camera);
    int count = 0;
    for (std::size_t p = 0; p < picture.size(); p += 3) count += picture[p] == 0 ? 1 : 0;
    return count * 4.0 / (200 * 200);
  };
  const Solid sphere{Shape::sphere, {0.5, 0.5, 0.5}, {.position = {0, 0, 0.6}}, kGreen};
  EXPECT_NEAR(area(sphere), M_PI / 4, 0.02);
  Solid cylinder{Shape::cylinder, {0.5, 0.5, 0.4}, {.position = {0, 0, 0.6}}, kGreen};
  EXPECT_NEAR(area(cylinder), M_PI / 4, 0.02);
  cylinder.pose.axes = turned(M_PI / 2, 0, 0).axes;  // lying
  EXPECT_NEAR(area(cylinder), 0.8, 0.02);
  Solid brick = box({0, 0, 0.6}, {0.5, 0.25, 0.4});
  EXPECT_NEAR(area(brick), 0.5, 0.02);
  brick.pose.axes = turned(0, 0, 0.7).axes;
  EXPECT_NEAR(area(brick), 0.5, 0.02);
}

TEST(HexapodCamera, NothingIsCutOffByTheRectanglesThatAreLookedAt) {
  // Cameras of a single pixel look for every solid that is anywhere near their ray.
  Stream stream(5, Purpose::user);
  std::vector<Solid> solids;
  for (int n = 0; n < 30; ++n) {
    const auto coordinate = [&](double range) { return range * (2 * stream.uniform() - 1); };
    Solid solid{static_cast<Shape>(n % 3),
                {0.05, 0.05, 0.2},
                turned(coordinate(3), coordinate(3), 0),
                kGreen};
    solid.pose.position = {coordinate(1), coordinate(1), 1.2 * stream.uniform()};
    if (solid.shape == Shape::sphere) solid.half = {0.1, 0.1, 0.1};
    solids.push_back(solid);
  }
  const Picture picture = rendered(solids);
  const Camera camera;
  const Vector ahead = camera.target - camera.position;
  const double length = std::sqrt(dot(ahead, ahead));
  const Vector right = {-1, 0, 0};
  const Vector up = cross(right, (1 / length) * ahead);
  for (std::size_t v = 0; v < 64; v += 3) {
    for (std::size_t u = 0; u < 64; u += 3) {
      const double a = camera.half_width * ((2.0 * static_cast<double>(u) + 1) / 64 - 1);
      const double b = camera.half_width * ((2.0 * static_cast<double>(v) + 1) / 64 - 1);
      Camera pixel = camera;
      pixel.target = camera.position + (1 / length) * ahead + a * right - b * up;
      pixel.half_width = 1e-9;
      EXPECT_EQ(at(rendered(solids, 1, pixel), 0, 0), at(picture, u, v)) << u << ' ' << v;
    }
  }
}

TEST(HexapodCamera, TheRobotHas25Solids) {
  Bodies bodies;
  bodies.fill({.position = {0, 0, 0.2}});
  const auto solids = solids_of(bodies);
  EXPECT_EQ(solids.size(), 25U);
  EXPECT_EQ(solids[0].half, (Vector{0.114, 0.0905, 0.021}));
  EXPECT_EQ(solids[3].shape, Shape::cylinder);
  EXPECT_EQ(solids[4].shape, Shape::sphere);
  EXPECT_EQ(solids[4].pose.position, (Vector{0.039, 0, 0.2 - 0.11095}));
}

TEST(HexapodCamera, ARobotThatIsNowhereIsNotDrawn) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr Vector kNowhere = {kNaN, kNaN, kNaN};
  Bodies bodies;
  bodies.fill({{kNowhere, kNowhere, kNowhere}, kNowhere});
  EXPECT_EQ(rendered(solids_of(bodies)), rendered({}));
  bodies.fill({.position = {1e30, 0, -1e30}});
  EXPECT_EQ(rendered(solids_of(bodies)), rendered({}));
}

}  // namespace
}  // namespace aurora::hexapod
