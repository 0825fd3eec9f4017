#include "aurora/tasks/air_hockey/touches.hpp"

#include <cmath>
#include <utility>

namespace aurora::air_hockey {
namespace {

constexpr float kReach = 2 * kSkin;  // of two boxes
// The second box's face must be further away than the first one's by this, or they would take
// turns.
constexpr float kPreferFirst = 0.0005F;

float dot(Point a, Point b) {
  return a.x * b.x + a.y * b.y;
}
float cross(Point a, Point b) {
  return a.x * b.y - a.y * b.x;
}
Point minus(Point a, Point b) {
  return {a.x - b.x, a.y - b.y};
}

/// A point, or a direction, of the world in the frame of a body with this x axis.
Point into(Point axis, Point p) {
  return {dot(axis, p), cross(axis, p)};
}

/// Faces are 0: +x, 1: +y, 2: -x, 3: -y; corner i is where faces i and i + 1 meet.
Point face_normal(int face) {
  constexpr Point kNormals[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return kNormals[face];
}
Point corner(const Box& box, int i) {
  return {i == 0 || i == 3 ? box.half_x : -box.half_x, i < 2 ? box.half_y : -box.half_y};
}
float half_along(const Box& box, int face) {
  return face % 2 == 0 ? box.half_x : box.half_y;
}
float half_across(const Box& box, int face) {
  return face % 2 == 0 ? box.half_y : box.half_x;
}

struct Face {
  int index;
  float distance;
};

/// The face of the box that is the furthest from a box with this centre and axis, in the frame of
/// the first.
Face furthest_face(const Box& box, Point centre, Point axis, const Box& other) {
  const float cos = std::abs(axis.x);
  const float sin = std::abs(axis.y);
  const float x = std::abs(centre.x) - box.half_x - (cos * other.half_x + sin * other.half_y);
  const float y = std::abs(centre.y) - box.half_y - (sin * other.half_x + cos * other.half_y);
  if (x > y) return {centre.x > 0 ? 0 : 2, x};
  return {centre.y > 0 ? 1 : 3, y};
}

/// The face of a box, turned by the axis, that looks against the normal most.
int facing(Point axis, Point normal) {
  const Point seen = into(axis, normal);
  if (std::abs(seen.x) > std::abs(seen.y)) return seen.x > 0 ? 2 : 0;
  return seen.y > 0 ? 3 : 1;
}

/// A corner of the second box, or of the first, meets a face of the other.
int key(bool of_second, int corner, int face) {
  return 1 + (of_second ? 16 : 0) + corner * 4 + face;
}

struct End {
  Point point;  // of the other box, in the frame of the line's
  int key;
};

/// Cuts off what is further along the line than `most`; false if nothing is left. An end that is
/// cut off comes last: they are solved in this order.
bool cut(std::array<End, 2>& ends, Point along, float most, int key) {
  const float beyond[2] = {dot(along, ends[0].point) - most, dot(along, ends[1].point) - most};
  if (beyond[0] > 0 && beyond[1] > 0) return false;
  if (beyond[0] <= 0 && beyond[1] <= 0) return true;
  const std::size_t out = beyond[0] > 0 ? 0 : 1;
  const End& kept = ends[1 - out];
  const float share = beyond[out] / (beyond[out] - beyond[1 - out]);
  const Point to = minus(kept.point, ends[out].point);
  const Point end = {ends[out].point.x + share * to.x, ends[out].point.y + share * to.y};
  ends = {kept, {end, key}};
  return true;
}

}  // namespace

Touch touch(const Frame& first, const Box& box, const Frame& second, const Box& other) {
  const Point away = minus(second.centre, first.centre);
  const Point back = {-away.x, -away.y};
  const Face of_first =
      furthest_face(box, into(first.axis, away), into(first.axis, second.axis), other);
  const Face of_second =
      furthest_face(other, into(second.axis, back), into(second.axis, first.axis), box);
  Touch found;
  if (of_first.distance > kReach || of_second.distance > kReach) return found;
  found.flipped = of_second.distance > of_first.distance + kPreferFirst;
  const int face = found.flipped ? of_second.index : of_first.index;
  const Frame& own = found.flipped ? second : first;
  const Box& own_box = found.flipped ? other : box;
  const Frame& its = found.flipped ? first : second;
  const Box& its_box = found.flipped ? box : other;

  found.normal = face_normal(face);
  const Point along = {-found.normal.y, found.normal.x};
  const float height = half_along(own_box, face);
  found.line = {found.normal.x * height, found.normal.y * height};
  const Point centre = into(own.axis, minus(its.centre, own.centre));
  const Point axis = into(own.axis, its.axis);
  const int its_face = facing(axis, found.normal);
  std::array<End, 2> ends;
  for (int i = 0; i < 2; ++i) {
    const int index = (its_face + 3 + i) % 4;  // the corners of a face are before and at its number
    const Point p = corner(its_box, index);
    ends[static_cast<std::size_t>(i)] = {
        {centre.x + axis.x * p.x - axis.y * p.y, centre.y + axis.y * p.x + axis.x * p.y},
        key(!found.flipped, index, face)};
  }
  const float most = half_across(own_box, face) + kReach;
  const int low = key(found.flipped, (face + 3) % 4, its_face);
  const int high = key(found.flipped, face, its_face);
  if (!cut(ends, {-along.x, -along.y}, most, low)) return found;
  if (!cut(ends, along, most, high)) return found;
  for (const End& end : ends) {
    if (dot(found.normal, end.point) - height > kReach) continue;
    found.points[found.count] = into(axis, minus(end.point, centre));
    found.keys[found.count] = end.key;
    ++found.count;
  }
  return found;
}

Touch touch(const Frame& place, const Box& box, Point centre, float radius) {
  const Point p = into(place.axis, minus(centre, place.centre));
  const float reach = radius + kSkin;
  const float x = std::abs(p.x) - box.half_x;
  const float y = std::abs(p.y) - box.half_y;
  Touch found;
  if (x > reach || y > reach) return found;
  const Point sides = {p.x > 0 ? 1.0F : -1.0F, p.y > 0 ? 1.0F : -1.0F};
  if (x > 0 && y > 0) {
    const float distance = std::sqrt(x * x + y * y);
    if (distance > reach) return found;
    found.normal = {sides.x * x / distance, sides.y * y / distance};
    found.line = {sides.x * box.half_x, sides.y * box.half_y};
  } else if (x > y) {
    found.normal = {sides.x, 0};
    found.line = {sides.x * box.half_x, 0};
  } else {
    found.normal = {0, sides.y};
    found.line = {0, sides.y * box.half_y};
  }
  found.count = 1;
  found.keys[0] = 1;
  return found;
}

}  // namespace aurora::air_hockey
