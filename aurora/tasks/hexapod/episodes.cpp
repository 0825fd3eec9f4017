// A step of the hexapod, for one robot and for as many as a register holds.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/tasks/hexapod/episodes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/tasks/hexapod/episodes.hpp"

#include <algorithm>
#include <memory>

#include "aurora/tasks/hexapod/contacts.hpp"
#include "aurora/tasks/hexapod/dynamics_inl.hpp"
#include "aurora/tasks/hexapod/rows_inl.hpp"
#include "aurora/tasks/hexapod/solver_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// As many robots as N holds, from step to step.
template <class N>
class Robots {
 public:
  State<N> state;

  Robots() : state(at_start<N>()) {}

  void step(const N* targets) {
    describe(state, model_);
    look(state, model_.legs, bodies_);
    for (std::size_t n = 0; n < kWidth<N>; ++n) floors_[n].touch(bodies_[n], touches_[n]);
    push(targets, touches_);
  }

  /// A step with these contacts.
  void step(const N* targets, const Touches (&touches)[kWidth<N>]) {
    describe(state, model_);
    push(targets, touches);
  }

  /// Where the bodies of robot n are now.
  Bodies bodies(std::size_t n) const {
    Leg<N> legs[kLegs];
    for (std::size_t l = 0; l < kLegs; ++l) place_leg(l, state.angles + l * kLegJoints, legs[l]);
    Bodies bodies[kWidth<N>];
    look(state, legs, bodies);
    return bodies[n];
  }

  /// The last step of robot n.
  Moment moment(std::size_t n) const {
    Moment moment;
    for (std::size_t j = 0; j < kJoints; ++j) {
      double numbers[kWidth<N>];
      store(state.angles[j], numbers);
      moment.angles[j] = numbers[n];
    }
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      moment.stands_on[leg] = stands_on(leg, touches_[n]);
    }
    return moment;
  }

 private:
  void push(const N* targets, const Touches (&touches)[kWidth<N>]) {
    Velocity<N>& velocity = problem_.before;
    move_freely(state, model_, velocity);
    add_joint_rows(state, model_, targets, problem_);
    add_contact_rows(state, model_, touches, problem_);
    solver_.solve(model_, problem_);
    for (std::size_t i = 0; i < 6; ++i) velocity.base[i] += problem_.change.base[i];
    for (std::size_t j = 0; j < kJoints; ++j) velocity.joints[j] += problem_.change.joints[j];
    move(velocity, state);
  }

  static HWY_NOINLINE void look(const State<N>& state, const Leg<N> (&legs)[kLegs],
                                Bodies (&bodies)[kWidth<N>]) {
    const N* r = state.rotation;
    const Vec3<N> x = {r[0], r[3], r[6]};
    const Vec3<N> y = {r[1], r[4], r[7]};
    const Vec3<N> z = {r[2], r[5], r[8]};
    put(bodies, 0, x, y, z, state.position);
    for (std::size_t l = 0; l < kLegs; ++l) {
      const Leg<N>& leg = legs[l];
      const Vec3<N> hip = hip_of<N>(l);
      const Vec3<N> out = leg.out.x * x + leg.out.y * y;
      const Vec3<N> left = leg.left.x * x + leg.left.y * y;
      const Vec3<N> root = state.position + hip.x * x + hip.y * y;
      const Vec3<N> femur_x = leg.femur_cos * out - leg.femur_sin * z;
      const Vec3<N> femur_z = leg.femur_sin * out + leg.femur_cos * z;
      const Vec3<N> tibia_x = leg.tibia_cos * out - leg.tibia_sin * z;
      const Vec3<N> tibia_z = leg.tibia_sin * out + leg.tibia_cos * z;
      const Vec3<N> elbow = root + N(kLinks[1].origin.x) * out;
      const Vec3<N> knee = elbow + N(kLinks[2].origin.x) * femur_x;
      const std::size_t body = 1 + l * kLegJoints;
      put(bodies, body, out, left, z, root);
      put(bodies, body + 1, femur_x, left, femur_z, elbow);
      put(bodies, body + 2, tibia_x, left, tibia_z, knee);
    }
  }

  static HWY_INLINE void put(Bodies (&bodies)[kWidth<N>], std::size_t body, const Vec3<N>& x,
                             const Vec3<N>& y, const Vec3<N>& z, const Vec3<N>& position) {
    double numbers[12][kWidth<N>];
    const Vec3<N>* const vectors[4] = {&x, &y, &z, &position};
    for (std::size_t i = 0; i < 4; ++i) {
      store(vectors[i]->x, numbers[3 * i]);
      store(vectors[i]->y, numbers[3 * i + 1]);
      store(vectors[i]->z, numbers[3 * i + 2]);
    }
    for (std::size_t n = 0; n < kWidth<N>; ++n) {
      Transform& pose = bodies[n][body];
      for (std::size_t i = 0; i < 3; ++i) {
        pose.axes[i] = {numbers[3 * i][n], numbers[3 * i + 1][n], numbers[3 * i + 2][n]};
      }
      pose.position = {numbers[9][n], numbers[10][n], numbers[11][n]};
    }
  }

  Model<N> model_;
  Problem<N> problem_;
  Solver<N> solver_;
  Floor floors_[kWidth<N>];
  Touches touches_[kWidth<N>];
  Bodies bodies_[kWidth<N>];
};

