// Where the hexapod touches the floor, as Bullet sees it. One robot at a time: this is looking and
// remembering, not arithmetic.
#pragma once

#include <array>
#include <cstddef>

#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

/// A point of the floor with a body in it.
struct Touch {
  double x = 0;
  double y = 0;
  double depth = 0;
  double cos = 1;  // of the first direction of friction, in the floor; the second is to its left
  double sin = 0;
};

/// A shape's points of the step before, each as a place on the floor and one of the shape. Bullet
/// keeps up to four of them for as long as they stay close together.
class Manifold {
 public:
  struct Point {
    Vector local;  // in the shape's frame
    Touch touch;   // depth < 0: above the floor
  };

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const Touch& operator[](std::size_t i) const { return points_[i].touch; }

  /// Takes the place of the nearest point within `threshold`, of an unused one, or of the one that
  /// leaves the largest area with the deepest among them.
  void add(const Point& point, double threshold);
  /// Where the points are now; those that left the floor or slid by more than `threshold` go.
  void refresh(const Transform& shape, double threshold);

 private:
  std::size_t dispensable(const Point& point) const;

  std::size_t count_ = 0;
  std::array<Point, 4> points_;
};

/// The contacts of a step. A leg has four shapes (foot, tibia, femur, coxa) of up to four points;
/// the base, in the last place, has one.
struct Touches {
  static constexpr std::size_t kMost = 16;
  struct Place {
    Touch touch;
    std::size_t joints;  // of the leg that move the body: 0 for the base
  };

  std::array<std::array<Place, kMost>, kLegs + 1> places;
  std::array<std::size_t, kLegs + 1> counts{};
};

/// Is the lower part of a leg, its foot or its tibia, on the floor?
bool stands_on(std::size_t leg, const Touches& touches);

/// One robot's contacts with the floor z = 0 from step to step.
class Floor {
 public:
  /// The contacts of a robot whose bodies are here.
  void touch(const Bodies& bodies, Touches& out);

 private:
  void touch_foot(std::size_t leg, const Transform& tibia, Touches& out);
  void touch_box(std::size_t body, const Transform& pose, Touches& out);

  std::array<Manifold, kLegs> feet_;
  std::array<Manifold, kBodies> boxes_;
};

}  // namespace aurora::hexapod
