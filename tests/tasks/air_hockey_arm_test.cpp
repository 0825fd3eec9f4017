// The arm alone, one robot: what episodes hardly ever come to.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>

#include "aurora/tasks/air_hockey/arm_inl.hpp"

namespace aurora::air_hockey {
namespace {

using namespace HWY_NAMESPACE;  // the one that this file is compiled for

struct OneArm {
  Pose<float> pose;
  Velocity<float> velocity;
  Arm<float> arm;

  OneArm() { put_at_start(pose, velocity); }

  void step(const std::array<float, kJoints>& targets) {
    arm.command(pose, targets.data());
    arm.begin(pose, velocity);
    for (int sweep = 0; sweep < kVelocitySweeps; ++sweep) arm.solve(velocity);
    move(velocity, pose);
    update_directions(pose);
    arm.correct(pose);
  }

  /// About the base.
  double angular_momentum() const {
    double sum = 0;
    for (std::size_t b = 0; b <= kTip; ++b) {
      const InverseMass& mass = kInverseMass[b];
      const double orbit = pose.x[b] * velocity.y[b] - pose.y[b] * velocity.x[b];
      sum += orbit / mass.linear + velocity.turn[b] / mass.angular;
    }
    return sum;
  }
};

/// What the base's joint holds goes through the origin, so only its motor turns the arm.
TEST(AirHockeyArm, MotorsGiveNoMoreThanTheyCan) {
  OneArm strong;
  strong.arm.command(strong.pose, std::array<float, kJoints>{1e4F, 0, 0, 0}.data());
  strong.arm.begin(strong.pose, strong.velocity);
  for (int sweep = 0; sweep < kVelocitySweeps; ++sweep) strong.arm.solve(strong.velocity);
  EXPECT_NEAR(strong.angular_momentum(), kMotorTorque * kTimeStep, 1e-6);
}

TEST(AirHockeyArm, JointsTurnAsTheyAreTold) {
  OneArm one;
  for (int step = 0; step < 100; ++step) one.step({1, -0.5F, 0.5F, 0.2F});
  for (std::size_t j = 0; j < kJoints; ++j) {
    // Six sweeps leave some of a fast start behind.
    const float target = std::array{1.0F, -0.5F, 0.5F, 0.2F}[j];
    EXPECT_NEAR(one.arm.angle(one.pose, j), target * (1 - std::exp(-0.3F)), 0.01F) << j;
  }
}

TEST(AirHockeyArm, NoJointTurnsBeyondHalfATurn) {
  const float pi = std::numbers::pi_v<float>;
  for (const float side : {1.0F, -1.0F}) {
    for (std::size_t j = 0; j < kJoints; ++j) {
      OneArm one;
      std::array<float, kJoints> targets{};
      targets[j] = side * 8;  // beyond any that a gene can name
      float furthest = 0;
      for (int step = 0; step < 500; ++step) {
        one.step(targets);
        furthest = std::max(furthest, std::abs(one.arm.angle(one.pose, j)));
      }
      EXPECT_LT(furthest, pi + 0.04F) << j;  // 2 degrees are left alone
      EXPECT_GT(furthest, pi - 0.01F) << j;
    }
  }
}

TEST(AirHockeyArm, AJointBeyondItsLimitIsTurnedBack) {
  const float pi = std::numbers::pi_v<float>;
  OneArm one;
  one.pose.angle[kJoints - 1] = pi + 0.3F;
  update_directions(one.pose);
  one.pose.x[3] = one.pose.x[2] + kLinkHalf + kLinkHalf * one.pose.cos[3];
  one.pose.y[3] = kLinkHalf * one.pose.sin[3];
  one.pose.x[kTip] = one.pose.x[3] + kLinkHalf * one.pose.cos[3];
  one.pose.y[kTip] = one.pose.y[3] + kLinkHalf * one.pose.sin[3];
  for (int step = 0; step < 50; ++step) one.step({0, 0, 0, pi + 0.3F});
  EXPECT_LT(one.arm.angle(one.pose, 3), pi + 0.04F);
}

}  // namespace
}  // namespace aurora::air_hockey
