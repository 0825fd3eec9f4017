#include "aurora/encoders/encoder.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

const SensoryShape kPicture{{64, 64, 3}, ElementType::uint8};
const SensoryShape kSequence{{50, 2}, ElementType::float32};

std::unique_ptr<Encoder> make(EncoderKind kind, const SensoryShape& shape, std::size_t dimension,
                              EncoderConfig config = {}) {
  config.kind = kind;
  Stream stream(1, Purpose::encoder_weights);
  return make_encoder(config, shape, dimension, stream);
}

/// The message of the UsageError that this call throws.
template <class Call>
std::string usage_error(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

void expect_mentions(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
}

TEST(MakeEncoder, RefusesImpossibleDimensions) {
  for (const EncoderKind kind : {EncoderKind::automatic, EncoderKind::pca}) {
    expect_mentions(usage_error([&] { make(kind, kSequence, 0); }), "between 1 and");
    expect_mentions(usage_error([&] { make(kind, kSequence, 101); }), "50 x 2 = 100");
  }
  EXPECT_EQ(make(EncoderKind::pca, kSequence, 100)->dimension(), 100U);
}

TEST(MakeEncoder, RefusesSettingsThatMakeNoSense) {
  const auto with = [](auto change) {
    EncoderConfig config;
    change(config);
    return usage_error([&] { make(EncoderKind::pca, kSequence, 2, config); });
  };
  expect_mentions(with([](EncoderConfig& c) { c.batch = 0; }), "encoder.batch");
  expect_mentions(with([](EncoderConfig& c) { c.epochs = 0; }), "encoder.epochs");
  expect_mentions(with([](EncoderConfig& c) { c.patience = 0; }), "encoder.patience");
  expect_mentions(with([](EncoderConfig& c) { c.max_examples = 0; }), "encoder.max_examples");
  expect_mentions(with([](EncoderConfig& c) { c.hidden = {8, 0}; }), "encoder.hidden");
  expect_mentions(with([](EncoderConfig& c) { c.learning_rate = 0; }), "encoder.learning_rate");
  expect_mentions(
      with([](EncoderConfig& c) { c.learning_rate = std::numeric_limits<double>::quiet_NaN(); }),
      "encoder.learning_rate");
}

TEST(MakeEncoder, AutomaticIsConvolutionalForPicturesAndPerceptronElsewhere) {
  EXPECT_EQ(make(EncoderKind::automatic, kPicture, 10)->state()[2].name, "encoder.conv1.weight");
  EXPECT_EQ(make(EncoderKind::automatic, kSequence, 10)->state()[2].name, "encoder.linear1.weight");
  EXPECT_EQ(make(EncoderKind::mlp_ae, kPicture, 10)->state()[2].name, "encoder.linear1.weight");
}

TEST(MakeEncoder, ConvolutionalSaysWhatItCannotEncodeAndWhatCan) {
  const std::string sequence = usage_error([] { make(EncoderKind::conv_ae, kSequence, 2); });
  expect_mentions(sequence, "50 x 2 floats");
  expect_mentions(sequence, "encoder.kind=mlp-ae");
  const std::string odd = usage_error([] {
    make(EncoderKind::automatic, {{60, 64, 3}, ElementType::uint8}, 2);
  });
  expect_mentions(odd, "divisible by 8");
  expect_mentions(odd, "mlp-ae");
}

TEST(MakeEncoder, TorchIsLoadedIfTheBuildHasItAndTheMessageSaysHowToGetItIfNot) {
  EncoderConfig config;
  config.engine = EncoderEngine::torch;
  Stream stream(1, Purpose::encoder_weights);
#ifdef AURORA_WITH_TORCH
  const auto torch = make_encoder(config, kSequence, 2, stream);
  EXPECT_EQ(torch->state()[2].name, "encoder.linear1.weight");
#else
  expect_mentions(usage_error([&] { make_encoder(config, kSequence, 2, stream); }),
                  "install libtorch-dev and build again, or use encoder.engine=native");
#endif
}

}  // namespace
}  // namespace aurora
