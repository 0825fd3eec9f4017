#include "aurora/tasks/hexapod/drawing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace aurora::hexapod {
namespace {

/// The robot with all joints at 0 and its base at a place, upright or on its back.
Bodies robot_at(const Vector& place, bool on_its_back = false) {
  Bodies bodies;
  Transform base;
  if (on_its_back) base.axes = {Vector{1, 0, 0}, Vector{0, -1, 0}, Vector{0, 0, -1}};
  base.position = place;
  bodies[0] = base;
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const double yaw = kHips[leg].yaw;
    const Vector outwards = {std::cos(yaw), std::sin(yaw), 0};
    const Vector sideways = {-std::sin(yaw), std::cos(yaw), 0};
    Vector origin = kHips[leg].position;
    for (std::size_t link = 0; link < kLegJoints; ++link) {
      origin = origin + kLinks[link].origin.x * outwards;
      Transform& body = bodies[1 + leg * kLegJoints + link];
      body.axes = {base.rotate(outwards), base.rotate(sideways), base.axes[2]};
      body.position = base * origin;
    }
  }
  return bodies;
}

std::vector<Bodies> walk(bool on_its_back) {
  std::vector<Bodies> moments;
  for (int i = 0; i < 10; ++i) moments.push_back(robot_at({0.05 * i, 0, 0.15}, on_its_back));
  return moments;
}

TEST(HexapodGait, HasADarkLineForEachLegWhileItStands) {
  Walk walk;
  for (std::size_t step = 0; step < kSteps; ++step) {
    walk[step].stands_on[1] = true;
    walk[step].stands_on[4] = step >= 50;
  }
  constexpr std::size_t kNames = 160;
  const Image image = draw_gait(walk, kNames + 300);
  ASSERT_EQ(image.width, kNames + 300);
  ASSERT_EQ(image.height, kLegs * 28);
  const auto dark = [&](std::size_t leg, std::size_t x) {
    return image.at(kNames + x, leg * 28 + 14).red < 100;
  };
  for (std::size_t x = 0; x < 300; ++x) {
    EXPECT_TRUE(dark(1, x)) << x;
    EXPECT_EQ(dark(4, x), x >= 150) << x;
    for (const std::size_t leg : {0U, 2U, 3U, 5U}) EXPECT_FALSE(dark(leg, x)) << x;
  }
}

std::size_t yellow(const Image& image) {
  std::size_t count = 0;
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      const aurora::Colour c = image.at(x, y);
      count += c.red > 180 && c.green > 150 && c.blue < 60 ? 1 : 0;
    }
  }
  return count;
}

/// The middle of what is strongly red or blue in the left half of a frame: the robot from above.
double robot_column(const Image& frame) {
  double sum = 0;
  double count = 0;
  for (std::size_t y = 0; y < frame.height; ++y) {
    for (std::size_t x = 0; x < frame.width / 2; ++x) {
      const aurora::Colour c = frame.at(x, y);
      if (c.green > 60) continue;
      sum += static_cast<double>(x);
      ++count;
    }
  }
  EXPECT_GT(count, 1000);
  return sum / count;
}

TEST(HexapodDrawing, ItWalksToTheRightAndItsFrontIsMarked) {
  const Drawing drawing = draw_episode(walk(false));
  ASSERT_EQ(drawing.film.size(), 5u);
  EXPECT_EQ(drawing.film[0].width, 1032u);
  EXPECT_EQ(drawing.film[0].height, 512u);
  EXPECT_GT(robot_column(drawing.film[4]), robot_column(drawing.film[0]) + 100);
  EXPECT_GT(yellow(drawing.picture), 200u);
}

TEST(HexapodDrawing, AFlippedRobotLooksFlipped) {
  const Drawing upright = draw_episode(walk(false));
  const Drawing flipped = draw_episode(walk(true));
  EXPECT_EQ(yellow(flipped.picture), 0u);  // the mark is below
  EXPECT_NE(upright.picture, flipped.picture);
}

TEST(HexapodDrawing, NoRobotNoDrawing) {
  EXPECT_TRUE(draw_episode({}).picture.empty());
  std::vector<Bodies> nowhere = walk(false);
  nowhere[3][0].position.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(draw_episode(nowhere).picture.empty());
}

}  // namespace
}  // namespace aurora::hexapod
