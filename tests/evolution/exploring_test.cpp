// Novelty at first, then more and more all members alike.
#include <gtest/gtest.h>

#include <vector>

#include "members.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Floats = std::vector<float>;

/// Says how often it was asked for novelty.
struct Asked final : SelectionView {
  explicit Asked(Floats of_members) { members.novelties = members.fitnesses = of_members; }
  std::size_t size() const override { return members.size(); }
  Floats novelty() override {
    ++questions;
    return members.novelty();
  }
  Floats reconstruction_error() override { return members.reconstruction_error(); }
  Floats fitness() override { return members.fitness(); }
  Floats column(std::string_view name) override { return members.column(name); }

  ToldMembers members;
  int questions = 0;
};

Floats weights(const Selector& selector, const Floats& novelty, std::uint32_t iteration) {
  Asked members(novelty);
  return selector.weights(members, iteration);
}

void expect_near(const Floats& found, const Floats& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(Exploring, GoesFromNoveltyToAllAlikeInAStraightLine) {
  const auto selector = make_part(exploring_selector(), {}, {"iterations=100"});
  EXPECT_TRUE(selector->selects());
  EXPECT_FALSE(selector->ranks() || selector->reads_errors());
  const Floats novelty = {1, 2, 0, 5};
  expect_near(weights(*selector, novelty, 0), {0.125F, 0.25F, 0, 0.625F});
  expect_near(weights(*selector, novelty, 50), {0.1875F, 0.25F, 0.125F, 0.4375F});
  expect_near(weights(*selector, novelty, 99), {0.24875F, 0.25F, 0.2475F, 0.25375F});
}

TEST(Exploring, ComputesNothingOnceAllAreAlike) {
  const auto selector = make_part(exploring_selector(), {}, {"iterations=100"});
  for (const std::uint32_t iteration : {100U, 101U, 4'000'000'000U}) {
    Asked members({1, 2, 3});
    EXPECT_TRUE(selector->weights(members, iteration).empty());
    EXPECT_EQ(members.questions, 0);
  }
}

TEST(Exploring, TakesAllAlikeWhereNobodyIsNovel) {
  const auto selector = make_part(exploring_selector(), {}, {"iterations=100"});
  EXPECT_TRUE(weights(*selector, {0, 0, 0}, 1).empty());
  EXPECT_TRUE(weights(*selector, {}, 1).empty());
}

TEST(Exploring, IsOverAfterAFifthOfTheRunUnlessSaid) {
  const SelectorEntry entry = exploring_selector();
  Mix mix;
  mix.iterations = 10'000;
  ASSERT_EQ(entry.depends.size(), 1U);
  EXPECT_EQ(entry.depends[0].first, "iterations");
  EXPECT_EQ(entry.depends[0].second(mix), 2000);
  mix.iterations = 2;
  EXPECT_EQ(entry.depends[0].second(mix), 1);
}

}  // namespace
}  // namespace aurora
