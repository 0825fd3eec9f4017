#include "aurora/tasks/hexapod/contacts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aurora/tasks/hexapod/episodes.hpp"

namespace aurora::hexapod {
namespace {

/// The robot as it stands at the start, moved.
Bodies standing(double height, double x = 0) {
  const auto robot = make_walker();
  Motion motion = robot->motion();
  motion.base.position = {x, 0, height};
  robot->set(motion);
  return robot->bodies();
}

// Where the base is when the feet touch the floor: leg and sphere are 0.11095 + 0.025 long.
constexpr double kFeetDown = 0.13595;

std::size_t total(const Touches& touches) {
  std::size_t sum = 0;
  for (const std::size_t count : touches.counts) sum += count;
  return sum;
}

TEST(HexapodContacts, AStandingRobotTouchesWithItsFeet) {
  Floor floor;
  Touches touches;
  floor.touch(standing(kFeetDown + 1e-4), touches);
  EXPECT_EQ(total(touches), 0U);
  const Bodies bodies = standing(kFeetDown - 0.002);
  floor.touch(bodies, touches);
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    ASSERT_EQ(touches.counts[leg], 1U);
    const Touches::Place& place = touches.places[leg][0];
    const Vector foot = bodies[3 + 3 * leg] * kFoot;
    EXPECT_EQ(place.joints, 3U);
    EXPECT_NEAR(place.touch.depth, 0.002, 1e-12);
    EXPECT_NEAR(place.touch.x, foot.x, 1e-12);
    EXPECT_NEAR(place.touch.y, foot.y, 1e-12);
    EXPECT_NEAR(std::hypot(place.touch.cos, place.touch.sin), 1, 1e-12);
  }
  EXPECT_EQ(touches.counts[kLegs], 0U);
}

TEST(HexapodContacts, ARobotStandsOnItsFeetAndTibiaeAlone) {
  Floor floor;
  Touches touches;
  floor.touch(standing(kFeetDown + 1e-4), touches);
  for (std::size_t leg = 0; leg < kLegs; ++leg) EXPECT_FALSE(stands_on(leg, touches));
  floor.touch(standing(kFeetDown - 0.002), touches);
  for (std::size_t leg = 0; leg < kLegs; ++leg) EXPECT_TRUE(stands_on(leg, touches));
  // Coxa and femur of a leg do not count.
  touches.counts = {1, 1, 2};
  touches.places[0][0].joints = 1;
  touches.places[1][0].joints = 2;
  touches.places[2][0].joints = 2;
  touches.places[2][1].joints = 3;
  EXPECT_FALSE(stands_on(0, touches));
  EXPECT_FALSE(stands_on(1, touches));
  EXPECT_TRUE(stands_on(2, touches));
  EXPECT_FALSE(stands_on(3, touches));
}

TEST(HexapodContacts, FrictionHasAnyDirectionUnlessTheFootIsDeep) {
  Touches touches;
  Floor floor;
  floor.touch(standing(kFeetDown - 0.028), touches);
  std::size_t turned = 0;
  for (std::size_t leg = 0; leg < kLegs; ++leg)
    turned += touches.places[leg][0].touch.sin != 0 ? 1 : 0;
  EXPECT_EQ(turned, kLegs);
  Floor deep;
  deep.touch(standing(kFeetDown - 0.030), touches);
  for (std::size_t leg = 0; leg < kLegs; ++leg) EXPECT_EQ(touches.places[leg][0].touch.sin, 0);
}

TEST(HexapodContacts, DirectionsFillAQuarterTurn) {
  double smallest = 2, largest = 0, sum = 0;
  constexpr int kPlaces = 2000;
  for (int i = 0; i < kPlaces; ++i) {
    Floor floor;
    Touches touches;
    floor.touch(standing(kFeetDown - 0.001, 1e-3 * i), touches);
    const Touch& touch = touches.places[0][0].touch;
    const double angle = std::atan2(touch.sin, touch.cos);
    smallest = std::min(smallest, angle);
    largest = std::max(largest, angle);
    sum += angle;
  }
  EXPECT_GT(smallest, 0);
  EXPECT_LT(smallest, 0.01);
  EXPECT_LT(largest, M_PI / 2);
  EXPECT_GT(largest, M_PI / 2 - 0.01);
  EXPECT_NEAR(sum / kPlaces, M_PI / 4, 0.04);
}

TEST(HexapodContacts, AFootThatSlidesALittleIsRememberedAndThenForgotten) {
  Floor floor;
  Touches touches;
  floor.touch(standing(kFeetDown - 0.001), touches);
  // Less than the 0.866 mm within which a point takes the place of another.
  floor.touch(standing(kFeetDown - 0.001, 0.0005), touches);
  EXPECT_EQ(touches.counts[0], 1U);
  EXPECT_NEAR(touches.places[0][0].touch.x, (standing(1, 0.0005)[3] * kFoot).x, 1e-12);
  // More: the old point has slid too far, and the new one is alone.
  floor.touch(standing(kFeetDown - 0.001, 0.0015), touches);
  EXPECT_EQ(touches.counts[0], 1U);
  // Up and away.
  floor.touch(standing(kFeetDown + 0.0005, 0.0015), touches);
  EXPECT_EQ(total(touches), 0U);
}

TEST(HexapodContacts, AManifoldKeepsFourPointsWithTheDeepest) {
  Manifold manifold;
  const auto add = [&](double x, double y, double depth) {
    manifold.add({{x, y, -depth}, {x, y, depth}}, 0.01);
  };
  add(0, 0, 0.004);
  add(1, 0, 0.001);
  add(1, 1, 0.001);
  add(0, 1, 0.001);
  EXPECT_EQ(manifold.size(), 4U);
  add(2, 2, 0.002);
  EXPECT_EQ(manifold.size(), 4U);
  bool deepest = false, newest = false;
  for (std::size_t i = 0; i < 4; ++i) {
    deepest |= manifold[i].depth == 0.004;
    newest |= manifold[i].x == 2;
  }
  EXPECT_TRUE(deepest && newest);
  add(2.001, 2, 0.003);  // in the place of its neighbour
  bool moved = false;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NE(manifold[i].x, 2);
    moved |= manifold[i].x == 2.001;
  }
  EXPECT_TRUE(moved);
  manifold.refresh(Transform{.position = {0, 0, 0.5}}, 0.01);
  EXPECT_TRUE(manifold.empty());
}

