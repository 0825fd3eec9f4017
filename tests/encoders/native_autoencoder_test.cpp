// What both native auto-encoders promise: the same bits for any number of threads, for any place in
// a group and for any instruction set with fused multiply-adds; checked state.
#include "aurora/encoders/native/autoencoder.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/native/conv_autoencoder.hpp"
#include "aurora/encoders/native/mlp_autoencoder.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

using Factory = std::unique_ptr<Encoder> (*)(const AutoencoderConfig&, const SensoryShape&,
                                             std::size_t, Stream&);

struct Setting {
  const char* name;
  Factory factory;
  std::function<SensoryData(std::size_t rows)> data;
  std::size_t channels = 4;
  LatentLoss latent_loss = LatentLoss::none;
  friend void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }
};

template <AutoencoderKind kind>
std::unique_ptr<Encoder> make_sequence(const AutoencoderConfig& config, const SensoryShape& shape,
                                       std::size_t dimension, Stream& stream) {
  AutoencoderConfig own = config;
  own.kind = kind;
  return make_autoencoder(own, shape, dimension, stream);
}

struct Encoded {
  Matrix<float> descriptors;
  std::vector<float> error;
};

constexpr std::size_t kDimension = 5;

class NativeAutoencoder : public ::testing::TestWithParam<Setting> {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  static SensoryData data(std::size_t rows) { return GetParam().data(rows); }
  static std::unique_ptr<Encoder> make(const SensoryData& data, std::uint64_t seed = 1,
                                       std::size_t epochs = 2) {
    AutoencoderConfig config;
    config.batch = 72;  // four groups and a half
    config.epochs = epochs;
    config.patience = epochs;
    config.hidden = {24, 8};
    config.channels = GetParam().channels;
    config.latent_loss = GetParam().latent_loss;
    Stream stream(seed, Purpose::encoder_weights);
    return GetParam().factory(config, data.shape(), kDimension, stream);
  }
  static TrainingReport train(Encoder& encoder, const SensoryData& data, std::size_t threads = 1) {
    Stream stream(1, Purpose::encoder_training), numbers(2, Purpose::user);
    std::vector<float> fitness(data.rows());
    for (float& f : fitness) f = static_cast<float>(numbers.normal());
    Workers workers(threads);
    return encoder.train({data.view(), fitness}, stream, workers);
  }
  static Encoded encode(const Encoder& encoder, SensoryView data, std::size_t threads = 1) {
    Encoded out{Matrix<float>(data.rows(), kDimension), std::vector<float>(data.rows())};
    Workers workers(threads);
    encoder.encode(data, out.descriptors, out.error, workers);
    return out;
  }
  static std::vector<float> all_values(const Encoder& encoder) {
    std::vector<float> values;
    for (const NamedArray& array : encoder.state()) {
      values.insert(values.end(), array.values.begin(), array.values.end());
    }
    return values;
  }
};

TEST_P(NativeAutoencoder, SameBitsForAnyNumberOfThreads) {
  const SensoryData rows = data(530);
  const auto expected = make(rows);
  const TrainingReport report = train(*expected, rows, 1);
  const Encoded encoded = encode(*expected, rows.view(), 1);
  for (const std::size_t threads : {2, 3, 8}) {
    const auto encoder = make(rows);
    const TrainingReport other = train(*encoder, rows, threads);
    EXPECT_EQ(all_values(*encoder), all_values(*expected)) << "threads " << threads;
    EXPECT_EQ(other.train_loss, report.train_loss);
    EXPECT_EQ(other.validation_loss, report.validation_loss);
    const Encoded again = encode(*encoder, rows.view(), threads);
    EXPECT_EQ(again.descriptors, encoded.descriptors) << "threads " << threads;
    EXPECT_EQ(again.error, encoded.error) << "threads " << threads;
  }
}

TEST_P(NativeAutoencoder, SameBitsWithAvx2AndAvx512) {
  if ((hwy::SupportedTargets() & HWY_AVX3) == 0) GTEST_SKIP() << "this machine has no AVX-512";
  const SensoryData rows = data(150);
  std::vector<std::vector<float>> states;
  std::vector<Encoded> encoded;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2}) {
    hwy::SetSupportedTargetsForTest(target);
    const auto encoder = make(rows);
    train(*encoder, rows);
    states.push_back(all_values(*encoder));
    encoded.push_back(encode(*encoder, rows.view()));
  }
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(encoded[0].descriptors, encoded[1].descriptors);
  EXPECT_EQ(encoded[0].error, encoded[1].error);
}

