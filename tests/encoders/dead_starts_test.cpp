// Weights from which nothing can be learned, because a whole layer is silent, and encoder.redraw.
#include <gtest/gtest.h>

#include <cmath>

#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/scaling.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSeeds = 50;

class DeadStarts : public testing::Test {
 protected:
  /// The share of the variance that an encoder with two dimensions explains after one update.
  double explained(std::uint64_t seed, bool redraw, double* redrawn = nullptr) {
    AutoencoderConfig config;
    config.kind = AutoencoderKind::conv_ae;
    config.epochs = 30;
    config.redraw = redraw;
    Stream weights(seed, Purpose::encoder_weights);
    const auto encoder = make_autoencoder(config, data_.shape(), 2, weights);
    Stream training(seed, Purpose::user);
    const TrainingReport report = encoder->train(data_.view(), training, workers_);
    if (redrawn != nullptr) *redrawn = report.extra.at(0).value;
    return 1 - report.validation_loss / InputScaling::fit(data_.view(), workers_).variance();
  }

  Workers workers_{2};
  SensoryData data_ = bar_pictures(200, 16, 16, 3);
};

TEST_F(DeadStarts, HappenAndAreCured) {
  std::size_t dead = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    double redrawn = 0;
    const double before = explained(seed, false);
    const double after = explained(seed, true, &redrawn);
    EXPECT_GT(after, 0.01) << "seed " << seed;
    if (before < 0.01) {
      ++dead;
      EXPECT_GE(redrawn, 1) << "seed " << seed;
    } else {
      EXPECT_EQ(redrawn, 0) << "seed " << seed;
      EXPECT_EQ(after, before) << "seed " << seed;  // one that lives is left alone, to the bit
    }
  }
  EXPECT_GE(dead, 1U) << "this test shows nothing";
  RecordProperty("dead", static_cast<int>(dead));
}

TEST_F(DeadStarts, DataWithoutAnythingToExplainEnds) {
  data_ = SensoryData({{16, 16, 3}, ElementType::uint8}, 50);  // all black
  double redrawn = 0;
  explained(1, true, &redrawn);
  EXPECT_LE(redrawn, 5);
}

TEST(InputScaling, SaysWhatTheMeanIsWrongBy) {
  Workers workers(1);
  const SensoryData data = arcs(40, 6, 3);
  const InputScaling scaling = InputScaling::fit(data.view(), workers);
  std::vector<float> row(data.shape().size());
  double squares = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    scaling.apply(data.view(), i, row);
    for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(scaling.variance(), squares / (40.0 * static_cast<double>(row.size())), 1e-5);
}

}  // namespace
}  // namespace aurora
