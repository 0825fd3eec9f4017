#include "aurora/evolution/selector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace aurora {
namespace {

constexpr std::size_t kDraws = 1'000'000;

/// Chi-square of how often each index was drawn against its exact probability; an index of
/// probability 0 must never be drawn.
double chi_square(std::span<const std::uint32_t> draws, std::span<const double> probability) {
  std::vector<double> count(probability.size());
  for (const std::uint32_t draw : draws) ++count.at(draw);
  double chi2 = 0;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const double expected = probability[i] * static_cast<double>(draws.size());
    if (expected == 0) {
      EXPECT_EQ(count[i], 0) << "index " << i << " cannot be drawn";
    } else {
      chi2 += std::pow(count[i] - expected, 2) / expected;
    }
  }
  return chi2;
}

TEST(Selector, UniformIsUniform) {
  std::vector<std::uint32_t> draws(kDraws);
  Stream stream(1, Purpose::selection);
  select_uniform(50, draws, stream);
  EXPECT_LT(chi_square(draws, std::vector<double>(50, 0.02)), 85.4);  // 49 dof, p = 0.001
}

TEST(Selector, RouletteDrawsInProportion) {
  std::vector<float> weights(50);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) + 0.25F;
  weights[3] = weights[49] = 0;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> probability;
  for (const float w : weights) probability.push_back(w / sum);
  std::vector<std::uint32_t> draws(kDraws);
  Stream stream(2, Purpose::selection);
  select_proportional(weights, draws, stream);
  EXPECT_LT(chi_square(draws, probability), 82.7);  // 47 dof, p = 0.001
}

TEST(Selector, WeightsOfNothingFallBackToUniform) {
  const std::vector<float> weights = {0, -1, std::numeric_limits<float>::quiet_NaN(),
                                      std::numeric_limits<float>::infinity()};
  std::vector<std::uint32_t> draws(kDraws);
  Stream stream(3, Purpose::selection);
  select_proportional(weights, draws, stream);
  EXPECT_LT(chi_square(draws, std::vector<double>(4, 0.25)), 16.3);  // 3 dof, p = 0.001
}

TEST(Selector, BrokenWeightsCountAsZero) {
  const std::vector<float> weights = {1, std::numeric_limits<float>::quiet_NaN(), 3, -5};
  std::vector<std::uint32_t> draws(kDraws);
  Stream stream(4, Purpose::selection);
  select_proportional(weights, draws, stream);
  EXPECT_LT(chi_square(draws, std::vector<double>{0.25, 0, 0.75, 0}), 10.9);  // 1 dof
}

}  // namespace
}  // namespace aurora
