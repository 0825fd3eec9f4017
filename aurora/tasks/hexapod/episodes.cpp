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
  void step(const std::array<double, kJoints>& targets) override {
    robot_.floor.touch(robot_.bodies, robot_.stance.touches);
    step_from_stance(targets);
  }
  void step(const std::array<double, kJoints>& targets, const Touches& touches) override {
    robot_.stance.touches = touches;
    step_from_stance(targets);
  }
  Bodies bodies() const override { return robot_.bodies; }
  Motion motion() const override { return robot_.motion; }
  Moment moment() const override { return robot_.moment(); }
  void set(const Motion& motion) override {
    robot_.motion = motion;
    crew_.look({&robot_});
  }

 private:
  void step_from_stance(const std::array<double, kJoints>& targets) {
    robot_.stance.arrange();
    crew_.step({&robot_}, {targets.data()});
  }

  Crew<double> crew_;
  Robot robot_ = new_robot(crew_);
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
