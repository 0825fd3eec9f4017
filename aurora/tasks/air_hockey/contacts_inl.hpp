// Contacts between the bodies by sequential impulses: friction, then what keeps them apart, then
// corrections of the positions. A pair of bodies is solved for all robots of a register at once, if
// it touches in any of them; nothing of the others changes, not even the sign of a zero.
#if defined(AURORA_TASKS_AIR_HOCKEY_CONTACTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_CONTACTS_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_CONTACTS_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_CONTACTS_INL_HPP
#endif

#include "aurora/tasks/air_hockey/arm_inl.hpp"
#include "aurora/tasks/air_hockey/pairs_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

/// What Touch says, for each robot, with the impulses of the last step.
template <class N>
struct Contact {
  Column<N> count{};
  Column<N> flipped{};
  Column<N> normal_x{}, normal_y{}, line_x{}, line_y{};
  Column<N> point_x[2]{}, point_y[2]{}, keys[2]{};
  Column<N> push[2]{}, rub[2]{};  // impulses along the normal and across it

  HWY_INLINE void set(std::size_t n, const Touch& touch) {
    float old_keys[2], old_push[2], old_rub[2];
    for (std::size_t i = 0; i < 2; ++i) {
      old_keys[i] = static_cast<float>(i) < count[n] ? keys[i][n] : 0;
      old_push[i] = push[i][n];
      old_rub[i] = rub[i][n];
    }
    count[n] = static_cast<float>(touch.count);
    flipped[n] = touch.flipped ? 1 : 0;
    normal_x[n] = touch.normal.x;
    normal_y[n] = touch.normal.y;
    line_x[n] = touch.line.x;
    line_y[n] = touch.line.y;
    for (std::size_t i = 0; i < 2; ++i) {
      const bool there = i < touch.count;
      point_x[i][n] = there ? touch.points[i].x : 0;
      point_y[i][n] = there ? touch.points[i].y : 0;
      keys[i][n] = there ? static_cast<float>(touch.keys[i]) : 0;
      push[i][n] = rub[i][n] = 0;
      for (std::size_t k = 0; k < 2 && there; ++k) {
        if (old_keys[k] != keys[i][n]) continue;
        push[i][n] = old_push[k];
        rub[i][n] = old_rub[k];
      }
    }
  }
};

template <class N>
struct Geometry {
  N normal_x, normal_y;  // from the first body to the second
  N point_x[2], point_y[2];
  N distance[2];  // of the points from the line, skins and radii not taken off
};

/// Where the line and the points are now.
template <class N>
HWY_INLINE Geometry<N> geometry_of(const Pair& pair, const Contact<N>& contact,
                                   const Pose<N>& pose) {
  const std::size_t a = pair.first;
  const std::size_t b = pair.second;
  Geometry<N> g;
  if (pair.shapes == Shapes::discs) {
    const N x = pose.x[b] - pose.x[a];
    const N y = pose.y[b] - pose.y[a];
    const N distance = sqrt_of(mul_add(x, x, y * y));
    const Mask<N> apart = distance > N(1e-7F);
    g.normal_x = select(apart, x / distance, N(1));
    g.normal_y = select(apart, y / distance, N(0));
    g.point_x[0] = g.point_x[1] = pose.x[b];
    g.point_y[0] = g.point_y[1] = pose.y[b];
    g.distance[0] = g.distance[1] = distance;
    return g;
  }
  const Mask<N> flipped = loaded<N>(contact.flipped) > N(0);
  const auto own = [&](const N* of) HWY_ATTR { return select(flipped, of[b], of[a]); };
  const auto its = [&](const N* of) HWY_ATTR { return select(flipped, of[a], of[b]); };
  const N cos = own(pose.cos);
  const N sin = own(pose.sin);
  const N x = loaded<N>(contact.normal_x);
  const N y = loaded<N>(contact.normal_y);
  const N normal_x = neg_mul_add(sin, y, cos * x);
  const N normal_y = mul_add(sin, x, cos * y);
  const N line_x = loaded<N>(contact.line_x);
  const N line_y = loaded<N>(contact.line_y);
  const N on_line_x = own(pose.x) + neg_mul_add(sin, line_y, cos * line_x);
  const N on_line_y = own(pose.y) + mul_add(sin, line_x, cos * line_y);
  for (std::size_t i = 0; i < 2; ++i) {
    const N px = loaded<N>(contact.point_x[i]);
    const N py = loaded<N>(contact.point_y[i]);
    g.point_x[i] = its(pose.x) + neg_mul_add(its(pose.sin), py, its(pose.cos) * px);
    g.point_y[i] = its(pose.y) + mul_add(its(pose.sin), px, its(pose.cos) * py);
    g.distance[i] =
        mul_add(normal_x, g.point_x[i] - on_line_x, normal_y * (g.point_y[i] - on_line_y));
  }
  g.normal_x = select(flipped, -normal_x, normal_x);
  g.normal_y = select(flipped, -normal_y, normal_y);
  return g;
}

