// Images in memory, and what a drawing of an episode is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aurora {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Colour&, const Colour&) = default;
};

inline constexpr Colour kWhite = {255, 255, 255};
inline constexpr Colour kBlack = {0, 0, 0};

/// Rows from the top, red, green and blue of each pixel.
struct Image {
  static constexpr std::size_t kChannels = 3;

  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> pixels;  // height * width * 3

  Image() = default;
  Image(std::size_t columns, std::size_t rows, Colour background = kWhite);

  bool empty() const { return pixels.empty(); }
  Colour at(std::size_t x, std::size_t y) const;
  void set(std::size_t x, std::size_t y, Colour colour);

  friend bool operator==(const Image&, const Image&) = default;
};

/// What a task draws of an episode.
struct Drawing {
  Image picture;            // all of it at one glance
  std::vector<Image> film;  // frames of one size
  double seconds_per_frame = 0.05;
};

/// Puts `image` on `onto` with its top left corner at (left, top); what hangs over is cut off.
void paste(Image& onto, const Image& image, std::size_t left, std::size_t top);

/// Half as wide and high: averages of 2 x 2 pixels. What was drawn sharply becomes smooth.
Image halved(const Image& image);

/// Bytes as sensory data has them, channels last (3, or 1: grey), each pixel as a square of
/// `enlarge` x `enlarge`. The number of bytes must be height * width * channels.
Image to_image(std::span<const std::uint8_t> bytes, std::size_t height, std::size_t width,
               std::size_t channels, std::size_t enlarge = 1);

}  // namespace aurora
