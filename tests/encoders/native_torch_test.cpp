// The native engine against libtorch: equal gradient steps from equal weights, and trainings that
// end equally well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/torch_autoencoder.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

struct Engines {
  std::unique_ptr<Encoder> native, torch;
};

Engines make(const SensoryData& data, std::size_t dimension, AutoencoderConfig config,
             std::uint32_t seed = 1) {
  if (config.kind == AutoencoderKind::automatic) {
    const bool pictures = data.shape().is_picture();
    config.kind = pictures ? AutoencoderKind::conv_ae : AutoencoderKind::mlp_ae;
  }
  Stream one(seed, Purpose::encoder_weights), two(seed, Purpose::encoder_weights);
  return {make_autoencoder(config, data.shape(), dimension, one),
          make_torch_autoencoder(config, data.shape(), dimension, two)};
}

TrainingReport train(Encoder& encoder, const SensoryData& data) {
  Stream stream(1, Purpose::encoder_training), numbers(2, Purpose::user);
  std::vector<float> fitness(data.rows());
  for (float& f : fitness) f = static_cast<float>(numbers.normal());
  Workers workers(2);
  return encoder.train({data.view(), fitness}, stream, workers);
}

double norm(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}

/// The first seed whose weights leave every layer something to learn: small networks of ReLUs are
/// often dead from the start.
std::uint32_t live_seed(const SensoryData& data, std::size_t dimension, std::size_t channels) {
  for (std::uint32_t seed = 1; seed < 200; ++seed) {
    const AutoencoderConfig config{.epochs = 1, .channels = channels};
    const auto encoder = make(data, dimension, config, seed).native;
    const std::vector<NamedArray> start = encoder->state();
    train(*encoder, data);
    const std::vector<NamedArray> end = encoder->state();
    const auto moved = [](const NamedArray& a, const NamedArray& b) {
      return a.values != b.values;
    };
    if (std::ranges::equal(start, end, moved)) return seed;
  }
  ADD_FAILURE() << "all are dead";
  return 1;
}

/// Both engines start from the same weights; then every array of the state must have moved by the
/// same amount, up to `tolerance` of its own movement.
void expect_equal_training(const SensoryData& data, std::size_t dimension, std::size_t epochs,
                           double tolerance, std::size_t channels = 4, std::uint32_t seed = 1,
                           AutoencoderConfig config = {}, std::size_t epochs_before = 0) {
  SCOPED_TRACE(describe(data.shape()) + ", " + std::to_string(channels) + " channels");
  config.channels = channels;
  config.epochs = epochs;
  config.batch = data.rows();
  const Engines engines = make(data, dimension, config, seed);
  if (epochs_before > 0) {
    AutoencoderConfig longer = config;
    longer.epochs = epochs_before;
    longer.batch = 32;
    const auto trained = make(data, dimension, longer, seed).native;
    train(*trained, data);
    engines.native->set_state(trained->state());
    engines.torch->set_state(trained->state());
  }
  const std::vector<NamedArray> start = engines.native->state();
  for (std::size_t k = 0; k < start.size(); ++k) {
    ASSERT_EQ(start[k].values, engines.torch->state()[k].values) << start[k].name;
  }
  const TrainingReport native = train(*engines.native, data), torch = train(*engines.torch, data);
  EXPECT_NEAR(native.train_loss, torch.train_loss, 1e-5 * torch.train_loss);
  const std::vector<NamedArray> a = engines.native->state(), b = engines.torch->state();
  for (std::size_t k = 0; k < start.size(); ++k) {
    const std::vector<float> still(start[k].values.size());
    const double moved = norm(b[k].values, start[k].values);
    const bool scaling = start[k].name.starts_with("scaling.");
    if (epochs_before == 0 || !scaling) {
      EXPECT_GT(moved, 0) << b[k].name;
    }
    // Without noise and divergence variances do not move.
    if (epochs_before > 0 && start[k].name == "encoder.linear3.bias") {
      EXPECT_NE(b[k].values.back(), start[k].values.back());
    }
    EXPECT_LE(norm(a[k].values, b[k].values), tolerance * moved) << b[k].name;
    EXPECT_LE(norm(a[k].values, b[k].values), 1e-3 * norm(b[k].values, still)) << b[k].name;
  }
}