/// The velocities of two bodies while a contact between them is solved.
template <class N>
struct Two {
  N ax, ay, aw, bx, by, bw;
};

template <class N>
HWY_INLINE Two<N> velocities_of(const Pair& pair, const Velocity<N>& velocity) {
  const std::size_t a = pair.first;
  const std::size_t b = pair.second;
  return {velocity.x[a], velocity.y[a], velocity.turn[a],
          velocity.x[b], velocity.y[b], velocity.turn[b]};
}

template <class N>
HWY_INLINE void keep_where(Mask<N> mask, const Pair& pair, const Two<N>& two,
                           Velocity<N>& velocity) {
  const std::size_t a = pair.first;
  const std::size_t b = pair.second;
  velocity.x[a] = select(mask, two.ax, velocity.x[a]);
  velocity.y[a] = select(mask, two.ay, velocity.y[a]);
  velocity.turn[a] = select(mask, two.aw, velocity.turn[a]);
  velocity.x[b] = select(mask, two.bx, velocity.x[b]);
  velocity.y[b] = select(mask, two.by, velocity.y[b]);
  velocity.turn[b] = select(mask, two.bw, velocity.turn[b]);
}

/// A contact within a step.
template <class N>
class Row {
 public:
  /// `velocity` is that before any impulse of this step.
  void begin(const Pair& pair, const Contact<N>& contact, const Pose<N>& pose,
             const Velocity<N>& velocity) {
    pair_ = &pair;
    const N count = loaded<N>(contact.count);
    on_ = count > N(0);
    two_ = count > N(1);
    const Geometry<N> g = geometry_of(pair, contact, pose);
    normal_x_ = g.normal_x;
    normal_y_ = g.normal_y;
    // Points lie between the two surfaces. Lines of second bodies are of boxes, whose skins are
    // equal: only the normal turns round.
    const N flipped = pair.shapes == Shapes::boxes
                          ? select(loaded<N>(contact.flipped) > N(0), N(-1), N(1))
                          : N(1);
    const Two<N> before = velocities_of(pair, velocity);
    for (std::size_t i = 0; i < 2; ++i) {
      Point_& point = points_[i];
      const N up =
          flipped * N(0.5F) * (N(pair.first_radius) - g.distance[i] - N(pair.second_radius));
      const N x = mul_add(up, normal_x_, g.point_x[i]);
      const N y = mul_add(up, normal_y_, g.point_y[i]);
      point.ax = x - pose.x[pair.first];
      point.ay = y - pose.y[pair.first];
      point.bx = x - pose.x[pair.second];
      point.by = y - pose.y[pair.second];
      point.normal_softness = N(1) / response(point, point);
      point.tangent_softness = N(1) / tangent_response(point);
      const N closing = along_normal(point, before);
      point.bounce = select(closing < N(0), N(-pair.restitution) * closing, N(0));
      load(point.push, contact.push[i]);
      load(point.rub, contact.rub[i]);
    }
    k_ = {response(points_[0], points_[0]), response(points_[0], points_[1]),
          response(points_[1], points_[1])};
    const N determinant = neg_mul_add(k_.xy, k_.xy, k_.xx * k_.yy);
    // Points that are nearly one are one.
    two_ = two_ & (k_.xx * k_.xx < N(1000) * determinant);
    inverse_ = inverse(k_);
  }

  void warm_start(Velocity<N>& velocity) const {
    Two<N> v = velocities_of(*pair_, velocity);
    const Mask<N> masks[2] = {on_, two_};
    for (std::size_t i = 0; i < 2; ++i) {
      const Point_& point = points_[i];
      const N x = mul_add(point.push, normal_x_, point.rub * normal_y_);
      const N y = neg_mul_add(point.rub, normal_x_, point.push * normal_y_);
      const Two<N> pushed = push(point, x, y, v);
      v = chosen(masks[i], pushed, v);
    }
    keep_where(on_, *pair_, v, velocity);
  }

