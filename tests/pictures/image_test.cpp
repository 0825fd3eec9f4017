#include "aurora/pictures/image.hpp"

#include <gtest/gtest.h>

namespace aurora {
namespace {

constexpr Colour kRed = {255, 0, 0};

TEST(Image, HasItsBackgroundAndWhatIsSet) {
  Image image(4, 3, kRed);
  EXPECT_EQ(image.pixels.size(), 36u);
  image.set(3, 2, {1, 2, 3});
  EXPECT_EQ(image.at(3, 2), (Colour{1, 2, 3}));
  EXPECT_EQ(image.at(2, 2), kRed);
  EXPECT_EQ(image.pixels[33], 1);  // row by row, channels last
  EXPECT_TRUE(Image().empty());
}

TEST(Image, PasteCutsOffWhatHangsOver) {
  Image image(4, 3);
  paste(image, Image(3, 3, kRed), 2, 1);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      EXPECT_EQ(image.at(x, y), x >= 2 && y >= 1 ? kRed : kWhite) << x << ' ' << y;
    }
  }
  const Image before = image;
  paste(image, Image(2, 2, kBlack), 4, 0);
  paste(image, Image(2, 2, kBlack), 0, 3);
  EXPECT_EQ(image, before);
}

TEST(Image, HalvedAverages) {
  Image image(4, 2, kBlack);
  image.set(0, 0, {100, 0, 0});
  image.set(1, 1, {102, 0, 4});
  const Image half = halved(image);
  ASSERT_EQ(half.width, 2u);
  ASSERT_EQ(half.height, 1u);
  EXPECT_EQ(half.at(0, 0), (Colour{51, 0, 1}));  // 50.5 rounds up
  EXPECT_EQ(half.at(1, 0), kBlack);
}

TEST(Image, BytesBecomeSquaresOfColourOrGrey) {
  const std::vector<std::uint8_t> colours = {1, 2, 3, 4, 5, 6};
  const Image image = to_image(colours, 1, 2, 3, 3);
  ASSERT_EQ(image.width, 6u);
  ASSERT_EQ(image.height, 3u);
  EXPECT_EQ(image.at(2, 2), (Colour{1, 2, 3}));
  EXPECT_EQ(image.at(3, 0), (Colour{4, 5, 6}));
  const Image grey = to_image(colours, 2, 3, 1);
  EXPECT_EQ(grey.at(0, 1), (Colour{4, 4, 4}));
}

}  // namespace
}  // namespace aurora
