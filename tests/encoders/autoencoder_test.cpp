#include "aurora/encoders/autoencoder.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

const SensoryShape kPicture{{64, 64, 3}, ElementType::uint8};
const SensoryShape kSequence{{50, 2}, ElementType::float32};

std::unique_ptr<Encoder> make(AutoencoderKind kind, const SensoryShape& shape,
                              std::size_t dimension, AutoencoderConfig config = {}) {
  config.kind = kind;
  Stream stream(1, Purpose::encoder_weights);
  return make_autoencoder(config, shape, dimension, stream);
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

TEST(MakeAutoencoder, RefusesImpossibleDimensions) {
  for (const AutoencoderKind kind : {AutoencoderKind::automatic, AutoencoderKind::mlp_ae}) {
    expect_mentions(usage_error([&] { make(kind, kSequence, 0); }), "between 1 and");
    expect_mentions(usage_error([&] { make(kind, kSequence, 101); }), "50 x 2 = 100");
  }
  EXPECT_EQ(make(AutoencoderKind::mlp_ae, kSequence, 100)->dimension(), 100U);
}

TEST(MakeAutoencoder, RefusesSettingsThatMakeNoSense) {
  const auto with = [](auto change) {
    AutoencoderConfig config;
    change(config);
    return usage_error([&] { make(AutoencoderKind::automatic, kSequence, 2, config); });
  };
  expect_mentions(with([](AutoencoderConfig& c) { c.batch = 0; }), "encoder.batch");
  expect_mentions(with([](AutoencoderConfig& c) { c.epochs = 0; }), "encoder.epochs");
  expect_mentions(with([](AutoencoderConfig& c) { c.patience = 0; }), "encoder.patience");
  expect_mentions(with([](AutoencoderConfig& c) { c.max_examples = 0; }), "encoder.max_examples");
  expect_mentions(with([](AutoencoderConfig& c) { c.hidden = {8, 0}; }), "encoder.hidden");
  expect_mentions(with([](AutoencoderConfig& c) { c.channels = 0; }),
                  "encoder.channels must be between 1 and 64, not 0");
  expect_mentions(with([](AutoencoderConfig& c) { c.channels = 65; }), "not 65");
  expect_mentions(with([](AutoencoderConfig& c) { c.learning_rate = 0; }), "encoder.learning_rate");
  expect_mentions(with([](AutoencoderConfig& c) {
                    c.learning_rate = std::numeric_limits<double>::quiet_NaN();
                  }),
                  "encoder.learning_rate");
}

TEST(MakeAutoencoder, AutomaticIsConvolutionalForPicturesAndPerceptronElsewhere) {
  EXPECT_EQ(make(AutoencoderKind::automatic, kPicture, 10)->state()[2].name,
            "encoder.conv1.weight");
  for (const SensoryShape& shape : {SensoryShape{{8, 8, 1}, ElementType::uint8},
                                    SensoryShape{{60, 33, 4}, ElementType::uint8}}) {
    EXPECT_EQ(make(AutoencoderKind::automatic, shape, 10)->state()[2].name, "encoder.conv1.weight")
        << describe(shape);
  }
  EXPECT_EQ(make(AutoencoderKind::automatic, kSequence, 10)->state()[2].name,
            "encoder.linear1.weight");
  EXPECT_EQ(make(AutoencoderKind::mlp_ae, kPicture, 10)->state()[2].name, "encoder.linear1.weight");
}

TEST(MakeAutoencoder, AutomaticIsAPerceptronForPicturesThatConvolutionsCannotTake) {
  for (const SensoryShape& shape :
       {SensoryShape{{7, 64, 3}, ElementType::uint8}, SensoryShape{{64, 7, 3}, ElementType::uint8},
        SensoryShape{{64, 64, 5}, ElementType::uint8},
        SensoryShape{{64, 64, 3}, ElementType::float32}}) {
    EXPECT_EQ(make(AutoencoderKind::automatic, shape, 2)->state()[2].name, "encoder.linear1.weight")
        << describe(shape);
  }
}

TEST(MakeAutoencoder, ConvolutionalSaysWhatItCannotEncodeAndWhatCan) {
  const std::string sequence = usage_error([] { make(AutoencoderKind::conv_ae, kSequence, 2); });
  expect_mentions(sequence, "50 x 2 floats");
  expect_mentions(sequence, "encoder.kind=mlp-ae");
  for (const EncoderEngine engine : {EncoderEngine::native, EncoderEngine::torch}) {
#ifndef AURORA_WITH_TORCH
    if (engine == EncoderEngine::torch) continue;
#endif
    const std::string small = usage_error([&] {
      make(AutoencoderKind::conv_ae, {{7, 64, 3}, ElementType::uint8}, 2, {.engine = engine});
    });
    expect_mentions(small, "pictures of 7 x 64 x 3 bytes");
    expect_mentions(small, "height and width must be at least 8");
    expect_mentions(small, "mlp-ae");
    const std::string channels_first = usage_error([&] {
      make(AutoencoderKind::conv_ae, {{3, 64, 64}, ElementType::uint8}, 2, {.engine = engine});
    });
    expect_mentions(channels_first, "at least 8");
    const std::string colours = usage_error([&] {
      make(AutoencoderKind::conv_ae, {{64, 64, 5}, ElementType::uint8}, 2, {.engine = engine});
    });
    expect_mentions(colours, "pictures of 64 x 64 x 5 bytes");
    expect_mentions(colours, "it works on 1 to 4 channels, which come last");
    expect_mentions(colours, "mlp-ae");
  }
}

TEST(MakeAutoencoder, TorchIsLoadedIfTheBuildHasItAndTheMessageSaysHowToGetItIfNot) {
  AutoencoderConfig config;
  config.engine = EncoderEngine::torch;
  Stream stream(1, Purpose::encoder_weights);
#ifdef AURORA_WITH_TORCH
  const auto torch = make_autoencoder(config, kSequence, 2, stream);
  EXPECT_EQ(torch->state()[2].name, "encoder.linear1.weight");
#else
  expect_mentions(usage_error([&] { make_autoencoder(config, kSequence, 2, stream); }),
                  "install libtorch-dev and build again, or use encoder.engine=native");
#endif
}

TEST(AutoencoderParts, MakeTheirKind) {
  const auto first_layer = [](const EncoderEntry& entry, const SensoryShape& shape,
                              const std::vector<std::string>& options = {}) {
    Stream stream(1, Purpose::encoder_weights);
    return make_part(entry, {shape, 10, stream}, options)->state()[2];
  };
  EXPECT_EQ(first_layer(auto_encoder_part(), kPicture).name, "encoder.conv1.weight");
  EXPECT_EQ(first_layer(auto_encoder_part(), kSequence).name, "encoder.linear1.weight");
  EXPECT_EQ(first_layer(conv_autoencoder_part(), kPicture).name, "encoder.conv1.weight");
  EXPECT_EQ(first_layer(mlp_autoencoder_part(), kPicture).name, "encoder.linear1.weight");
  for (const EncoderEntry& entry : {auto_encoder_part(), mlp_autoencoder_part()}) {
    EXPECT_EQ(first_layer(entry, kSequence).values.size(), 100 * 32U);
    EXPECT_EQ(first_layer(entry, kSequence, {"hidden=7,5"}).values.size(), 100 * 7U);
    EXPECT_EQ(first_layer(entry, kSequence, {"hidden="}).values.size(), 100 * 10U);
  }
  for (const EncoderEntry& entry : {auto_encoder_part(), conv_autoencoder_part()}) {
    EXPECT_EQ(first_layer(entry, kPicture).values.size(), 3 * 9 * 4U);
    EXPECT_EQ(first_layer(entry, kPicture, {"channels=9"}).values.size(), 3 * 9 * 9U);
  }
  Stream one(1, Purpose::encoder_weights);
  AutoencoderConfig config;
  config.kind = AutoencoderKind::mlp_ae;
  EXPECT_EQ(first_layer(mlp_autoencoder_part(), kSequence).values,
            make_autoencoder(config, kSequence, 10, one)->state()[2].values);
}

TEST(AutoencoderParts, HaveTheDefaultsOfTheConfiguration) {
  using Options = std::vector<std::pair<std::string, std::string>>;
  Options expected = {
      {"engine", "\"native\""},   {"batch", "32"},           {"epochs", "20"},
      {"patience", "3"},          {"progress", "0.0"},       {"training", "\"full\""},
      {"learning_rate", "0.001"}, {"max_examples", "10000"}, {"redraw", "false"},
      {"channels", "4"},          {"hidden", "[32, 8]"}};
  const auto options_of = [](const EncoderEntry& entry) {
    Options all;
    for (const Option& option : entry.options) {
      all.emplace_back(option.name, option.fallback.toml());
      if (option.name == "progress") continue;  // the one that may be 0
      EXPECT_FALSE(read_option(entry, option.name + "=0")) << option.name;
    }
    return all;
  };
  EXPECT_EQ(auto_encoder_part().name, "auto");
  EXPECT_EQ(options_of(auto_encoder_part()), expected);
  Options conv = expected;
  conv.pop_back();  // convolutions have no hidden layers to choose
  EXPECT_EQ(conv_autoencoder_part().name, "conv-ae");
  EXPECT_EQ(options_of(conv_autoencoder_part()), conv);
  EXPECT_FALSE(read_option(conv_autoencoder_part(), "channels=65"));
  EXPECT_EQ(mlp_autoencoder_part().name, "mlp-ae");
  expected.erase(expected.end() - 2);  // nor perceptrons channels
  EXPECT_EQ(options_of(mlp_autoencoder_part()), expected);
}

TEST(AutoencoderParts, TheOracleKeepsItsWeights) {
  Mix mix;
  mix.task.sensory = kSequence;
  for (const EncoderEntry& entry : {auto_encoder_part(), mlp_autoencoder_part()}) {
    EXPECT_EQ(entry.refuses(values_of(entry, {"redraw=true"}), mix), "");
    EXPECT_NE(entry.refuses(values_of(entry, {"redraw=true", "engine=torch"}), mix), "");
  }
}

TEST(AutoencoderParts, OnlyConvolutionsRefuseATask) {
  Mix mix;
  mix.task.name = "robot";
  const auto refusal = [&](const EncoderEntry& entry, const SensoryShape& shape) {
    mix.task.sensory = shape;
    return entry.refuses(values_of(entry, {}), mix);
  };
  const SensoryShape grey{{64, 64, 1}, ElementType::uint8}, odd{{60, 9, 4}, ElementType::uint8};
  const SensoryShape small{{7, 64, 3}, ElementType::uint8}, deep{{8, 8, 5}, ElementType::uint8};
  for (const SensoryShape& shape : {kPicture, kSequence, grey, odd, small, deep}) {
    EXPECT_EQ(refusal(auto_encoder_part(), shape), "") << describe(shape);
    EXPECT_EQ(refusal(mlp_autoencoder_part(), shape), "") << describe(shape);
  }
  const EncoderEntry conv = conv_autoencoder_part();
  for (const SensoryShape& shape : {kPicture, grey, odd}) EXPECT_EQ(refusal(conv, shape), "");
  const std::string sequence = refusal(conv, kSequence);
  EXPECT_EQ(sequence.find("the task 'robot', which has "), 0U) << sequence;
  expect_mentions(sequence, "50 x 2 floats");
  expect_mentions(sequence, "use encoder.kind=mlp-ae or encoder.kind=pca");
  expect_mentions(refusal(conv, small), "at least 8");
  expect_mentions(refusal(conv, deep), "1 to 4 channels");
}

}  // namespace
}  // namespace aurora
