#include "aurora/tasks/vases/drawing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aurora::vases {
namespace {

/// The pixel of a place in cm: 44 of them are seen, from -22 to 22 and from -6 to 38.
Colour at(const Image& image, double x, double z) {
  const double scale = static_cast<double>(image.width) / 44;
  return image.at(static_cast<std::size_t>((x + 22) * scale),
                  static_cast<std::size_t>((38 - z) * scale));
}

bool is_white(Colour colour) {
  return colour == kWhite;
}

TEST(VasesDrawing, CutsTheLeftHalfOpen) {
  const Image picture = draw_vase(profile_of(std::vector<float>(kGenes, 0.5F))).picture;
  ASSERT_EQ(picture.width, 512U);
  const Colour clay = {150, 78, 48};
  const Colour inside = {238, 222, 208};
  // A cylinder of radius 8.5.
  EXPECT_TRUE(is_white(at(picture, -9, 20)));
  EXPECT_EQ(at(picture, -8.25, 20), clay);
  EXPECT_EQ(at(picture, -4, 20), inside);
  EXPECT_EQ(at(picture, -4, 0.25), clay) << "the bottom";
  EXPECT_EQ(at(picture, -4, 31.5), inside) << "it is open";
  EXPECT_FALSE(is_white(at(picture, 8, 20)));
  EXPECT_NE(at(picture, 4, 20), inside);
  EXPECT_GT(at(picture, 1, 20).red, at(picture, 8, 20).red) << "it is round";
  EXPECT_TRUE(is_white(at(picture, 9, 20)));
  EXPECT_TRUE(is_white(at(picture, 4, 33)));
}

TEST(VasesDrawing, TheFilmEndsWithTheCentreOfMassAboveTheEdge) {
  const Profile profile = profile_of(std::vector<float>(kGenes, 0.2F));
  const Drawing drawing = draw_vase(profile);
  ASSERT_EQ(drawing.film.size(), 25U);
  // The ring is the only blue.
  const auto ring_column = [](const Image& frame) {
    double sum = 0, count = 0;
    for (std::size_t y = 0; y < frame.height; ++y) {
      for (std::size_t x = 0; x < frame.width; ++x) {
        const Colour c = frame.at(x, y);
        if (c.blue < 150 || c.red > 80) continue;
        sum += static_cast<double>(x) + 0.5;
        ++count;
      }
    }
    return 44 * sum / count / static_cast<double>(frame.width) - 22;
  };
  EXPECT_NEAR(ring_column(drawing.film.front()), 0, 0.1);
  EXPECT_NEAR(ring_column(drawing.film.back()), profile[0], 0.1);
}

}  // namespace
}  // namespace aurora::vases
