// The hexapod's equations of motion, M [a; q''] = -bias, all in the base's frame.
//
// Legs meet only in the base. With the legs' 3 x 3 blocks D, their coupling C to the base and the
// base's block B, M is an arrow: [B, C; C^T, D]. A motion or a wrench on the base is six numbers,
// angular before linear.
#if defined(AURORA_TASKS_HEXAPOD_DYNAMICS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_DYNAMICS_INL_HPP
#undef AURORA_TASKS_HEXAPOD_DYNAMICS_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_DYNAMICS_INL_HPP
#endif

#include <array>
#include <cstddef>

#include "aurora/tasks/hexapod/lanes_inl.hpp"
#include "aurora/tasks/hexapod/robot.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

// cos and sin of the hips' yaws.
inline constexpr double kHipDirections[kLegs][2] = {
    {0.7063980209965164, -0.7078148316701235},    {-3.673205103346574e-06, -0.9999999999932537},
    {-0.7071106771981701, -0.7071028851534585},   {-0.7038505341797737, 0.7103481016620282},
    {-3.673205103346574e-06, 0.9999999999932537}, {0.7071054825112363, 0.7071080798594735}};

/// Where a leg begins, which is all that tells one from another.
template <class N>
struct Mount {
  Vec3<N> hip;
  N cos, sin;  // of its yaw
  N odd;       // 1 for kOddLeg, 0 for others
};

/// Where the robots are and how they move, their legs in any order.
template <class N>
struct State {
  N rotation[9];            // of the base, row by row
  Vec3<N> position;         // of its centre
  Vec3<N> angular, linear;  // its velocity, in its own frame
  N angles[kJoints];
  N speeds[kJoints];
  Mount<N> mounts[kLegs];
};

// ---- Packed symmetric matrices ----

/// Place of (i, j), j <= i, among the 21 numbers of a symmetric 6 x 6 matrix.
constexpr std::size_t at(std::size_t i, std::size_t j) {
  return i * (i + 1) / 2 + j;
}

/// The Cholesky factor in the place of a matrix; its diagonal inverted.
template <class N>
HWY_INLINE void factorise(N (&a)[21]) {
  HWY_UNROLL(6) for (std::size_t j = 0; j < 6; ++j) {
    N pivot = a[at(j, j)];
    HWY_UNROLL(6) for (std::size_t k = 0; k < j; ++k) {
      pivot = neg_mul_add(a[at(j, k)], a[at(j, k)], pivot);
    }
    const N inverse = N(1) / sqrt_of(pivot);
    a[at(j, j)] = inverse;
    HWY_UNROLL(6) for (std::size_t i = j + 1; i < 6; ++i) {
      N sum = a[at(i, j)];
      HWY_UNROLL(6) for (std::size_t k = 0; k < j; ++k) {
        sum = neg_mul_add(a[at(i, k)], a[at(j, k)], sum);
      }
      a[at(i, j)] = sum * inverse;
    }
  }
}

/// x <- L^-1 x
template <class N>
HWY_INLINE void solve_lower(const N (&factor)[21], N (&x)[6]) {
  HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) {
    N sum = x[i];
    HWY_UNROLL(6)
    for (std::size_t k = 0; k < i; ++k) sum = neg_mul_add(factor[at(i, k)], x[k], sum);
    x[i] = sum * factor[at(i, i)];
  }
}

/// x <- L^-T x
template <class N>
HWY_INLINE void solve_upper(const N (&factor)[21], N (&x)[6]) {
  for (std::size_t i = 6; i-- > 0;) {
    N sum = x[i];
    HWY_UNROLL(6) for (std::size_t k = i + 1; k < 6; ++k) {
      sum = neg_mul_add(factor[at(k, i)], x[k], sum);
    }
    x[i] = sum * factor[at(i, i)];
  }
}

// ---- The model ----

/// A leg at its angles, in the frame of the base.
template <class N>
struct Leg {
  Vec3<N> out, left;                             // x and y of the coxa; z is the base's
  N femur_cos, femur_sin, tibia_cos, tibia_sin;  // of how far each looks down
  N knee_x, knee_z;                              // the last joint, in the coxa's frame
  N axes[kLegJoints][6];                         // the joints' motions
  N coupling[kLegJoints][6];                     // C
  N d00, d11, d12, d22;                          // D; the coxa is not coupled to the others
  N i00, i11, i12, i22;                          // D^-1
};