void run_all(std::span<const Controller> controllers, std::span<Bodies> ends,
             std::span<Walk> walks) {
  constexpr std::size_t kLanes = kWidth<Lanes>;
  for (std::size_t begin = 0; begin < controllers.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, controllers.size() - begin);
    const auto robots = std::make_unique<Robots<Lanes>>();
    double time = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      // Lanes without a robot repeat the first.
      double numbers[kJoints][kLanes];
      for (std::size_t n = 0; n < kLanes; ++n) {
        const std::array<double, kJoints>& targets =
            controllers[begin + (n < count ? n : 0)].targets(time);
        for (std::size_t j = 0; j < kJoints; ++j) numbers[j][n] = targets[j];
      }
      Lanes targets[kJoints];
      for (std::size_t j = 0; j < kJoints; ++j) load(targets[j], numbers[j]);
      robots->step(targets);
      if (!walks.empty()) {
        for (std::size_t n = 0; n < count; ++n) walks[begin + n][step] = robots->moment(n);
      }
      time += kTimeStep;
    }
    for (std::size_t n = 0; n < count; ++n) ends[begin + n] = robots->bodies(n);
  }
}

class OneRobot : public Walker {
 public:
  void step(const std::array<double, kJoints>& targets) override { robots_.step(targets.data()); }
  void step(const std::array<double, kJoints>& targets, const Touches& touches) override {
    const Touches one[1] = {touches};
    robots_.step(targets.data(), one);
  }
  Bodies bodies() const override { return robots_.bodies(0); }
  Motion motion() const override {
    const State<double>& state = robots_.state;
    const double* r = state.rotation;
    Motion motion;
    motion.base = {{Vector{r[0], r[3], r[6]}, Vector{r[1], r[4], r[7]}, Vector{r[2], r[5], r[8]}},
                   {state.position.x, state.position.y, state.position.z}};
    motion.angular = {state.angular.x, state.angular.y, state.angular.z};
    motion.linear = {state.linear.x, state.linear.y, state.linear.z};
    std::ranges::copy(state.angles, motion.angles.begin());
    std::ranges::copy(state.speeds, motion.speeds.begin());
    return motion;
  }
  Moment moment() const override { return robots_.moment(0); }
  void set(const Motion& motion) override {
    State<double>& state = robots_.state;
    for (std::size_t i = 0; i < 3; ++i) {
      state.rotation[i] = motion.base.axes[i].x;
      state.rotation[3 + i] = motion.base.axes[i].y;
      state.rotation[6 + i] = motion.base.axes[i].z;
    }
    const Vector& p = motion.base.position;
    state.position = {p.x, p.y, p.z};
    state.angular = {motion.angular.x, motion.angular.y, motion.angular.z};
    state.linear = {motion.linear.x, motion.linear.y, motion.linear.z};
    std::ranges::copy(motion.angles, state.angles);
    std::ranges::copy(motion.speeds, state.speeds);
  }

 private:
  Robots<double> robots_;
};

std::unique_ptr<Walker> make_one() {
  return std::make_unique<OneRobot>();
}

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aurora::hexapod {

HWY_EXPORT(run_all);
HWY_EXPORT(make_one);

void run_episodes(std::span<const Controller> controllers, std::span<Bodies> ends,
                  std::span<Walk> walks) {
  HWY_DYNAMIC_DISPATCH(run_all)(controllers, ends, walks);
}

std::unique_ptr<Walker> make_walker() {
  return HWY_DYNAMIC_DISPATCH(make_one)();
}

}  // namespace aurora::hexapod
#endif