TEST(NativeAndTorch, OneStepMovesEveryArrayEqually) {
  // Adam's first step is the sign of the gradient: entries near 0 may disagree, few others.
  expect_equal_training(spot_pictures(96, 64, 1), 10, 1, 0.05);
  expect_equal_training(spot_pictures(40, 24, 1), 3, 1, 0.05);
  expect_equal_training(arcs(96, 50, 1), 4, 1, 0.05);
}

TEST(NativeAndTorch, OneStepMovesEveryArrayEquallyWithALatentLoss) {
  for (const LatentLoss loss : {LatentLoss::divergence, LatentLoss::triplets}) {
    const AutoencoderConfig config{.latent_loss = loss, .beta = 3, .weight = 0.5};
    expect_equal_training(spot_pictures(96, 64, 1), 10, 1, 0.05, 4, 1, config);
    expect_equal_training(arcs(90, 50, 1), 4, 1, 0.05, 4, 1, config);
  }
}

// A variational encoder samples, and its divergence counts, once it explains something.
TEST(NativeAndTorch, OneStepMovesEveryArrayEquallyWithADivergenceThatCounts) {
  const AutoencoderConfig config{.latent_loss = LatentLoss::divergence, .beta = 3};
  expect_equal_training(arcs(90, 50, 1), 4, 1, 0.05, 4, 1, config, 60);
  expect_equal_training(spot_pictures(96, 24, 1), 4, 1, 0.05, 4, 1, config, 150);
}

/// Arcs whose last channel says how far each of them goes.
SensoryData arcs_of_any_length(std::size_t rows, std::size_t steps) {
  const SensoryData arc = arcs(rows, steps, 1);
  SensoryData data({{steps, 3}, ElementType::float32}, rows);
  Stream stream(4, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t length = 1 + stream.below(steps);
    const auto from = arc.view().row<float>(i);
    const auto to = data.mutable_view().row<float>(i);
    for (std::size_t t = 0; t < length; ++t) {
      to[3 * t] = from[2 * t];
      to[3 * t + 1] = from[2 * t + 1];
      to[3 * t + 2] = 1;
    }
  }
  return data;
}

TEST(NativeAndTorch, OneStepMovesEveryArrayEquallyOnSequences) {
  AutoencoderConfig lstm, conv;
  conv.kind = AutoencoderKind::conv1d_ae;
  lstm.kind = AutoencoderKind::lstm_ae;
  lstm.units = 12;
  for (const LatentLoss loss : {LatentLoss::none, LatentLoss::divergence, LatentLoss::triplets}) {
    conv.latent_loss = lstm.latent_loss = loss;
    expect_equal_training(arcs(90, 50, 1), 4, 1, 0.05, 8, 1, conv);
    expect_equal_training(arcs(40, 13, 1), 3, 1, 0.05, 6, 2, conv);
    expect_equal_training(arcs(90, 20, 1), 4, 1, 0.05, 4, 1, lstm);
  }
  lstm.latent_loss = LatentLoss::none;
  lstm.mask = true;
  expect_equal_training(arcs_of_any_length(90, 20), 4, 1, 0.05, 4, 1, lstm);
}

/// Trained by libtorch, taken over by the native engine: both say the same.
void expect_equal_answers(const SensoryData& data, const AutoencoderConfig& config,
                          std::uint32_t seed = 1) {
  SCOPED_TRACE(describe(data.shape()) + ", " + std::to_string(config.channels) + " channels");
  const std::size_t rows = data.rows(), features = data.shape().size();
  const Engines engines = make(data, 10, config, seed);
  train(*engines.torch, data);
  engines.native->set_state(engines.torch->state());
  Workers workers;
  Matrix<float> a(rows, 10), b(rows, 10), c(rows, features), d(rows, features);
  std::vector<float> e(rows), f(rows);
  engines.native->encode(data.view(), a, e, workers);
  engines.torch->encode(data.view(), b, f, workers);
  engines.native->reconstruct(data.view(), c, workers);
  engines.torch->reconstruct(data.view(), d, workers);
  for (std::size_t i = 0; i < rows; ++i) {
    EXPECT_NEAR(e[i], f[i], 1e-4 * f[i]);
    for (std::size_t j = 0; j < 10; ++j) EXPECT_NEAR(a(i, j), b(i, j), 1e-4);
    for (std::size_t j = 0; j < features; ++j) ASSERT_NEAR(c(i, j), d(i, j), 1e-4);
  }
}

