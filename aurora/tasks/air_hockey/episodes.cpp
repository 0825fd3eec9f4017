// A step of the table, for one robot and for as many as a register holds.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/tasks/air_hockey/episodes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aurora/tasks/air_hockey/episodes.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numbers>

#include "aurora/tasks/air_hockey/sweeps_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

/// The table, the arm and, once it is there, the puck, of as many robots as N holds.
template <class N>
class Tables {
 public:
  Tables() {
    put_at_start(pose_, velocity_);
    rest_ = squares_ = lost_ = N(0);
  }

  void add_puck() { puck_exists_ = true; }

  void step(const N* targets) {
    add_to_fitness(arm_.command(pose_, targets));
    collisions_.begin(pose_, puck_exists_, velocity_);
    arm_.begin(pose_, velocity_);
    solve_velocities();
    collisions_.end();
    const Pose<N> before = pose_;
    move(velocity_, pose_);
    update_directions(pose_);
    correct_positions();
    if (puck_exists_) rest();
    sweep_from<1>(before);
  }

  /// Of robot n, after the last step.
  float fitness(std::size_t n) const { return -number(squares_, n); }
  Point puck(std::size_t n) const { return {number(pose_.x[kPuck], n), number(pose_.y[kPuck], n)}; }
  Moment moment(std::size_t n) const {
    Moment moment;
    const N half = kLinkHalf;
    moment.arm[0] = {0, 0};
    for (std::size_t i = 0; i < kJoints; ++i) {
      moment.commands[i] = number(arm_.speed(i), n);
      if (i == 0) continue;
      moment.arm[i] = {number(mul_add(half, pose_.cos[i - 1], pose_.x[i - 1]), n),
                       number(mul_add(half, pose_.sin[i - 1], pose_.y[i - 1]), n)};
    }
    moment.arm[kJoints] = {number(pose_.x[kTip], n), number(pose_.y[kTip], n)};
    moment.puck_exists = puck_exists_;
    if (puck_exists_) moment.puck = puck(n);
    return moment;
  }

 private:
  /// Adds up with what rounding loses (Kahan).
  HWY_INLINE void add_to_fitness(N squares) {
    const N added = squares - lost_;
    const N sum = squares_ + added;
    lost_ = (sum - squares_) - added;
    squares_ = sum;
  }

  HWY_INLINE void solve_velocities() {
    if (collisions_.none()) {
      Velocity<N> velocity = velocity_;  // a copy, for registers
      for (int sweep = 0; sweep < kVelocitySweeps; ++sweep) arm_.solve(velocity);
      velocity_ = velocity;
      return;
    }
    for (int sweep = 0; sweep < kVelocitySweeps; ++sweep) {
      arm_.solve(velocity_);
      collisions_.solve(velocity_);
    }
  }

  HWY_INLINE void correct_positions() {
    Mask<N> done = correct(pose_);
    for (int sweep = 1; sweep < kPositionSweeps; ++sweep) {
      if (!any(!done)) return;
      Pose<N> next = pose_;
      const Mask<N> done_now = correct(next);
      keep_where(!done, next, pose_);
      done = done | done_now;
    }
  }
  HWY_INLINE Mask<N> correct(Pose<N>& pose) const {
    const N smallest = collisions_.correct(pose);
    return arm_.correct(pose) & (smallest >= N(-3 * kSlop));
  }

  /// A puck that has been slow for half a second, and touches no part of the arm, stops.
  HWY_INLINE void rest() {
    constexpr float kSlow = 0.01F;
    constexpr float kSlowTurn = kAngularSlop;
    const N x = velocity_.x[kPuck];
    const N y = velocity_.y[kPuck];
    const N turn = velocity_.turn[kPuck];
    const Mask<N> slow =
        (mul_add(x, x, y * y) <= N(kSlow * kSlow)) & (turn * turn <= N(kSlowTurn * kSlowTurn));
    rest_ = select(slow, rest_ + N(kTimeStep), N(0));
    const Mask<N> stops = (rest_ >= N(0.5F)) & !collisions_.of_arm_and_puck();
    velocity_.x[kPuck] = select(stops, N(0), x);
    velocity_.y[kPuck] = select(stops, N(0), y);
    velocity_.turn[kPuck] = select(stops, N(0), turn);
    rest_ = select(stops, N(0), rest_);
  }

  /// Bodies from B on whose way is longer than what lay between them and the ground. The first link
  /// shares a joint with the base.
  template <std::size_t B>
  HWY_INLINE void sweep_from(const Pose<N>& before) {
    if (B != kPuck || puck_exists_) {
      N way = abs_of(pose_.x[B] - before.x[B]) + abs_of(pose_.y[B] - before.y[B]);
      if constexpr (B < kJoints) {
        way = mul_add(N(kLinkRadius), abs_of(pose_.angle[B] - before.angle[B]), way);
      }
      constexpr float kTarget = sweep_target(B) + kSweepTolerance + kMargin;
      const Mask<N> deep = ground_distance<B>(before) <= way + N(kTarget);
      if (any(deep)) sweep(B, bits_of(deep), before);
    }
    if constexpr (B < kPuck) sweep_from<B + 1>(before);
  }

