#include "aurora/tasks/air_hockey/touches.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aurora/core/random.hpp"

namespace aurora::air_hockey {
namespace {

constexpr Box kLink = {kLinkLength / 2, kLinkHalfThickness};
constexpr Box kBase = {kBaseHalf, kBaseHalf};

Frame at(float x, float y, float angle = 0) {
  return {{x, y}, {std::cos(angle), std::sin(angle)}};
}

TEST(AirHockeyTouches, LinksBesideEachOtherTouchAtTwoPoints) {
  // Skins of 1 cm around boxes that are 1.8 cm thick: from 3.8 cm on.
  EXPECT_EQ(touch(at(0, 0), kLink, at(0, 0.0381F), kLink).count, 0U);
  const Touch found = touch(at(0, 0), kLink, at(0.1F, 0.0379F), kLink);
  ASSERT_EQ(found.count, 2U);
  EXPECT_FALSE(found.flipped);
  EXPECT_EQ(found.normal, (Point{0, 1}));
  EXPECT_EQ(found.line, (Point{0, kLink.half_y}));
  // The first box ends, with both skins, 2 cm beyond its end: that is 3.25 cm in the second's
  // frame.
  EXPECT_NEAR(std::max(found.points[0].x, found.points[1].x), 0.0325F, 1e-6);
  EXPECT_NEAR(std::min(found.points[0].x, found.points[1].x), -kLink.half_x, 1e-6);
  EXPECT_NEAR(found.points[0].y, -kLink.half_y, 1e-6);
  EXPECT_NE(found.keys[0], found.keys[1]);
}

TEST(AirHockeyTouches, AnEndOnASideIsOneOrTwoCornersOfIt) {
  const float height = kLink.half_y + kLink.half_x + 0.015F;
  EXPECT_EQ(touch(at(0, 0), kLink, at(0, height, 1.5708F), kLink).count, 2U);
  // Tilted, one corner is 3 mm higher than the other, and above the skins.
  const Touch tilted = touch(at(0, 0), kLink, at(0, height + 0.004F, 1.4F), kLink);
  ASSERT_EQ(tilted.count, 1U);
  EXPECT_NEAR(std::abs(tilted.points[0].x), kLink.half_x, 1e-6);
}

TEST(AirHockeyTouches, KeysTellWhichCornerMeetsWhichFaceWhoeverHasTheLine) {
  // A corner of the base on the side of a link: the line is the link's.
  const float reach = std::sqrt(2.0F) * kBaseHalf + kLink.half_y + 0.01F;
  const float angle = 0.785398F;
  const Touch first =
      touch(at(0, 0), kBase, at(-reach * std::sin(angle), reach * std::cos(angle), angle), kLink);
  ASSERT_EQ(first.count, 1U);
  EXPECT_TRUE(first.flipped);
  // The other way round the line is the first's, and the corner of the second.
  const Touch second =
      touch(at(-reach * std::sin(angle), reach * std::cos(angle), angle), kLink, at(0, 0), kBase);
  ASSERT_EQ(second.count, 1U);
  EXPECT_FALSE(second.flipped);
  EXPECT_EQ(second.keys[0] - first.keys[0], 16);
}

TEST(AirHockeyTouches, ADiscTouchesAFaceOrACorner) {
  const float reach = kPuckRadius + kSkin;
  const Touch side = touch(at(0, 0), kLink, {0.05F, -kLink.half_y - reach + 1e-4F}, kPuckRadius);
  ASSERT_EQ(side.count, 1U);
  EXPECT_EQ(side.normal, (Point{0, -1}));
  const Touch end = touch(at(0, 0), kLink, {kLink.half_x + reach - 1e-4F, 0}, kPuckRadius);
  ASSERT_EQ(end.count, 1U);
  EXPECT_EQ(end.normal, (Point{1, 0}));
  const float diagonal = reach / std::sqrt(2.0F);
  const Touch corner =
      touch(at(0, 0), kLink, {kLink.half_x + diagonal - 1e-4F, kLink.half_y + diagonal - 1e-4F},
            kPuckRadius);
  ASSERT_EQ(corner.count, 1U);
  EXPECT_NEAR(corner.normal.x, std::sqrt(0.5F), 1e-5);
  EXPECT_EQ(corner.line, (Point{kLink.half_x, kLink.half_y}));
  EXPECT_EQ(touch(at(0, 0), kLink,
                  {kLink.half_x + diagonal + 1e-4F, kLink.half_y + diagonal + 1e-4F}, kPuckRadius)
                .count,
            0U);
}

/// Turned and shifted together, the same touch.
TEST(AirHockeyTouches, DoNotDependOnWhereTheTableIs) {
  Stream stream(5, Purpose::user);
  const auto draw = [&](double size) {
    return static_cast<float>(size * (2 * stream.uniform() - 1));
  };
  std::size_t touching = 0;
  for (int i = 0; i < 5000; ++i) {
    const float x = draw(0.2), y = draw(0.1), angle = draw(3), turn = draw(3);
    const Touch one = touch(at(0, 0), kLink, at(x, y, angle), kLink);
    const float c = std::cos(turn), s = std::sin(turn);
    const Touch other = touch(at(0.3F, -0.2F, turn), kLink,
                              at(0.3F + c * x - s * y, -0.2F + s * x + c * y, angle + turn), kLink);
    // Rounding decides what barely touches.
    if (one.count != other.count || one.flipped != other.flipped) continue;
    ++touching;
    for (std::size_t k = 0; k < one.count && one.keys == other.keys; ++k) {
      ASSERT_NEAR(one.points[k].x, other.points[k].x, 1e-4) << i;
      ASSERT_NEAR(one.points[k].y, other.points[k].y, 1e-4) << i;
    }
  }
  EXPECT_GT(touching, 4900U);
}

}  // namespace
}  // namespace aurora::air_hockey
