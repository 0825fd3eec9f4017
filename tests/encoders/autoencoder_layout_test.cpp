#include "aurora/encoders/autoencoder_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace aurora {
namespace {

AutoencoderLayout conv_layout(std::size_t dimension) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::conv_ae;
  return autoencoder_layout(config, {{64, 64, 3}, ElementType::uint8}, dimension);
}

AutoencoderLayout mlp_layout(std::size_t dimension) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::mlp_ae;
  return autoencoder_layout(config, {{50, 2}, ElementType::float32}, dimension);
}

using Sizes = std::vector<std::pair<std::string, std::size_t>>;

Sizes parameters_by_layer(const AutoencoderLayout& layout) {
  Sizes sizes;
  for (const LayerSpec& layer : layout.layers) {
    sizes.emplace_back(layer.name, layer.weights() + layer.outputs);
  }
  return sizes;
}

TEST(AutoencoderLayout, ConvolutionalNetworkIsThePapers) {
  const AutoencoderLayout layout = conv_layout(10);
  EXPECT_EQ(parameters_by_layer(layout), (Sizes{{"encoder.conv1", 3 * 9 * 4 + 4},
                                                {"encoder.conv2", 4 * 9 * 4 + 4},
                                                {"encoder.conv3", 4 * 9 * 4 + 4},
                                                {"encoder.linear1", 256 * 64 + 64},
                                                {"encoder.linear2", 64 * 32 + 32},
                                                {"encoder.linear3", 32 * 10 + 10},
                                                {"decoder.linear1", 10 * 32 + 32},
                                                {"decoder.linear2", 32 * 64 + 64},
                                                {"decoder.linear3", 64 * 256 + 256},
                                                {"decoder.conv1", 4 * 9 * 4 + 4},
                                                {"decoder.conv2", 4 * 9 * 4 + 4},
                                                {"decoder.conv3", 4 * 9 * 4 + 4},
                                                {"decoder.conv4", 4 * 9 * 3 + 3}}));
  EXPECT_EQ(layout.encoder_layers, 6U);
  EXPECT_EQ(layout.layers[3].weight_shape, (std::vector<std::size_t>{64, 8, 8, 4}));
  EXPECT_EQ(layout.layers[8].weight_shape, (std::vector<std::size_t>{8, 8, 4, 64}));
}

TEST(AutoencoderLayout, ConvolutionsHaveTheChannelsThatAreAskedForAndRoomForOddSizes) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::conv_ae;
  config.channels = 6;
  const AutoencoderLayout layout = autoencoder_layout(config, {{9, 25, 1}, ElementType::uint8}, 2);
  const std::size_t flat = 2 * 4 * 6;  // 16 x 32 pixels, halved three times
  EXPECT_EQ(parameters_by_layer(layout), (Sizes{{"encoder.conv1", 1 * 9 * 6 + 6},
                                                {"encoder.conv2", 6 * 9 * 6 + 6},
                                                {"encoder.conv3", 6 * 9 * 6 + 6},
                                                {"encoder.linear1", flat * 64 + 64},
                                                {"encoder.linear2", 64 * 32 + 32},
                                                {"encoder.linear3", 32 * 2 + 2},
                                                {"decoder.linear1", 2 * 32 + 32},
                                                {"decoder.linear2", 32 * 64 + 64},
                                                {"decoder.linear3", 64 * flat + flat},
                                                {"decoder.conv1", 6 * 9 * 6 + 6},
                                                {"decoder.conv2", 6 * 9 * 6 + 6},
                                                {"decoder.conv3", 6 * 9 * 6 + 6},
                                                {"decoder.conv4", 6 * 9 * 1 + 1}}));
  EXPECT_EQ(layout.layers[3].weight_shape, (std::vector<std::size_t>{64, 2, 4, 6}));
  EXPECT_EQ(layout.layers[8].bias_shape, (std::vector<std::size_t>{2, 4, 6}));
  // The scaling is of the pixels that there are.
  EXPECT_EQ(layout.state_specs().front().shape, (std::vector<std::size_t>{9, 25, 1}));
}

TEST(AutoencoderLayout, PaddedExtentsAreTheNextMultiplesOfEight) {
  for (const auto& [pixels, padded] : {std::pair<std::size_t, std::size_t>{8, 8},
                                       {9, 16},
                                       {15, 16},
                                       {16, 16},
                                       {50, 56},
                                       {64, 64}}) {
    EXPECT_EQ(padded_extent(pixels), padded);
  }
}

TEST(AutoencoderLayout, PerceptronIsThePapers) {
  const AutoencoderLayout layout = mlp_layout(10);
  EXPECT_EQ(parameters_by_layer(layout), (Sizes{{"encoder.linear1", 100 * 32 + 32},
                                                {"encoder.linear2", 32 * 8 + 8},
                                                {"encoder.linear3", 8 * 10 + 10},
                                                {"decoder.linear1", 10 * 8 + 8},
                                                {"decoder.linear2", 8 * 32 + 32},
                                                {"decoder.linear3", 32 * 100 + 100}}));
  EXPECT_EQ(layout.encoder_layers, 3U);
}

