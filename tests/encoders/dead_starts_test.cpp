// Weights from which nothing can be learned, because a whole layer is silent, and encoder.redraw.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/scaling.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSeeds = 50;

class DeadStarts : public testing::Test {
 protected:
  /// The share of the variance that an encoder with two dimensions explains after one update.
  double explained(std::uint64_t seed, bool redraw, double* redrawn = nullptr,
                   LatentLoss latent_loss = LatentLoss::none) {
    AutoencoderConfig config;
    config.kind = AutoencoderKind::conv_ae;
    config.epochs = 30;
    config.redraw = redraw;
    config.latent_loss = latent_loss;
    config.weight = 0.01;  // a large loss with a small slope
    config.margin = 100;
    Stream weights(seed, Purpose::encoder_weights);
    const auto encoder = make_autoencoder(config, data_.shape(), 2, weights);
    Stream training(seed, Purpose::user);
    const TrainingReport report = encoder->train({data_.view(), fitness_}, training, workers_);
    if (redrawn != nullptr) *redrawn = report.extra.at(0).value;
    Matrix<float> descriptors(data_.rows(), 2);
    std::vector<float> errors(data_.rows());
    encoder->encode(data_.view(), descriptors, errors, workers_);
    double squares = 0;
    for (const float error : errors) squares += static_cast<double>(error) * error;
    return 1 - squares / variance();
  }

  /// Of all values together, in scaled space.
  double variance() {
    const InputScaling scaling = InputScaling::fit(data_.view(), workers_);
    std::vector<float> row(data_.shape().size());
    double squares = 0;
    for (std::size_t i = 0; i < data_.rows(); ++i) {
      scaling.apply(data_.view(), i, row);
      for (const float x : row) squares += static_cast<double>(x) * x;
    }
    return squares;
  }

  Workers workers_{2};
  SensoryData data_ = bar_pictures(200, 16, 16, 3);
  /// Nothing that the pictures say.
  std::vector<float> fitness_ = [] {
    std::vector<float> fitness(200);
    Stream stream(9, Purpose::user);
    for (float& f : fitness) f = static_cast<float>(stream.uniform());
    return fitness;
  }();
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

// What the latent layer adds to the error says nothing about what is explained.
TEST_F(DeadStarts, AreThoseOfAPlainOneWithALatentLossToo) {
  for (const LatentLoss loss : {LatentLoss::triplets, LatentLoss::divergence}) {
    std::size_t drawn = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds / 2; ++seed) {
      double redrawn = 0;
      EXPECT_GT(explained(seed, true, &redrawn, loss), 0.01) << "seed " << seed;
      if (redrawn > 0) ++drawn;
    }
    EXPECT_LE(drawn, 8U) << "of fifty plain ones eight are";
  }
}

TEST_F(DeadStarts, DataWithoutAnythingToExplainIsLeftAlone) {
  data_ = SensoryData({{16, 16, 3}, ElementType::uint8}, 50);  // all black
  fitness_.resize(50);
  double redrawn = 1;
  explained(1, true, &redrawn);
  EXPECT_EQ(redrawn, 0);
}

// Sequences of one step or none, and weights that are not trained long enough to explain anything:
// the error is small because little counts.
TEST(DeadSequences, AreFoundByWhatCounts) {
  SensoryData data({{40, 2}, ElementType::float32}, 200);
  Stream numbers(3, Purpose::user);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const auto row = data.mutable_view().row<float>(i);
    for (float& x : row) x = static_cast<float>(numbers.normal());
    row[1] = 1;
    row[3] = 0;
  }
  AutoencoderConfig config;
  config.kind = AutoencoderKind::lstm_ae;
  config.mask = config.redraw = true;
  config.epochs = 1;
  config.learning_rate = 1e-9;
  Stream weights(1, Purpose::encoder_weights), training(1, Purpose::user);
  Workers workers(2);
  const auto encoder = make_autoencoder(config, data.shape(), 2, weights);
  EXPECT_EQ(encoder->train(data.view(), training, workers).extra.at(0).value, 5);
}

}  // namespace
}  // namespace aurora
