// Which pairs of bodies are near enough to each other to be looked at: a few operations each, for
// all robots of a register.
#if defined(AURORA_TASKS_AIR_HOCKEY_NEAR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_NEAR_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_NEAR_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_NEAR_INL_HPP
#endif

#include "aurora/tasks/air_hockey/contacts_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

inline constexpr float kMargin = 1e-4F;  // for rounding; who is near may turn out not to touch

/// A point in the frame of a link, without signs.
template <class N>
HWY_INLINE void seen_from(const Pose<N>& pose, std::size_t link, N x, N y, N& along, N& across) {
  const N dx = x - pose.x[link];
  const N dy = y - pose.y[link];
  along = abs_of(mul_add(dx, pose.cos[link], dy * pose.sin[link]));
  across = abs_of(neg_mul_add(dx, pose.sin[link], dy * pose.cos[link]));
}

/// No axis of either box separates them, if skins count.
template <class N>
HWY_INLINE Mask<N> links_near(const Pose<N>& pose, std::size_t a, std::size_t b) {
  const N cos = abs_of(mul_add(pose.cos[a], pose.cos[b], pose.sin[a] * pose.sin[b]));
  const N sin = abs_of(neg_mul_add(pose.sin[a], pose.cos[b], pose.cos[a] * pose.sin[b]));
  const N half = kLinkHalf;
  const N thick = kLinkHalfThickness;
  const N along = mul_add(half, cos, mul_add(thick, sin, N(kLinkHalf + 2 * kSkin + kMargin)));
  const N across =
      mul_add(half, sin, mul_add(thick, cos, N(kLinkHalfThickness + 2 * kSkin + kMargin)));
  N x[2], y[2];
  seen_from(pose, a, pose.x[b], pose.y[b], x[0], y[0]);
  seen_from(pose, b, pose.x[a], pose.y[a], x[1], y[1]);
  const Mask<N> near_along = max_of(x[0], x[1]) <= along;
  const Mask<N> near_across = max_of(y[0], y[1]) <= across;
  return near_along & near_across;
}

/// How far a link and the base are apart along the axis that separates them best, without skins.
template <class N>
HWY_INLINE N base_distance(const Pose<N>& pose, std::size_t link) {
  const N cos = abs_of(pose.cos[link]);
  const N sin = abs_of(pose.sin[link]);
  const N size = (cos + sin) * N(kBaseHalf);
  N along, across;
  seen_from(pose, link, N(0), N(0), along, across);
  const N half = kLinkHalf;
  const N thick = kLinkHalfThickness;
  const N wide = mul_add(half, cos, mul_add(thick, sin, N(kBaseHalf)));
  const N high = mul_add(half, sin, mul_add(thick, cos, N(kBaseHalf)));
  return max_of(max_of(along - half, across - thick) - size,
                max_of(abs_of(pose.x[link]) - wide, abs_of(pose.y[link]) - high));
}

template <class N>
HWY_INLINE Mask<N> disc_near(const Pose<N>& pose, std::size_t link, std::size_t disc,
                             float radius) {
  N along, across;
  seen_from(pose, link, pose.x[disc], pose.y[disc], along, across);
  const float reach = radius + kSkin + kMargin;
  return (along <= N(kLinkHalf + reach)) & (across <= N(kLinkHalfThickness + reach));
}

template <class N>
HWY_INLINE Mask<N> disc_near_base(const Pose<N>& pose, std::size_t disc, float radius) {
  const N reach = kBaseHalf + radius + kSkin + kMargin;
  return max_of(abs_of(pose.x[disc]), abs_of(pose.y[disc])) <= reach;
}

template <class N>
HWY_INLINE Mask<N> discs_near(const Pose<N>& pose) {
  const N x = pose.x[kPuck] - pose.x[kTip];
  const N y = pose.y[kPuck] - pose.y[kTip];
  constexpr float kReach = kPuckRadius + kTipRadius + kMargin;
  return mul_add(x, x, y * y) <= N(kReach * kReach);
}

/// Of all pairs but links and base, whose distance is needed for more.
template <class N>
HWY_INLINE Mask<N> near(const Pose<N>& pose, const Pair& pair) {
  const std::size_t a = pair.first;
  const std::size_t b = pair.second;
  if (pair.shapes == Shapes::discs) return discs_near(pose);
  if (pair.shapes == Shapes::boxes) return links_near(pose, a, b);
  return a == kGround ? disc_near_base(pose, b, pair.second_radius)
                      : disc_near(pose, a, b, pair.second_radius);
}

inline Touch touch_wall(Point puck, bool side) {
  Touch touch;
  const float at = side ? puck.x : puck.y;
  if (kWallFace - std::abs(at) > kPuckRadius + kSkin) return touch;
  const float sign = at > 0 ? 1.0F : -1.0F;
  touch.normal = side ? Point{-sign, 0} : Point{0, -sign};
  touch.line = side ? Point{sign * kWallFace, 0} : Point{0, sign * kWallFace};
  touch.count = 1;
  touch.keys[0] = at > 0 ? 1 : 2;
  return touch;
}

inline Touch touch_discs(Point tip, Point puck) {
  Touch touch;
  const float x = puck.x - tip.x;
  const float y = puck.y - tip.y;
  constexpr float kReach = kPuckRadius + kTipRadius;
  if (x * x + y * y > kReach * kReach) return touch;
  touch.count = 1;
  touch.keys[0] = 1;
  return touch;
}

/// Where the bodies of contact c touch each other, of robot n.
template <class N>
Touch touch_of(std::size_t c, const Pose<N>& pose, std::size_t n) {
  const Pair& pair = kPairs[c];
  const auto place = [&](std::size_t body) -> Frame {
    return {{number(pose.x[body], n), number(pose.y[body], n)},
            {number(pose.cos[body], n), number(pose.sin[body], n)}};
  };
  const Frame first = place(pair.first);
  const Frame second = place(pair.second);
  if (c == kSideWall || c == kEndWall) return touch_wall(second.centre, c == kSideWall);
  if (pair.shapes == Shapes::discs) return touch_discs(first.centre, second.centre);
  const Box link = {kLinkHalf, kLinkHalfThickness};
  const Box box = pair.first == kGround ? Box{kBaseHalf, kBaseHalf} : link;
  if (pair.shapes == Shapes::boxes) return touch(first, box, second, link);
  return touch(first, box, second.centre, pair.second_radius);
}

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
