#include "aurora/tasks/hexapod/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace aurora::hexapod {
namespace {

constexpr double kPi = std::numbers::pi;

/// acos of what should be a cosine and may be a rounding error away from one. NaN stays NaN.
double safe_acos(double cosine) {
  return std::acos(std::clamp(cosine, -1.0, 1.0));
}

/// An angle as one in [-pi, pi].
double wrapped(double angle) {
  return std::remainder(angle, 2 * kPi);
}

double signed_by(bool positive, double value) {
  return positive ? value : -value;
}

/// The last angle of R = Rx(a) Ry(b) Rz(c).
double euler_z(const Transform& pose) {
  const auto& [x, y, z] = pose.axes;
  if (std::abs(z.x) > 1 - 1e-10) return std::atan2(x.y, y.y);  // b is +-pi/2: take a = 0
  return std::atan2(-y.x, x.x);
}

}  // namespace

std::array<double, 6> ground_truth(const Transform& base) {
  const auto& [forward, left, up] = base.axes;
  // A robot on its nose has no heading; the norm is then that of a rounding error, never of 0.
  const double length = std::max(std::hypot(forward.x, forward.y), 1e-300);
  const Vector heading = {forward.x / length, forward.y / length, 0};
  const Vector across = cross({0, 0, 1}, heading);
  return {base.position.x,
          base.position.y,
          base.position.z,
          signed_by(up.z > 0, safe_acos(forward.z)),
          signed_by(dot(across, up) < 0, safe_acos(dot(across, left))),
          signed_by(heading.y >= 0, safe_acos(heading.x))};
}

double fitness(const Transform& base) {
  constexpr double kHandle = 0.15;
  const double yaw = std::round(100 * euler_z(base)) / 100;
  const Vector point = base.position + kHandle * base.axes[2];
  const double desired = wrapped(2 * std::atan2(point.y, point.x));
  return -std::abs(wrapped(yaw - desired));
}

}  // namespace aurora::hexapod
