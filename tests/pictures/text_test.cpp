#include "aurora/pictures/text.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace aurora {
namespace {

/// A text on just enough paper, as rows of marks.
std::string drawn(const std::string& text, std::size_t scale = 1) {
  Image image(text_width(text, scale), (kGlyphHeight + kGlyphTail) * scale);
  draw_text(image, text, 0, 0, kBlack, scale);
  std::string rows;
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) rows += image.at(x, y) == kBlack ? '#' : '.';
    rows += '\n';
  }
  return rows;
}

TEST(Text, LooksLikeItself) {
  EXPECT_EQ(drawn("1y"),
            "..#........\n"
            ".##........\n"
            "#.#...#...#\n"
            "..#...#...#\n"
            "..#...#...#\n"
            "..#...#...#\n"
            "#####..####\n"
            "..........#\n"
            ".......###.\n");
  EXPECT_EQ(text_width(""), 0u);
  EXPECT_EQ(text_width("ab", 3), 33u);
}

TEST(Text, EveryCharacterHasAShapeOfItsOwn) {
  std::set<std::string> shapes = {drawn("\x7f")};  // the box
  for (char c = ' '; c <= '~'; ++c) {
    const std::string shape = drawn(std::string(1, c));
    EXPECT_TRUE(shapes.insert(shape).second) << c;
    EXPECT_EQ(shape.find('#') == std::string::npos, c == ' ') << c;
    EXPECT_EQ(shape.size(), 9u * 6u);
  }
  EXPECT_EQ(drawn("\xc3"), drawn("\x7f"));
}

TEST(Text, GrowsByWholePixels) {
  const std::string small = drawn("g");
  const std::string large = drawn("g", 2);
  for (std::size_t y = 0; y < 18; ++y) {
    for (std::size_t x = 0; x < 10; ++x) {
      EXPECT_EQ(large[y * 11 + x], small[y / 2 * 6 + x / 2]) << x << ' ' << y;
    }
  }
}

TEST(Text, WhatHangsOverIsCutOff) {
  Image image(8, 8);
  draw_text(image, "HH", -3, -2, kBlack);
  EXPECT_EQ(image.at(1, 0), kBlack);  // the right stem of the first
  EXPECT_EQ(image.at(0, 6), kWhite);
  draw_text(image, "HHHH", -100, 3, kBlack);
  draw_text(image, "HHHH", 4, 100, kBlack);
}

}  // namespace
}  // namespace aurora
