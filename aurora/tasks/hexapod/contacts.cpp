#include "aurora/tasks/hexapod/contacts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace aurora::hexapod {
namespace {

// Bullet remembers points within 2 % of half the diagonal of what bounds a shape.
constexpr double kReach = 0.02;
constexpr double kFootReach = kReach * kFootRadius * std::numbers::sqrt3;

// Where the sphere's centre is so deep that Bullet's search for the distance gives way to the one
// for the penetration, which has exact normals.
constexpr double kDeep = 0.029;

struct Box {
  Vector half;
  Vector middle;
  double reach;
  double radius;  // no corner is further from the body's origin, with some room for rounding
};

Box make_box(const Vector& size, const Vector& middle) {
  const Vector half = 0.5 * size;
  const double diagonal = std::sqrt(dot(half, half));
  return {half, middle, kReach * diagonal, 1e-6 + std::sqrt(dot(middle, middle)) + diagonal};
}

const Box& box_of(std::size_t body) {
  static const std::array<Box, 4> boxes = {
      make_box(kBaseBox, {}), make_box(kLinks[0].box, kLinks[0].middle),
      make_box(kLinks[1].box, kLinks[1].middle), make_box(kLinks[2].box, kLinks[2].middle)};
  return boxes[body == 0 ? 0 : 1 + (body - 1) % kLegJoints];
}

/// The direction of a foot's friction. Bullet's normal of a sphere on a box is off by 1e-5, which
/// DART takes for a slope: its directions are anything, and go on being so while the point lasts.
/// They matter (a pyramid along fixed axes makes walkers 6 % slower): drawn here from the bits of
/// the place, one of 256 in a quarter turn.
void draw_direction(Touch& touch) {
  static const auto directions = [] {
    // By halving the angle pi / 2 and adding it up: nothing of the C library, whose bits differ.
    std::array<std::array<double, 2>, 256> table{};
    double c = 0;
    double s = 1;
    for (int halving = 0; halving < 9; ++halving) {
      s = std::sqrt((1 - c) / 2);
      c = std::sqrt((1 + c) / 2);
    }
    table[0] = {c, s};  // pi / 1024
    for (std::size_t i = 1; i < table.size(); ++i) {
      // Two more of them.
      double x = table[i - 1][0];
      double y = table[i - 1][1];
      for (int turn = 0; turn < 2; ++turn) {
        const double turned = x * c - y * s;
        y = x * s + y * c;
        x = turned;
      }
      table[i] = {x, y};
    }
    return table;
  }();
  std::uint64_t bits = std::bit_cast<std::uint64_t>(touch.x) * 0x9E3779B97F4A7C15U;
  bits ^= std::bit_cast<std::uint64_t>(touch.y) * 0xC2B2AE3D27D4EB4FU;
  bits ^= bits >> 32;
  bits *= 0x9E3779B97F4A7C15U;
  touch.cos = directions[bits >> 56][0];
  touch.sin = directions[bits >> 56][1];
}

double square(double x) {
  return x * x;
}

double squared_distance(const Touch& a, const Touch& b) {
  return square(a.x - b.x) + square(a.y - b.y);
}

void put(Touches& out, std::size_t group, std::size_t joints, const Manifold& manifold) {
  for (std::size_t i = 0; i < manifold.size(); ++i) {
    if (manifold[i].depth < 0) continue;
    out.places[group][out.counts[group]++] = {manifold[i], joints};
  }
}

}  // namespace

void Manifold::add(const Point& point, double threshold) {
  std::size_t place = points_.size();
  double nearest = square(threshold);
  for (std::size_t i = 0; i < count_; ++i) {
    const double distance = squared_distance(points_[i].touch, point.touch);
    if (distance < nearest) {
      nearest = distance;
      place = i;
    }
  }
  if (place == points_.size()) place = count_ < points_.size() ? count_++ : dispensable(point);
  points_[place] = point;
}

