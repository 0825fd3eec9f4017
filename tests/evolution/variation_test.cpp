#include "aurora/evolution/variation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace aurora {
namespace {

/// P(delta <= x) of polynomial mutation, the inverse of its formula.
double delta_distribution(double x, double eta) {
  return x < 0 ? 0.5 * std::pow(1 + x, eta + 1) : 1 - 0.5 * std::pow(1 - x, eta + 1);
}

/// Kolmogorov-Smirnov distance of a sample from a distribution function.
template <class F>
double ks_distance(std::vector<double> sample, F distribution) {
  std::ranges::sort(sample);
  double distance = 0;
  const double n = static_cast<double>(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = distribution(sample[i]);
    distance = std::max({distance, std::abs(p - static_cast<double>(i) / n),
                         std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return distance;
}

TEST(Variation, PolynomialDeltaFollowsItsClosedForm) {
  Stream stream(1, Purpose::variation);
  for (const double eta : {1.0, 10.0, 30.0}) {
    std::vector<double> deltas(100000);
    for (double& delta : deltas) delta = polynomial_delta(stream.uniform(), eta);
    const double limit = 1.95 / std::sqrt(100000.0);  // p = 0.001
    EXPECT_LT(ks_distance(deltas, [&](double x) { return delta_distribution(x, eta); }), limit);
  }
  EXPECT_DOUBLE_EQ(polynomial_delta(0.5, 10), 0.0);
  EXPECT_DOUBLE_EQ(polynomial_delta(0.0, 10), -1.0);
}

TEST(Variation, PolynomialMutatesGenesAtItsRateAndClips) {
  const VariationConfig config{.rate = 0.05};
  const std::vector<float> parent = {0.0F, 0.3F, 0.5F, 1.0F};
  std::vector<double> changed(parent.size());
  std::vector<double> deltas;
  constexpr int kChildren = 200000;
  for (int i = 0; i < kChildren; ++i) {
    Stream stream(2, Purpose::variation, 0, static_cast<std::uint32_t>(i));
    std::vector<float> child(parent.size());
    vary(config, parent, parent, child, stream);
    for (std::size_t g = 0; g < child.size(); ++g) {
      ASSERT_GE(child[g], 0.0F);
      ASSERT_LE(child[g], 1.0F);
      changed[g] += child[g] != parent[g];
    }
    if (child[2] != parent[2]) deltas.push_back(child[2] - parent[2]);
  }
  // Half of the mutations at a bound are clipped back to it.
  EXPECT_NEAR(changed[0] / kChildren, 0.025, 0.002);
  EXPECT_NEAR(changed[1] / kChildren, 0.05, 0.002);
  EXPECT_NEAR(changed[2] / kChildren, 0.05, 0.002);
  EXPECT_NEAR(changed[3] / kChildren, 0.025, 0.002);
  const double clipped = 0.5;  // beyond it the distribution has an atom at the bound
  std::erase_if(deltas, [&](double d) { return std::abs(d) >= clipped; });
  const auto truncated = [&](double x) {
    const double low = delta_distribution(-clipped, 10), high = delta_distribution(clipped, 10);
    return (delta_distribution(x, 10) - low) / (high - low);
  };
  EXPECT_LT(ks_distance(deltas, truncated), 1.95 / std::sqrt(static_cast<double>(deltas.size())));
}

TEST(Variation, RateZeroGivesClonesAndRateOneChangesEverything) {
  const std::vector<float> parent = {0.2F, 0.4F, 0.6F};
  std::vector<float> child(3);
  Stream stream(3, Purpose::variation);
  vary({.rate = 0}, parent, parent, child, stream);
  EXPECT_EQ(child, parent);
  vary({.rate = 1}, parent, parent, child, stream);
  for (std::size_t g = 0; g < 3; ++g) EXPECT_NE(child[g], parent[g]);
}

TEST(Variation, SbxKeepsTheMeanOfTheParentsAndNeedsAMate) {
  VariationConfig config{.rate = 0, .crossover = 1};
  EXPECT_TRUE(needs_mate(config));
  EXPECT_FALSE(needs_mate(VariationConfig{}));
  const std::vector<float> a = {0.4F}, b = {0.6F};
  double sum = 0;
  std::vector<float> child(1);
  for (std::uint32_t i = 0; i < 100000; ++i) {
    Stream stream(4, Purpose::variation, 0, i);
    vary(config, a, b, child, stream);
    sum += child[0];
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.001);
  EXPECT_DOUBLE_EQ(sbx_spread(0.5, 10), 1.0);
  EXPECT_NEAR(sbx_spread(0.25, 10), std::pow(0.5, 1.0 / 11), 1e-12);
  EXPECT_NEAR(sbx_spread(0.75, 10), std::pow(2.0, 1.0 / 11), 1e-12);
}

TEST(Variation, IsoLineSpreadsAroundTheParentAndAlongTheLine) {
  const VariationConfig config{.kind = VariationKind::iso_line};
  EXPECT_TRUE(needs_mate(config));
  const std::vector<float> parent = {0.5F, 0.5F}, mate = {0.8F, 0.5F};
  double mean[2] = {}, variance[2] = {};
  constexpr int kChildren = 100000;
  for (std::uint32_t i = 0; i < kChildren; ++i) {
    Stream stream(5, Purpose::variation, 0, i);
    std::vector<float> child(2);
    vary(config, parent, mate, child, stream);
    for (std::size_t g = 0; g < 2; ++g) {
      mean[g] += (child[g] - parent[g]) / kChildren;
      variance[g] += std::pow(child[g] - parent[g], 2) / kChildren;
    }
  }
  EXPECT_NEAR(mean[0], 0, 1e-3);
  EXPECT_NEAR(variance[0], std::pow(0.2 * 0.3, 2) + 1e-4, 1e-4);
  EXPECT_NEAR(variance[1], 1e-4, 5e-6);
}

}  // namespace
}  // namespace aurora