TEST(AutoencoderLayout, HiddenSizesAreConfigurable) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::mlp_ae;
  config.hidden = {};
  const AutoencoderLayout linear = autoencoder_layout(config, {{7}, ElementType::float32}, 2);
  EXPECT_EQ(parameters_by_layer(linear),
            (Sizes{{"encoder.linear1", 7 * 2 + 2}, {"decoder.linear1", 2 * 7 + 7}}));
}

TEST(AutoencoderLayout, InitialParametersFillTheirBounds) {
  for (const AutoencoderLayout& layout : {conv_layout(10), mlp_layout(4)}) {
    Stream stream(1, Purpose::encoder_weights);
    const std::vector<float> parameters = draw_parameters(layout, stream);
    ASSERT_EQ(parameters.size(), layout.parameters());
    auto next = parameters.begin();
    for (const LayerSpec& layer : layout.layers) {
      const auto end = next + static_cast<std::ptrdiff_t>(layer.weights() + layer.outputs);
      const double bound = 1.0 / std::sqrt(static_cast<double>(layer.fan_in));
      const auto [smallest, largest] = std::minmax_element(next, end);
      EXPECT_GE(*smallest, -bound) << layer.name;
      EXPECT_LE(*largest, bound) << layer.name;
      EXPECT_LT(*smallest, -0.8 * bound) << layer.name;
      EXPECT_GT(*largest, 0.8 * bound) << layer.name;
      next = end;
    }
  }
}

TEST(AutoencoderLayout, AVariationalOneStartsAsThePlainOneAndVariancesAtOne) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::mlp_ae;
  const SensoryShape shape{{6}, ElementType::float32};
  const AutoencoderLayout plain = autoencoder_layout(config, shape, 2);
  config.latent_loss = LatentLoss::divergence;
  const AutoencoderLayout variational = autoencoder_layout(config, shape, 2);
  Stream one(1, Purpose::encoder_weights), two(1, Purpose::encoder_weights);
  const InputScaling scaling = InputScaling::identity(6);
  const auto expected = to_state(plain, scaling, draw_parameters(plain, one));
  const auto drawn = to_state(variational, scaling, draw_parameters(variational, two));
  ASSERT_EQ(drawn.size(), expected.size());
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    std::vector<float> values = expected[k].values;
    if (drawn[k].name.starts_with("encoder.linear3")) values.resize(2 * values.size());
    EXPECT_EQ(drawn[k].values, values) << drawn[k].name;
  }
}

TEST(AutoencoderLayout, SequencesEndWhereTheLastChannelIsBelowOneHalf) {
  SensoryData floats({{4, 2}, ElementType::float32}, 1), bytes({{4, 2}, ElementType::uint8}, 1);
  const auto length = [](const SensoryData& data) {
    return sequence_length(data.view().bytes(0).data(), data.shape().element, 4, 2);
  };
  const auto float_row = floats.mutable_view().row<float>(0);
  const auto byte_row = bytes.mutable_view().row<std::uint8_t>(0);
  for (std::size_t t = 0; t < 4; ++t) {
    float_row[2 * t + 1] = 0.5F;
    byte_row[2 * t + 1] = 128;
  }
  EXPECT_EQ(length(floats), 4U);
  EXPECT_EQ(length(bytes), 4U);
  float_row[5] = 0.49F;
  byte_row[5] = 127;
  EXPECT_EQ(length(floats), 2U);
  EXPECT_EQ(length(bytes), 2U);
}

TEST(AutoencoderLayout, SpreadOfMaskedSequencesIsOfWhatCounts) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::lstm_ae;
  const SensoryShape shape{{8, 2}, ElementType::float32};
  SensoryData data(shape, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = data.mutable_view().row<float>(i);
    row[0] = static_cast<float>(i);        // 0, 1, 2: squares of 2 in all
    row[1] = i < 2 ? 1.0F : 0.0F;          // the third has no step
    row[2] = 100 * static_cast<float>(i);  // after the end
  }
  const std::vector<std::uint32_t> rows = {0, 1, 2};
  const InputScaling scaling = InputScaling::identity(16);
  config.mask = true;
  EXPECT_DOUBLE_EQ(spread(autoencoder_layout(config, shape, 2), scaling, data.view(), rows),
                   0.5 / (3 * 16));
  config.mask = false;
  EXPECT_NEAR(spread(autoencoder_layout(config, shape, 2), scaling, data.view(), rows),
              (2 + 2.0 / 3 + 20000) / (3 * 16), 1e-9);
}

TEST(AutoencoderLayout, StateHoldsEveryParameterOnce) {
  const AutoencoderLayout layout = mlp_layout(3);
  Stream stream(2, Purpose::encoder_weights);
  const std::vector<float> parameters = draw_parameters(layout, stream);
  InputScaling scaling = InputScaling::identity(100);
  scaling.mean[5] = 0.5F;
  const std::vector<NamedArray> state = to_state(layout, scaling, parameters);
  EXPECT_EQ(state[0].values, scaling.mean);
  EXPECT_EQ(state.back().name, "decoder.linear3.bias");

  std::vector<float> copy(parameters.size());
  InputScaling scaling_copy;
  from_state(state, layout, scaling_copy, copy);
  EXPECT_EQ(copy, parameters);
  EXPECT_EQ(scaling_copy.mean, scaling.mean);
  EXPECT_EQ(scaling_copy.scale, scaling.scale);
}

}  // namespace
}  // namespace aurora