  void solve(Velocity<N>& velocity) {
    Two<N> v = velocities_of(*pair_, velocity);
    const Mask<N> masks[2] = {on_, two_};
    const bool any_two = any(two_);
    // Friction, of at most what presses.
    for (std::size_t i = 0; i < (any_two ? 2 : 1); ++i) {
      Point_& point = points_[i];
      const N most = N(pair_->friction) * point.push;
      const N wanted = neg_mul_add(point.tangent_softness, along_tangent(point, v), point.rub);
      const N rub = clamped(wanted, -most, most);
      const N change = rub - point.rub;
      v = chosen(masks[i], push(point, change * normal_y_, -(change * normal_x_), v), v);
      point.rub = select(masks[i], rub, point.rub);
    }
    N push_0 = max_of(neg_mul_add(points_[0].normal_softness,
                                  along_normal(points_[0], v) - points_[0].bounce, points_[0].push),
                      N(0));
    N push_1 = points_[1].push;
    if (any_two) press_two(v, push_0, push_1);
    const N change_0 = push_0 - points_[0].push;
    v = push(points_[0], change_0 * normal_x_, change_0 * normal_y_, v);
    points_[0].push = push_0;
    if (any_two) {
      const N change_1 = push_1 - points_[1].push;
      v = chosen(two_, push(points_[1], change_1 * normal_x_, change_1 * normal_y_, v), v);
      points_[1].push = push_1;
    }
    keep_where(on_, *pair_, v, velocity);
  }

  void remember(Contact<N>& contact) const {
    for (std::size_t i = 0; i < 2; ++i) {
      store(points_[i].push, contact.push[i]);
      store(points_[i].rub, contact.rub[i]);
    }
  }

  Mask<N> on() const { return on_; }

 private:
  struct Point_ {
    N ax, ay, bx, by;  // from the bodies' centres
    N normal_softness, tangent_softness;
    N bounce;  // speed at which it parts
    N push, rub;
  };

  /// Both points at once: the impulses, of which none pulls, after which neither point approaches;
  /// with both points pressed, with one of them, or with none.
  HWY_INLINE void press_two(const Two<N>& v, N& push_0, N& push_1) const {
    const N old_0 = points_[0].push;
    const N old_1 = points_[1].push;
    // Speeds without any impulse.
    const N b0 =
        along_normal(points_[0], v) - points_[0].bounce - mul_add(k_.xx, old_0, k_.xy * old_1);
    const N b1 =
        along_normal(points_[1], v) - points_[1].bounce - mul_add(k_.xy, old_0, k_.yy * old_1);
    const N zero = 0;
    const N both_0 = -mul_add(inverse_.xx, b0, inverse_.xy * b1);
    const N both_1 = -mul_add(inverse_.xy, b0, inverse_.yy * b1);
    const Mask<N> both = (both_0 >= zero) & (both_1 >= zero);
    const N only_0 = -(points_[0].normal_softness * b0);
    const Mask<N> first = (only_0 >= zero) & (mul_add(k_.xy, only_0, b1) >= zero);
    const N only_1 = -(points_[1].normal_softness * b1);
    const Mask<N> second = (only_1 >= zero) & (mul_add(k_.xy, only_1, b0) >= zero);
    const Mask<N> none = (b0 >= zero) & (b1 >= zero);
    // The first that holds; where none does, nothing changes.
    const N x0 = select(both, both_0, select(first, only_0, select(second | none, zero, old_0)));
    const N x1 = select(both, both_1,
                        select(first, zero, select(second, only_1, select(none, zero, old_1))));
    push_0 = select(two_, x0, push_0);
    push_1 = select(two_, x1, push_1);
  }

  static HWY_INLINE Two<N> chosen(Mask<N> mask, const Two<N>& yes, const Two<N>& no) {
    return {select(mask, yes.ax, no.ax), select(mask, yes.ay, no.ay), select(mask, yes.aw, no.aw),
            select(mask, yes.bx, no.bx), select(mask, yes.by, no.by), select(mask, yes.bw, no.bw)};
  }

  N first_linear() const { return kInverseMass[pair_->first].linear; }
  N first_angular() const { return kInverseMass[pair_->first].angular; }
  N second_linear() const { return kInverseMass[pair_->second].linear; }
  N second_angular() const { return kInverseMass[pair_->second].angular; }

  /// Normal speed at one point per normal impulse at another.
  HWY_INLINE N response(const Point_& p, const Point_& q) const {
    const N a = arm(p.ax, p.ay) * arm(q.ax, q.ay);
    const N b = arm(p.bx, p.by) * arm(q.bx, q.by);
    return mul_add(first_angular(), a,
                   mul_add(second_angular(), b, first_linear() + second_linear()));
  }
  HWY_INLINE N tangent_response(const Point_& p) const {
    const N a = mul_add(p.ax, normal_x_, p.ay * normal_y_);
    const N b = mul_add(p.bx, normal_x_, p.by * normal_y_);
    return mul_add(first_angular() * a, a,
                   mul_add(second_angular() * b, b, first_linear() + second_linear()));
  }
  HWY_INLINE N arm(N x, N y) const { return neg_mul_add(y, normal_x_, x * normal_y_); }

