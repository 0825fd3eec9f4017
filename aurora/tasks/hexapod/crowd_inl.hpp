// Robots that walk at the same time, in registers that are put together anew for every step.
#if defined(AURORA_TASKS_HEXAPOD_CROWD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#undef AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_CROWD_INL_HPP
#endif

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "aurora/tasks/hexapod/controller.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/stepper_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// What is left of a robot between two steps.
struct Robot {
  Motion motion;
  Bodies bodies;  // where it is
  Floor floor;
  Stance stance;  // of the last step

  Moment moment() const {
    Moment moment;
    moment.angles = motion.angles;
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      moment.stands_on[leg] = stands_on(leg, stance.touches);
    }
    return moment;
  }
};

/// As many robots as N holds, for a step.
template <class N>
class Crew {
 public:
  using Robots = Robot * [kWidth<N>];

  /// Moves robots whose joints want to be at these angles from the contacts of their stances.
  void step(const Robots& robots, const double* const (&targets)[kWidth<N>]) {
    const Stance* stances[kWidth<N>];
    for (std::size_t n = 0; n < kWidth<N>; ++n) stances[n] = &robots[n]->stance;
    gather(robots);
    N wanted[kJoints];
    for (std::size_t l = 0; l < kLegs; ++l) {
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        fill(wanted[l * kLegJoints + k],
             [&](std::size_t n) { return targets[n][stances[n]->legs[l] * kLegJoints + k]; });
      }
    }
    stepper_.step(wanted, stances, state_);
    scatter(robots);
  }

  /// Only looks where they are.
  void look(const Robots& robots) {
    gather(robots);
    look_at_bodies(robots);
  }

 private:
  /// number <- of(n) for every lane n
  template <class Of>
  static HWY_INLINE void fill(N& number, const Of& of) {
    double lanes[kWidth<N>];
    for (std::size_t n = 0; n < kWidth<N>; ++n) lanes[n] = of(n);
    load(number, lanes);
  }
  static HWY_INLINE void fill(Vec3<N>& vector, const auto& of) {
    fill(vector.x, [&](std::size_t n) { return of(n).x; });
    fill(vector.y, [&](std::size_t n) { return of(n).y; });
    fill(vector.z, [&](std::size_t n) { return of(n).z; });
  }

  void gather(const Robots& robots) {
    for (std::size_t i = 0; i < 3; ++i) {
      Vec3<N> axis;
      fill(axis, [&](std::size_t n) -> const Vector& { return robots[n]->motion.base.axes[i]; });
      state_.rotation[i] = axis.x;
      state_.rotation[3 + i] = axis.y;
      state_.rotation[6 + i] = axis.z;
    }
    fill(state_.position, [&](std::size_t n) { return robots[n]->motion.base.position; });
    fill(state_.angular, [&](std::size_t n) { return robots[n]->motion.angular; });
    fill(state_.linear, [&](std::size_t n) { return robots[n]->motion.linear; });
    for (std::size_t l = 0; l < kLegs; ++l) {
      const auto leg = [&](std::size_t n) { return robots[n]->stance.legs[l]; };
      Mount<N>& mount = state_.mounts[l];
      fill(mount.hip.x, [&](std::size_t n) { return kHips[leg(n)].position.x; });
      fill(mount.hip.y, [&](std::size_t n) { return kHips[leg(n)].position.y; });
      mount.hip.z = 0.0;
      fill(mount.cos, [&](std::size_t n) { return kHipDirections[leg(n)][0]; });
      fill(mount.sin, [&](std::size_t n) { return kHipDirections[leg(n)][1]; });
      fill(mount.odd, [&](std::size_t n) { return leg(n) == kOddLeg ? 1 : 0; });
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        const auto joint = [&](std::size_t n) { return leg(n) * kLegJoints + k; };
        const std::size_t j = l * kLegJoints + k;
        fill(state_.angles[j], [&](std::size_t n) { return robots[n]->motion.angles[joint(n)]; });
        fill(state_.speeds[j], [&](std::size_t n) { return robots[n]->motion.speeds[joint(n)]; });
      }
    }
  }

  /// set(n, lane n) for every lane
  static HWY_INLINE void spread(const N& number, const auto& set) {
    double lanes[kWidth<N>];
    store(number, lanes);
    for (std::size_t n = 0; n < kWidth<N>; ++n) set(n, lanes[n]);
  }
  static HWY_INLINE void spread(const Vec3<N>& vector, const auto& to) {
    spread(vector.x, [&](std::size_t n, double x) { to(n).x = x; });
    spread(vector.y, [&](std::size_t n, double y) { to(n).y = y; });
    spread(vector.z, [&](std::size_t n, double z) { to(n).z = z; });
  }

  void scatter(const Robots& robots) {
    const N* r = state_.rotation;
    for (std::size_t i = 0; i < 3; ++i) {
      spread(Vec3<N>{r[i], r[3 + i], r[6 + i]},
             [&](std::size_t n) -> Vector& { return robots[n]->motion.base.axes[i]; });
    }
    spread(state_.position,
           [&](std::size_t n) -> Vector& { return robots[n]->motion.base.position; });
    spread(state_.angular, [&](std::size_t n) -> Vector& { return robots[n]->motion.angular; });
    spread(state_.linear, [&](std::size_t n) -> Vector& { return robots[n]->motion.linear; });
    for (std::size_t j = 0; j < kJoints; ++j) {
      const auto joint = [&](std::size_t n) {
        return robots[n]->stance.legs[j / kLegJoints] * kLegJoints + j % kLegJoints;
      };
      spread(state_.angles[j],
             [&](std::size_t n, double x) { robots[n]->motion.angles[joint(n)] = x; });
      spread(state_.speeds[j],
             [&](std::size_t n, double x) { robots[n]->motion.speeds[joint(n)] = x; });
    }
    look_at_bodies(robots);
  }

  void look_at_bodies(const Robots& robots) {
    Bodies* bodies[kWidth<N>];
    const LegOrder* legs[kWidth<N>];
    for (std::size_t n = 0; n < kWidth<N>; ++n) {
      bodies[n] = &robots[n]->bodies;
      legs[n] = &robots[n]->stance.legs;
    }
    place_bodies(state_, legs, bodies);
  }

  State<N> state_;
  Stepper<N> stepper_;
};

