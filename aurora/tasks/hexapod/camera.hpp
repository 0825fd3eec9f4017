// What a camera sees of the hexapod: convex solids on a grey floor, each pixel's ray followed to
// the nearest of them. Additions, products and square roots only: the same bits on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

enum class Shape { box, cylinder, sphere };  // a cylinder stands along z

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

struct Solid {
  Shape shape;
  Vector half;  // half lengths along the solid's own axes; x and y of a cylinder are its radius
  Transform pose;
  Colour colour;
};

inline constexpr std::size_t kSolids = 1 + 4 * kLegs;

/// The robot as it is drawn: base and femora blue, the rest red.
std::array<Solid, kSolids> solids_of(const Bodies& bodies);

/// Where a camera is and what it sees: a square, `half_width` away from the middle to each side at
/// distance 1. The defaults are the task's camera: 60 degrees, image right is -x, image up is -y.
struct Camera {
  Vector position = {0, 0.05, 2};
  Vector target = {0, 0, 0.25};
  Vector up = {0, 0, 1};
  double half_width = 0.57735026918962576;  // tan 30 degrees
};

/// Draws solids over the floor z = 0 (grey; white where there is none) as side x side RGB bytes,
/// channels last, rows from the top. Flat shading by two white lights that travel along (-1,-1,-1)
/// and (1,1,-1), no shadows. What is below the floor is hidden; solids that are nowhere (NaN) are
/// not drawn. `out` has side * side * 3 elements.
void render(const Camera& camera, std::span<const Solid> solids, std::size_t side,
            std::span<std::uint8_t> out);

inline constexpr std::size_t kPictureSide = 64;
inline constexpr std::size_t kChannels = 3;
inline constexpr std::size_t kPictureBytes = kPictureSide * kPictureSide * kChannels;

/// The task's picture.
void draw(const Bodies& bodies, std::span<std::uint8_t, kPictureBytes> out);

}  // namespace aurora::hexapod