TEST_P(NativeAutoencoder, OtherInstructionSetsDifferByRoundingOnly) {
  const SensoryData rows = data(40);
  const auto encoder = make(rows), trained = make(rows, 1, 10);
  const Encoded expected = encode(*encoder, rows.view());
  const TrainingReport report = train(*trained, rows);
  for (const std::int64_t target : {HWY_SSE4, HWY_SCALAR}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    const Encoded other = encode(*encoder, rows.view());
    const auto again = make(rows, 1, 10);
    EXPECT_NEAR(train(*again, rows).train_loss, report.train_loss, 1e-4 * report.train_loss);
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_NEAR(other.error[i], expected.error[i], 1e-4 * expected.error[i]);
      for (std::size_t j = 0; j < kDimension; ++j) {
        EXPECT_NEAR(other.descriptors(i, j), expected.descriptors(i, j), 1e-4);
      }
    }
  }
}

TEST_P(NativeAutoencoder, ResultsDoNotDependOnTheOtherRows) {
  const SensoryData rows = data(70);
  const auto encoder = make(rows);
  train(*encoder, rows);
  const Encoded all = encode(*encoder, rows.view());
  Workers workers;
  Matrix<float> pictures(70, rows.shape().size());
  encoder->reconstruct(rows.view(), pictures, workers);
  for (const auto& [begin, count] :
       {std::pair<std::size_t, std::size_t>{0, 1}, {5, 7}, {15, 17}, {69, 1}, {31, 32}}) {
    const Encoded slice = encode(*encoder, rows.view().slice(begin, count));
    Matrix<float> some(count, rows.shape().size());
    encoder->reconstruct(rows.view().slice(begin, count), some, workers);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::ranges::equal(slice.descriptors.row(i), all.descriptors.row(begin + i)));
      EXPECT_EQ(slice.error[i], all.error[begin + i]) << "row " << begin + i;
      EXPECT_TRUE(std::ranges::equal(some.row(i), pictures.row(begin + i)));
    }
  }
}

TEST_P(NativeAutoencoder, LeavingOutTheErrorGivesTheSameDescriptors) {
  const SensoryData rows = data(35);
  const auto encoder = make(rows);
  Matrix<float> descriptors(35, kDimension);
  Workers workers(2);
  encoder->encode(rows.view(), descriptors, {}, workers);
  EXPECT_EQ(descriptors, encode(*encoder, rows.view()).descriptors);
}

TEST_P(NativeAutoencoder, TrainingLowersTheLoss) {
  const SensoryData rows = data(600);
  const auto encoder = make(rows, 1, 30);
  const TrainingReport first = train(*encoder, rows, 2);
  EXPECT_EQ(first.examples, 600U);
  EXPECT_EQ(first.validation, 150U);
  // Nothing can be learned of a fitness that is noise.
  const double unlearnable = GetParam().latent_loss == LatentLoss::triplets ? 1 : 0;
  EXPECT_LT(first.validation_loss - unlearnable, 0.95);
  // Weights are kept: a second training starts where the first one ended.
  const TrainingReport second = train(*encoder, rows, 2);
  EXPECT_LT(second.validation_loss, 1.05 * first.validation_loss);
}

TEST_P(NativeAutoencoder, ErrorIsTheDistanceToTheReconstruction) {
  const SensoryData rows = data(50);
  const auto encoder = make(rows);
  train(*encoder, rows);
  Workers workers;
  const InputScaling scaling = InputScaling::fit(rows.view(), workers);
  Matrix<float> pictures(50, rows.shape().size());
  encoder->reconstruct(rows.view(), pictures, workers);
  const Encoded encoded = encode(*encoder, rows.view());
  for (std::size_t i = 0; i < 50; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < pictures.cols(); ++j) {
      square += std::pow((value_at(rows.view(), i, j) - pictures(i, j)) * scaling.scale[j], 2);
    }
    EXPECT_NEAR(encoded.error[i], std::sqrt(square), 1e-3 * std::sqrt(square)) << "row " << i;
  }
}

TEST_P(NativeAutoencoder, StateRoundTrip) {
  const SensoryData rows = data(60);
  const auto encoder = make(rows);
  train(*encoder, rows);
  const auto other = make(rows, 2);
  EXPECT_NE(all_values(*other), all_values(*encoder));
  other->set_state(encoder->state());
  EXPECT_EQ(all_values(*other), all_values(*encoder));
  EXPECT_EQ(encode(*other, rows.view()).descriptors, encode(*encoder, rows.view()).descriptors);
  EXPECT_EQ(encode(*other, rows.view()).error, encode(*encoder, rows.view()).error);
}

