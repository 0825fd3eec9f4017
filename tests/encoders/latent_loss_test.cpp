// What the losses on the latent layer do to descriptors: a variational auto-encoder's become
// standard normal, a contrastive one's follow fitness.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "example_data.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr std::size_t kRows = 600;

struct Trained {
  std::unique_ptr<Encoder> encoder;
  TrainingReport report;
  Matrix<float> descriptors;
};

Trained train(const AutoencoderConfig& config, const SensoryData& data,
              std::span<const float> fitness = {}, std::size_t dimension = 4) {
  Stream weights(1, Purpose::encoder_weights), training(1, Purpose::encoder_training);
  Workers workers(2);
  Trained done{make_autoencoder(config, data.shape(), dimension, weights), {}, {}};
  done.report = done.encoder->train({data.view(), fitness}, training, workers);
  done.descriptors = Matrix<float>(data.rows(), dimension);
  done.encoder->encode(data.view(), done.descriptors, {}, workers);
  return done;
}

AutoencoderConfig long_training(LatentLoss loss) {
  AutoencoderConfig config;
  config.latent_loss = loss;
  config.epochs = config.patience = 60;
  return config;
}

double mean_square(const Matrix<float>& values, std::size_t column) {
  double sum = 0;
  for (std::size_t i = 0; i < values.rows(); ++i) sum += std::pow(values(i, column), 2);
  return sum / static_cast<double>(values.rows());
}

const NamedArray& array_of(const std::vector<NamedArray>& state, const std::string& name) {
  return *std::ranges::find(state, name, &NamedArray::name);
}

TEST(Variational, SaysMeansAndVariancesAndDescribesByMeans) {
  const SensoryData data = arcs(kRows, 25, 1);
  const Trained done = train(long_training(LatentLoss::divergence), data);
  const std::vector<NamedArray> state = done.encoder->state();
  EXPECT_EQ(array_of(state, "encoder.linear3.weight").shape, (std::vector<std::size_t>{8, 8}));
  EXPECT_EQ(array_of(state, "decoder.linear1.weight").shape, (std::vector<std::size_t>{8, 4}));
  EXPECT_EQ(done.encoder->dimension(), 4U);
  // Noise is for training alone: the same row has the same descriptor each time.
  Matrix<float> again(kRows, 4);
  Workers workers;
  done.encoder->encode(data.view(), again, {}, workers);
  EXPECT_EQ(again, done.descriptors);
}

TEST(Variational, MoreWeightMovesDescriptorsToTheStandardNormal) {
  const SensoryData data = arcs(kRows, 25, 1);
  AutoencoderConfig config = long_training(LatentLoss::divergence);
  config.beta = 1;
  const Trained usual = train(config, data);
  config.beta = 1000;
  const Trained collapsed = train(config, data);
  // Arcs have two hidden numbers: two dimensions carry them with a variance of about 1, and what
  // carries nothing is 0. So is everything if divergence is all that counts.
  double used = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    used += mean_square(usual.descriptors, k) > 0.3 ? 1 : 0;
    EXPECT_LT(mean_square(usual.descriptors, k), 3) << k;
    EXPECT_LT(mean_square(collapsed.descriptors, k), 0.01) << k;
  }
  EXPECT_GE(used, 2);
  EXPECT_LT(usual.report.validation_loss, 0.7 * collapsed.report.validation_loss);
  ASSERT_EQ(usual.report.extra.size(), 1U);
  EXPECT_EQ(usual.report.extra[0].name, "latent_loss");
  EXPECT_GT(usual.report.extra[0].value, 0);
  EXPECT_LT(usual.report.extra[0].value, usual.report.validation_loss);
}

// Before anything is explained the divergence would only silence what the decoder does not yet
// listen to, so it has no part in it.
TEST(Variational, IsThePlainOneUntilItExplainsSomething) {
  const SensoryData data = spot_pictures(200, 24, 1);
  AutoencoderConfig config;
  config.epochs = 1;
  config.beta = 100;
  const Trained plain = train(config, data);
  config.latent_loss = LatentLoss::divergence;
  const Trained variational = train(config, data);
  EXPECT_EQ(variational.descriptors, plain.descriptors);
  EXPECT_EQ(variational.report.train_loss, plain.report.train_loss);
  const NamedArray& latent = array_of(variational.encoder->state(), "encoder.linear3.bias");
  for (std::size_t k = 4; k < 8; ++k) EXPECT_EQ(latent.values[k], 0) << "no variance has moved";
}

TEST(Variational, DoesNotDieWhereLearningTakesTimeToBegin) {
  for (const std::size_t rows : {300U, 600U}) {  // all trained on; some held out
    const SensoryData data = spot_pictures(rows, 32, 1);
    AutoencoderConfig config;
    const double plain = train(config, data, {}, 10).report.validation_loss;
    config.latent_loss = LatentLoss::divergence;
    config.beta = 1e6;  // it collapses
    const double dead = train(config, data, {}, 10).report.validation_loss;
    config.beta = 1;
    const Trained variational = train(config, data, {}, 10);
    EXPECT_LT(variational.report.validation_loss, dead - 0.1 * (dead - plain)) << plain;
    EXPECT_GT(variational.report.extra.at(0).value, 1e-3);
  }
}

