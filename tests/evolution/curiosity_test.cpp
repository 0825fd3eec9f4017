#include <gtest/gtest.h>

#include <vector>

#include "aurora/core/matrix.hpp"
#include "members.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Floats = std::vector<float>;

TEST(Curiosity, GrowsWithChildrenThatAreKeptAndShrinksWithOthers) {
  const auto selector = make_part(curiosity_selector(), {});
  EXPECT_EQ(selector->columns(), std::vector<std::string>{"curiosity"});
  EXPECT_TRUE(selector->selects() && selector->ranks());
  EXPECT_FALSE(selector->reads_errors());
  Matrix<float> values(3, 1);
  const std::vector<Birth> births = {{1, true}, {2, false}, {1, true}, {1, false}, {2, false}};
  selector->learn(births, values);
  EXPECT_EQ(values(0, 0), 0);
  EXPECT_EQ(values(1, 0), 1.5F);
  EXPECT_EQ(values(2, 0), -1);
}

TEST(Curiosity, IsWhatItIsToldToBe) {
  const auto selector = make_part(curiosity_selector(), {}, {"reward=2", "penalty=0.25"});
  Matrix<float> values(1, 1);
  const std::vector<Birth> births = {{0, true}, {0, false}};
  selector->learn(births, values);
  EXPECT_EQ(values(0, 0), 1.75F);
  EXPECT_THROW(make_part(curiosity_selector(), {}, {"reward=-1"}), UsageError);
  EXPECT_THROW(make_part(curiosity_selector(), {}, {"penalty=101"}), UsageError);
}

TEST(Curiosity, GivesNobodyUp) {
  const auto selector = make_part(curiosity_selector(), {});
  ToldMembers members;
  members.fitnesses = Floats(4);
  members.values = {0, 2.5F, -0.5F, -100};
  EXPECT_EQ(selector->weights(members, 1), (Floats{1, 3.5F, 0.5F, 0.01F}));
}

}  // namespace
}  // namespace aurora
