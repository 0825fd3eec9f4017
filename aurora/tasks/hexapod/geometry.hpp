// Vectors and rigid motions, as far as a robot needs them where no engine is in sight.
#pragma once

#include <array>

namespace aurora::hexapod {

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;

  friend bool operator==(const Vector&, const Vector&) = default;
};

inline Vector operator+(const Vector& a, const Vector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vector operator-(const Vector& a, const Vector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vector operator*(double s, const Vector& a) {
  return {s * a.x, s * a.y, s * a.z};
}
inline double dot(const Vector& a, const Vector& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A rotation, by the images of the three axes, and then a translation.
struct Transform {
  std::array<Vector, 3> axes = {Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
  Vector position;

  Vector rotate(const Vector& v) const { return v.x * axes[0] + v.y * axes[1] + v.z * axes[2]; }
  Vector operator*(const Vector& point) const { return rotate(point) + position; }

  friend bool operator==(const Transform&, const Transform&) = default;
};

}  // namespace aurora::hexapod
