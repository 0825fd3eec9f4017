// Robots that walk at the same time, in registers that are put together anew for every step.
#if defined(AURORA_TASKS_HEXAPOD_CROWD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#undef AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#endif

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "aurora/tasks/hexapod/controller.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/grouping.hpp"
#include "aurora/tasks/hexapod/stepper_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// Calls one(number) for every number of a state.
template <class N, class One>
HWY_INLINE void for_numbers(State<N>& state, const One& one) {
  for (N& number : state.rotation) one(number);
  for (Vec3<N>* vector : {&state.position, &state.angular, &state.linear}) {
    one(vector->x);
    one(vector->y);
    one(vector->z);
  }
  for (N& number : state.angles) one(number);
  for (N& number : state.speeds) one(number);
}

class Crowd {
 public:
  explicit Crowd(std::span<const Controller> controllers)
      : controllers_(controllers),
        states_(controllers.size()),
        bodies_(controllers.size()),
        floors_(controllers.size()),
        touches_(controllers.size()),
        stepper_(std::make_unique_for_overwrite<Stepper<Lanes>>()) {
    as_they_come_.resize(size());
    std::iota(as_they_come_.begin(), as_they_come_.end(), std::size_t{0});
    order_ = as_they_come_;
    state_ = at_start<Lanes>();
    for (std::size_t begin = 0; begin < size(); begin += kLanes) {
      choose(begin);
      scatter();
    }
  }

  std::size_t size() const { return controllers_.size(); }

  void step(double time) {
    for (std::size_t n = 0; n < size(); ++n) floors_[n].touch(bodies_[n], touches_[n]);
    const bool alone = size() <= kLanes;  // in one register, in which they can stay
    if (!alone) order_ = grouping_.order(touches_, kLanes);
    for (std::size_t begin = 0; begin < size(); begin += kLanes) {
      choose(begin);
      if (!alone) gather();
      Lanes targets[kJoints];
      aim(time, targets);
      const Touches* touches[kLanes];
      for (std::size_t n = 0; n < kLanes; ++n) touches[n] = &touches_[chosen_[n]];
      stepper_->step(targets, touches, state_);
      scatter();
    }
  }

  const Bodies& bodies(std::size_t n) const { return bodies_[n]; }

  /// The last step of robot n.
  Moment moment(std::size_t n) const {
    Moment moment;
    std::ranges::copy(std::span(states_[n]).subspan(kFirstAngle, kJoints), moment.angles.begin());
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      moment.stands_on[leg] = stands_on(leg, touches_[n]);
    }
    return moment;
  }

 private:
  static constexpr std::size_t kLanes = kWidth<Lanes>;
  static constexpr std::size_t kFirstAngle = 18;
  static constexpr std::size_t kNumbers = kFirstAngle + 2 * kJoints;

  /// Lanes without a robot repeat the first.
  void choose(std::size_t begin) {
    for (std::size_t n = 0; n < kLanes; ++n) {
      chosen_[n] = order_[begin + n < size() ? begin + n : begin];
    }
  }

  void gather() {
    std::size_t i = 0;
    for_numbers(state_, [&](Lanes& number) {
      double lanes[kLanes];
      for (std::size_t n = 0; n < kLanes; ++n) lanes[n] = states_[chosen_[n]][i];
      load(number, lanes);
      ++i;
    });
  }

  void aim(double time, Lanes (&targets)[kJoints]) const {
    double lanes[kJoints][kLanes];
    for (std::size_t n = 0; n < kLanes; ++n) {
      const std::array<double, kJoints>& wanted = controllers_[chosen_[n]].targets(time);
      for (std::size_t j = 0; j < kJoints; ++j) lanes[j][n] = wanted[j];
    }
    for (std::size_t j = 0; j < kJoints; ++j) load(targets[j], lanes[j]);
  }

  /// Writes down where the chosen robots and their bodies are.
  void scatter() {
    std::size_t i = 0;
    for_numbers(state_, [&](const Lanes& number) {
      double lanes[kLanes];
      store(number, lanes);
      for (std::size_t n = 0; n < kLanes; ++n) states_[chosen_[n]][i] = lanes[n];
      ++i;
    });
    Bodies* bodies[kLanes];
    for (std::size_t n = 0; n < kLanes; ++n) bodies[n] = &bodies_[chosen_[n]];
    look(state_, bodies);
  }

  std::span<const Controller> controllers_;
  std::vector<std::array<double, kNumbers>> states_;
  std::vector<Bodies> bodies_;
  std::vector<Floor> floors_;
  std::vector<Touches> touches_;
  std::unique_ptr<Stepper<Lanes>> stepper_;
  std::vector<std::size_t> as_they_come_;
  Grouping grouping_;
  std::span<const std::size_t> order_;  // of the robots in the registers
  std::size_t chosen_[kLanes];          // the robots in the present one
  State<Lanes> state_;                  // and where they are
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
