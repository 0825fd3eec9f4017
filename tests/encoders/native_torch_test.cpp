// The native engine against libtorch: equal gradient steps from equal weights, and trainings that
// end equally well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "aurora/encoders/native/conv_autoencoder.hpp"
#include "aurora/encoders/native/mlp_autoencoder.hpp"
#include "aurora/encoders/torch_autoencoder.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

struct Engines {
  std::unique_ptr<Encoder> native, torch;
};

Engines make(const SensoryData& data, std::size_t dimension, AutoencoderConfig config,
             std::uint32_t seed = 1) {
  const bool pictures = data.shape().is_picture();
  config.kind = pictures ? AutoencoderKind::conv_ae : AutoencoderKind::mlp_ae;
  const auto factory = pictures ? make_native_conv_autoencoder : make_native_mlp_autoencoder;
  Stream one(seed, Purpose::encoder_weights), two(seed, Purpose::encoder_weights);
  return {factory(config, data.shape(), dimension, one),
          make_torch_autoencoder(config, data.shape(), dimension, two)};
}

TrainingReport train(Encoder& encoder, const SensoryData& data) {
  Stream stream(1, Purpose::encoder_training);
  Workers workers(2);
  return encoder.train(data.view(), stream, workers);
}

double norm(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}

/// Both engines start from the same weights; then every array of the state must have moved by the
/// same amount, up to `tolerance` of its own movement.
void expect_equal_training(const SensoryData& data, std::size_t dimension, std::size_t epochs,
                           double tolerance) {
  AutoencoderConfig config;
  config.epochs = epochs;
  config.batch = data.rows();
  const Engines engines = make(data, dimension, config);
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
    EXPECT_GT(moved, 0) << b[k].name;
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

TEST(NativeAndTorch, EqualErrorsAndPictures) {
  for (const SensoryData& data : {spot_pictures(50, 64, 2), arcs(50, 50, 2)}) {
    const Engines engines = make(data, 10, {});
    train(*engines.torch, data);
    engines.native->set_state(engines.torch->state());
    Workers workers;
    Matrix<float> a(50, 10), b(50, 10), c(50, data.shape().size()), d(50, data.shape().size());
    std::vector<float> e(50), f(50);
    engines.native->encode(data.view(), a, e, workers);
    engines.torch->encode(data.view(), b, f, workers);
    engines.native->reconstruct(data.view(), c, workers);
    engines.torch->reconstruct(data.view(), d, workers);
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_NEAR(e[i], f[i], 1e-4 * f[i]);
      for (std::size_t j = 0; j < 10; ++j) EXPECT_NEAR(a(i, j), b(i, j), 1e-4);
      for (std::size_t j = 0; j < c.cols(); ++j) ASSERT_NEAR(c(i, j), d(i, j), 1e-4);
    }
  }
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
