// What moves on the table: four links, the tip, the puck; and the ground, which does not.
#if defined(AURORA_TASKS_AIR_HOCKEY_BODIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_BODIES_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_BODIES_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_BODIES_INL_HPP
#endif

#include <array>
#include <numbers>

#include "aurora/tasks/air_hockey/lanes_inl.hpp"
#include "aurora/tasks/air_hockey/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

inline constexpr std::size_t kTip = kJoints;  // after the links
inline constexpr std::size_t kPuck = kTip + 1;
inline constexpr std::size_t kGround = kPuck + 1;  // base and walls
inline constexpr std::size_t kBodies = kGround + 1;
inline constexpr float kLinkHalf = kLinkLength / 2;
inline constexpr float kWallFace = kTableHalf - kWallHalfThickness;

inline constexpr int kVelocitySweeps = 6;
inline constexpr int kPositionSweeps = 2;

/// Penetration and errors of joints that are left alone; corrections stop at it.
inline constexpr float kSlop = 0.005F;
inline constexpr float kAngularSlop = std::numbers::pi_v<float> * 2 / 180;

struct InverseMass {
  float linear = 0;   // 1 / mass
  float angular = 0;  // 1 / moment of inertia about the centre
};

constexpr InverseMass disc_mass(double density, double radius) {
  const double mass = density * std::numbers::pi * radius * radius;
  return {static_cast<float>(1 / mass), static_cast<float>(2 / (mass * radius * radius))};
}

constexpr std::array<InverseMass, kBodies> inverse_masses() {
  std::array<InverseMass, kBodies> masses;
  const double half = kLinkHalf;
  const double thick = kLinkHalfThickness;
  double density = 1;
  for (std::size_t i = 0; i < kJoints; ++i) {
    const double mass = density * 4 * half * thick;
    const double inertia = mass * (half * half + thick * thick) / 3;
    masses[i] = {static_cast<float>(1 / mass), static_cast<float>(1 / inertia)};
    density /= kDensityRatio;
  }
  masses[kTip] = disc_mass(kTipDensity, kTipRadius);
  masses[kPuck] = disc_mass(kPuckDensity, kPuckRadius);
  return masses;
}

inline constexpr std::array<InverseMass, kBodies> kInverseMass = inverse_masses();

/// Where the bodies are: centres, angles, and the links' directions. Discs have none.
template <class N>
struct Pose {
  N x[kBodies], y[kBodies];
  N angle[kJoints];
  N cos[kBodies], sin[kBodies];
};

template <class N>
struct Velocity {
  N x[kBodies], y[kBodies], turn[kBodies];
};

/// The arm stretched along +x, at rest; the puck where it will appear.
template <class N>
void put_at_start(Pose<N>& pose, Velocity<N>& velocity) {
  for (std::size_t b = 0; b < kBodies; ++b) {
    pose.x[b] = pose.y[b] = pose.sin[b] = N(0);
    pose.cos[b] = N(1);
    velocity.x[b] = velocity.y[b] = velocity.turn[b] = N(0);
  }
  for (std::size_t i = 0; i < kJoints; ++i) {
    pose.angle[i] = N(0);
    pose.x[i] = N(kLinkLength * static_cast<float>(i) + kLinkHalf);
  }
  pose.x[kTip] = N(kLinkLength * kJoints);
  pose.x[kPuck] = N(kPuckStart.x);
  pose.y[kPuck] = N(kPuckStart.y);
}

template <class N>
HWY_INLINE void update_directions(Pose<N>& pose) {
  for (std::size_t i = 0; i < kJoints; ++i) sin_cos(pose.angle[i], pose.sin[i], pose.cos[i]);
}

/// `yes` where the mask is; elsewhere nothing changes.
template <class N>
void keep_where(Mask<N> mask, const Pose<N>& yes, Pose<N>& pose) {
  for (std::size_t b = 0; b < kGround; ++b) {
    pose.x[b] = select(mask, yes.x[b], pose.x[b]);
    pose.y[b] = select(mask, yes.y[b], pose.y[b]);
  }
  for (std::size_t i = 0; i < kJoints; ++i) {
    pose.angle[i] = select(mask, yes.angle[i], pose.angle[i]);
    pose.cos[i] = select(mask, yes.cos[i], pose.cos[i]);
    pose.sin[i] = select(mask, yes.sin[i], pose.sin[i]);
  }
}

/// Positions after a step with these velocities: at most 2 m and a quarter of a turn.
template <class N>
HWY_INLINE void move(Velocity<N>& velocity, Pose<N>& pose) {
  const N dt = kTimeStep;
  constexpr float kFastest = 2 / kTimeStep;
  constexpr float kFastestTurn = std::numbers::pi_v<float> / 2 / kTimeStep;
  N fastest = N(0);
  for (std::size_t b = 0; b < kGround; ++b) {
    const N speed = max_of(abs_of(velocity.x[b]), abs_of(velocity.y[b]));
    fastest = max_of(fastest, max_of(speed, abs_of(velocity.turn[b])));
  }
  if (any(fastest > N(kFastest / 2))) {  // which is seldom
    for (std::size_t b = 0; b < kGround; ++b) {
      const N square = mul_add(velocity.x[b], velocity.x[b], velocity.y[b] * velocity.y[b]);
      const Mask<N> too_fast = square > N(kFastest * kFastest);
      const N slower = select(too_fast, N(kFastest) / sqrt_of(square), N(1));
      velocity.x[b] = velocity.x[b] * slower;
      velocity.y[b] = velocity.y[b] * slower;
      velocity.turn[b] = clamped(velocity.turn[b], N(-kFastestTurn), N(kFastestTurn));
    }
  }
  for (std::size_t b = 0; b < kGround; ++b) {
    pose.x[b] = mul_add(dt, velocity.x[b], pose.x[b]);
    pose.y[b] = mul_add(dt, velocity.y[b], pose.y[b]);
  }
  for (std::size_t i = 0; i < kJoints; ++i) {
    pose.angle[i] = mul_add(dt, velocity.turn[i], pose.angle[i]);
  }
}

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
