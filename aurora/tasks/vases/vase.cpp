#include "aurora/tasks/vases/vase.hpp"

#include <cmath>
#include <numbers>

#include "aurora/tasks/genes.hpp"

namespace aurora::vases {
namespace {

/// A solid of revolution: its volume, and its moment about the plane of the foot.
struct Solid {
  double volume = 0;
  double moment = 0;

  /// Adds a piece of a cone from radius a at height z to radius b a slice higher.
  void add(double z, double a, double b) {
    constexpr double kPi = std::numbers::pi;
    const double area = kPi * (a * a + a * b + b * b) / 3;  // the mean over its height
    volume += kSlice * area;
    moment += kSlice * (z * area + kSlice * kPi * (a * a + 2 * a * b + 3 * b * b) / 12);
  }
};

/// The cubic B-spline: smooth, 2/3 at 0, and 0 from 2 on.
double bump(double x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  const double rest = 2 - x;
  return x >= 1 ? rest * rest * rest / 6 : (4 + x * x * (3 * x - 6)) / 6;
}

}  // namespace

Profile profile_of(std::span<const float> genes) {
  check_genes(genes, kGenes, "vase");
  Profile profile;
  for (std::size_t i = 0; i <= kSlices; ++i) {
    const double height = kSlice * static_cast<double>(i);
    double push = 0;
    double weights = 0;
    for (std::size_t k = 0; k < kGenes; ++k) {
      const double at = kHeight * (static_cast<double>(k) + 0.5) / static_cast<double>(kGenes);
      const double weight = bump((height - at) / kReach);
      push += weight * genes[k];
      weights += weight;
    }
    profile[i] = kLeastRadius + (kMostRadius - kLeastRadius) * (push / weights);
  }
  return profile;
}

Measures measure(const Profile& profile) {
  static_assert(kSlice == kWall, "the bottom is the first slice");
  Solid outside;
  Solid inside;
  for (std::size_t i = 0; i < kSlices; ++i) {
    const double z = kSlice * static_cast<double>(i);
    outside.add(z, profile[i], profile[i + 1]);
    if (i > 0) inside.add(z, profile[i] - kWall, profile[i + 1] - kWall);
  }
  const double clay = outside.volume - inside.volume;
  const double centre = (outside.moment - inside.moment) / clay;
  return {inside.volume / 1000, kDensity * clay / 1000, centre, profile[0] / centre};
}

}  // namespace aurora::vases
