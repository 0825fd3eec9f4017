// The joints of the arm by sequential impulses: each joint in turn, from the tip to the base, gets
// the impulses that make its motor turn as commanded and its two ends move together.
#if defined(AURORA_TASKS_AIR_HOCKEY_ARM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_ARM_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_ARM_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_ARM_INL_HPP
#endif

#include "aurora/tasks/air_hockey/bodies_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

inline constexpr std::size_t kPivots =
    kJoints + 1;  // the tip's, too, with a motor that holds still

/// A symmetric 2 x 2 matrix.
template <class N>
struct Matrix2 {
  N xx, xy, yy;
};

template <class N>
HWY_INLINE Matrix2<N> inverse(const Matrix2<N>& k) {
  const N scale = N(1) / neg_mul_add(k.xy, k.xy, k.xx * k.yy);
  return {scale * k.yy, -(scale * k.xy), scale * k.xx};
}

/// How fast the ends of the joint between bodies `J - 1` and `J` part per impulse on them, for
/// links with these directions. The joint is half a link's length before the centre of J and
/// behind that of J - 1; the tip has it in its centre.
template <std::size_t J, class N>
HWY_INLINE Matrix2<N> response(const Pose<N>& pose) {
  constexpr float kFrom = J > 0 ? kInverseMass[J > 0 ? J - 1 : 0].linear : 0;
  N xx = kFrom + kInverseMass[J].linear;
  N yy = xx;
  N xy = 0;
  for (std::size_t i = J > 0 ? J - 1 : 0; i <= J && i < kTip; ++i) {
    const N lever = kInverseMass[i].angular * kLinkHalf * kLinkHalf;
    const N s = lever * pose.sin[i];
    xx = mul_add(s, pose.sin[i], xx);
    xy = neg_mul_add(s, pose.cos[i], xy);
    yy = mul_add(lever * pose.cos[i], pose.cos[i], yy);
  }
  return {xx, xy, yy};
}

/// Impulses of a joint, and what they have to do.
template <class N>
struct Joint {
  N x, y, motor, lower, upper;  // impulses of this step, or of the last before it begins
  N speed;                      // commanded
  Matrix2<N> softness;          // inverse of the response
};

template <class N>
class Arm {
 public:
  Arm() {
    for (Joint<N>& joint : joints_) {
      joint.x = joint.y = joint.motor = joint.lower = joint.upper = joint.speed = N(0);
    }
  }

  /// The angle of joint j.
  static HWY_INLINE N angle(const Pose<N>& pose, std::size_t j) {
    return j == 0 ? pose.angle[0] : pose.angle[j] - pose.angle[j - 1];
  }

  /// Sets the motors for the targets; returns the sum of the squared commands.
  HWY_INLINE N command(const Pose<N>& pose, const N* targets) {
    N squares = N(0);
    for (std::size_t j = 0; j < kJoints; ++j) {
      const N speed = N(kGain) * (targets[j] - angle(pose, j));
      joints_[j].speed = speed;
      squares = mul_add(speed, speed, squares);
    }
    return squares;
  }
  N speed(std::size_t j) const { return joints_[j].speed; }

  /// The step begins: with the impulses of the last.
  HWY_INLINE void begin(const Pose<N>& pose, Velocity<N>& velocity) {
    for (std::size_t i = 0; i < kJoints; ++i) {
      reach_x_[i] = N(kLinkHalf) * pose.cos[i];
      reach_y_[i] = N(kLinkHalf) * pose.sin[i];
    }
    for (std::size_t j = 0; j < kJoints; ++j) look_at_limits(angle(pose, j), j);
    begin_from<kTip>(pose, velocity);
  }

  /// All joints once.
  HWY_INLINE void solve(Velocity<N>& velocity) { solve_from<kTip>(velocity); }

  /// Moves the ends of each joint together, once; where that was not needed.
  HWY_INLINE Mask<N> correct(Pose<N>& pose) const {
    N worst = N(0);        // squared distance of two ends
    N worst_angle = N(0);  // beyond a limit
    correct_from<kTip>(pose, worst, worst_angle);
    return (worst <= N(kSlop * kSlop)) & (worst_angle <= N(kAngularSlop));
  }

 private:
  static constexpr float kLimit = std::numbers::pi_v<float>;
  // A limit does nothing while the joint is further away than it can turn in a step.
  static constexpr float kLimitMatters = kLimit - 0.15F;

  // From joint J to the base.

  template <std::size_t J>
  HWY_INLINE void begin_from(const Pose<N>& pose, Velocity<N>& velocity) {
    Joint<N>& joint = joints_[J];
    joint.softness = inverse(response<J>(pose));
    push<J>(joint.x, joint.y, velocity);
    spin<J>(joint.motor + joint.lower - joint.upper, velocity);
    if constexpr (J > 0) begin_from<J - 1>(pose, velocity);
  }

