#include "aurora/evolution/variation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/core/values.hpp"

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
  const auto variation =
      make_part(polynomial_variation(), {4}, {"rate=0.05", "at_least_one=false"});
  const std::vector<float> parent = {0.0F, 0.3F, 0.5F, 1.0F};
  std::vector<double> changed(parent.size());
  std::vector<double> deltas;
  constexpr int kChildren = 200000;
  for (int i = 0; i < kChildren; ++i) {
    Stream stream(2, Purpose::variation, 0, static_cast<std::uint32_t>(i));
    std::vector<float> child(parent.size());
    variation->vary(parent, parent, child, stream);
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
  make_part(polynomial_variation(), {3}, {"rate=0", "at_least_one=false"})
      ->vary(parent, parent, child, stream);
  EXPECT_EQ(child, parent);
  make_part(polynomial_variation(), {3}, {"rate=1"})->vary(parent, parent, child, stream);
  for (std::size_t g = 0; g < 3; ++g) EXPECT_NE(child[g], parent[g]);
}

TEST(Variation, PolynomialMutatesAtLeastOneGeneUnlessToldOtherwise) {
  const std::vector<float> parent(8, 0.5F);
  const auto mutated = [&](const std::vector<std::string>& options) {
    const auto variation = make_part(polynomial_variation(), {8}, options);
    std::vector<int> children(9);  // by the number of genes that changed
    for (std::uint32_t i = 0; i < 20000; ++i) {
      Stream stream(5, Purpose::variation, 0, i);
      std::vector<float> child(8);
      variation->vary(parent, parent, child, stream);
      ++children[8 - static_cast<std::size_t>(std::ranges::count(child, 0.5F))];
    }
    return children;
  };
  const std::vector<int> always = mutated({"rate=0.05"});
  const std::vector<int> paper = mutated({"rate=0.05", "at_least_one=false"});
  EXPECT_EQ(always[0], 0);
  EXPECT_NEAR(paper[0] / 20000.0, std::pow(0.95, 8), 0.01) << "two thirds are clones";
  EXPECT_EQ(always[1], paper[0] + paper[1]) << "all else is as it was";
  for (std::size_t genes = 2; genes < 9; ++genes) EXPECT_EQ(always[genes], paper[genes]);
  EXPECT_EQ(mutated({"rate=0"})[1], 20000);
}

TEST(Variation, SbxKeepsTheMeanOfTheParentsAndNeedsAMate) {
  const auto variation =
      make_part(polynomial_variation(), {1}, {"rate=0", "at_least_one=false", "crossover=1"});
  EXPECT_TRUE(variation->needs_mate());
  EXPECT_FALSE(make_part(polynomial_variation(), {1})->needs_mate());
  const std::vector<float> a = {0.4F}, b = {0.6F};
  double sum = 0;
  std::vector<float> child(1);
  for (std::uint32_t i = 0; i < 100000; ++i) {
    Stream stream(4, Purpose::variation, 0, i);
    variation->vary(a, b, child, stream);
    sum += child[0];
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.001);
  EXPECT_DOUBLE_EQ(sbx_spread(0.5, 10), 1.0);
  EXPECT_NEAR(sbx_spread(0.25, 10), std::pow(0.5, 1.0 / 11), 1e-12);
  EXPECT_NEAR(sbx_spread(0.75, 10), std::pow(2.0, 1.0 / 11), 1e-12);
}

TEST(Variation, IsoLineSpreadsAroundTheParentAndAlongTheLine) {
  const auto variation = make_part(iso_line_variation(), {2});
  EXPECT_TRUE(variation->needs_mate());
  const std::vector<float> parent = {0.5F, 0.5F}, mate = {0.8F, 0.5F};
  double mean[2] = {}, variance[2] = {};
  constexpr int kChildren = 100000;
  for (std::uint32_t i = 0; i < kChildren; ++i) {
    Stream stream(5, Purpose::variation, 0, i);
    std::vector<float> child(2);
    variation->vary(parent, mate, child, stream);
    for (std::size_t g = 0; g < 2; ++g) {
      mean[g] += (child[g] - parent[g]) / kChildren;
      variance[g] += std::pow(child[g] - parent[g], 2) / kChildren;
    }
  }
  EXPECT_NEAR(mean[0], 0, 1e-3);
  EXPECT_NEAR(variance[0], std::pow(0.2 * 0.3, 2) + 1e-4, 1e-4);
  EXPECT_NEAR(variance[1], 1e-4, 5e-6);
}

TEST(Variation, IsoLineMayBeCrossedFirst) {
  // Without any step of its own a child is what the crossover makes of its parents.
  const auto variation =
      make_part(iso_line_variation(), {1},
                {"iso_sigma=0", "line_sigma=0", "crossover=1", "crossover_eta=1000"});
  const std::vector<float> parent = {0.4F}, mate = {0.6F};
  int like_the_mate = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    Stream stream(6, Purpose::variation, 0, i);
    std::vector<float> child(1);
    variation->vary(parent, mate, child, stream);
    const bool near_mate = std::abs(child[0] - mate[0]) < std::abs(child[0] - parent[0]);
    EXPECT_NEAR(child[0], near_mate ? mate[0] : parent[0], 0.01);
    like_the_mate += near_mate;
  }
  EXPECT_NEAR(like_the_mate, 500, 60);
}

TEST(Variation, HasNamesDefaultsAndRanges) {
  using Options = std::vector<std::pair<std::string, std::string>>;
  const auto options_of = [](const VariationEntry& entry) {
    Options all;
    for (const Option& option : entry.options) {
      all.emplace_back(option.name, option.fallback.toml());
      EXPECT_FALSE(read_option(entry, option.name + "=-0.001")) << option.name;
      if (option.name == "at_least_one") continue;
      EXPECT_TRUE(read_option(entry, option.name + "=0")) << option.name;
      EXPECT_FALSE(read_option(entry, option.name + "=1001")) << option.name;
    }
    return all;
  };
  EXPECT_EQ(polynomial_variation().name, "polynomial");
  EXPECT_EQ(options_of(polynomial_variation()), (Options{{"rate", "0.05"},
                                                         {"eta", "10.0"},
                                                         {"at_least_one", "true"},
                                                         {"crossover", "0.0"},
                                                         {"crossover_eta", "10.0"}}));
  EXPECT_EQ(iso_line_variation().name, "iso+line");
  EXPECT_EQ(options_of(iso_line_variation()), (Options{{"iso_sigma", "0.01"},
                                                       {"line_sigma", "0.2"},
                                                       {"crossover", "0.0"},
                                                       {"crossover_eta", "10.0"}}));
  for (const char* probability : {"rate", "crossover"}) {
    EXPECT_TRUE(read_option(polynomial_variation(), std::string(probability) + "=1"));
    EXPECT_FALSE(read_option(polynomial_variation(), std::string(probability) + "=1.01"));
  }
}

}  // namespace
}  // namespace aurora
