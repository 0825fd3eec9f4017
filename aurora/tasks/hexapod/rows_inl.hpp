// The constraints of a step as rows of a linear complementarity problem: each wants to change a
// velocity by `wanted`, with an impulse within bounds.
//
//   J M^-1 J^T lambda + softness lambda = wanted + slack,   low <= lambda <= high
//
// One row per joint (motor or limit), three per contact (normal, two of friction).
#if defined(AURORA_TASKS_HEXAPOD_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_ROWS_INL_HPP
#undef AURORA_TASKS_HEXAPOD_ROWS_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_ROWS_INL_HPP
#endif

#include <algorithm>
#include <numbers>

#include "aurora/tasks/hexapod/dynamics_inl.hpp"
#include "aurora/tasks/hexapod/stance.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

inline constexpr double kUnbounded = 1e30;
inline constexpr double kContactSoftness = 1e-5;  // of the row's own response
inline constexpr double kJointSoftness = 1e-8;    // DART's is 1e-9; nobody can tell
inline constexpr double kErrorReduction = 0.01;   // of a penetration, in a step
inline constexpr double kMaxErrorSpeed = 1e-3;    // m/s

template <class N>
struct Row {
  N wanted, softness;
  N low, high;
  N impulse;
  Mask<N> on;  // where there is such a row

  // Of the interior point method: where there are bounds, its impulse, multipliers of the bounds
  // and inverse distances from them (0 where there are none), stiffness, what its speed lacks,
  // right-hand side and direction.
  Mask<N> has_low, has_high;
  N trial;
  N z_low, z_high;
  N inverse_low, inverse_high, stiffness, lack, right, direction, push_low, push_high;
};

/// A row of a contact: what a unit impulse does to the base and to its leg's joints.
template <class N>
struct ContactRow : Row<N> {
  N wrench[6];
  N torques[kLegJoints];
  N stiff;       // 1 / softness
  Mask<N> free;  // within its bounds, as pivoting has it
};

template <class N>
struct Contact {
  std::size_t leg;  // kLegs: the base
  ContactRow<N> rows[3];
};

template <class N>
struct Problem {
  static constexpr std::size_t kMostContacts = (kLegs + 1) * Touches::kMost;

  Velocity<N> before;  // without any impulse
  Row<N> joints[kJoints];
  Mask<N> locked[kJoints];  // joints that reach their speed, as pivoting has it
  Contact<N> contacts[kMostContacts];
  std::size_t first[kLegs + 2];  // a leg's first contact; the last is their number
  Velocity<N> change;            // what the impulses do
};

template <class N>
HWY_INLINE Mask<N> nowhere() {
  return N(1) < N(0);
}

/// A joint is held at its limit, or kept from going faster than it may, or follows its motor.
template <class N>
HWY_NOINLINE void add_joint_rows(const State<N>& state, const Model<N>& model, const N* targets,
                                 Problem<N>& problem) {
  constexpr double kServoTime = std::numbers::pi * 0.015;  // s, from error to commanded speed
  const N zero = 0;
  const N fastest = kMaxSpeed;
  const N strongest = kMaxTorque * kTimeStep;
  for (std::size_t j = 0; j < kJoints; ++j) {
    Row<N>& row = problem.joints[j];
    const Leg<N>& leg = model.legs[j / kLegJoints];
    const N angle = state.angles[j];
    const N speed = problem.before.joints[j];
    const N slowest = max_of(-fastest, (N(-kJointLimit) - angle) * N(1 / kTimeStep));
    const N quickest = min_of(fastest, (N(kJointLimit) - angle) * N(1 / kTimeStep));
    N target = (targets[j] - angle) * N(1 / kServoTime);
    target = min_of(max_of(target, slowest), quickest);
    const Mask<N> below = angle < N(-kJointLimit);
    const Mask<N> above = angle > N(kJointLimit);
    const Mask<N> push = below | ((!above) & (speed < slowest));
    const Mask<N> pull = (above & (!below)) | ((!below) & (!push) & (speed > quickest));
    target = select(push, slowest, select(pull, quickest, target));
    target = select(below | above, zero, target);
    row.on = zero < N(1);
    row.wanted = target - speed;
    row.low = select(push, zero, select(pull, N(-kUnbounded), -strongest));
    row.high = select(pull, zero, select(push, N(kUnbounded), strongest));
    const std::size_t link = j % kLegJoints;
    row.softness = N(kJointSoftness) / (link == 0 ? leg.d00 : link == 1 ? leg.d11 : leg.d22);
    row.impulse = zero;
    problem.locked[j] = !(push | pull);
  }
}

/// How fast the robots move along a row.
template <class N>
HWY_INLINE N along(const ContactRow<N>& row, std::size_t leg, const Velocity<N>& velocity) {
  N sum = row.wrench[0] * velocity.base[0];
  for (std::size_t i = 1; i < 6; ++i) sum = mul_add(row.wrench[i], velocity.base[i], sum);
  if (leg == kLegs) return sum;
  for (std::size_t k = 0; k < kLegJoints; ++k) {
    sum = mul_add(row.torques[k], velocity.joints[leg * kLegJoints + k], sum);
  }
  return sum;
}

