// Small text in pictures: a bitmap font of our own for the printable characters of ASCII. A glyph
// is 5 pixels wide and 7 high, with 2 more below the line for the tails of g, p and their like.
#pragma once

#include <cstddef>
#include <string_view>

#include "aurora/pictures/image.hpp"

namespace aurora {

inline constexpr std::size_t kGlyphWidth = 5;
inline constexpr std::size_t kGlyphHeight = 7;  // above the line
inline constexpr std::size_t kGlyphTail = 2;    // below it
inline constexpr std::size_t kGlyphPitch = kGlyphWidth + 1;

/// Pixels that a text takes from side to side, with each pixel of a glyph `scale` wide.
std::size_t text_width(std::string_view text, std::size_t scale = 1);

/// Writes a text with the top left corner of its first glyph at (left, top), which may lie outside;
/// what does is cut off. What is no printable ASCII is shown as a box.
void draw_text(Image& image, std::string_view text, double left, double top, Colour colour,
               std::size_t scale = 1);

}  // namespace aurora