std::size_t Manifold::dispensable(const Point& point) const {
  std::size_t deepest = points_.size();
  double depth = point.touch.depth;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].touch.depth > depth) {
      depth = points_[i].touch.depth;
      deepest = i;
    }
  }
  // The area of the rest: from the diagonal of the new point and another, and that of two others.
  constexpr std::size_t kOthers[4][3] = {{1, 3, 2}, {0, 3, 2}, {0, 3, 1}, {0, 2, 1}};
  std::array<double, 4> area{};
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (i == deepest) continue;
    const Touch& a = points_[kOthers[i][0]].touch;
    const Touch& b = points_[kOthers[i][1]].touch;
    const Touch& c = points_[kOthers[i][2]].touch;
    area[i] = square((point.touch.x - a.x) * (b.y - c.y) - (point.touch.y - a.y) * (b.x - c.x));
  }
  return static_cast<std::size_t>(std::ranges::max_element(area) - area.begin());
}

void Manifold::refresh(const Transform& shape, double threshold) {
  for (std::size_t i = count_; i-- > 0;) {
    const Vector now = shape * points_[i].local;
    points_[i].touch.depth = -now.z;
    const double drift = square(points_[i].touch.x - now.x) + square(points_[i].touch.y - now.y);
    if (now.z > threshold || drift > square(threshold)) points_[i] = points_[--count_];
  }
}

bool stands_on(std::size_t leg, const Touches& touches) {
  const auto places = std::span(touches.places[leg]).first(touches.counts[leg]);
  return std::ranges::any_of(places, [](const auto& place) { return place.joints == kLegJoints; });
}

void Floor::touch(const Bodies& bodies, Touches& out) {
  out.counts.fill(0);
  touch_box(0, bodies[0], out);
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const std::size_t coxa = 1 + leg * kLegJoints;
    touch_foot(leg, bodies[coxa + 2], out);
    for (std::size_t link = kLegJoints; link-- > 0;)
      touch_box(coxa + link, bodies[coxa + link], out);
  }
}

void Floor::touch_foot(std::size_t leg, const Transform& tibia, Touches& out) {
  Manifold& manifold = feet_[leg];
  Transform foot = tibia;
  foot.position = tibia * kFoot;
  const double depth = kFootRadius - foot.position.z;
  if (manifold.empty() && depth < 0) return;
  if (depth >= -kFootReach) {
    // The lowest point of the sphere.
    const Vector local = -kFootRadius * Vector{foot.axes[0].z, foot.axes[1].z, foot.axes[2].z};
    Touch touch{foot.position.x, foot.position.y, depth};
    if (depth < kDeep) draw_direction(touch);
    manifold.add({local, touch}, kFootReach);
  }
  manifold.refresh(foot, kFootReach);
  put(out, leg, kLegJoints, manifold);
}

void Floor::touch_box(std::size_t body, const Transform& pose, Touches& out) {
  Manifold& manifold = boxes_[body];
  const Box& box = box_of(body);
  if (manifold.empty() && pose.position.z > box.radius) return;  // far above
  Transform shape = pose;
  shape.position = pose * box.middle;
  const std::array<double, 3> up = {shape.axes[0].z, shape.axes[1].z, shape.axes[2].z};
  const double lowest = shape.position.z - box.half.x * std::abs(up[0]) -
                        box.half.y * std::abs(up[1]) - box.half.z * std::abs(up[2]);
  if (manifold.empty() && lowest > 0) return;
  if (lowest <= 0) {
    // The corners below the floor of the face that looks down.
    std::size_t face = 2;
    for (const std::size_t axis : {0U, 1U}) {
      if (std::abs(up[axis]) > std::abs(up[face])) face = axis;
    }
    constexpr int kCorners[4][2] = {{-1, -1}, {-1, 1}, {1, 1}, {1, -1}};
    for (const auto& corner : kCorners) {
      std::array<double, 3> sign;
      sign[face] = up[face] < 0 ? 1 : -1;
      sign[face == 0 ? 1 : 0] = corner[0];
      sign[face == 2 ? 1 : 2] = corner[1];
      const Vector local = {sign[0] * box.half.x, sign[1] * box.half.y, sign[2] * box.half.z};
      const Vector place = shape * local;
      if (place.z <= 0) manifold.add({local, {place.x, place.y, -place.z}}, box.reach);
    }
  }
  manifold.refresh(shape, box.reach);
  const std::size_t leg = body == 0 ? kLegs : (body - 1) / kLegJoints;
  put(out, leg, body == 0 ? 0 : 1 + (body - 1) % kLegJoints, manifold);
}

}  // namespace aurora::hexapod