template <class N>
struct Model {
  Leg<N> legs[kLegs];
  N base[21];      // B
  N factor[21];    // Cholesky factor of S = B - sum of C D^-1 C^T
  N base_bias[6];  // gravity, Coriolis and centrifugal forces
  N joint_bias[kJoints];
};

/// A rigid body's inertia around the hip, in the coxa's frame, in which nothing couples y to the
/// rest but the first moments (mass times centre).
template <class N>
struct Inertia {
  N xx, yy, zz, xz;
  Vec3<N> moment;
  N mass;

  HWY_INLINE void operator+=(const Inertia& other) {
    xx += other.xx;
    yy += other.yy;
    zz += other.zz;
    xz += other.xz;
    moment = moment + other.moment;
    mass += other.mass;
  }
  /// The momentum of a motion.
  HWY_INLINE void times(const Vec3<N>& angular, const Vec3<N>& linear, Vec3<N>& torque,
                        Vec3<N>& force) const {
    const Vec3<N> spin = {mul_add(xx, angular.x, xz * angular.z), yy * angular.y,
                          mul_add(xz, angular.x, zz * angular.z)};
    torque = spin + cross(moment, linear);
    force = mass * linear - cross(moment, angular);
  }
};

/// Of a body that is turned by an angle around y, with its centre at (x, 0, z).
template <class N>
HWY_INLINE Inertia<N> turned(const Mass& mass, N cos, N sin, N x, N z) {
  const N m = mass.mass;
  const N cc = cos * cos;
  const N ss = sin * sin;
  const N cs = cos * sin;
  const N mx = m * x;
  const N mz = m * z;
  const N twist = N(2 * mass.ixz) * cs;
  Inertia<N> inertia;
  inertia.xx = mul_add(N(mass.ixx), cc, mul_add(N(mass.izz), ss, mul_add(mz, z, twist)));
  inertia.zz = mul_add(N(mass.ixx), ss, mul_add(N(mass.izz), cc, mul_add(mx, x, -twist)));
  inertia.yy = mul_add(mx, x, mul_add(mz, z, N(mass.iyy)));
  inertia.xz = mul_add(N(mass.izz - mass.ixx), cs, neg_mul_add(mx, z, N(mass.ixz) * (cc - ss)));
  inertia.moment = {mx, N(0), mz};
  inertia.mass = m;
  return inertia;
}

/// From the coxa's frame to the base's, and back.
template <class N>
HWY_INLINE Vec3<N> to_base(const Leg<N>& leg, const Vec3<N>& a) {
  return {mul_add(leg.out.x, a.x, leg.left.x * a.y), mul_add(leg.out.y, a.x, leg.left.y * a.y),
          a.z};
}
template <class N>
HWY_INLINE Vec3<N> to_leg(const Leg<N>& leg, const Vec3<N>& a) {
  return {mul_add(leg.out.x, a.x, leg.out.y * a.y), mul_add(leg.left.x, a.x, leg.left.y * a.y),
          a.z};
}

/// A wrench (or, with the parts swapped, a motion) at the hip as one at the base's centre.
template <class N>
HWY_INLINE void at_base(const Leg<N>& leg, const Vec3<N>& hip, const Vec3<N>& turning,
                        const Vec3<N>& straight, N (&out)[6]) {
  const Vec3<N> s = to_base(leg, straight);
  const Vec3<N> t = to_base(leg, turning) + cross(hip, s);
  out[0] = t.x;
  out[1] = t.y;
  out[2] = t.z;
  out[3] = s.x;
  out[4] = s.y;
  out[5] = s.z;
}

/// The joints' motions in the coxa's frame, at the hip.
template <class N>
struct Axes {
  Vec3<N> angular[kLegJoints], linear[kLegJoints];

  HWY_INLINE explicit Axes(const Leg<N>& leg) {
    const N zero = 0;
    angular[0] = {zero, zero, N(1)};
    angular[1] = {zero, N(1), zero};
    angular[2] = {zero, N(-1), zero};
    linear[0] = {zero, zero, zero};
    linear[1] = {zero, zero, N(kLinks[1].origin.x)};
    linear[2] = {leg.knee_z, zero, -leg.knee_x};
  }
};

