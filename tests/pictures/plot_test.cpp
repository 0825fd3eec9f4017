#include "aurora/pictures/plot.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace aurora {
namespace {

std::size_t different(const Image& a, const Image& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) count += a.pixels[i] != b.pixels[i] ? 1 : 0;
  return count;
}

TEST(Plot, OneCurveOrTwoWithThePlaneBesideThem) {
  std::vector<float> sequence;
  for (int i = 0; i < 60; ++i) sequence.push_back(static_cast<float>(i % 7));
  EXPECT_EQ(plot_sequence(sequence, 1, {}).width, 512u);
  EXPECT_EQ(plot_sequence(sequence, 2, {}).width, 1040u);
  EXPECT_EQ(plot_sequence(sequence, 3, {}).height, 512u);
}

TEST(Plot, TheOtherCurveIsDrawnOverIt) {
  const std::vector<float> sequence = {0, 1, 4, 9, 16, 25};
  std::vector<float> again = sequence;
  again[3] = 2;
  const Image alone = plot_sequence(sequence, 1, {});
  EXPECT_GT(different(alone, plot_sequence(sequence, 1, again)), 500u);
  EXPECT_EQ(alone, plot_sequence(sequence, 1, {}));
}

TEST(Plot, ConstantSingleAndBrokenValuesArePlots) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const Image nothing = plot_sequence(std::vector<float>{kNaN, kNaN}, 1, {});
  EXPECT_GT(different(nothing, plot_sequence(std::vector<float>{3, 3}, 1, {})), 500u);
  EXPECT_GT(different(nothing, plot_sequence(std::vector<float>{0.5F}, 1, {})), 20u);
  EXPECT_FALSE(plot_sequence(std::vector<float>{1, kNaN, 3, 4}, 2, {}).empty());
}

}  // namespace
}  // namespace aurora
