#include "aurora/tasks/air_hockey/drawing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aurora::air_hockey {
namespace {

/// An arm along +x; the puck moves from its start towards (-0.5, 0.5).
std::vector<Moment> episode() {
  std::vector<Moment> moments(kSteps);
  for (std::size_t step = 0; step < kSteps; ++step) {
    Moment& moment = moments[step];
    for (std::size_t i = 0; i <= kJoints; ++i) {
      moment.arm[i] = {kLinkLength * static_cast<float>(i), 0};
    }
    moment.puck_exists = step >= kPhaseSteps;
    if (moment.puck_exists) {
      const float share = static_cast<float>(step - kPhaseSteps + 1) / kPhaseSteps;
      moment.puck.x = kPuckStart.x + share * (-0.5F - kPuckStart.x);
    }
  }
  return moments;
}

Colour at(const Image& image, double x, double y) {
  const double half = static_cast<double>(image.width) / 2;
  return image.at(static_cast<std::size_t>(half * (1 + x / 1.05)),
                  static_cast<std::size_t>(half * (1 - y / 1.05)));
}

TEST(AirHockeyDrawing, ArmPuckAndPathAreWhereTheyShouldBe) {
  const Drawing drawing = draw_episode(episode());
  ASSERT_EQ(drawing.film.size(), 100u);
  const Image& picture = drawing.picture;
  EXPECT_LT(at(picture, 0.55, 0).red, 100);                // the arm
  EXPECT_GT(at(picture, 0.55, -0.2).red, 240);             // the table
  EXPECT_LT(at(picture, 0.999, 0.3).red, 80);              // a wall
  EXPECT_GT(at(picture, -0.54, 0.5).red, 200);             // the puck at its end
  EXPECT_LT(at(picture, -0.54, 0.5).green, 120);           // is red
  EXPECT_GT(at(picture, 0.45, 0.5).blue, 150);             // its path is blue at first
  EXPECT_LT(at(picture, -0.4, 0.5).blue, 80);              // and orange at last
  EXPECT_GT(at(drawing.film[10], 0.56, 0.48).green, 240);  // there is no puck at first
}

TEST(AirHockeyDrawing, TheBackdropEndsWhereTheTableDoes) {
  const Image backdrop = draw_backdrop();
  EXPECT_LT(backdrop.at(0, backdrop.height / 2).red, 80);  // the inner half of a wall
  EXPECT_GT(backdrop.at(backdrop.width / 4, backdrop.height / 4).red, 240);
  EXPECT_LT(backdrop.at(backdrop.width / 2, backdrop.height / 2).red, 80);  // the arm's base
}

TEST(AirHockeyDrawing, NoEpisodeNoDrawing) {
  EXPECT_TRUE(draw_episode({}).picture.empty());
}

}  // namespace
}  // namespace aurora::air_hockey
