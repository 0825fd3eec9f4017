// Auto-encoders of sequences: what they learn, and sequences of different lengths.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/scaling.hpp"
#include "example_data.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr std::size_t kRows = 600, kSteps = 24;

std::unique_ptr<Encoder> make(const AutoencoderConfig& config, const SensoryData& data) {
  Stream stream(1, Purpose::encoder_weights);
  return make_autoencoder(config, data.shape(), 3, stream);
}

TrainingReport train(Encoder& encoder, const SensoryData& data) {
  Stream stream(1, Purpose::encoder_training);
  Workers workers(2);
  return encoder.train(data.view(), stream, workers);
}

AutoencoderConfig config_of(AutoencoderKind kind) {
  AutoencoderConfig config;
  config.kind = kind;
  config.channels = 8;
  config.epochs = config.patience = 40;
  config.learning_rate = 3e-3;
  return config;
}

TEST(SequenceAutoencoders, LearnArcs) {
  const SensoryData data = arcs(kRows, kSteps, 1);
  const double variance = 1;  // of scaled data
  for (const AutoencoderKind kind : {AutoencoderKind::conv1d_ae, AutoencoderKind::lstm_ae}) {
    const auto encoder = make(config_of(kind), data);
    EXPECT_LT(train(*encoder, data).validation_loss, 0.1 * variance) << static_cast<int>(kind);
  }
}

/// Sequences that end early: what comes after is `rest`, which must not matter.
SensoryData with_ends(float rest) {
  const SensoryData arc = arcs(kRows, kSteps, 1);
  SensoryData data({{kSteps, 3}, ElementType::float32}, kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t length = i % (kSteps + 1);
    const auto from = arc.view().row<float>(i);
    const auto to = data.mutable_view().row<float>(i);
    for (std::size_t t = 0; t < kSteps; ++t) {
      const bool goes = t < length;
      to[3 * t] = goes ? from[2 * t] : rest;
      to[3 * t + 1] = goes ? from[2 * t + 1] : rest;
      to[3 * t + 2] = goes ? 1.0F : 0.0F;
    }
  }
  return data;
}

TEST(SequenceAutoencoders, WhatComesAfterTheEndDoesNotMatter) {
  AutoencoderConfig config = config_of(AutoencoderKind::lstm_ae);
  config.mask = true;
  const SensoryData zeros = with_ends(0), others = with_ends(0.5F);
  const auto encoder = make(config, zeros);
  train(*encoder, zeros);
  Matrix<float> one(kRows, 3), two(kRows, 3);
  std::vector<float> error_one(kRows), error_two(kRows);
  Workers workers;
  encoder->encode(zeros.view(), one, error_one, workers);
  encoder->encode(others.view(), two, error_two, workers);
  EXPECT_EQ(one, two);
  EXPECT_EQ(error_one, error_two);
  EXPECT_EQ(error_one[0], 0) << "a sequence without a step";
  EXPECT_GT(error_one[20], 0);
  // Without a mask it does.
  config.mask = false;
  const auto unmasked = make(config, zeros);
  unmasked->encode(zeros.view(), one, error_one, workers);
  unmasked->encode(others.view(), two, error_two, workers);
  EXPECT_NE(one, two);
}

TEST(SequenceAutoencoders, OfBytesEndAtZeros) {
  SensoryData data({{8, 2}, ElementType::uint8}, 2);
  const auto first = data.mutable_view().row<std::uint8_t>(0);
  const auto second = data.mutable_view().row<std::uint8_t>(1);
  for (std::size_t t = 0; t < 8; ++t) {
    first[2 * t] = second[2 * t] = static_cast<std::uint8_t>(20 * t);
    first[2 * t + 1] = second[2 * t + 1] = t < 5 ? 255 : 0;
    if (t >= 5) second[2 * t] = 77;
  }
  AutoencoderConfig config = config_of(AutoencoderKind::lstm_ae);
  config.mask = true;
  const auto encoder = make(config, data);
  Matrix<float> descriptors(2, 3);
  Workers workers;
  encoder->encode(data.view(), descriptors, {}, workers);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(descriptors(0, k), descriptors(1, k));
}

TEST(SequenceAutoencoders, RefuseOtherData) {
  Mix mix;
  mix.task.name = "robot";
  for (const EncoderEntry& entry : {sequence_conv_autoencoder_part(), lstm_autoencoder_part()}) {
    for (const SensoryShape& shape :
         {SensoryShape{{64, 64, 3}, ElementType::uint8}, SensoryShape{{40}, ElementType::float32},
          SensoryShape{{7, 2}, ElementType::float32}}) {
      mix.task.sensory = shape;
      EXPECT_NE(entry.refuses(values_of(entry), mix).find("8 steps at least"), std::string::npos);
      Stream stream(1, Purpose::encoder_weights);
      EXPECT_THROW(make_part(entry, {shape, 3, stream}), UsageError);
    }
    mix.task.sensory = {{8, 2}, ElementType::float32};
    EXPECT_EQ(entry.refuses(values_of(entry), mix), "");
  }
}

}  // namespace
}  // namespace aurora
