#include "aurora/encoders/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "aurora/core/errors.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

void expect_straightforward_formulas(SensoryView data) {
  Workers workers;
  const InputScaling scaling = InputScaling::fit(data, workers);
  const double n = static_cast<double>(data.rows());
  std::vector<float> scaled(data.shape().size());
  scaling.apply(data, 1, scaled);
  for (std::size_t j = 0; j < data.shape().size(); ++j) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < data.rows(); ++i) mean += value_at(data, i, j) / n;
    for (std::size_t i = 0; i < data.rows(); ++i) {
      variance += std::pow(value_at(data, i, j) - mean, 2) / n;
    }
    const double scale = 1.0 / (std::sqrt(variance) + 0.001);
    ASSERT_NEAR(scaling.mean[j], mean, 1e-6) << "feature " << j;
    ASSERT_NEAR(scaling.scale[j], scale, 1e-5 * scale) << "feature " << j;
    const double expected = (value_at(data, 1, j) - mean) * scale;
    ASSERT_NEAR(scaled[j], expected, 1e-6 * scale + 1e-5 * std::abs(expected)) << "feature " << j;
  }
}

TEST(Scaling, BytesFollowTheFormula) {
  const SensoryData data = spot_pictures(50, 16, 1);
  expect_straightforward_formulas(data.view());
}

TEST(Scaling, FloatsFollowTheFormula) {
  const SensoryData data = arcs(50, 20, 2);
  expect_straightforward_formulas(data.view());
}

TEST(Scaling, ConstantFeaturesGetTheLargestScaleAndScaleToZero) {
  SensoryData data({{256}, ElementType::uint8}, 7);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t j = 0; j < 256; ++j) {
      data.mutable_view().row<std::uint8_t>(i)[j] = static_cast<std::uint8_t>(j);
    }
  }
  Workers workers;
  const InputScaling scaling = InputScaling::fit(data.view(), workers);
  std::vector<float> scaled(256);
  scaling.apply(data.view(), 3, scaled);
  for (std::size_t j = 0; j < 256; ++j) {
    EXPECT_FLOAT_EQ(scaling.scale[j], 1000.0F);
    // value / 255 is rounded once here and twice in the mean: an ulp, times 1000.
    EXPECT_NEAR(scaled[j], 0.0F, 1000 * std::numeric_limits<float>::epsilon()) << "byte " << j;
  }
}

TEST(Scaling, SameBitsForAnyNumberOfThreads) {
  for (const SensoryData& data : {spot_pictures(40, 32, 3), arcs(40, 700, 3)}) {
    Workers one(1);
    const InputScaling expected = InputScaling::fit(data.view(), one);
    for (const std::size_t threads : {2, 3, 8}) {
      Workers workers(threads);
      const InputScaling scaling = InputScaling::fit(data.view(), workers);
      EXPECT_EQ(scaling.mean, expected.mean) << threads;
      EXPECT_EQ(scaling.scale, expected.scale) << threads;
    }
  }
}

TEST(Scaling, IdentityLeavesValuesAsTheyAre) {
  const SensoryData data = arcs(3, 10, 4);
  std::vector<float> scaled(20);
  InputScaling::identity(20).apply(data.view(), 2, scaled);
  for (std::size_t j = 0; j < 20; ++j) EXPECT_EQ(scaled[j], data.view().row<float>(2)[j]);
}

TEST(Scaling, RefusesNoData) {
  const SensoryData data({{4}, ElementType::float32}, 0);
  Workers workers;
  EXPECT_THROW(InputScaling::fit(data.view(), workers), DataError);
}

}  // namespace
}  // namespace aurora
