#include "aurora/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace aurora {
namespace {

TEST(Stream, IsPhilox4x32With10Rounds) {
  // Known answer of the Random123 distribution: counter 0, key 0.
  Stream zero(0, static_cast<Purpose>(0), 0, 0);
  EXPECT_EQ(zero.bits(), 0x6627e8d5U);
  EXPECT_EQ(zero.bits(), 0xe169c58dU);
  EXPECT_EQ(zero.bits(), 0xbc57ac4cU);
  EXPECT_EQ(zero.bits(), 0x9b00dbd8U);
}

TEST(Stream, IsAFunctionOfItsAddressAlone) {
  Stream a(42, Purpose::variation, 7, 3);
  Stream b(42, Purpose::variation, 7, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Stream, EveryPartOfTheAddressMatters) {
  std::set<std::uint32_t> first;
  for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 32}) {
    for (const Purpose purpose : {Purpose::genotype, Purpose::selection}) {
      for (const std::uint32_t iteration : {0U, 1U}) {
        for (const std::uint32_t index : {0U, 1U}) {
          first.insert(Stream(seed, purpose, iteration, index).bits());
        }
      }
    }
  }
  EXPECT_EQ(first.size(), 24u);
}

TEST(Stream, UniformFillsTheUnitIntervalEvenly) {
  Stream stream(1, Purpose::user);
  constexpr int kDraws = 200000, kBins = 20;
  std::vector<int> bins(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    ++bins[static_cast<std::size_t>(x * kBins)];
  }
  double chi2 = 0;
  for (const int bin : bins) chi2 += std::pow(bin - kDraws / kBins, 2) / (kDraws / kBins);
  EXPECT_LT(chi2, 43.8);  // 19 degrees of freedom, p = 0.001
}

TEST(Stream, BelowIsEvenAndInRange) {
  Stream stream(2, Purpose::user);
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[stream.below(7)];
  double chi2 = 0;
  for (const int c : count) chi2 += std::pow(c - 10000, 2) / 10000.0;
  EXPECT_LT(chi2, 22.5);  // 6 degrees of freedom, p = 0.001
  EXPECT_EQ(stream.below(1), 0u);
}

TEST(Stream, NormalHasItsMoments) {
  Stream stream(3, Purpose::user);
  double sum = 0, squares = 0, fourth = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(fourth / kDraws, 3, 0.1);
}

TEST(Stream, PermutationHoldsEveryNumberOnce) {
  Stream stream(4, Purpose::user);
  std::vector<std::uint32_t> order = stream.permutation(1000);
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
  EXPECT_TRUE(stream.permutation(0).empty());
}

}  // namespace
}  // namespace aurora