TEST(NativeAndTorch, EqualErrorsAndPictures) {
  for (const SensoryData& data : {spot_pictures(50, 64, 2), arcs(50, 50, 2)}) {
    expect_equal_answers(data, {});
    expect_equal_answers(data, {.latent_loss = LatentLoss::divergence});
    expect_equal_answers(data, {.latent_loss = LatentLoss::triplets});
  }
  expect_equal_answers(arcs(50, 50, 2), {.kind = AutoencoderKind::conv1d_ae, .channels = 8});
  expect_equal_answers(arcs(50, 21, 2), {.kind = AutoencoderKind::lstm_ae});
  expect_equal_answers(arcs_of_any_length(50, 21),
                       {.kind = AutoencoderKind::lstm_ae, .mask = true});
}

TEST(NativeAndTorch, EqualOnAnySizeInOneToFourChannels) {
  for (std::size_t channels = 1; channels <= 4; ++channels) {
    for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{8, 8},
                                        {9, 13},
                                        {16, 16},
                                        {31, 64},
                                        {50, 50},
                                        {64, 64},
                                        {96, 40}}) {
      const SensoryData data = bar_pictures(20, height, width, channels);
      expect_equal_training(data, 3, 1, 0.1, 4, live_seed(data, 3, 4));
      expect_equal_answers(data, {.epochs = 2}, live_seed(data, 10, 4));
    }
  }
}

TEST(NativeAndTorch, EqualWithMoreOrFewerChannels) {
  for (const std::size_t channels : {1, 3, 5, 8, 16, 30}) {
    for (const SensoryData& data : {bar_pictures(20, 16, 24, 3), bar_pictures(20, 13, 9, 4)}) {
      expect_equal_training(data, 3, 1, 0.1, channels, live_seed(data, 3, channels));
      expect_equal_answers(data, {.epochs = 2, .channels = channels},
                           live_seed(data, 10, channels));
    }
  }
}

// Either engine goes on from what the other one has saved; a state of another width is refused.
TEST(NativeAndTorch, TakeOverEachOthersStates) {
  const SensoryData data = bar_pictures(30, 20, 30, 1);
  const Engines engines = make(data, 3, {.channels = 6});
  train(*engines.native, data);
  engines.torch->set_state(engines.native->state());
  const std::vector<NamedArray> there = engines.torch->state(), here = engines.native->state();
  for (std::size_t k = 0; k < here.size(); ++k) EXPECT_EQ(there[k].values, here[k].values);
  const Engines others = make(data, 3, {.channels = 7});
  EXPECT_THROW(others.native->set_state(here), DataError);
  EXPECT_THROW(others.torch->set_state(here), DataError);
}

// The same training, up to rounding: mostly the losses agree to six digits. A maximum or a ReLU
// that rounds to the other side can send two trainings apart a little, either way.
TEST(NativeAndTorch, TrainingEndsAsWell) {
  std::vector<double> differences;
  for (const SensoryData& data : {spot_pictures(600, 32, 3), arcs(600, 50, 3)}) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      AutoencoderConfig config;
      config.epochs = 12;
      config.patience = 12;
      const Engines engines = make(data, 5, config, seed);
      const TrainingReport native = train(*engines.native, data);
      const TrainingReport torch = train(*engines.torch, data);
      const double difference = native.validation_loss / torch.validation_loss - 1;
      EXPECT_LE(difference, 5e-3) << seed;
      differences.push_back(std::abs(difference));
    }
  }
  std::ranges::sort(differences);
  EXPECT_LE(differences[differences.size() / 2], 1e-5);
}

}  // namespace
}  // namespace aurora