  /// At most what lies between a body, without skin and radius, and the ground.
  template <std::size_t B>
  HWY_INLINE N ground_distance(const Pose<N>& pose) const {
    if constexpr (B < kJoints) {
      return collisions_.to_base(B);
    } else {
      const N edge = max_of(abs_of(pose.x[B]), abs_of(pose.y[B]));
      if constexpr (B == kTip) return edge - N(kBaseHalf);
      return min_of(edge - N(kBaseHalf), N(kWallFace) - edge);
    }
  }

  HWY_NOINLINE void sweep(std::size_t body, std::uint64_t bits, const Pose<N>& before) {
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
      const auto n = static_cast<std::size_t>(std::countr_zero(rest));
      Sweep one;
      put_at_start(one.pose, one.velocity);
      // Each number of the body: those of all robots, and this one's.
      const auto for_each_number = [&](auto work) HWY_ATTR {
        work(pose_.x[body], one.pose.x[body]);
        work(pose_.y[body], one.pose.y[body]);
        work(velocity_.x[body], one.velocity.x[body]);
        work(velocity_.y[body], one.velocity.y[body]);
        work(velocity_.turn[body], one.velocity.turn[body]);
        if (body >= kJoints) return;
        work(pose_.angle[body], one.pose.angle[body]);
        work(pose_.cos[body], one.pose.cos[body]);
        work(pose_.sin[body], one.pose.sin[body]);
      };
      for_each_number([&](const N& all, float& own) HWY_ATTR { own = number(all, n); });
      const Waypoint from = {number(before.x[body], n), number(before.y[body], n),
                             body < kJoints ? number(before.angle[body], n) : 0};
      if (!one.run(body, from)) continue;
      for_each_number([&](N& all, float own) HWY_ATTR { set_number(all, n, own); });
    }
  }

  Pose<N> pose_;
  Velocity<N> velocity_;
  Arm<N> arm_;
  Collisions<N> collisions_;
  bool puck_exists_ = false;
  N rest_;            // seconds for which the puck has been slow
  N squares_, lost_;  // of commanded speeds
};

/// The one loop of an episode; `targets_of(phase, targets)` says where to, `observe(step)`
/// sees what became of it.
template <class N, class Targets, class Observe>
HWY_INLINE void play(Tables<N>& tables, Targets targets_of, Observe observe) {
  N targets[kJoints];
  for (N& target : targets) target = N(0);
  for (std::size_t step = 1; step <= kSteps; ++step) {
    if (step == kPhaseSteps + 1) tables.add_puck();
    // Targets are refreshed at 50 Hz.
    if (step == 2) targets_of(0, targets);
    if (step == kPhaseSteps + 2) targets_of(1, targets);
    tables.step(targets);
    observe(step);
  }
}

float target(float gene) {
  return std::numbers::pi_v<float> * (2 * gene - 1);
}

template <class N>
void sample(const Tables<N>& tables, std::size_t n, std::size_t step, Episode& episode) {
  if (step <= kPhaseSteps || step % kSampleEvery != 0) return;
  const std::size_t i = (step - kPhaseSteps) / kSampleEvery - 1;
  const Point puck = tables.puck(n);
  episode.puck[2 * i] = puck.x;
  episode.puck[2 * i + 1] = puck.y;
  if (step == kSteps) episode.fitness = tables.fitness(n);
}

void run_all(MatrixView<const float> genotypes, std::span<Episode> episodes) {
  constexpr std::size_t kLanes = kWidth<Lanes>;
  for (std::size_t begin = 0; begin < genotypes.rows(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, genotypes.rows() - begin);
    const auto tables = std::make_unique<Tables<Lanes>>();
    const auto targets_of = [&](std::size_t phase, Lanes* targets) HWY_ATTR {
      for (std::size_t j = 0; j < kJoints; ++j) {
        Column<Lanes> numbers;
        for (std::size_t n = 0; n < kLanes; ++n) {
          // Lanes without a robot repeat the first.
          const std::span<const float> genes = genotypes.row(begin + (n < count ? n : 0));
          numbers[n] = target(genes[phase * kJoints + j]);
        }
        load(targets[j], numbers);
      }
    };
    play(*tables, targets_of, [&](std::size_t step) HWY_ATTR {
      for (std::size_t n = 0; n < count; ++n) sample(*tables, n, step, episodes[begin + n]);
    });
  }
}

Episode trace_one(std::span<const float> genes, std::vector<Moment>& trace) {
  Episode episode;
  const auto tables = std::make_unique<Tables<float>>();
  const auto targets_of = [&](std::size_t phase, float* targets) {
    for (std::size_t j = 0; j < kJoints; ++j) targets[j] = target(genes[phase * kJoints + j]);
  };
  play(*tables, targets_of, [&](std::size_t step) {
    sample(*tables, 0, step, episode);
    trace.push_back(tables->moment(0));
  });
  return episode;
}

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aurora::air_hockey {

HWY_EXPORT(run_all);
HWY_EXPORT(trace_one);

void run_episodes(MatrixView<const float> genotypes, std::span<Episode> episodes) {
  HWY_DYNAMIC_DISPATCH(run_all)(genotypes, episodes);
}

Episode trace_episode(std::span<const float> genes, std::vector<Moment>& trace) {
  trace.clear();
  trace.reserve(kSteps);
  return HWY_DYNAMIC_DISPATCH(trace_one)(genes, trace);
}

}  // namespace aurora::air_hockey
#endif
