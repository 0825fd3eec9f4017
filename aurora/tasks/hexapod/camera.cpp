#include "aurora/tasks/hexapod/camera.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace aurora::hexapod {
namespace {

constexpr Colour kBlue = {0, 0, 255};
constexpr Colour kRed = {255, 0, 0};
constexpr Colour kFloor = {177, 177, 177};
constexpr Colour kSky = {255, 255, 255};
constexpr double kFar = 20;  // no floor beyond
constexpr double kNever = std::numeric_limits<double>::infinity();

struct Ray {
  Vector origin;
  Vector direction;
};

struct Hit {
  double distance = kNever;  // in units of the ray's direction
  Vector normal;
};

Vector normalised(const Vector& v) {
  return (1 / std::sqrt(dot(v, v))) * v;
}

/// A world vector along the axes of a pose.
Vector unrotate(const Transform& pose, const Vector& v) {
  return {dot(pose.axes[0], v), dot(pose.axes[1], v), dot(pose.axes[2], v)};
}

/// Keeps the part of the ray that lies within |origin + t direction| <= half on one axis; `normal`
/// is that of the side through which it enters, where that is later than before.
struct Interval {
  double enter = -kNever;
  double leave = kNever;
  Vector normal;

  void clip(double origin, double direction, double half, const Vector& axis) {
    if (direction == 0) {
      if (std::abs(origin) > half) leave = -kNever;
      return;
    }
    const double sign = direction > 0 ? 1 : -1;
    const double first = (-sign * half - origin) / direction;
    if (first > enter) {
      enter = first;
      normal = -sign * axis;
    }
    leave = std::min(leave, (sign * half - origin) / direction);
  }

  Hit hit() const { return enter > 0 && enter <= leave ? Hit{enter, normal} : Hit{}; }
};

Hit hit_box(const Ray& ray, const Vector& half) {
  Interval interval;
  interval.clip(ray.origin.x, ray.direction.x, half.x, {1, 0, 0});
  interval.clip(ray.origin.y, ray.direction.y, half.y, {0, 1, 0});
  interval.clip(ray.origin.z, ray.direction.z, half.z, {0, 0, 1});
  return interval.hit();
}

/// Where a ray enters and leaves a round body with x^2 + y^2 (+ z^2) = radius^2, by the
/// coefficients of its quadratic equation a t^2 + 2 b t + c = 0.
bool round_interval(double a, double b, double c, double& enter, double& leave) {
  const double discriminant = b * b - a * c;
  if (!(a > 0 && discriminant >= 0)) return false;
  const double root = std::sqrt(discriminant);
  enter = (-b - root) / a;
  leave = (-b + root) / a;
  return true;
}

Hit hit_cylinder(const Ray& ray, const Vector& half) {
  Interval interval;
  interval.clip(ray.origin.z, ray.direction.z, half.z, {0, 0, 1});
  const Vector o = {ray.origin.x, ray.origin.y, 0};
  const Vector d = {ray.direction.x, ray.direction.y, 0};
  const double c = dot(o, o) - half.x * half.x;
  double enter = 0;
  double leave = 0;
  if (round_interval(dot(d, d), dot(o, d), c, enter, leave)) {
    if (enter > interval.enter) {
      interval.enter = enter;
      interval.normal = (1 / half.x) * (o + enter * d);
    }
    interval.leave = std::min(interval.leave, leave);
  } else if (!(c < 0)) {
    return {};  // passes beside it; otherwise it runs along the axis, inside
  }
  return interval.hit();
}

Hit hit_sphere(const Ray& ray, double radius) {
  double enter = 0;
  double leave = 0;
  const double c = dot(ray.origin, ray.origin) - radius * radius;
  if (!round_interval(dot(ray.direction, ray.direction), dot(ray.origin, ray.direction), c, enter,
                      leave) ||
      !(enter > 0)) {
    return {};
  }
  return {enter, (1 / radius) * (ray.origin + enter * ray.direction)};
}

Hit hit_solid(const Solid& solid, const Ray& ray) {
  switch (solid.shape) {
    case Shape::box:
      return hit_box(ray, solid.half);
    case Shape::cylinder:
      return hit_cylinder(ray, solid.half);
    case Shape::sphere:
      return hit_sphere(ray, solid.half.x);
  }
  return {};
}

/// What a surface with this normal returns of the two lights, at most 1.
double brightness(const Vector& normal) {
  constexpr double kThird = 0.57735026918962576;  // 1 / sqrt 3
  const double one = kThird * (normal.x + normal.y + normal.z);
  const double other = kThird * (-normal.x - normal.y + normal.z);
  return std::min(1.0, std::max(0.0, one) + std::max(0.0, other));
}

/// The camera's frame, and rays through its pixels.
class View {
 public:
  View(const Camera& camera, std::size_t side)
      : origin_(camera.position),
        ahead_(normalised(camera.target - camera.position)),
        side_(static_cast<double>(side)),
        half_width_(camera.half_width) {
    right_ = normalised(cross(ahead_, camera.up));
    up_ = cross(right_, ahead_);
  }

  const Vector& origin() const { return origin_; }

  Ray ray(std::size_t u, std::size_t v) const {
    const auto along = [this](std::size_t pixel) {
      return half_width_ * ((2 * static_cast<double>(pixel) + 1) / side_ - 1);
    };
    return {origin_, ahead_ + along(u) * right_ - along(v) * up_};
  }