/// A robot at the start of an episode.
inline Robot new_robot(Crew<double>& crew) {
  Robot robot;
  robot.motion.base.position.z = kStartHeight;
  crew.look({&robot});
  return robot;
}

class Crowd {
 public:
  explicit Crowd(std::span<const Controller> controllers)
      : controllers_(controllers),
        robots_(controllers.size(), new_robot(*std::make_unique<Crew<double>>())),
        crew_(std::make_unique<Crew<Lanes>>()) {
    for (std::uint32_t n = 0; n < size(); ++n) order_.push_back({0, n});
  }

  std::size_t size() const { return controllers_.size(); }

  void step(double time) {
    for (Place& place : order_) {
      Robot& robot = robots_[place.robot];
      robot.floor.touch(robot.bodies, robot.stance.touches);
      robot.stance.arrange();
      place.key = robot.stance.key();
    }
    std::ranges::sort(order_);
    constexpr std::size_t kLanes = kWidth<Lanes>;
    for (std::size_t begin = 0; begin < size(); begin += kLanes) {
      Robot* robots[kLanes];
      const double* targets[kLanes];
      for (std::size_t n = 0; n < kLanes; ++n) {
        // Lanes without a robot repeat the first.
        const std::size_t robot = order_[begin + n < size() ? begin + n : begin].robot;
        robots[n] = &robots_[robot];
        targets[n] = controllers_[robot].targets(time).data();
      }
      crew_->step(robots, targets);
    }
  }

  const Bodies& bodies(std::size_t n) const { return robots_[n].bodies; }
  /// The last step of robot n.
  Moment moment(std::size_t n) const { return robots_[n].moment(); }

 private:
  struct Place {
    std::uint64_t key;
    std::uint32_t robot;

    friend auto operator<=>(const Place&, const Place&) = default;
  };

  std::span<const Controller> controllers_;
  std::vector<Robot> robots_;
  std::unique_ptr<Crew<Lanes>> crew_;
  std::vector<Place> order_;  // in which robots share registers
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
