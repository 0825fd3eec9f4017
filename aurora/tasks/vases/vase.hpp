// A vase as it comes from the wheel: a profile of radii, and what follows from it. In cm, litres
// and kg; additions, multiplications, divisions in a fixed order, so the same bits on every
// machine.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace aurora::vases {

inline constexpr std::size_t kGenes = 24;
inline constexpr double kHeight = 32;
inline constexpr double kLeastRadius = 1.5;
inline constexpr double kMostRadius = 15.5;
inline constexpr double kWall = 0.5;     // thickness, measured horizontally, and of the bottom
inline constexpr double kDensity = 2.3;  // of stoneware, g/cm3

/// How far up and down a gene is felt: a quarter as much here as at its own height, and not at all
/// twice as far away.
inline constexpr double kReach = 16.0 / 3;

/// Radii of the outside at heights 0, 0.5, ..., 32; straight between them.
inline constexpr std::size_t kSlices = 64;
inline constexpr double kSlice = kHeight / kSlices;
using Profile = std::array<double, kSlices + 1>;

/// Genes, from foot to rim, push the clay outwards at heights 2/3, 2, ... cm. A radius follows the
/// mean of the genes around, weighed by a cubic B-spline of their distance: kLeastRadius if all are
/// 0, kMostRadius if all are 1. DataError unless there are 24 genes, all within [0, 1].
Profile profile_of(std::span<const float> genes);

struct Measures {
  double holds = 0;   // l, filled to the rim
  double mass = 0;    // kg, empty
  double centre = 0;  // height of the centre of mass, empty
  double slope = 0;   // the steepest that it stands on: radius of the foot / centre
};
Measures measure(const Profile& profile);

}  // namespace aurora::vases
