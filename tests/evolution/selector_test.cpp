#include "aurora/evolution/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/core/values.hpp"

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

/// Three members, and a note of what was asked of them.
class Members final : public SelectionView {
 public:
  std::size_t size() const override { return 3; }
  std::vector<float> novelty() override { return told("novelty", {1, 2, 3}); }
  std::vector<float> reconstruction_error() override { return told("error", {6, 5, 4}); }
  std::vector<float> fitness() override { return told("fitness", {7, 8, 9}); }
  std::vector<float> column(std::string_view name) override { return told(std::string(name), {}); }

  std::vector<std::string> asked;

 private:
  std::vector<float> told(const std::string& what, std::vector<float> values) {
    asked.push_back(what);
    return values;
  }
};

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

TEST(Selector, PartsAskForWhatTheyWeighAndForNothingElse) {
  struct Case {
    SelectorEntry entry;
    const char* name;
    Floats weights;
    Strings asked;
    bool selects, ranks, reads_errors;
  };
  const Case cases[] = {{uniform_selector(), "uniform", {}, {}, true, false, false},
                        {novelty_selector(), "novelty", {1, 2, 3}, {"novelty"}, true, true, false},
                        {surprise_selector(), "surprise", {6, 5, 4}, {"error"}, true, true, true},
                        {no_selector(), "none", {}, {}, false, false, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.entry.name, c.name);
    const auto selector = make_part(c.entry, {});
    Members members;
    EXPECT_EQ(selector->weights(members, 1), c.weights);
    EXPECT_EQ(members.asked, c.asked);
    EXPECT_EQ(selector->selects(), c.selects);
    EXPECT_EQ(selector->ranks(), c.ranks);
    EXPECT_EQ(selector->reads_errors(), c.reads_errors);
    EXPECT_TRUE(selector->columns().empty());
  }
}

TEST(Selector, NoveltyAndSurpriseIsAFairCoinInEachIterationOfTheSeed) {
  const auto criteria = [](std::uint64_t seed) {
    const auto selector = make_part(novelty_surprise_selector(), {.seed = seed});
    EXPECT_TRUE(selector->ranks() && selector->selects() && selector->reads_errors());
    Members members;
    for (std::uint32_t iteration = 1; iteration <= 2000; ++iteration) {
      const Floats weights = selector->weights(members, iteration);
      EXPECT_EQ(weights, members.asked.back() == "novelty" ? (Floats{1, 2, 3}) : (Floats{6, 5, 4}));
    }
    return members.asked;
  };
  const Strings one = criteria(1);
  ASSERT_EQ(one.size(), 2000U) << "only one of the two is computed";
  EXPECT_NEAR(static_cast<double>(std::ranges::count(one, "novelty")), 1000, 75);
  EXPECT_EQ(criteria(1), one);
  EXPECT_NE(criteria(2), one);
  // The coin is the one of this stream: results depend on it.
  Stream coin(1, Purpose::criterion, 7);
  EXPECT_EQ(one[6], coin.uniform() < 0.5 ? "novelty" : "error");
}

TEST(Selector, SurpriseNeedsAnEncoder) {
  Mix mix;
  for (const SelectorEntry& entry : {surprise_selector(), novelty_surprise_selector()}) {
    mix.learned = true;
    EXPECT_EQ(entry.refuses({}, mix), "");
    mix.learned = false;
    EXPECT_EQ(entry.refuses({}, mix).find("descriptor.kind=hand-coded: surprise is"), 0U);
  }
  for (const SelectorEntry& entry : {uniform_selector(), novelty_selector(), no_selector()}) {
    EXPECT_FALSE(entry.refuses) << entry.name;
  }
}

TEST(Selector, NobodyLeavesNothingToVary) {
  const SelectorEntry entry = no_selector();
  ASSERT_EQ(entry.without.size(), 1U);
  EXPECT_EQ(entry.without[0].first, "variation");
}

}  // namespace
}  // namespace aurora
