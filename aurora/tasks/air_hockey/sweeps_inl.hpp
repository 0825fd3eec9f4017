// Swept collisions with what stands still: a body whose way within a step leads deep into base or
// walls is stopped where it gets there, pushed off, and goes on from there for the rest of the
// step. For one robot and one body at a time; it is seldom needed.
#if defined(AURORA_TASKS_AIR_HOCKEY_SWEEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_SWEEPS_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_SWEEPS_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_SWEEPS_INL_HPP
#endif

#include <algorithm>
#include <cmath>

#include "aurora/tasks/air_hockey/collisions_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

// Skins and radii may overlap by this, then the way ends.
inline constexpr float kDeepest = 3 * kSlop;
inline constexpr float kSweepTolerance = kSlop / 4;
inline constexpr float kSweepPrecision = 1e-5F;  // of where it ends

inline constexpr float kLinkRadius = kLinkHalf + kLinkHalfThickness;  // a corner is nearer

/// Distance, without skin and radius, at which a body's way into the ground ends.
constexpr float sweep_target(std::size_t body) {
  return (body == kTip ? kTipRadius : body == kPuck ? kPuckRadius : kSkin) + kSkin - kDeepest;
}

/// A body in the course of a step.
struct Waypoint {
  float x, y, angle;
};

inline Waypoint between(const Waypoint& a, const Waypoint& b, float share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y),
          a.angle + share * (b.angle - a.angle)};
}

/// From a point to the square base; 0 inside.
inline float distance_to_base(float x, float y, float half_x, float half_y) {
  const float dx = std::max(std::abs(x) - half_x, 0.0F);
  const float dy = std::max(std::abs(y) - half_y, 0.0F);
  return std::sqrt(dx * dx + dy * dy);
}

/// From a link, without its skin, to the base: if they do not overlap, from a corner of one to the
/// other.
inline float link_to_base(const Waypoint& link) {
  float sin, cos;
  sin_cos(link.angle, sin, cos);
  const float size = (std::abs(cos) + std::abs(sin)) * kBaseHalf;
  const float along = std::abs(link.x * cos + link.y * sin);
  const float across = std::abs(link.y * cos - link.x * sin);
  const float wide = kLinkHalf * std::abs(cos) + kLinkHalfThickness * std::abs(sin);
  const float high = kLinkHalf * std::abs(sin) + kLinkHalfThickness * std::abs(cos);
  const float apart =
      std::max({along - size - kLinkHalf, across - size - kLinkHalfThickness,
                std::abs(link.x) - wide - kBaseHalf, std::abs(link.y) - high - kBaseHalf});
  if (apart <= 0) return 0;
  float nearest = 10;
  for (const float i : {-1.0F, 1.0F}) {
    for (const float k : {-1.0F, 1.0F}) {
      const float x = i * kLinkHalf;
      const float y = k * kLinkHalfThickness;
      nearest =
          std::min(nearest, distance_to_base(link.x + cos * x - sin * y, link.y + sin * x + cos * y,
                                             kBaseHalf, kBaseHalf));
      const float bx = i * kBaseHalf - link.x;
      const float by = k * kBaseHalf - link.y;
      nearest = std::min(nearest, distance_to_base(bx * cos + by * sin, by * cos - bx * sin,
                                                   kLinkHalf, kLinkHalfThickness));
    }
  }
  return nearest;
}

/// From the body of contact c, which is one with the ground, to that.
inline float distance_to_ground(std::size_t c, const Waypoint& body) {
  if (c == kSideWall) return kWallFace - std::abs(body.x);
  if (c == kEndWall) return kWallFace - std::abs(body.y);
  if (kPairs[c].shapes == Shapes::boxes) return link_to_base(body);
  return distance_to_base(body.x, body.y, kBaseHalf, kBaseHalf);
}