/// The share of triplets of individuals whose order by distance is that by fitness.
double ordered(const Matrix<float>& descriptors, std::span<const float> fitness) {
  const auto distance = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t k = 0; k < descriptors.cols(); ++k) {
      sum += std::pow(descriptors(a, k) - descriptors(b, k), 2);
    }
    return sum;
  };
  Stream stream(5, Purpose::user);
  std::size_t right = 0;
  constexpr std::size_t kDraws = 5000;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::size_t a = stream.below(kRows), b = stream.below(kRows), c = stream.below(kRows);
    const bool b_nearer = std::abs(fitness[a] - fitness[b]) < std::abs(fitness[a] - fitness[c]);
    right += b_nearer == (distance(a, b) < distance(a, c)) ? 1 : 0;
  }
  return static_cast<double>(right) / kDraws;
}

TEST(Contrastive, PutsLikeFitnessTogether) {
  const SensoryData data = arcs(kRows, 25, 1);
  std::vector<float> fitness;  // the arc's opening angle, at its end
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto row = data.view().row<float>(i);
    fitness.push_back(std::atan2(row[49], row[48]));
  }
  const Trained plain = train(long_training(LatentLoss::none), data, fitness);
  const Trained contrastive = train(long_training(LatentLoss::triplets), data, fitness);
  const double before = ordered(plain.descriptors, fitness);
  const double after = ordered(contrastive.descriptors, fitness);
  EXPECT_LT(before, 0.8);
  EXPECT_GT(after, 0.9) << "before " << before;
  EXPECT_EQ(contrastive.report.extra.at(0).name, "latent_loss");
}

TEST(Contrastive, WithoutWeightOrDifferencesItIsAnAutoencoder) {
  const SensoryData data = arcs(kRows, 25, 1);
  std::vector<float> different(kRows);
  for (std::size_t i = 0; i < kRows; ++i) different[i] = static_cast<float>(i);
  const std::vector<float> alike(kRows, 3.0F);
  AutoencoderConfig config = long_training(LatentLoss::triplets);
  const Trained plain = train(long_training(LatentLoss::none), data);
  EXPECT_EQ(train(config, data, alike).descriptors, plain.descriptors);
  config.weight = 0;
  EXPECT_EQ(train(config, data, different).descriptors, plain.descriptors);
}

TEST(Contrastive, NeedsThreeInAMiniBatch) {
  const SensoryData data = arcs(20, 25, 1);
  const EncoderEntry contrastive = contrastive_autoencoder_part();
  Stream stream(1, Purpose::encoder_weights);
  Mix mix;
  mix.task.sensory = data.shape();
  for (const char* batch : {"batch=1", "batch=2"}) {
    EXPECT_NE(contrastive.refuses(values_of(contrastive, {batch}), mix).find("make a triplet"),
              std::string::npos);
    EXPECT_THROW(make_part(contrastive, {data.shape(), 2, stream}, {batch}), UsageError);
    EXPECT_NO_THROW(make_part(variational_autoencoder_part(), {data.shape(), 2, stream}, {batch}));
  }
  EXPECT_EQ(contrastive.refuses(values_of(contrastive, {"batch=3"}), mix), "");
  EXPECT_NO_THROW(make_part(contrastive, {data.shape(), 2, stream}, {"batch=3"}));
}

TEST(Contrastive, NeedsTheFitnessOfEverybody) {
  const SensoryData data = arcs(20, 25, 1);
  const std::vector<float> some(19);
  EXPECT_THROW(train(long_training(LatentLoss::triplets), data), DataError);
  EXPECT_THROW(train(long_training(LatentLoss::triplets), data, some), DataError);
  EXPECT_THROW(train(long_training(LatentLoss::none), data, some), DataError);
}

TEST(LatentLossParts, MakeThemWithTheirOptions) {
  const EncoderEntry vae = variational_autoencoder_part();
  const EncoderEntry contrastive = contrastive_autoencoder_part();
  EXPECT_EQ(vae.name, "vae");
  EXPECT_EQ(contrastive.name, "contrastive");
  EXPECT_TRUE(read_option(vae, "beta=4"));
  EXPECT_FALSE(read_option(vae, "beta=-1"));
  EXPECT_TRUE(read_option(contrastive, "margin=0.1"));
  const SensoryShape picture{{16, 16, 3}, ElementType::uint8};
  Stream stream(1, Purpose::encoder_weights);
  const auto encoder = make_part(vae, {picture, 3, stream});
  EXPECT_EQ(array_of(encoder->state(), "encoder.linear3.bias").shape, std::vector<std::size_t>{6});
}

}  // namespace
}  // namespace aurora