  /// Pixels that a ball may cover: columns and rows [begin, end).
  struct Rectangle {
    std::size_t left, right, top, bottom;
  };

  Rectangle around(const Vector& centre, double radius) const {
    const Vector offset = centre - origin_;
    const double depth = dot(offset, ahead_);
    if (depth <= radius) return {0, pixel(side_), 0, pixel(side_)};  // around the camera
    const auto [left, right] = extent(dot(offset, right_), depth, radius);
    const auto [top, bottom] = extent(-dot(offset, up_), depth, radius);
    return {left, right, top, bottom};
  }

 private:
  /// The pixels between the two edges of a ball, wherever in its depth the edges are.
  std::pair<std::size_t, std::size_t> extent(double across, double depth, double radius) const {
    const auto place = [&](double edge, double distance) {
      return (edge / distance / half_width_ + 1) * side_ / 2;
    };
    const double low = across - radius;
    const double high = across + radius;
    return {pixel(std::min(place(low, depth - radius), place(low, depth + radius))),
            pixel(std::max(place(high, depth - radius), place(high, depth + radius)) + 1)};
  }

  /// A pixel's number within the picture, or its side; 0 for NaN.
  std::size_t pixel(double place) const {
    if (!(place > 0)) return 0;
    return static_cast<std::size_t>(std::min(place, side_));
  }

  Vector origin_, ahead_, right_, up_;
  double side_;
  double half_width_;
};

}  // namespace

std::array<Solid, kSolids> solids_of(const Bodies& bodies) {
  std::array<Solid, kSolids> solids;
  std::size_t next = 0;
  const auto add = [&](Shape shape, std::size_t body, const Vector& size, const Vector& middle,
                       const Colour& colour) {
    Transform pose = bodies[body];
    pose.position = bodies[body] * middle;
    solids[next++] = {shape, 0.5 * size, pose, colour};
  };
  add(Shape::box, 0, kBaseBox, {}, kBlue);
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const std::size_t coxa = 1 + leg * kLegJoints;
    add(Shape::box, coxa, kLinks[0].drawn, kLinks[0].middle, kRed);
    add(Shape::box, coxa + 1, kLinks[1].drawn, kLinks[1].middle, kBlue);
    add(Shape::cylinder, coxa + 2, kLinks[2].drawn, kLinks[2].middle, kRed);
    constexpr double kDiameter = 2 * kFootRadius;
    add(Shape::sphere, coxa + 2, {kDiameter, kDiameter, kDiameter}, kFoot, kRed);
  }
  assert(next == kSolids);
  return solids;
}

namespace {

/// What a camera sees before there is a robot: how far the floor is, pixel by pixel, and the
/// picture.
struct Backdrop {
  std::vector<double> depth;
  std::vector<std::uint8_t> picture;
};

Backdrop make_backdrop(const View& view, std::size_t side) {
  Backdrop backdrop;
  for (std::size_t v = 0; v < side; ++v) {
    for (std::size_t u = 0; u < side; ++u) {
      const Ray ray = view.ray(u, v);
      const double distance = -ray.origin.z / ray.direction.z;
      const bool floor = distance > 0 && distance < kFar;
      backdrop.depth.push_back(floor ? distance : kNever);
      const Colour& colour = floor ? kFloor : kSky;
      backdrop.picture.insert(backdrop.picture.end(), colour.begin(), colour.end());
    }
  }
  return backdrop;
}

void draw_solids(const View& view, std::span<const Solid> solids, std::size_t side,
                 std::vector<double> depth, std::span<std::uint8_t> out) {
  for (const Solid& solid : solids) {
    const double radius = std::sqrt(dot(solid.half, solid.half));
    const View::Rectangle area = view.around(solid.pose.position, radius);
    const Vector origin = unrotate(solid.pose, view.origin() - solid.pose.position);
    for (std::size_t v = area.top; v < area.bottom; ++v) {
      for (std::size_t u = area.left; u < area.right; ++u) {
        const Ray local = {origin, unrotate(solid.pose, view.ray(u, v).direction)};
        const Hit hit = hit_solid(solid, local);
        const std::size_t pixel = v * side + u;
        if (!(hit.distance < depth[pixel])) continue;
        depth[pixel] = hit.distance;
        const double light = brightness(solid.pose.rotate(hit.normal));
        for (std::size_t c = 0; c < kChannels; ++c) {
          out[pixel * kChannels + c] =
              static_cast<std::uint8_t>(std::lround(light * solid.colour[c]));
        }
      }
    }
  }
}

}  // namespace

void render(const Camera& camera, std::span<const Solid> solids, std::size_t side,
            std::span<std::uint8_t> out) {
  assert(out.size() == side * side * kChannels);
  const View view(camera, side);
  Backdrop backdrop = make_backdrop(view, side);
  std::ranges::copy(backdrop.picture, out.begin());
  draw_solids(view, solids, side, std::move(backdrop.depth), out);
}

void draw(const Bodies& bodies, std::span<std::uint8_t, kPictureBytes> out) {
  static const View view(Camera{}, kPictureSide);
  static const Backdrop backdrop = make_backdrop(view, kPictureSide);
  std::ranges::copy(backdrop.picture, out.begin());
  draw_solids(view, solids_of(bodies), kPictureSide, backdrop.depth, out);
}

}  // namespace aurora::hexapod