/// The forces that a leg's joints and hip must bear if nothing accelerates but gravity: velocities
/// go outwards from the hip, forces come back (Newton and Euler).
template <class N>
HWY_INLINE void add_leg_bias(const Axes<N>& axes, const Inertia<N> (&bodies)[kLegJoints],
                             const N* speeds, Vec3<N> angular, Vec3<N> linear, Vec3<N> gravity,
                             N* joint_bias, Vec3<N>& torque, Vec3<N>& force) {
  const N zero = 0;
  Vec3<N> spin_up = {zero, zero, zero};
  Vec3<N> speed_up = gravity;
  Vec3<N> torques[kLegJoints], forces[kLegJoints];
  HWY_UNROLL(3) for (std::size_t k = 0; k < kLegJoints; ++k) {
    const Vec3<N> a = speeds[k] * axes.angular[k];
    const Vec3<N> b = speeds[k] * axes.linear[k];
    angular = angular + a;
    linear = linear + b;
    spin_up = spin_up + cross(angular, a);
    speed_up = speed_up + cross(angular, b) + cross(linear, a);
    Vec3<N> spin, momentum;
    bodies[k].times(spin_up, speed_up, torques[k], forces[k]);
    bodies[k].times(angular, linear, spin, momentum);
    torques[k] = torques[k] + cross(angular, spin) + cross(linear, momentum);
    forces[k] = forces[k] + cross(angular, momentum);
  }
  torque = {zero, zero, zero};
  force = {zero, zero, zero};
  for (std::size_t k = kLegJoints; k-- > 0;) {
    torque = torque + torques[k];
    force = force + forces[k];
    joint_bias[k] = dot(axes.angular[k], torque) + dot(axes.linear[k], force);
  }
}

template <class N>
HWY_INLINE void place_leg(const Mount<N>& mount, const N* angles, Leg<N>& leg) {
  N s0, c0, s1, c1, s2, c2;
  sin_cos(angles[0], s0, c0);
  sin_cos(angles[1], s1, c1);
  sin_cos(angles[2], s2, c2);
  const N c = neg_mul_add(mount.sin, s0, mount.cos * c0);
  const N s = mul_add(mount.cos, s0, mount.sin * c0);
  leg.out = {c, s, N(0)};
  leg.left = {-s, c, N(0)};
  leg.femur_cos = c1;
  leg.femur_sin = s1;
  leg.tibia_cos = mul_add(c1, c2, s1 * s2);
  leg.tibia_sin = neg_mul_add(c1, s2, s1 * c2);
  leg.knee_x = mul_add(N(kLinks[2].origin.x), c1, N(kLinks[1].origin.x));
  leg.knee_z = N(-kLinks[2].origin.x) * s1;
}

/// Of a coxa.
template <class N>
HWY_INLINE Inertia<N> inertia_of(const Mass& coxa) {
  const Vector& at = coxa.centre;
  const double m = coxa.mass;
  return {N(coxa.ixx + m * at.y * at.y),
          N(coxa.iyy + m * at.x * at.x),
          N(coxa.izz + m * (at.x * at.x + at.y * at.y)),
          N(0),
          {N(m * at.x), N(m * at.y), N(0)},
          N(m)};
}

/// Inertias of a leg's three bodies around its hip.
template <class N>
HWY_INLINE void weigh_leg(const Mount<N>& mount, const Leg<N>& leg,
                          Inertia<N> (&bodies)[kLegJoints]) {
  bodies[0] = inertia_of<N>(kLinks[0].mass);
  const Inertia<N> odd = inertia_of<N>(kOddCoxa);
  const Mask<N> is_odd = mount.odd > N(0);
  bodies[0].xx = select(is_odd, odd.xx, bodies[0].xx);
  bodies[0].yy = select(is_odd, odd.yy, bodies[0].yy);
  bodies[0].zz = select(is_odd, odd.zz, bodies[0].zz);
  bodies[0].moment.x = select(is_odd, odd.moment.x, bodies[0].moment.x);
  bodies[0].moment.y = select(is_odd, odd.moment.y, bodies[0].moment.y);
  const Mass& femur = kLinks[1].mass;
  bodies[1] = turned(femur, leg.femur_cos, leg.femur_sin,
                     mul_add(N(femur.centre.x), leg.femur_cos, N(kLinks[1].origin.x)),
                     N(-femur.centre.x) * leg.femur_sin);
  const Mass& tibia = kLinks[2].mass;
  const N tx = tibia.centre.x;
  const N tz = tibia.centre.z;
  bodies[2] = turned(tibia, leg.tibia_cos, leg.tibia_sin,
                     mul_add(tx, leg.tibia_cos, mul_add(tz, leg.tibia_sin, leg.knee_x)),
                     neg_mul_add(tx, leg.tibia_sin, mul_add(tz, leg.tibia_cos, leg.knee_z)));
}