/// The share of the way after which the body of contact c is as deep as it may be: 1 if it does not
/// get deeper than that by a tolerance, or if it has been inside from the beginning. No step goes
/// further than the body can have come nearer.
inline float free_share(std::size_t c, const Waypoint& from, const Waypoint& to) {
  const std::size_t body = kPairs[c].second;
  const float x = to.x - from.x;
  const float y = to.y - from.y;
  const float turn = body < kJoints ? kLinkRadius * std::abs(to.angle - from.angle) : 0;
  const float way = std::sqrt(x * x + y * y) + turn;
  const float target = sweep_target(body);
  float distance = distance_to_ground(c, from);
  if (distance <= 0) return 1;
  if (distance < target + kSweepTolerance) return 0;
  float share = 0;
  float free = 1;
  for (int i = 0; i < 100; ++i) {
    const float goal = free < 1 ? target - kSweepTolerance : target;
    share += (distance - goal) / way;
    if (!(share < 1)) return 1;
    distance = distance_to_ground(c, between(from, to, share));
    if (distance < target - kSweepTolerance + kSweepPrecision) return std::min(free, share);
    if (distance < target + kSweepPrecision) free = std::min(free, share);
  }
  return 1;
}

/// One body of one robot, and its way through a step.
class Sweep {
 public:
  Pose<float> pose;  // where it ends
  Velocity<float> velocity;

  /// The body begins the step at `from`. False if nothing stops it.
  bool run(std::size_t body, Waypoint from) {
    float left = 1;  // of the step
    bool stopped = false;
    for (int stop = 0; stop < kMostStops; ++stop) {
      const Waypoint to = {pose.x[body], pose.y[body], body < kJoints ? pose.angle[body] : 0};
      float share = 1;
      for (std::size_t c = 0; c < kPairCount; ++c) {
        if (is_of(body, c)) share = std::min(share, free_share(c, from, to));
      }
      if (share >= 1) break;
      stopped = true;
      left *= 1 - share;
      put(body, between(from, to, share));
      push_off(body);
      from = {pose.x[body], pose.y[body], body < kJoints ? pose.angle[body] : 0};
      go_on(body, left * kTimeStep);
    }
    return stopped;
  }

 private:
  static constexpr int kMostStops = 8;
  static constexpr int kCorrections = 20;
  static constexpr float kCorrected = 0.75F;  // at a time

  static constexpr bool is_of(std::size_t body, std::size_t c) {
    return kPairs[c].first == kGround && kPairs[c].second == body;
  }

  void put(std::size_t body, const Waypoint& place) {
    pose.x[body] = place.x;
    pose.y[body] = place.y;
    if (body >= kJoints) return;
    pose.angle[body] = place.angle;
    sin_cos(place.angle, pose.sin[body], pose.cos[body]);
  }

  /// Out of the ground, and a velocity that does not lead into it.
  void push_off(std::size_t body) {
    Contact<float> contacts[3];  // a puck may touch two walls, or the base
    std::size_t which[3];
    std::size_t count = 0;
    for (std::size_t c = 0; c < kPairCount; ++c) {
      if (!is_of(body, c)) continue;
      const Touch touch = touch_of(c, pose, 0);
      if (touch.count == 0) continue;
      contacts[count].set(0, touch);
      which[count++] = c;
    }
    for (int i = 0; i < kCorrections; ++i) {
      float smallest = 0;
      for (std::size_t k = 0; k < count; ++k) {
        smallest = std::min(smallest, push_apart(kPairs[which[k]], contacts[k], kCorrected, pose));
      }
      if (smallest >= -1.5F * kSlop) break;
    }
    Row<float> rows[3];
    for (std::size_t k = 0; k < count; ++k) {
      rows[k].begin(kPairs[which[k]], contacts[k], pose, velocity);
    }
    for (int sweep = 0; sweep < kVelocitySweeps; ++sweep) {
      for (std::size_t k = 0; k < count; ++k) rows[k].solve(velocity);
    }
  }

  void go_on(std::size_t body, float time) {
    put(body, {pose.x[body] + time * velocity.x[body], pose.y[body] + time * velocity.y[body],
               body < kJoints ? pose.angle[body] + time * velocity.turn[body] : 0});
  }
};

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
