#include "aurora/encoders/autoencoder_layout.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kWide = 64;  // the linear layers of the convolutional network
constexpr std::size_t kNarrow = 32;

LayerSpec convolution(std::string name, std::size_t inputs, std::size_t outputs) {
  return {std::move(name), true, outputs, inputs * 9, {outputs, inputs, 3, 3}, {outputs}};
}

LayerSpec linear(std::string name, std::size_t inputs, std::size_t outputs) {
  return {std::move(name), false, outputs, inputs, {outputs, inputs}, {outputs}};
}

void add_convolutional(AutoencoderLayout& layout, std::size_t channels) {
  const auto& extents = layout.input.extents;
  const std::size_t height = padded_extent(extents[0]) / kShrink;
  const std::size_t width = padded_extent(extents[1]) / kShrink;
  const std::size_t flat = height * width * channels, n = layout.dimension;
  auto& layers = layout.layers;
  layers.push_back(convolution("encoder.conv1", extents[2], channels));
  layers.push_back(convolution("encoder.conv2", channels, channels));
  layers.push_back(convolution("encoder.conv3", channels, channels));
  layers.push_back(linear("encoder.linear1", flat, kWide));
  layers.back().weight_shape = {kWide, height, width, channels};
  layers.push_back(linear("encoder.linear2", kWide, kNarrow));
  layers.push_back(linear("encoder.linear3", kNarrow, n));
  layout.encoder_layers = layers.size();
  layers.push_back(linear("decoder.linear1", n, kNarrow));
  layers.push_back(linear("decoder.linear2", kNarrow, kWide));
  layers.push_back(linear("decoder.linear3", kWide, flat));
  layers.back().weight_shape = {height, width, channels, kWide};
  layers.back().bias_shape = {height, width, channels};
  layers.push_back(convolution("decoder.conv1", channels, channels));
  layers.push_back(convolution("decoder.conv2", channels, channels));
  layers.push_back(convolution("decoder.conv3", channels, channels));
  layers.push_back(convolution("decoder.conv4", channels, extents[2]));
}

void add_perceptron(AutoencoderLayout& layout, const std::vector<std::size_t>& hidden) {
  std::vector<std::size_t> sizes = {layout.input.size()};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(layout.dimension);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    layout.layers.push_back(linear("encoder.linear" + std::to_string(i), sizes[i - 1], sizes[i]));
  }
  layout.encoder_layers = layout.layers.size();
  std::ranges::reverse(sizes);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    layout.layers.push_back(linear("decoder.linear" + std::to_string(i), sizes[i - 1], sizes[i]));
  }
}

}  // namespace

std::size_t AutoencoderLayout::parameters() const {
  std::size_t sum = 0;
  for (const LayerSpec& layer : layers) sum += layer.weights() + layer.outputs;
  return sum;
}

std::vector<ArraySpec> AutoencoderLayout::state_specs() const {
  std::vector<ArraySpec> specs = scaling_specs(input);
  for (const LayerSpec& layer : layers) {
    specs.push_back({layer.name + ".weight", layer.weight_shape});
    specs.push_back({layer.name + ".bias", layer.bias_shape});
  }
  return specs;
}

AutoencoderLayout autoencoder_layout(const AutoencoderConfig& config, const SensoryShape& shape,
                                     std::size_t dimension) {
  assert(config.kind == AutoencoderKind::conv_ae || config.kind == AutoencoderKind::mlp_ae);
  AutoencoderLayout layout{config.kind, shape, dimension, {}, 0};
  if (config.kind == AutoencoderKind::conv_ae) {
    const std::string reason = unfit_for_convolutions(shape);
    if (!reason.empty()) throw UsageError("encoder.kind=conv-ae does not go with " + reason);
    add_convolutional(layout, config.channels);
  } else {
    add_perceptron(layout, config.hidden);
  }
  return layout;
}

std::vector<float> draw_parameters(const AutoencoderLayout& layout, Stream& stream) {
  std::vector<float> parameters;
  parameters.reserve(layout.parameters());
  for (const LayerSpec& layer : layout.layers) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(layer.fan_in));
    for (std::size_t i = 0; i < layer.weights() + layer.outputs; ++i) {
      parameters.push_back(static_cast<float>((2.0 * stream.uniform() - 1.0) * bound));
    }
  }
  return parameters;
}

std::vector<NamedArray> to_state(const AutoencoderLayout& layout, const InputScaling& scaling,
                                 std::span<const float> parameters) {
  std::vector<NamedArray> state;
  append_scaling(state, layout.input, scaling);
  const std::vector<ArraySpec> specs = layout.state_specs();
  for (std::size_t i = state.size(); i < specs.size(); ++i) {
    std::size_t size = 1;
    for (std::size_t e : specs[i].shape) size *= e;
    state.push_back({specs[i].name,
                     specs[i].shape,
                     {parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(size)}});
    parameters = parameters.subspan(size);
  }
  return state;
}

void from_state(std::span<const NamedArray> state, const AutoencoderLayout& layout,
                InputScaling& scaling, std::span<float> parameters) {
  check_state(state, layout.state_specs());
  scaling = {state[0].values, state[1].values};
  auto out = parameters.begin();
  for (const NamedArray& array : state.subspan(2)) out = std::ranges::copy(array.values, out).out;
}

}  // namespace aurora
