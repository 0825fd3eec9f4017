#include "aurora/pictures/plot.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "aurora/pictures/text.hpp"

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
  const std::size_t one = plot_sequence(sequence, 1, {}).width;
  EXPECT_GT(one, 512u);
  EXPECT_EQ(plot_sequence(sequence, 2, {}).width, 2 * one);
  EXPECT_EQ(plot_sequence(sequence, 3, {}).width, one);
}

/// Where a text stands in a picture, drawn as plots draw it: its left edge, or nothing.
std::optional<std::size_t> found(const Image& image, const std::string& text) {
  Image wanted(text_width(text, 2), kGlyphHeight * 2);
  draw_text(wanted, text, 0, 0, kBlack, 2);
  for (std::size_t y = 0; y + wanted.height <= image.height; ++y) {
    for (std::size_t x = 0; x + wanted.width <= image.width; ++x) {
      const Colour ink = {70, 70, 70};
      bool same = true;
      for (std::size_t i = 0; i < wanted.width * wanted.height && same; ++i) {
        const std::size_t u = i % wanted.width;
        const std::size_t v = i / wanted.width;
        same = (image.at(x + u, y + v) == ink) == (wanted.at(u, v) == kBlack);
      }
      if (same) return x;
    }
  }
  return std::nullopt;
}

TEST(Plot, HasNumbersAlongItsAxesAndALegend) {
  std::vector<float> sequence;
  for (int i = 0; i < 51; ++i) {
    sequence.push_back(0.01F * static_cast<float>(i));
    sequence.push_back(-0.02F * static_cast<float>(i));
  }
  const Image image = plot_sequence(sequence, 2, sequence);
  for (const char* text :
       {"step", "sensed", "reconstructed", "value 1", "value 2", "start", "end", "0", "10", "50"}) {
    EXPECT_TRUE(found(image, text)) << text;
  }
  EXPECT_FALSE(found(plot_sequence(sequence, 2, {}), "reconstructed"));
  EXPECT_FALSE(found(plot_sequence(sequence, 1, {}), "value 1"));
  // Numbers stand where they belong: equal steps apart.
  const std::size_t ten = *found(image, "10");
  const std::size_t twenty = *found(image, "20");
  const std::size_t thirty = *found(image, "30");
  EXPECT_NEAR(static_cast<double>(thirty - twenty), static_cast<double>(twenty - ten), 1);
}

TEST(Plot, TellsSmallAndLargeNumbersApart) {
  const Image small = plot_sequence(std::vector<float>{0, 0.0004F, 0.001F}, 1, {});
  EXPECT_TRUE(found(small, "0.0005"));
  EXPECT_TRUE(found(small, "0.0010"));
  EXPECT_TRUE(found(plot_sequence(std::vector<float>{0, 4e6F}, 1, {}), "2e+06"));
  EXPECT_TRUE(found(plot_sequence(std::vector<float>{-300, 300}, 1, {}), "-200"));
  // Many values have more names than there is room for.
  EXPECT_TRUE(found(plot_sequence(std::vector<float>(60, 1.0F), 12, {}), "..."));
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