/// The symmetric tensor and moment of the whole robot, leg by leg.
template <class N>
struct Total {
  N xx, xy, yy, xz, yz, zz;
  Vec3<N> moment;
  N mass;

  /// Of the base alone.
  HWY_INLINE Total()
      : xx(kBaseMass.ixx),
        xy(0.0),
        yy(kBaseMass.iyy),
        xz(0.0),
        yz(0.0),
        zz(kBaseMass.izz),
        moment{N(0), N(0), N(0)},
        mass(kBaseMass.mass) {}

  HWY_INLINE void add(const Leg<N>& leg, const Vec3<N>& hip, const Inertia<N>& inertia) {
    const Vec3<N> h = to_base(leg, inertia.moment);
    const N m = inertia.mass;
    const N c = leg.out.x;
    const N s = leg.out.y;
    const N mx = mul_add(m, hip.x, h.x);  // moment around the base's centre
    const N my = mul_add(m, hip.y, h.y);
    // Around another point: x m y becomes (x + a) m (y + b).
    const N ax = mul_add(hip.x, mx, hip.x * h.x);
    const N ay = mul_add(hip.y, my, hip.y * h.y);
    xx += mul_add(c * c, inertia.xx, mul_add(s * s, inertia.yy, ay));
    yy += mul_add(s * s, inertia.xx, mul_add(c * c, inertia.yy, ax));
    zz += inertia.zz + (ax + ay);
    xy += mul_add(c * s, inertia.xx - inertia.yy, -mul_add(hip.x, my, hip.y * h.x));
    xz += neg_mul_add(hip.x, h.z, c * inertia.xz);
    yz += neg_mul_add(hip.y, h.z, s * inertia.xz);
    moment = moment + Vec3<N>{mx, my, h.z};
    mass += m;
  }

  HWY_INLINE void write(N (&b)[21]) const {
    const N zero = 0;
    b[at(0, 0)] = xx;
    b[at(1, 0)] = xy;
    b[at(1, 1)] = yy;
    b[at(2, 0)] = xz;
    b[at(2, 1)] = yz;
    b[at(2, 2)] = zz;
    b[at(3, 0)] = b[at(4, 1)] = b[at(5, 2)] = zero;
    b[at(3, 1)] = moment.z;
    b[at(3, 2)] = -moment.y;
    b[at(4, 0)] = -moment.z;
    b[at(4, 2)] = moment.x;
    b[at(5, 0)] = moment.y;
    b[at(5, 1)] = -moment.x;
    b[at(3, 3)] = b[at(4, 4)] = b[at(5, 5)] = mass;
    b[at(4, 3)] = b[at(5, 3)] = b[at(5, 4)] = zero;
  }
};

/// Subtracts C E^T from a packed matrix, where E = C D^-1: what a leg's joints take away from the
/// base's inertia if they are free.
template <class N>
HWY_INLINE void eliminate(const N (&c)[kLegJoints][6], const N (&e)[kLegJoints][6], N (&a)[21]) {
  HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) {
    HWY_UNROLL(6) for (std::size_t j = 0; j <= i; ++j) {
      a[at(i, j)] =
          neg_mul_add(e[0][i], c[0][j],
                      neg_mul_add(e[1][i], c[1][j], neg_mul_add(e[2][i], c[2][j], a[at(i, j)])));
    }
  }
}

