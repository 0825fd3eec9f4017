#include "aurora/tasks/hexapod/outcome.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "aurora/core/random.hpp"

namespace aurora::hexapod {
namespace {

constexpr double kPi = std::numbers::pi;

/// `pose`, turned around a world axis (0: x, 1: y, 2: z).
Transform turned(Transform pose, int axis, double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (Vector& v : pose.axes) {
    const Vector old = v;
    if (axis == 0) v = {old.x, c * old.y - s * old.z, s * old.y + c * old.z};
    if (axis == 1) v = {c * old.x + s * old.z, old.y, -s * old.x + c * old.z};
    if (axis == 2) v = {c * old.x - s * old.y, s * old.x + c * old.y, old.z};
  }
  return pose;
}

TEST(HexapodOutcome, AFlatRobotHasPitchHalfPiAndItsHeading) {
  for (const double yaw : {-3.0, -1.0, 0.0, 0.5, 2.5}) {
    Transform base = turned({}, 2, yaw);
    base.position = {0.1, -0.2, 0.3};
    const auto truth = ground_truth(base);
    EXPECT_EQ(truth[0], 0.1);
    EXPECT_EQ(truth[1], -0.2);
    EXPECT_EQ(truth[2], 0.3);
    EXPECT_NEAR(truth[3], kPi / 2, 1e-12);
    EXPECT_NEAR(truth[4], 0, 1e-7);
    EXPECT_NEAR(truth[5], yaw, 1e-7);
  }
}

TEST(HexapodOutcome, PitchAndRollHaveTheirSigns) {
  // Around y, positive angles bring the nose down; around x, they bring the left side up.
  EXPECT_NEAR(ground_truth(turned({}, 1, 0.4))[3], kPi / 2 + 0.4, 1e-9);
  EXPECT_NEAR(ground_truth(turned({}, 1, -0.4))[3], kPi / 2 - 0.4, 1e-9);
  EXPECT_NEAR(ground_truth(turned({}, 0, 0.4))[4], 0.4, 1e-9);
  EXPECT_NEAR(ground_truth(turned({}, 0, -0.4))[4], -0.4, 1e-9);
  // On its back.
  const auto flipped = ground_truth(turned({}, 0, kPi));
  EXPECT_NEAR(flipped[3], -kPi / 2, 1e-9);
  EXPECT_NEAR(std::abs(flipped[4]), kPi, 1e-6);
  EXPECT_NEAR(flipped[5], 0, 1e-9);
}

TEST(HexapodOutcome, HalfOfPitchAndRollIsOutOfReach) {
  // Pitch is positive if and only if |roll| is below pi/2.
  Stream stream(3, Purpose::user);
  for (int n = 0; n < 500; ++n) {
    Transform base;
    for (const int axis : {2, 1, 0, 2}) base = turned(base, axis, 2 * kPi * stream.uniform());
    const auto truth = ground_truth(base);
    EXPECT_EQ(truth[3] > 0, std::abs(truth[4]) < kPi / 2) << truth[3] << ' ' << truth[4];
  }
}

TEST(HexapodOutcome, ARobotThatLooksAlongItsArcScoresZero) {
  // An arc that leaves the origin along x reaches the angle a at (sin a, 1 - cos a), heading a.
  for (const double a : {-2.0, -0.5, 0.3, 1.0, 2.0}) {
    Transform base = turned({}, 2, a);
    base.position = {std::sin(a), 1 - std::cos(a), 0.1};
    EXPECT_NEAR(fitness(base), 0, 0.0051) << a;
    EXPECT_NEAR(fitness(turned(base, 2, 0.7)), -0.7, 0.0051) << a;
  }
}

TEST(HexapodOutcome, FitnessNeverExceedsHalfATurn) {
  Stream stream(4, Purpose::user);
  for (int n = 0; n < 500; ++n) {
    Transform base;
    for (const int axis : {2, 1, 0, 2}) base = turned(base, axis, 2 * kPi * stream.uniform());
    base.position = {stream.normal(), stream.normal(), stream.uniform()};
    EXPECT_LE(fitness(base), 0);
    EXPECT_GE(fitness(base), -kPi - 1e-9);
  }
}

TEST(HexapodOutcome, ThePointAboveTheBaseCounts) {
  Transform base = turned({}, 1, kPi / 4);  // nose down: the point is ahead of the base
  base.position = {-0.05, 0.02, 0.1};
  const double x = -0.05 + 0.15 * std::sqrt(0.5);
  EXPECT_NEAR(fitness(base), -std::abs(2 * std::atan2(0.02, x)), 1e-9);
}

TEST(HexapodOutcome, WhatIsNoNumberStaysNone) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr Vector kNowhere = {kNaN, kNaN, kNaN};
  const Transform base{{kNowhere, kNowhere, kNowhere}, kNowhere};
  EXPECT_TRUE(std::isnan(fitness(base)));
  for (const double value : ground_truth(base)) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace aurora::hexapod
