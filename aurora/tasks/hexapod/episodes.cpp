// A step of the hexapod, for one robot and for as many as a register holds.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/tasks/hexapod/episodes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/tasks/hexapod/episodes.hpp"

#include <algorithm>
#include <memory>

#include "aurora/tasks/hexapod/crowd_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

void run_all(std::span<const Controller> controllers, std::span<Bodies> ends,
             std::span<Walk> walks) {
  for (std::size_t begin = 0; begin < controllers.size(); begin += kCrowd) {
    Crowd crowd(controllers.subspan(begin, std::min(kCrowd, controllers.size() - begin)));
    double time = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      crowd.step(time);
      if (!walks.empty()) {
        for (std::size_t n = 0; n < crowd.size(); ++n) walks[begin + n][step] = crowd.moment(n);
      }
      time += kTimeStep;
    }
    for (std::size_t n = 0; n < crowd.size(); ++n) ends[begin + n] = crowd.bodies(n);
  }
}

class OneRobot : public Walker {
 public:
  OneRobot() : state_(at_start<double>()) {}

  void step(const std::array<double, kJoints>& targets) override {
    const Bodies bodies = this->bodies();
    floor_.touch(bodies, touches_);
    step(targets, touches_);
  }
  void step(const std::array<double, kJoints>& targets, const Touches& touches) override {
    stepper_.step(targets.data(), {&touches}, state_);
  }
  Bodies bodies() const override {
    Bodies bodies;
    look(state_, {&bodies});
    return bodies;
  }
  Motion motion() const override {
    const State<double>& state = state_;
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
  Moment moment() const override {
    Moment moment;
    std::ranges::copy(state_.angles, moment.angles.begin());
    for (std::size_t leg = 0; leg < kLegs; ++leg) moment.stands_on[leg] = stands_on(leg, touches_);
    return moment;
  }
  void set(const Motion& motion) override {
    State<double>& state = state_;
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
  State<double> state_;
  Stepper<double> stepper_;
  Floor floor_;
  Touches touches_;  // of the last step
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