/// Everything of M and the bias forces.
template <class N>
HWY_NOINLINE void describe(const State<N>& state, Model<N>& model) {
  const N g = kGravity;
  const Vec3<N> gravity = {g * state.rotation[6], g * state.rotation[7], g * state.rotation[8]};
  Vec3<N> torque, force;
  {
    const Vec3<N>& w = state.angular;
    const Vec3<N> spin = {N(kBaseMass.ixx) * w.x, N(kBaseMass.iyy) * w.y, N(kBaseMass.izz) * w.z};
    const Vec3<N> momentum = N(kBaseMass.mass) * state.linear;
    torque = cross(w, spin);
    force = N(kBaseMass.mass) * gravity + cross(w, momentum);
  }
  Total<N> total;
  for (std::size_t l = 0; l < kLegs; ++l) {
    Leg<N>& leg = model.legs[l];
    const Vec3<N>& hip = state.mounts[l].hip;
    place_leg(state.mounts[l], state.angles + l * kLegJoints, leg);
    const Axes<N> axes(leg);
    Inertia<N> bodies[kLegJoints];
    weigh_leg(state.mounts[l], leg, bodies);

    Vec3<N> leg_torque, leg_force;
    const Vec3<N> hip_speed = state.linear + cross(state.angular, hip);
    add_leg_bias(axes, bodies, state.speeds + l * kLegJoints, to_leg(leg, state.angular),
                 to_leg(leg, hip_speed), to_leg(leg, gravity), model.joint_bias + l * kLegJoints,
                 leg_torque, leg_force);
    const Vec3<N> pull = to_base(leg, leg_force);
    torque = torque + to_base(leg, leg_torque) + cross(hip, pull);
    force = force + pull;

    // A joint carries its body and those further out.
    bodies[1] += bodies[2];
    bodies[0] += bodies[1];
    total.add(leg, hip, bodies[0]);
    Vec3<N> torques[kLegJoints], forces[kLegJoints];
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      bodies[k].times(axes.angular[k], axes.linear[k], torques[k], forces[k]);
      at_base(leg, hip, torques[k], forces[k], leg.coupling[k]);
      const Vec3<N> turn = to_base(leg, axes.angular[k]);
      const Vec3<N> move = to_base(leg, axes.linear[k]) + cross(hip, turn);
      leg.axes[k][0] = turn.x;
      leg.axes[k][1] = turn.y;
      leg.axes[k][2] = turn.z;
      leg.axes[k][3] = move.x;
      leg.axes[k][4] = move.y;
      leg.axes[k][5] = move.z;
    }
    leg.d00 = torques[0].z;
    leg.d11 = mul_add(axes.linear[1].z, forces[1].z, torques[1].y);
    leg.d12 = mul_add(axes.linear[1].z, forces[2].z, torques[2].y);
    leg.d22 = mul_add(leg.knee_z, forces[2].x, neg_mul_add(leg.knee_x, forces[2].z, -torques[2].y));
    leg.i00 = N(1) / leg.d00;
    const N determinant = N(1) / neg_mul_add(leg.d12, leg.d12, leg.d11 * leg.d22);
    leg.i11 = leg.d22 * determinant;
    leg.i12 = -(leg.d12 * determinant);
    leg.i22 = leg.d11 * determinant;
  }
  const N bias[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
  for (std::size_t i = 0; i < 6; ++i) model.base_bias[i] = bias[i];
  total.write(model.base);

  for (std::size_t i = 0; i < 21; ++i) model.factor[i] = model.base[i];
  for (const Leg<N>& leg : model.legs) {
    N e[kLegJoints][6];
    for (std::size_t i = 0; i < 6; ++i) {
      e[0][i] = leg.i00 * leg.coupling[0][i];
      e[1][i] = mul_add(leg.i11, leg.coupling[1][i], leg.i12 * leg.coupling[2][i]);
      e[2][i] = mul_add(leg.i12, leg.coupling[1][i], leg.i22 * leg.coupling[2][i]);
    }
    eliminate(leg.coupling, e, model.factor);
  }
  factorise(model.factor);
}

/// D^-1 t
template <class N>
HWY_INLINE void solve_leg(const Leg<N>& leg, const N* t, N (&out)[kLegJoints]) {
  out[0] = leg.i00 * t[0];
  out[1] = mul_add(leg.i11, t[1], leg.i12 * t[2]);
  out[2] = mul_add(leg.i12, t[1], leg.i22 * t[2]);
}

