// Against tournaments that are really held, and against chances counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "aurora/core/random.hpp"
#include "members.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Floats = std::vector<float>;

ToldMembers members_with(Floats fitness, Floats novelty = {}) {
  ToldMembers members;
  members.novelties = novelty.empty() ? Floats(fitness.size()) : std::move(novelty);
  members.fitnesses = std::move(fitness);
  return members;
}

/// The chances of all members.
std::vector<double> chances(ToldMembers members, const std::vector<std::string>& options) {
  const auto selector = make_part(tournament_selector(), {}, options);
  EXPECT_TRUE(selector->selects() && selector->ranks());
  EXPECT_FALSE(selector->reads_errors());
  const Floats weights = selector->weights(members, 1);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> all;
  for (const float weight : weights) all.push_back(weight / sum);
  return all;
}

void expect_chances(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(Tournament, HasTheChancesThatOneCounts) {
  // Of the 9 pairs of three, 5 hold the best, 3 of the others the second, 1 the worst alone.
  expect_chances(chances(members_with({1, 3, 2}), {}), {1.0 / 9, 5.0 / 9, 3.0 / 9});
  // Of the 8 triples of two, 1 is the worse alone.
  expect_chances(chances(members_with({-1, -2}), {"size=3"}), {7.0 / 8, 1.0 / 8});
  // Two share what the first and the second would have.
  expect_chances(chances(members_with({3, 3, 2}), {}), {4.0 / 9, 4.0 / 9, 1.0 / 9});
  expect_chances(chances(members_with({2, 2, 2, 2}), {"size=7"}), {0.25, 0.25, 0.25, 0.25});
  expect_chances(chances(members_with({5}), {"size=2"}), {1});
}

TEST(Tournament, ComparesByWhatItIsTold) {
  const ToldMembers members = members_with({1, 2, 3}, {3, 1, 2});
  expect_chances(chances(members, {"criterion=fitness"}), {1.0 / 9, 3.0 / 9, 5.0 / 9});
  expect_chances(chances(members, {"criterion=novelty"}), {5.0 / 9, 1.0 / 9, 3.0 / 9});
  // Ranks 2 + 0, 1 + 2, 0 + 1.
  expect_chances(chances(members, {"criterion=both"}), {3.0 / 9, 1.0 / 9, 5.0 / 9});
  // Equals in fitness are of rank 0.5 both, and novelty decides; scale does not count.
  expect_chances(chances(members_with({1, 1, 0}, {1e-9F, 1e9F, 0}), {"criterion=both"}),
                 {3.0 / 9, 5.0 / 9, 1.0 / 9});
  EXPECT_THROW(chances(members, {"criterion=age"}), UsageError);
  EXPECT_THROW(chances(members, {"size=1"}), UsageError);
}

TEST(Tournament, WhatIsNoNumberIsTheWorst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_chances(chances(members_with({nan, 3, -2}), {}), {1.0 / 9, 5.0 / 9, 3.0 / 9});
}

TEST(Tournament, LeavesAChanceToTheWorstOfManyAndHoldsForLargeOnes) {
  Floats fitness(10'000);
  std::iota(fitness.begin(), fitness.end(), 0.0F);
  const std::vector<double> two = chances(members_with(fitness), {});
  EXPECT_NEAR(two.back() / two.front(), 19'999, 1);
  const std::vector<double> many = chances(members_with(fitness), {"size=1000"});
  EXPECT_NEAR(many.back(), 1 - std::pow(1 - 1e-4, 1000), 1e-6);
}

/// Rows in another order have the same weights, to the bit.
TEST(Tournament, DoesNotDependOnTheOrderOfRows) {
  Stream draw(1, Purpose::user);
  for (const std::string criterion : {"fitness", "novelty", "both"}) {
    Floats fitness(200), novelty(200);
    for (float& value : fitness) value = static_cast<float>(draw.below(30));
    for (float& value : novelty) value = static_cast<float>(draw.below(30));
    const std::vector<std::uint32_t> order = draw.permutation(200);
    Floats other_fitness, other_novelty;
    for (const std::uint32_t row : order) {
      other_fitness.push_back(fitness[row]);
      other_novelty.push_back(novelty[row]);
    }
    const auto selector = make_part(tournament_selector(), {}, {"criterion=" + criterion});
    ToldMembers members = members_with(fitness, novelty);
    ToldMembers others = members_with(other_fitness, other_novelty);
    const Floats weights = selector->weights(members, 1);
    const Floats other_weights = selector->weights(others, 1);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(other_weights[i], weights[order[i]]);
  }
}

/// By comparing everybody with everybody.
std::vector<double> plain_ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    double better = 0, as_good = 0;
    for (const double other : values) {
      better += other > value ? 1 : 0;
      as_good += other == value ? 1 : 0;
    }
    ranks.push_back(better + (as_good - 1) / 2);
  }
  return ranks;
}

TEST(Tournament, RanksNumbersOfAllKindsAsComparingThemDoes) {
  const float inf = std::numeric_limits<float>::infinity();
  const Floats kinds = {0.0F, -0.0F, 1e-45F, -1e-45F, inf, -inf, 3e38F, -3e38F, 1, -1};
  Stream draw(7, Purpose::user);
  for (const std::size_t size : {1U, 2U, 10U, 300U}) {
    Floats fitness(size), novelty(size);
    for (Floats* values : {&fitness, &novelty}) {
      for (float& value : *values) {
        const double number = draw.uniform();
        value = number < 0.3 ? kinds[draw.below(kinds.size())]
                             : static_cast<float>(1000 * (number - 0.6));
      }
    }
    const std::vector<double> a = plain_ranks({fitness.begin(), fitness.end()});
    const std::vector<double> b = plain_ranks({novelty.begin(), novelty.end()});
    std::vector<double> sum(size);
    for (std::size_t i = 0; i < size; ++i) sum[i] = -a[i] - b[i];
    const std::vector<double> ranks = plain_ranks(sum);
    std::vector<double> expected;
    const auto n = static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i) {
      const double count = static_cast<double>(std::ranges::count(ranks, ranks[i]));
      const double rest = n - (ranks[i] - (count - 1) / 2);  // who is here or worse
      expected.push_back((std::pow(rest / n, 4) - std::pow((rest - count) / n, 4)) / count);
    }
    expect_chances(chances(members_with(fitness, novelty), {"criterion=both", "size=4"}), expected);
  }
}

