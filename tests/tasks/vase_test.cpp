#include "aurora/tasks/vases/vase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora::vases {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::uint64_t kSeed = 8;

std::vector<float> random_genes(std::uint32_t index) {
  Stream stream(kSeed, Purpose::genotype, 0, index);
  std::vector<float> genes(kGenes);
  for (float& gene : genes) gene = static_cast<float>(stream.uniform());
  return genes;
}

/// The B-spline of this degree over whole knots that begins at `knot` (de Boor's recursion).
double basis(int knot, int degree, double u) {
  if (degree == 0) return u >= knot && u < knot + 1 ? 1 : 0;
  return (u - knot) / degree * basis(knot, degree - 1, u) +
         (knot + degree + 1 - u) / degree * basis(knot + 1, degree - 1, u);
}

double slow_radius(const std::vector<float>& genes, double height) {
  double sum = 0, weights = 0;
  for (int k = 0; k < 24; ++k) {
    const double distance = height - (2.0 / 3 + 4.0 / 3 * k);
    const double weight = basis(-2, 3, distance / (16.0 / 3));  // its middle is at 0
    sum += weight * static_cast<double>(genes[static_cast<std::size_t>(k)]);
    weights += weight;
  }
  return 1.5 + 14 * sum / weights;
}

/// Added up in thin discs of the profile.
Measures slow_measure(const Profile& profile) {
  constexpr int kDiscs = 64'000;
  double inside = 0, clay = 0, moment = 0;
  for (int i = 0; i < kDiscs; ++i) {
    const double z = 32.0 * (i + 0.5) / kDiscs;
    const auto slice = static_cast<std::size_t>(2 * z);
    const double t = 2 * z - static_cast<double>(slice);
    const double radius = (1 - t) * profile[slice] + t * profile[slice + 1];
    const double hole = z < 0.5 ? 0 : radius - 0.5;
    const double thickness = 32.0 / kDiscs;
    inside += kPi * hole * hole * thickness;
    clay += kPi * (radius * radius - hole * hole) * thickness;
    moment += z * kPi * (radius * radius - hole * hole) * thickness;
  }
  return {inside / 1000, 2.3 * clay / 1000, moment / clay, profile[0] / (moment / clay)};
}

TEST(Vase, ProfileIsTheWeighedMeanOfItsGenes) {
  for (std::uint32_t n = 0; n < 50; ++n) {
    const std::vector<float> genes = random_genes(n);
    const Profile profile = profile_of(genes);
    for (std::size_t i = 0; i < profile.size(); ++i) {
      ASSERT_NEAR(profile[i], slow_radius(genes, 0.5 * static_cast<double>(i)), 1e-9)
          << "seed " << kSeed << ", vase " << n << ", height " << i;
    }
  }
}

TEST(Vase, MeasuresAreThoseOfThinDiscs) {
  for (std::uint32_t n = 0; n < 20; ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", vase " << n);
    const Profile profile = profile_of(random_genes(n));
    const Measures measures = measure(profile);
    const Measures expected = slow_measure(profile);
    EXPECT_NEAR(measures.holds, expected.holds, 1e-6 * expected.holds);
    EXPECT_NEAR(measures.mass, expected.mass, 1e-6 * expected.mass);
    EXPECT_NEAR(measures.centre, expected.centre, 1e-6 * expected.centre);
    EXPECT_NEAR(measures.slope, expected.slope, 1e-6 * expected.slope);
  }
}

TEST(Vase, OfEqualGenesIsACylinder) {
  for (const float gene : {0.0F, 0.25F, 1.0F}) {
    const Profile profile = profile_of(std::vector<float>(kGenes, gene));
    const double r = 1.5 + 14 * static_cast<double>(gene);
    for (const double radius : profile) EXPECT_NEAR(radius, r, 1e-12);
    // A tube 31.5 cm high on a disc of half a centimetre.
    const double disc = kPi * r * r * 0.5;
    const double tube = kPi * (r * r - (r - 0.5) * (r - 0.5)) * 31.5;
    const double centre = (disc * 0.25 + tube * (0.5 + 31.5 / 2)) / (disc + tube);
    const Measures measures = measure(profile);
    EXPECT_NEAR(measures.holds, kPi * (r - 0.5) * (r - 0.5) * 31.5 / 1000, 1e-9);
    EXPECT_NEAR(measures.mass, 2.3 * (disc + tube) / 1000, 1e-9);
    EXPECT_NEAR(measures.centre, centre, 1e-9);
    EXPECT_NEAR(measures.slope, r / centre, 1e-9);
  }
  // By hand: the widest holds 22.27 l and weighs 4.34 kg; its centre is at 13.05 cm.
  const Measures widest = measure(profile_of(std::vector<float>(kGenes, 1.0F)));
  EXPECT_NEAR(widest.holds, 22.27, 0.005);
  EXPECT_NEAR(widest.mass, 4.34, 0.005);
  EXPECT_NEAR(widest.slope, 1.19, 0.005);
}

TEST(Vase, StandsBetterOnAWideFoot) {
  std::vector<float> genes(kGenes, 0.0F);
  const double narrow = measure(profile_of(genes)).slope;
  std::fill_n(genes.begin(), 8, 1.0F);
  const double wide = measure(profile_of(genes)).slope;
  genes.assign(kGenes, 1.0F);
  std::fill_n(genes.begin(), 8, 0.0F);
  const double top = measure(profile_of(genes)).slope;
  EXPECT_LT(top, narrow);
  EXPECT_GT(wide, 10 * narrow);
}

TEST(Vase, RefusesWrongGenes) {
  EXPECT_THROW(profile_of(std::vector<float>(23)), DataError);
  std::vector<float> genes(kGenes, 0.5F);
  genes[23] = 1.01F;
  EXPECT_THROW(profile_of(genes), DataError);
  genes[23] = std::nanf("");
  EXPECT_THROW(profile_of(genes), DataError);
}

}  // namespace
}  // namespace aurora::vases
