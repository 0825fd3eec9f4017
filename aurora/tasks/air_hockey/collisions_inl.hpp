// All contacts of a step: which there are, and what is done with them.
#if defined(AURORA_TASKS_AIR_HOCKEY_COLLISIONS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_COLLISIONS_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_COLLISIONS_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_COLLISIONS_INL_HPP
#endif

#include <bit>

#include "aurora/tasks/air_hockey/near_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

template <class N>
class Collisions {
 public:
  /// The step begins: with the contacts that there are, and their impulses of the last step.
  HWY_INLINE void begin(const Pose<N>& pose, bool puck_exists, Velocity<N>& velocity) {
    count_ = 0;
    if (puck_exists) {
      const N edge = kWallFace - kPuckRadius - kSkin - kMargin;
      look_at(kSideWall, bits_of(abs_of(pose.x[kPuck]) >= edge), pose);
      look_at(kEndWall, bits_of(abs_of(pose.y[kPuck]) >= edge), pose);
      look_from<kEndWall + 1, kPuckPairs>(pose);
    }
    for (std::size_t i = 1; i < kJoints; ++i) base_distance_[i] = base_distance(pose, i);
    look_from<kPuckPairs, kPairCount>(pose);
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t c = active_[i];
      rows_[i].begin(kPairs[c], contacts_[c], pose, velocity);
    }
    for (std::size_t i = 0; i < count_; ++i) rows_[i].warm_start(velocity);
  }

  /// Nobody's bodies touch.
  bool none() const { return count_ == 0; }

  /// Friction and what keeps bodies apart, of all contacts once.
  HWY_INLINE void solve(Velocity<N>& velocity) {
    for (std::size_t i = 0; i < count_; ++i) rows_[i].solve(velocity);
  }

  /// Remembers the impulses.
  HWY_INLINE void end() {
    for (std::size_t i = 0; i < count_; ++i) rows_[i].remember(contacts_[active_[i]]);
  }

  /// Moves bodies apart; the smallest distance before.
  HWY_INLINE N correct(Pose<N>& pose) const {
    constexpr float kCorrected = 0.2F;
    N smallest = N(0);
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t c = active_[i];
      smallest = min_of(smallest, push_apart(kPairs[c], contacts_[c], kCorrected, pose));
    }
    return smallest;
  }

  HWY_INLINE Mask<N> of_arm_and_puck() const {
    Mask<N> touching = N(0) > N(0);
    for (std::size_t i = 0; i < count_; ++i) {
      const Pair& pair = kPairs[active_[i]];
      if (pair.second == kPuck && pair.first != kGround) touching = touching | rows_[i].on();
    }
    return touching;
  }

  /// How far link i was from the base when the step began, at most.
  N to_base(std::size_t i) const { return base_distance_[i]; }

 private:
  template <std::size_t C, std::size_t End>
  HWY_INLINE void look_from(const Pose<N>& pose) {
    constexpr Pair kPair = kPairs[C];
    if constexpr (kPair.first == kGround && kPair.shapes == Shapes::boxes) {
      look_at(C, bits_of(base_distance_[kPair.second] <= N(2 * kSkin + kMargin)), pose);
    } else {
      look_at(C, bits_of(near(pose, kPair)), pose);
    }
    if constexpr (C + 1 < End) look_from<C + 1, End>(pose);
  }

  /// Robots of which bits are set may touch, and others do not.
  HWY_INLINE void look_at(std::size_t c, std::uint64_t bits, const Pose<N>& pose) {
    if ((bits | touching_[c]) != 0) update(c, bits, pose);
  }
  HWY_NOINLINE void update(std::size_t c, std::uint64_t bits, const Pose<N>& pose) {
    Contact<N>& contact = contacts_[c];
    for (std::uint64_t ended = touching_[c] & ~bits; ended != 0; ended &= ended - 1) {
      contact.count[std::countr_zero(ended)] = 0;
    }
    touching_[c] = 0;
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
      const auto n = static_cast<std::size_t>(std::countr_zero(rest));
      const Touch touch = touch_of(c, pose, n);
      contact.set(n, touch);
      if (touch.count > 0) touching_[c] |= std::uint64_t{1} << n;
    }
    if (touching_[c] != 0) active_[count_++] = c;
  }

  N base_distance_[kJoints];
  Row<N> rows_[kPairCount];
  std::size_t active_[kPairCount];  // the contact of each row
  std::size_t count_ = 0;           // of rows
  std::uint64_t touching_[kPairCount] = {};
  Contact<N> contacts_[kPairCount];
};

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