TEST(HexapodContacts, ABaseOnTheFloorTouchesWithItsFourLowerCorners) {
  Floor floor;
  Touches touches;
  floor.touch(standing(kBaseBox.z / 2 - 0.001), touches);
  ASSERT_EQ(touches.counts[kLegs], 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Touches::Place& place = touches.places[kLegs][i];
    EXPECT_EQ(place.joints, 0U);
    EXPECT_NEAR(place.touch.depth, 0.001, 1e-12);
    EXPECT_NEAR(std::abs(place.touch.x), kBaseBox.x / 2, 1e-12);
    EXPECT_NEAR(std::abs(place.touch.y), kBaseBox.y / 2, 1e-12);
    EXPECT_EQ(place.touch.sin, 0);
  }
  // The femora are lower than coxae half as thick, and deep tibiae and feet are there, too.
  for (std::size_t leg = 0; leg < kLegs; ++leg) EXPECT_GE(touches.counts[leg], 5U);
}

TEST(HexapodContacts, NothingTouchesThatIsNowhere) {
  Bodies bodies;
  const double nan = std::nan("");
  bodies.fill(
      {{Vector{nan, nan, nan}, Vector{nan, nan, nan}, Vector{nan, nan, nan}}, {nan, nan, nan}});
  Floor floor;
  Touches touches;
  for (int step = 0; step < 3; ++step) floor.touch(bodies, touches);
  EXPECT_EQ(total(touches), 0U);
}

}  // namespace
}  // namespace aurora::hexapod
