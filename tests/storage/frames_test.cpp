#include "aurora/storage/internal/frames.hpp"

#include <gtest/gtest.h>

#include "aurora/core/random.hpp"

namespace aurora {
namespace {

/// Pixel by pixel.
Rectangle changed_slowly(const Image& before, const Image& now) {
  std::size_t left = now.width, right = 0, top = now.height, bottom = 0;
  for (std::size_t y = 0; y < now.height; ++y) {
    for (std::size_t x = 0; x < now.width; ++x) {
      if (before.at(x, y) == now.at(x, y)) continue;
      left = std::min(left, x);
      right = std::max(right, x + 1);
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
    }
  }
  return right == 0 ? Rectangle{} : Rectangle{left, top, right - left, bottom - top};
}

TEST(Changed, IsTheSmallestRectangleAroundAllThatDiffers) {
  Stream stream(3, Purpose::user);
  for (int round = 0; round < 300; ++round) {
    const Image before(1 + stream.below(9), 1 + stream.below(9), {7, 8, 9});
    Image now = before;
    for (std::uint64_t n = stream.below(4); n > 0; --n) {
      // One channel alone makes another colour.
      now.pixels[stream.below(now.pixels.size())] = static_cast<std::uint8_t>(stream.below(256));
    }
    const Rectangle expected = changed_slowly(before, now);
    const Rectangle found = changed(before, now);
    EXPECT_EQ(found.left, expected.left) << "round " << round;
    EXPECT_EQ(found.top, expected.top) << "round " << round;
    EXPECT_EQ(found.width, expected.width) << "round " << round;
    EXPECT_EQ(found.height, expected.height) << "round " << round;
  }
}

}  // namespace
}  // namespace aurora