  template <std::size_t J>
  HWY_INLINE void solve_from(Velocity<N>& velocity) {
    constexpr float kResponse =
        kInverseMass[J].angular + (J > 0 ? kInverseMass[J > 0 ? J - 1 : 0].angular : 0);
    const N softness = 1 / kResponse;
    solve_motor<J>(softness, velocity);
    if constexpr (J < kTip) {
      if (any_near_limit_[J]) solve_limit<J>(softness, velocity);
    }
    solve_ends<J>(velocity);
    if constexpr (J > 0) solve_from<J - 1>(velocity);
  }

  template <std::size_t J>
  HWY_INLINE void correct_from(Pose<N>& pose, N& worst, N& worst_angle) const {
    if constexpr (J < kTip) {
      const N now = angle(pose, J);
      const N beyond = abs_of(now) - N(kLimit);
      if (any(beyond > N(0))) worst_angle = max_of(worst_angle, turn_back<J>(now, beyond, pose));
    }
    const N half = kLinkHalf;
    N x = pose.x[J];
    N y = pose.y[J];
    if constexpr (J < kTip) {
      x = neg_mul_add(half, pose.cos[J], x);
      y = neg_mul_add(half, pose.sin[J], y);
    }
    if constexpr (J > 0) {
      x = neg_mul_add(half, pose.cos[J - 1], x - pose.x[J - 1]);
      y = neg_mul_add(half, pose.sin[J - 1], y - pose.y[J - 1]);
    }
    worst = max_of(worst, mul_add(x, x, y * y));
    const Matrix2<N> k = inverse(response<J>(pose));
    const N push_x = -mul_add(k.xx, x, k.xy * y);
    const N push_y = -mul_add(k.xy, x, k.yy * y);
    shift<J>(push_x, push_y, pose);
    if constexpr (J > 0) shift_from<J - 1>(push_x, push_y, pose);
    if constexpr (J > 0) correct_from<J - 1>(pose, worst, worst_angle);
  }

  /// The impulse after which the joint turns as commanded, within what the motor can.
  template <std::size_t J>
  HWY_INLINE void solve_motor(N softness, Velocity<N>& velocity) {
    Joint<N>& joint = joints_[J];
    const N most = kMotorTorque * kTimeStep;
    const N wanted = neg_mul_add(softness, relative<J>(velocity) - joint.speed, joint.motor);
    const N motor = clamped(wanted, -most, most);
    spin<J>(motor - joint.motor, velocity);
    joint.motor = motor;
  }

  /// The impulse after which both ends move together.
  template <std::size_t J>
  HWY_INLINE void solve_ends(Velocity<N>& velocity) {
    Joint<N>& joint = joints_[J];
    N x = velocity.x[J];
    N y = velocity.y[J];
    if constexpr (J < kTip) {
      x = mul_add(velocity.turn[J], reach_y_[J], x);
      y = neg_mul_add(velocity.turn[J], reach_x_[J], y);
    }
    if constexpr (J > 0) {
      x = mul_add(velocity.turn[J - 1], reach_y_[J - 1], x - velocity.x[J - 1]);
      y = neg_mul_add(velocity.turn[J - 1], reach_x_[J - 1], y - velocity.y[J - 1]);
    }
    const Matrix2<N>& k = joint.softness;
    const N push_x = -mul_add(k.xx, x, k.xy * y);
    const N push_y = -mul_add(k.xy, x, k.yy * y);
    push<J>(push_x, push_y, velocity);
    joint.x = joint.x + push_x;
    joint.y = joint.y + push_y;
  }

  template <std::size_t J>
  static HWY_INLINE N relative(const Velocity<N>& velocity) {
    if constexpr (J == 0)
      return velocity.turn[0];
    else
      return velocity.turn[J] - velocity.turn[J - 1];
  }

  /// An angular impulse on J, and against the body before it.
  template <std::size_t J>
  static HWY_INLINE void spin(N impulse, Velocity<N>& velocity) {
    velocity.turn[J] = mul_add(N(kInverseMass[J].angular), impulse, velocity.turn[J]);
    if constexpr (J > 0) {
      constexpr float kFrom = kInverseMass[J - 1].angular;
      velocity.turn[J - 1] = neg_mul_add(N(kFrom), impulse, velocity.turn[J - 1]);
    }
  }

  /// An impulse at joint J on body J, and against the body before it.
  template <std::size_t J>
  HWY_INLINE void push(N x, N y, Velocity<N>& velocity) const {
    const N mass = kInverseMass[J].linear;
    velocity.x[J] = mul_add(mass, x, velocity.x[J]);
    velocity.y[J] = mul_add(mass, y, velocity.y[J]);
    if constexpr (J < kTip) {
      const N torque = neg_mul_add(reach_x_[J], y, reach_y_[J] * x);
      velocity.turn[J] = mul_add(N(kInverseMass[J].angular), torque, velocity.turn[J]);
    }
    if constexpr (J > 0) {
      const N from = kInverseMass[J - 1].linear;
      velocity.x[J - 1] = neg_mul_add(from, x, velocity.x[J - 1]);
      velocity.y[J - 1] = neg_mul_add(from, y, velocity.y[J - 1]);
      const N torque = neg_mul_add(reach_x_[J - 1], y, reach_y_[J - 1] * x);
      velocity.turn[J - 1] = mul_add(N(kInverseMass[J - 1].angular), torque, velocity.turn[J - 1]);
    }
  }