  static HWY_INLINE void parting(const Point_& p, const Two<N>& v, N& x, N& y) {
    x = neg_mul_add(v.bw, p.by, v.bx) - neg_mul_add(v.aw, p.ay, v.ax);
    y = mul_add(v.bw, p.bx, v.by) - mul_add(v.aw, p.ax, v.ay);
  }
  HWY_INLINE N along_normal(const Point_& p, const Two<N>& v) const {
    N x, y;
    parting(p, v, x, y);
    return mul_add(x, normal_x_, y * normal_y_);
  }
  /// The tangent is (normal y, -normal x).
  HWY_INLINE N along_tangent(const Point_& p, const Two<N>& v) const {
    N x, y;
    parting(p, v, x, y);
    return neg_mul_add(y, normal_x_, x * normal_y_);
  }
  /// After an impulse on the second body, and against the first.
  HWY_INLINE Two<N> push(const Point_& p, N x, N y, const Two<N>& v) const {
    return {neg_mul_add(first_linear(), x, v.ax),
            neg_mul_add(first_linear(), y, v.ay),
            neg_mul_add(first_angular(), neg_mul_add(p.ay, x, p.ax * y), v.aw),
            mul_add(second_linear(), x, v.bx),
            mul_add(second_linear(), y, v.by),
            mul_add(second_angular(), neg_mul_add(p.by, x, p.bx * y), v.bw)};
  }

  const Pair* pair_;
  Mask<N> on_, two_;
  N normal_x_, normal_y_;
  Point_ points_[2];
  Matrix2<N> k_, inverse_;
};

/// Moves two bodies apart by a share of what is deeper than the slop; the smallest distance before.
template <class N>
N push_apart(const Pair& pair, const Contact<N>& contact, float share, Pose<N>& pose) {
  const std::size_t a = pair.first;
  const std::size_t b = pair.second;
  const N count = loaded<N>(contact.count);
  const InverseMass first = kInverseMass[a];
  const InverseMass second = kInverseMass[b];
  N smallest = N(0);
  for (std::size_t i = 0; i < 2; ++i) {
    const Mask<N> on = count > N(static_cast<float>(i));
    if (!any(on)) break;
    const Geometry<N> g = geometry_of(pair, contact, pose);
    const N distance = g.distance[i] - N(pair.first_radius) - N(pair.second_radius);
    smallest = select(on, min_of(smallest, distance), smallest);
    const N error = clamped(N(share) * (distance + N(kSlop)), N(-0.2F), N(0));
    // Discs touch between their centres, others at the point.
    const N up = pair.shapes == Shapes::discs ? N(-0.5F) * g.distance[i] : N(0);
    const N x = mul_add(up, g.normal_x, g.point_x[i]);
    const N y = mul_add(up, g.normal_y, g.point_y[i]);
    const N ax = x - pose.x[a];
    const N ay = y - pose.y[a];
    const N bx = x - pose.x[b];
    const N by = y - pose.y[b];
    const N a_arm = neg_mul_add(ay, g.normal_x, ax * g.normal_y);
    const N b_arm = neg_mul_add(by, g.normal_x, bx * g.normal_y);
    const N k = mul_add(N(first.angular) * a_arm, a_arm,
                        mul_add(N(second.angular) * b_arm, b_arm, N(first.linear + second.linear)));
    const N impulse = -error / k;
    const N px = impulse * g.normal_x;
    const N py = impulse * g.normal_y;
    const auto shift = [&](std::size_t body, N mass, N angle) HWY_ATTR {
      pose.x[body] = select(on, mul_add(mass, px, pose.x[body]), pose.x[body]);
      pose.y[body] = select(on, mul_add(mass, py, pose.y[body]), pose.y[body]);
      if (body >= kJoints) return;  // discs
      N cos = pose.cos[body];
      N sin = pose.sin[body];
      turn(angle, cos, sin);
      pose.angle[body] = select(on, pose.angle[body] + angle, pose.angle[body]);
      pose.cos[body] = select(on, cos, pose.cos[body]);
      pose.sin[body] = select(on, sin, pose.sin[body]);
    };
    if (a != kGround) shift(a, N(-first.linear), -(N(first.angular) * (a_arm * impulse)));
    shift(b, N(second.linear), N(second.angular) * (b_arm * impulse));
  }
  return smallest;
}

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
