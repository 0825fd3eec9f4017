#include "aurora/encoders/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace aurora {
namespace {

TEST(Adam, FollowsTheEquations) {
  Adam adam(0.01);
  std::vector<float> x = {1.0F, -2.0F, 0.5F};
  std::vector<double> oracle(x.begin(), x.end()), m(3), v(3);
  for (int t = 1; t <= 50; ++t) {
    std::vector<float> gradient(3);
    for (std::size_t i = 0; i < 3; ++i) {
      gradient[i] = static_cast<float>(std::sin(t * (1.0 + static_cast<double>(i))) * 3.0);
      const double g = gradient[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double mean = m[i] / (1 - std::pow(0.9, t)), square = v[i] / (1 - std::pow(0.999, t));
      oracle[i] -= 0.01 * mean / (std::sqrt(square) + 1e-8);
    }
    adam.step(x, gradient);
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], oracle[i], 1e-5);
}

TEST(Adam, FirstStepIsTheLearningRateWhateverTheGradient) {
  Adam adam(0.1);
  std::vector<float> x = {0.0F, 0.0F};
  adam.step(x, std::vector<float>{1e-3F, -1e3F});
  EXPECT_NEAR(x[0], -0.1F, 1e-5);
  EXPECT_NEAR(x[1], 0.1F, 1e-5);
}

TEST(Adam, ResetForgets) {
  Adam used(0.1), fresh(0.1);
  std::vector<float> x = {1.0F}, y = {1.0F}, scratch = {5.0F};
  used.step(scratch, std::vector<float>{2.0F});
  used.reset();
  used.step(x, std::vector<float>{0.3F});
  fresh.step(y, std::vector<float>{0.3F});
  EXPECT_EQ(x, y);
}

TEST(Adam, ZeroGradientMovesNothing) {
  Adam adam(0.1);
  std::vector<float> x = {1.0F};
  adam.step(x, std::vector<float>{0.0F});
  EXPECT_EQ(x[0], 1.0F);
}

}  // namespace
}  // namespace aurora