/// Tournaments that are held: of k drawn, with replacement, the best; one of the equals by lot.
TEST(Tournament, WinsAsOftenAsInTournamentsThatAreHeld) {
  constexpr std::size_t kHeld = 400'000;
  for (const std::size_t k : {2U, 3U, 8U}) {
    Stream draw(k, Purpose::user);
    Floats fitness(20);
    for (float& value : fitness) value = static_cast<float>(draw.below(12));  // with ties
    const std::vector<double> expected =
        chances(members_with(fitness), {"size=" + std::to_string(k)});
    std::vector<double> wins(fitness.size());
    for (std::size_t i = 0; i < kHeld; ++i) {
      std::vector<std::uint64_t> drawn(k);
      for (std::uint64_t& member : drawn) member = draw.below(fitness.size());
      std::uint64_t best = drawn[0];
      for (const std::uint64_t member : drawn) {
        if (fitness[member] > fitness[best]) best = member;
      }
      std::vector<std::uint64_t> equals;
      for (const std::uint64_t member : drawn) {
        if (fitness[member] == fitness[best]) equals.push_back(member);
      }
      ++wins[equals[draw.below(equals.size())]];
    }
    // Those who hardly ever win count as one.
    double chi2 = 0, rare_wins = 0, rare_mean = 0;
    const auto square = [](double won, double mean) { return (won - mean) * (won - mean) / mean; };
    for (std::size_t i = 0; i < wins.size(); ++i) {
      const double mean = expected[i] * kHeld;
      if (mean < 10) {
        rare_wins += wins[i];
        rare_mean += mean;
      } else {
        chi2 += square(wins[i], mean);
      }
    }
    if (rare_mean > 5) chi2 += square(rare_wins, rare_mean);
    EXPECT_LT(chi2, 43.8) << "k = " << k;  // 19 dof, p = 0.001
  }
}

}  // namespace
}  // namespace aurora