/// (base, joints) <- M^-1 (base, joints): what forces (impulses) do to velocities.
template <class N>
HWY_INLINE void accelerate(const Model<N>& model, N (&base)[6], N (&joints)[kJoints]) {
  N alone[kLegJoints];
  for (std::size_t l = 0; l < kLegs; ++l) {
    const Leg<N>& leg = model.legs[l];
    solve_leg(leg, joints + l * kLegJoints, alone);
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i)
        base[i] = neg_mul_add(leg.coupling[k][i], alone[k], base[i]);
    }
  }
  solve_lower(model.factor, base);
  solve_upper(model.factor, base);
  for (std::size_t l = 0; l < kLegs; ++l) {
    const Leg<N>& leg = model.legs[l];
    N* t = joints + l * kLegJoints;
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i) t[k] = neg_mul_add(leg.coupling[k][i], base[i], t[k]);
    }
    solve_leg(leg, t, alone);
    for (std::size_t k = 0; k < kLegJoints; ++k) t[k] = alone[k];
  }
}

/// Velocities of base and joints.
template <class N>
struct Velocity {
  N base[6];
  N joints[kJoints];
};

/// After a step in which nothing holds the joints and there is no floor.
template <class N>
HWY_NOINLINE void move_freely(const State<N>& state, const Model<N>& model, Velocity<N>& out) {
  for (std::size_t i = 0; i < 6; ++i) out.base[i] = -model.base_bias[i];
  for (std::size_t j = 0; j < kJoints; ++j) out.joints[j] = -model.joint_bias[j];
  accelerate(model, out.base, out.joints);
  // The base's acceleration is that of a point, not of a motion in a turning frame.
  const Vec3<N> turning = cross(state.angular, state.linear);
  const Vec3<N>& w = state.angular;
  const Vec3<N>& v = state.linear;
  const N now[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  out.base[3] += turning.x;
  out.base[4] += turning.y;
  out.base[5] += turning.z;
  for (std::size_t i = 0; i < 6; ++i) out.base[i] = mul_add(N(kTimeStep), out.base[i], now[i]);
  for (std::size_t j = 0; j < kJoints; ++j) {
    out.joints[j] = mul_add(N(kTimeStep), out.joints[j], state.speeds[j]);
  }
}

/// Moves the robots for a step with these velocities.
template <class N>
HWY_NOINLINE void move(const Velocity<N>& velocity, State<N>& state) {
  const N dt = kTimeStep;
  for (std::size_t j = 0; j < kJoints; ++j) {
    state.speeds[j] = velocity.joints[j];
    state.angles[j] = mul_add(dt, velocity.joints[j], state.angles[j]);
  }
  const N* b = velocity.base;
  const Vec3<N> w = {b[0], b[1], b[2]};
  const Vec3<N> v = {b[3], b[4], b[5]};
  N* r = state.rotation;
  state.position.x = mul_add(dt, dot({r[0], r[1], r[2]}, v), state.position.x);
  state.position.y = mul_add(dt, dot({r[3], r[4], r[5]}, v), state.position.y);
  state.position.z = mul_add(dt, dot({r[6], r[7], r[8]}, v), state.position.z);

  // E = exp(dt w) = 1 + s [o] + c [o]^2 with s = sin|o|/|o|, c = (1 - cos|o|)/|o|^2 by their
  // series.
  const Vec3<N> o = dt * w;
  const N u = dot(o, o);
  N s = 0;
  N c = 0;
  for (int k = 9; k >= 1; --k) {
    s = (N(1) - s) * (u * N(1.0 / (2.0 * k * (2 * k + 1))));
    c = (N(1) - c) * (u * N(1.0 / ((2.0 * k + 1) * (2 * k + 2))));
  }
  s = N(1) - s;
  c = N(0.5) * (N(1) - c);
  const N xx = c * (o.x * o.x), yy = c * (o.y * o.y), zz = c * (o.z * o.z);
  const N xy = c * (o.x * o.y), xz = c * (o.x * o.z), yz = c * (o.y * o.z);
  const Vec3<N> sw = s * o;
  const Vec3<N> columns[3] = {{N(1) - (yy + zz), xy + sw.z, xz - sw.y},
                              {xy - sw.z, N(1) - (xx + zz), yz + sw.x},
                              {xz + sw.y, yz - sw.x, N(1) - (xx + yy)}};
  for (std::size_t row = 0; row < 3; ++row) {
    const Vec3<N> old = {r[3 * row], r[3 * row + 1], r[3 * row + 2]};
    for (std::size_t column = 0; column < 3; ++column)
      r[3 * row + column] = dot(old, columns[column]);
  }
  state.angular = w;
  // As seen from the new frame.
  state.linear = {dot(columns[0], v), dot(columns[1], v), dot(columns[2], v)};
}

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