/// How much a unit impulse of a row changes the velocity along it.
template <class N>
HWY_INLINE N response(const ContactRow<N>& row, std::size_t l, const Model<N>& model) {
  N u[6];
  for (std::size_t i = 0; i < 6; ++i) u[i] = row.wrench[i];
  N sum = 0;
  if (l < kLegs) {
    const Leg<N>& leg = model.legs[l];
    N alone[kLegJoints];
    solve_leg(leg, row.torques, alone);
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i) u[i] = neg_mul_add(leg.coupling[k][i], alone[k], u[i]);
      sum = mul_add(row.torques[k], alone[k], sum);
    }
  }
  solve_lower(model.factor, u);
  for (std::size_t i = 0; i < 6; ++i) sum = mul_add(u[i], u[i], sum);
  return sum;
}

/// The places of one contact of every robot; robots without one have zeros.
template <class N>
struct Places {
  double x[kWidth<N>], y[kWidth<N>], depth[kWidth<N>], cos[kWidth<N>], sin[kWidth<N>];
  double joints[kWidth<N>], on[kWidth<N>];
};

template <class N>
HWY_INLINE void add_contact(const State<N>& state, const Model<N>& model, const Places<N>& places,
                            Problem<N>& problem, Contact<N>& contact) {
  N x, y, depth, cos, sin, joints, on_number;
  load(x, places.x);
  load(y, places.y);
  load(depth, places.depth);
  load(cos, places.cos);
  load(sin, places.sin);
  load(joints, places.joints);
  load(on_number, places.on);
  const Mask<N> on = on_number > N(0);
  const N* r = state.rotation;
  // World directions and the arm to the contact, in the base's frame.
  const Vec3<N> east = {r[0], r[1], r[2]};
  const Vec3<N> north = {r[3], r[4], r[5]};
  const Vec3<N> up = {r[6], r[7], r[8]};
  const Vec3<N> arm =
      (x - state.position.x) * east + (y - state.position.y) * north - state.position.z * up;
  const Vec3<N> directions[3] = {up, cos * east + sin * north, cos * north - sin * east};
  for (std::size_t d = 0; d < 3; ++d) {
    ContactRow<N>& row = contact.rows[d];
    const Vec3<N> turn = cross(arm, directions[d]);
    const N wrench[6] = {turn.x, turn.y, turn.z, directions[d].x, directions[d].y, directions[d].z};
    for (std::size_t i = 0; i < 6; ++i) row.wrench[i] = select(on, wrench[i], N(0));
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      row.torques[k] = 0.0;
      if (contact.leg == kLegs) continue;
      const N* axis = model.legs[contact.leg].axes[k];
      N torque = axis[0] * row.wrench[0];
      for (std::size_t i = 1; i < 6; ++i) torque = mul_add(axis[i], row.wrench[i], torque);
      row.torques[k] = select(joints > N(static_cast<double>(k)), torque, N(0));
    }
    row.on = on;
    row.wanted = -along(row, contact.leg, problem.before);
    row.softness = N(kContactSoftness) * select(on, response(row, contact.leg, model), N(1));
    row.stiff = N(1) / row.softness;
    row.impulse = 0.0;
    row.free = on;
    row.low = 0.0;
    row.high = d == 0 ? N(kUnbounded) : N(0);
  }
  ContactRow<N>& normal = contact.rows[0];
  const N error = min_of(depth * N(kErrorReduction / kTimeStep), N(kMaxErrorSpeed));
  normal.wanted = select(on, normal.wanted + error, N(0));
}

template <class N>
HWY_NOINLINE void add_contact_rows(const State<N>& state, const Model<N>& model,
                                   const Stance* const (&stances)[kWidth<N>], Problem<N>& problem) {
  std::size_t next = 0;
  for (std::size_t leg = 0; leg <= kLegs; ++leg) {
    problem.first[leg] = next;
    std::size_t most = 0;
    for (const Stance* robot : stances) {
      most = std::max(most, robot->touches.counts[robot->legs[leg]]);
    }
    for (std::size_t c = 0; c < most; ++c) {
      Places<N> places;
      for (std::size_t robot = 0; robot < kWidth<N>; ++robot) {
        const Touches& touches = stances[robot]->touches;
        const std::size_t own = stances[robot]->legs[leg];
        const bool on = c < touches.counts[own];
        const Touches::Place place = on ? touches.places[own][c] : Touches::Place{{}, 0};
        places.x[robot] = place.touch.x;
        places.y[robot] = place.touch.y;
        places.depth[robot] = place.touch.depth;
        places.cos[robot] = place.touch.cos;
        places.sin[robot] = place.touch.sin;
        places.joints[robot] = static_cast<double>(place.joints);
        places.on[robot] = on ? 1 : 0;
      }
      problem.contacts[next].leg = leg;
      add_contact(state, model, places, problem, problem.contacts[next]);
      ++next;
    }
  }
  problem.first[kLegs + 1] = next;
}

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