TEST_P(NativeAutoencoder, RefusedStatesLeaveTheEncoderAsItWas) {
  const SensoryData rows = data(20);
  const auto encoder = make(rows);
  const std::vector<NamedArray> good = make(rows, 2)->state();
  const std::vector<float> before = all_values(*encoder);
  const Encoded encoded = encode(*encoder, rows.view());
  using Damage = std::function<void(std::vector<NamedArray>&)>;
  const Damage damages[] = {
      [](auto& s) { s.pop_back(); },
      [](auto& s) { s.push_back(s.back()); },
      [](auto& s) { s[3].name += "x"; },
      [](auto& s) { std::swap(s[2], s[4]); },
      [](auto& s) { s[2].shape.push_back(1); },
      [](auto& s) { s.back().shape[0] += 1; },
      [](auto& s) { s[4].values.pop_back(); },
      [](auto& s) { s[5].values[0] = std::numeric_limits<float>::quiet_NaN(); },
      [](auto& s) { s.back().values.back() = std::numeric_limits<float>::infinity(); },
      [](auto& s) { s[1].values[0] = 0; },
  };
  for (std::size_t i = 0; i < std::size(damages); ++i) {
    std::vector<NamedArray> bad = good;
    damages[i](bad);
    EXPECT_THROW(encoder->set_state(bad), DataError) << "damage " << i;
    EXPECT_EQ(all_values(*encoder), before) << "damage " << i;
    EXPECT_EQ(encode(*encoder, rows.view()).descriptors, encoded.descriptors) << "damage " << i;
  }
}

TEST_P(NativeAutoencoder, RefusesDataOfAnotherShapeAndResultsOfAnotherSize) {
  const SensoryData rows = data(20);
  const auto encoder = make(rows);
  Stream stream(1, Purpose::user);
  Workers workers;
  const SensoryData other({{3}, ElementType::float32}, 20);
  EXPECT_THROW(encoder->train(other.view(), stream, workers), DataError);
  EXPECT_THROW(encode(*encoder, other.view()), DataError);
  Matrix<float> narrow(20, kDimension - 1), few(19, kDimension);
  EXPECT_THROW(encoder->encode(rows.view(), narrow, {}, workers), DataError);
  EXPECT_THROW(encoder->encode(rows.view(), few, {}, workers), DataError);
  EXPECT_THROW(encoder->reconstruct(rows.view(), narrow, workers), DataError);
  EXPECT_THROW(encoder->train(SensoryData(rows.shape(), 0).view(), stream, workers), DataError);
}

INSTANTIATE_TEST_SUITE_P(
    All, NativeAutoencoder,
    ::testing::Values(
        Setting{"conv", make_native_conv_autoencoder,
                [](std::size_t n) { return spot_pictures(n, 24, 1); }},
        Setting{"conv_grey", make_native_conv_autoencoder,
                [](std::size_t n) { return bar_pictures(n, 20, 13, 1); }},
        Setting{"conv_wide", make_native_conv_autoencoder,
                [](std::size_t n) { return bar_pictures(n, 9, 17, 4); }, 6},
        Setting{"mlp", make_native_mlp_autoencoder, [](std::size_t n) { return arcs(n, 25, 1); }},
        Setting{"mlp_on_bytes", make_native_mlp_autoencoder,
                [](std::size_t n) { return spot_pictures(n, 9, 1); }},
        Setting{"conv_vae", make_native_conv_autoencoder,
                [](std::size_t n) { return spot_pictures(n, 24, 1); }, 4, LatentLoss::divergence},
        Setting{"mlp_vae", make_native_mlp_autoencoder,
                [](std::size_t n) { return arcs(n, 25, 1); }, 4, LatentLoss::divergence},
        Setting{"conv_contrastive", make_native_conv_autoencoder,
                [](std::size_t n) { return spot_pictures(n, 24, 1); }, 4, LatentLoss::triplets},
        Setting{"conv1d", make_sequence<AutoencoderKind::conv1d_ae>,
                [](std::size_t n) { return arcs(n, 25, 1); }, 8},
        Setting{"lstm", make_sequence<AutoencoderKind::lstm_ae>,
                [](std::size_t n) { return arcs(n, 25, 1); }},
        Setting{"mlp_contrastive", make_native_mlp_autoencoder,
                [](std::size_t n) { return arcs(n, 25, 1); }, 4, LatentLoss::triplets}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace aurora
