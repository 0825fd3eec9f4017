// More than a million random insertions, each compared with the oracle.
#include <gtest/gtest.h>

#include "archive_oracle.hpp"

namespace aurora {
namespace {

class MillionInsertions : public testing::TestWithParam<std::size_t> {};

TEST_P(MillionInsertions, AgreeWithTheOracle) {
  std::size_t outcomes[4] = {};
  std::size_t lost = 0;
  EXPECT_EQ(first_disagreement(GetParam(), 0, 120'000, 400, outcomes, lost), "");
  EXPECT_EQ(first_disagreement(GetParam(), 0.5, 50'000, 400, outcomes, lost), "");
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::replaced)], 1000U);
  EXPECT_GT(lost, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, MillionInsertions, testing::Values(1, 2, 3, 5, 10, 20));

}  // namespace
}  // namespace aurora
