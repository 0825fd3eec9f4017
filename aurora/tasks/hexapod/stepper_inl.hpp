// A step of as many robots as N holds.
#if defined(AURORA_TASKS_HEXAPOD_STEPPER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_STEPPER_INL_HPP
#undef AURORA_TASKS_HEXAPOD_STEPPER_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_STEPPER_INL_HPP
#endif

#include "aurora/tasks/hexapod/dynamics_inl.hpp"
#include "aurora/tasks/hexapod/rows_inl.hpp"
#include "aurora/tasks/hexapod/solver_inl.hpp"
#include "aurora/tasks/hexapod/stance.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// Writes where a body of each robot is to its place in `to`.
template <class N>
HWY_INLINE void put(Transform* const (&to)[kWidth<N>], const Vec3<N>& x, const Vec3<N>& y,
                    const Vec3<N>& z, const Vec3<N>& position) {
  double numbers[12][kWidth<N>];
  const Vec3<N>* const vectors[4] = {&x, &y, &z, &position};
  for (std::size_t i = 0; i < 4; ++i) {
    store(vectors[i]->x, numbers[3 * i]);
    store(vectors[i]->y, numbers[3 * i + 1]);
    store(vectors[i]->z, numbers[3 * i + 2]);
  }
  for (std::size_t n = 0; n < kWidth<N>; ++n) {
    Transform& pose = *to[n];
    for (std::size_t i = 0; i < 3; ++i) {
      pose.axes[i] = {numbers[3 * i][n], numbers[3 * i + 1][n], numbers[3 * i + 2][n]};
    }
    pose.position = {numbers[9][n], numbers[10][n], numbers[11][n]};
  }
}

/// Where the bodies are of robots with their legs in these orders.
template <class N>
HWY_NOINLINE void place_bodies(const State<N>& state, const LegOrder* const (&legs)[kWidth<N>],
                               Bodies* const (&bodies)[kWidth<N>]) {
  Transform* to[kWidth<N>];
  for (std::size_t n = 0; n < kWidth<N>; ++n) to[n] = bodies[n]->data();
  const N* r = state.rotation;
  const Vec3<N> x = {r[0], r[3], r[6]};
  const Vec3<N> y = {r[1], r[4], r[7]};
  const Vec3<N> z = {r[2], r[5], r[8]};
  put<N>(to, x, y, z, state.position);
  for (std::size_t l = 0; l < kLegs; ++l) {
    Leg<N> leg;
    place_leg(state.mounts[l], state.angles + l * kLegJoints, leg);
    const Vec3<N>& hip = state.mounts[l].hip;
    const Vec3<N> out = leg.out.x * x + leg.out.y * y;
    const Vec3<N> left = leg.left.x * x + leg.left.y * y;
    const Vec3<N> root = state.position + hip.x * x + hip.y * y;
    const Vec3<N> femur_x = leg.femur_cos * out - leg.femur_sin * z;
    const Vec3<N> femur_z = leg.femur_sin * out + leg.femur_cos * z;
    const Vec3<N> tibia_x = leg.tibia_cos * out - leg.tibia_sin * z;
    const Vec3<N> tibia_z = leg.tibia_sin * out + leg.tibia_cos * z;
    const Vec3<N> elbow = root + N(kLinks[1].origin.x) * out;
    const Vec3<N> knee = elbow + N(kLinks[2].origin.x) * femur_x;
    for (std::size_t n = 0; n < kWidth<N>; ++n) {
      to[n] = bodies[n]->data() + 1 + (*legs[n])[l] * kLegJoints;
    }
    put<N>(to, out, left, z, root);
    for (Transform*& body : to) ++body;
    put<N>(to, femur_x, left, femur_z, elbow);
    for (Transform*& body : to) ++body;
    put<N>(to, tibia_x, left, tibia_z, knee);
  }
}

/// Remembers nothing of a robot from one step to the next.
template <class N>
class Stepper {
 public:
  /// Moves robots that stand like this and whose joints want to be there, all with their legs in
  /// the order of their stances.
  void step(const N* targets, const Stance* const (&stances)[kWidth<N>], State<N>& state) {
    describe(state, model_);
    Velocity<N>& velocity = problem_.before;
    move_freely(state, model_, velocity);
    add_joint_rows(state, model_, targets, problem_);
    add_contact_rows(state, model_, stances, problem_);
    solver_.solve(model_, problem_);
    for (std::size_t i = 0; i < 6; ++i) velocity.base[i] += problem_.change.base[i];
    for (std::size_t j = 0; j < kJoints; ++j) velocity.joints[j] += problem_.change.joints[j];
    move(velocity, state);
  }

 private:
  Model<N> model_;
  Problem<N> problem_;
  Solver<N> solver_;
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