  HWY_INLINE void look_at_limits(N now, std::size_t j) {
    near_limit_[j] = abs_of(now) > N(kLimitMatters);
    any_near_limit_[j] = any(near_limit_[j]);
    Joint<N>& joint = joints_[j];
    joint.lower = select(near_limit_[j], joint.lower, N(0));
    joint.upper = select(near_limit_[j], joint.upper, N(0));
    if (!any_near_limit_[j]) return;
    to_lower_[j] = max_of(now + N(kLimit), N(0)) * N(1 / kTimeStep);
    to_upper_[j] = max_of(N(kLimit) - now, N(0)) * N(1 / kTimeStep);
  }

  /// An impulse that keeps the joint from turning beyond a limit within this step.
  template <std::size_t J>
  HWY_INLINE void solve_limit(N softness, Velocity<N>& velocity) {
    Joint<N>& joint = joints_[J];
    const Mask<N> near = near_limit_[J];
    const N own = velocity.turn[J];
    const N from = J > 0 ? velocity.turn[J > 0 ? J - 1 : 0] : N(0);
    const N lower =
        max_of(neg_mul_add(softness, relative<J>(velocity) + to_lower_[J], joint.lower), N(0));
    spin<J>(lower - joint.lower, velocity);
    const N upper =
        max_of(neg_mul_add(softness, to_upper_[J] - relative<J>(velocity), joint.upper), N(0));
    spin<J>(joint.upper - upper, velocity);
    joint.lower = select(near, lower, joint.lower);
    joint.upper = select(near, upper, joint.upper);
    velocity.turn[J] = select(near, velocity.turn[J], own);
    if constexpr (J > 0) velocity.turn[J - 1] = select(near, velocity.turn[J - 1], from);
  }

  /// Turns a joint back that is beyond a limit; by how much it was.
  template <std::size_t J>
  static HWY_INLINE N turn_back(N now, N beyond, Pose<N>& pose) {
    constexpr float kMost = std::numbers::pi_v<float> * 8 / 180;
    constexpr float kResponse =
        kInverseMass[J].angular + (J > 0 ? kInverseMass[J > 0 ? J - 1 : 0].angular : 0);
    const N error = clamped(beyond - N(kAngularSlop), N(0), N(kMost));
    const N impulse = select(now > N(0), -error, error) * N(1 / kResponse);
    const Mask<N> on = error > N(0);
    rotate<J>(on, N(kInverseMass[J].angular) * impulse, pose);
    if constexpr (J > 0) rotate<J - 1>(on, -(N(kInverseMass[J - 1].angular) * impulse), pose);
    return error;
  }
  template <std::size_t I>
  static HWY_INLINE void rotate(Mask<N> on, N angle, Pose<N>& pose) {
    N cos = pose.cos[I];
    N sin = pose.sin[I];
    turn(angle, cos, sin);
    pose.angle[I] = select(on, pose.angle[I] + angle, pose.angle[I]);
    pose.cos[I] = select(on, cos, pose.cos[I]);
    pose.sin[I] = select(on, sin, pose.sin[I]);
  }

  /// What an impulse would move, if positions were velocities: of the body behind a joint ...
  template <std::size_t I>
  static HWY_INLINE void shift(N x, N y, Pose<N>& pose) {
    pose.x[I] = mul_add(N(kInverseMass[I].linear), x, pose.x[I]);
    pose.y[I] = mul_add(N(kInverseMass[I].linear), y, pose.y[I]);
    if constexpr (I < kTip) swing<I>(x, y, pose);
  }
  /// ... and of the one before it.
  template <std::size_t I>
  static HWY_INLINE void shift_from(N x, N y, Pose<N>& pose) {
    pose.x[I] = neg_mul_add(N(kInverseMass[I].linear), x, pose.x[I]);
    pose.y[I] = neg_mul_add(N(kInverseMass[I].linear), y, pose.y[I]);
    swing<I>(x, y, pose);
  }
  /// Both levers and both impulses are opposite, so the torque is the same.
  template <std::size_t I>
  static HWY_INLINE void swing(N x, N y, Pose<N>& pose) {
    const N lever = kInverseMass[I].angular * kLinkHalf;
    const N angle = lever * neg_mul_add(pose.cos[I], y, pose.sin[I] * x);
    pose.angle[I] = pose.angle[I] + angle;
    turn(angle, pose.cos[I], pose.sin[I]);
  }

  Joint<N> joints_[kPivots];
  N reach_x_[kJoints], reach_y_[kJoints];    // from the centre of a link to its end
  N to_lower_[kJoints], to_upper_[kJoints];  // speed that leads to a limit within the step
  Mask<N> near_limit_[kJoints];
  bool any_near_limit_[kJoints];
};

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
