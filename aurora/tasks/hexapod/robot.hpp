// The hexapod: a base and six legs of three bodies, in metres, kilograms and radians.
//
// Body frame: x forward, y left, z up. A leg's frame: x outwards, z up. Bodies are numbered base,
// then coxa, femur and tibia of leg 0, of leg 1, ...; joint j moves body j + 1.
#pragma once

#include <array>
#include <cstddef>

#include "aurora/tasks/hexapod/geometry.hpp"

namespace aurora::hexapod {

inline constexpr std::size_t kLegs = 6;
inline constexpr std::size_t kLegJoints = 3;
inline constexpr std::size_t kJoints = kLegs * kLegJoints;
inline constexpr std::size_t kBodies = 1 + kJoints;

/// Where the bodies are.
using Bodies = std::array<Transform, kBodies>;

inline constexpr double kTimeStep = 0.03;   // s
inline constexpr std::size_t kSteps = 100;  // of an episode
inline constexpr double kGravity = 9.81;

inline constexpr double kStartHeight = 0.15;  // of the base's centre; the robot starts above ground
inline constexpr double kJointLimit = 1.5708;
inline constexpr double kMaxTorque = 4;
inline constexpr double kMaxSpeed = 5;

/// Mass, centre of mass and inertia around it, in the body's frame.
struct Mass {
  double mass;
  Vector centre;
  double ixx, iyy, izz, ixz;
};

inline constexpr Mass kBaseMass = {0.6791, {}, 0.001854, 0.003218, 0.004888, 0};
inline constexpr Vector kBaseBox = {0.228, 0.181, 0.042};

struct Hip {
  Vector position;
  double yaw;
};

// Not quite symmetric: the golden values come from a robot file that is not.
inline constexpr std::array<Hip, kLegs> kHips = {{{{0.093, -0.053, 0}, -0.7864},
                                                  {{0, -0.075, 0}, -1.5708},
                                                  {{-0.093, -0.053, 0}, -2.3562},
                                                  {{-0.093, 0.053, 0}, 2.3516},
                                                  {{0, 0.075, 0}, 1.5708},
                                                  {{0.093, 0.053, 0}, 0.7854}}};

inline constexpr std::array<const char*, kLegs> kLegNames = {
    "right_front", "right_middle", "right_rear", "left_rear", "left_middle", "left_front"};

/// One of a leg's three bodies and the joint that it turns in.
struct Link {
  Vector origin;  // of the joint, in the parent's frame; the hip's for a coxa
  Vector axis;
  Mass mass;
  Vector box;     // full lengths of the box that collides
  Vector drawn;   // of the box that is drawn; of a tibia: diameter, diameter, length of a cylinder
  Vector middle;  // of both
};

inline constexpr std::array<Link, kLegJoints> kLinks = {
    {{{},
      {0, 0, 1},
      {0.0199, {0.028, 0, 0}, 6.158e-6, 5.830e-6, 5.830e-6, 0},
      {0.061, 0.041, 0.041},
      {0.061, 0.041, 0.041},
      {0.028, 0, 0}},
     {{0.056, 0, 0},
      {0, 1, 0},
      {0.1872, {0.0405, 0, 0}, 3.154e-5, 1.896e-4, 1.972e-4, 0},
      {0.0835, 0.0424, 0.0285},
      {0.1035, 0.0424, 0.0285},
      {0.0405, 0, 0}},
     {{0.081, 0, 0},
      {0, -1, 0},
      {0.0911, {0.039, 0, -0.03195}, 1.668e-4, 1.605e-4, 2.741e-5, 9.703e-6},
      {0.026, 0.026, 0.158},
      {0.052, 0.052, 0.158},
      {0.039, 0, -0.03195}}}};

inline constexpr double kFootRadius = 0.025;
inline constexpr Vector kFoot = {0.039, 0, -0.11095};  // in the tibia's frame

/// Another oddity of the robot file is the coxa of leg 2, whose centre of mass is elsewhere.
inline constexpr std::size_t kOddLeg = 2;
inline constexpr Mass kOddCoxa = {0.0199, {0, 0.028, 0}, 6.158e-6, 5.830e-6, 5.830e-6, 0};

/// The mass of a leg's link.
constexpr const Mass& mass_of(std::size_t leg, std::size_t link) {
  return leg == kOddLeg && link == 0 ? kOddCoxa : kLinks[link].mass;
}

}  // namespace aurora::hexapod
