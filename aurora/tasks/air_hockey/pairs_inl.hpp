// Which bodies may touch each other.
#if defined(AURORA_TASKS_AIR_HOCKEY_PAIRS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_PAIRS_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_PAIRS_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_PAIRS_INL_HPP
#endif

#include "aurora/tasks/air_hockey/bodies_inl.hpp"
#include "aurora/tasks/air_hockey/touches.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

enum class Shapes { boxes, box_and_disc, discs };

/// Two bodies that may touch: all but those that share a joint, and arm and walls, between which
/// 7 cm are left.
struct Pair {
  std::size_t first, second;
  Shapes shapes;
  float first_radius, second_radius;  // a disc's, or a box's skin
  float friction, restitution;
};

constexpr Pair pair_of(std::size_t first, std::size_t second) {
  const auto radius = [](std::size_t body) {
    return body == kTip ? kTipRadius : body == kPuck ? kPuckRadius : kSkin;
  };
  const bool disc[2] = {first == kTip || first == kPuck, second == kTip || second == kPuck};
  return {first,
          second,
          disc[0]   ? Shapes::discs
          : disc[1] ? Shapes::box_and_disc
                    : Shapes::boxes,
          radius(first),
          radius(second),
          first == kGround ? kGroundFriction : kFriction,
          second == kPuck ? kPuckRestitution : 0};
}

/// In the order in which they are solved, that in which Box2D comes across most of them: first the
/// puck's, then from the tip to the base.
inline constexpr Pair kPairs[] = {
    pair_of(kGround, kPuck),  // a wall, right or left
    pair_of(kGround, kPuck),  // a wall, upper or lower
    pair_of(kTip, kPuck),    pair_of(3, kPuck),       pair_of(2, kPuck), pair_of(1, kPuck),
    pair_of(0, kPuck),       pair_of(kGround, kPuck),  // from here on the ground is the base
    pair_of(kGround, kTip),  pair_of(1, kTip),        pair_of(0, kTip),  pair_of(2, kTip),
    pair_of(kGround, 3),     pair_of(0, 3),           pair_of(1, 3),     pair_of(kGround, 2),
    pair_of(0, 2),           pair_of(kGround, 1),
};
inline constexpr std::size_t kPairCount = std::size(kPairs);
inline constexpr std::size_t kSideWall = 0;
inline constexpr std::size_t kEndWall = 1;
inline constexpr std::size_t kPuckPairs = 8;  // so many come first

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
