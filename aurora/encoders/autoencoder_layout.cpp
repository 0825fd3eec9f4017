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
  layers.push_back(linear("encoder.linear3", kNarrow, n * layout.latent.heads()));
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

/// A convolution along time.
LayerSpec slide(std::string name, std::size_t inputs, std::size_t outputs, std::size_t steps) {
  return {std::move(name), false, outputs, steps * inputs, {outputs, steps, inputs}, {outputs}};
}

void add_sequence_convolutions(AutoencoderLayout& layout, std::size_t maps) {
  const std::size_t steps = padded_extent(layout.input.extents[0]) / kShrink;
  const std::size_t channels = layout.input.extents[1], flat = steps * maps, n = layout.dimension;
  auto& layers = layout.layers;
  layers.push_back(slide("encoder.conv1", channels, maps, 4));
  layers.push_back(slide("encoder.conv2", maps, maps, 4));
  layers.push_back(slide("encoder.conv3", maps, maps, 4));
  layers.push_back(linear("encoder.linear1", flat, kNarrow));
  layers.back().weight_shape = {kNarrow, steps, maps};
  layers.push_back(linear("encoder.linear2", kNarrow, n * layout.latent.heads()));
  layout.encoder_layers = layers.size();
  layers.push_back(linear("decoder.linear1", n, kNarrow));
  layers.push_back(linear("decoder.linear2", kNarrow, flat));
  layers.back().weight_shape = {steps, maps, kNarrow};
  layers.back().bias_shape = {steps, maps};
  layers.push_back(slide("decoder.conv1", maps, maps, 3));
  layers.push_back(slide("decoder.conv2", maps, maps, 3));
  layers.push_back(slide("decoder.conv3", maps, channels, 3));
}

void add_recurrence(AutoencoderLayout& layout, std::size_t units) {
  const std::size_t channels = layout.input.extents[1], n = layout.dimension;
  layout.layers = {linear("encoder.lstm", channels + units, 4 * units),
                   linear("encoder.linear", units, n * layout.latent.heads()),
                   linear("decoder.lstm", n + units, 4 * units),
                   linear("decoder.linear", units, channels)};
  layout.encoder_layers = 2;
}

void add_perceptron(AutoencoderLayout& layout, const std::vector<std::size_t>& hidden) {
  std::vector<std::size_t> sizes = {layout.input.size()};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(layout.dimension);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    layout.layers.push_back(linear("encoder.linear" + std::to_string(i), sizes[i - 1], sizes[i]));
  }
  LayerSpec& latent = layout.layers.back();
  latent = linear(latent.name, latent.fan_in, layout.dimension * layout.latent.heads());
  layout.encoder_layers = layout.layers.size();
  std::ranges::reverse(sizes);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    layout.layers.push_back(linear("decoder.linear" + std::to_string(i), sizes[i - 1], sizes[i]));
  }
}

/// Of squared errors, the sum over features is twice the negative log-likelihood, and the mean
/// over them what a triplet's loss is added to.
LatentSpec latent_spec(const AutoencoderConfig& config, std::size_t features) {
  switch (config.latent_loss) {
    case LatentLoss::divergence:
      return {config.latent_loss, 2 * config.beta, 0};
    case LatentLoss::triplets:
      return {config.latent_loss, config.weight * static_cast<double>(features), config.margin};
    case LatentLoss::none:
      break;
  }
  return {};
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
  AutoencoderLayout layout{config.kind, shape, dimension, latent_spec(config, shape.size()),
                           false,       {},    0};
  const auto refuse = [](const std::string& kind, const std::string& reason) {
    if (!reason.empty()) throw UsageError("encoder.kind=" + kind + " does not go with " + reason);
  };
  switch (config.kind) {
    case AutoencoderKind::conv_ae:
      refuse("conv-ae", unfit_for_convolutions(shape));
      add_convolutional(layout, config.channels);
      break;
    case AutoencoderKind::conv1d_ae:
      refuse("conv1d-ae", unfit_for_sequences(shape));
      add_sequence_convolutions(layout, config.channels);
      break;
    case AutoencoderKind::lstm_ae:
      refuse("lstm-ae", unfit_for_sequences(shape));
      layout.masked = config.mask;
      add_recurrence(layout, config.units);
      break;
    case AutoencoderKind::mlp_ae:
    case AutoencoderKind::automatic:
      assert(config.kind == AutoencoderKind::mlp_ae);
      add_perceptron(layout, config.hidden);
  }
  return layout;
}

std::size_t sequence_length(const std::byte* row, ElementType element, std::size_t steps,
                            std::size_t channels) {
  const bool bytes = element == ElementType::uint8;
  std::size_t length = 0;
  for (; length < steps; ++length) {
    const std::size_t last = (length + 1) * channels - 1;
    const bool goes = bytes ? static_cast<unsigned>(row[last]) > 127
                            : reinterpret_cast<const float*>(row)[last] >= 0.5F;
    if (!goes) break;
  }
  return length;
}

double spread(const AutoencoderLayout& layout, const InputScaling& scaling, SensoryView data,
              std::span<const std::uint32_t> rows) {
  const std::vector<std::size_t>& extents = layout.input.extents;
  const std::size_t features = layout.input.size();
  std::vector<double> count(features), sum(features), squares(features);
  std::vector<float> x(features);
  for (const std::uint32_t row : rows) {
    scaling.apply(data, row, x);
    const std::size_t counted =
        layout.masked ? extents[1] * sequence_length(data.bytes(row).data(), layout.input.element,
                                                     extents[0], extents[1])
                      : features;
    for (std::size_t j = 0; j < counted; ++j) {
      const double value = static_cast<double>(x[j]);
      count[j] += 1;
      sum[j] += value;
      squares[j] += value * value;
    }
  }
  double total = 0;
  for (std::size_t j = 0; j < features; ++j) {
    if (count[j] > 0) total += std::max(squares[j] - sum[j] * sum[j] / count[j], 0.0);
  }
  return total / (static_cast<double>(rows.size()) * static_cast<double>(features));
}

void check_training_set(const AutoencoderLayout& layout, const TrainingSet& set) {
  check_shape(layout.input, set.data);
  const bool without = set.fitness.empty() && layout.latent.loss != LatentLoss::triplets;
  if (without || set.fitness.size() == set.data.rows()) return;
  throw DataError("a training set of " + std::to_string(set.data.rows()) +
                  " rows has the fitness of " + std::to_string(set.fitness.size()));
}

std::vector<float> draw_parameters(const AutoencoderLayout& layout, Stream& stream) {
  std::vector<float> parameters;
  parameters.reserve(layout.parameters());
  for (std::size_t i = 0; i < layout.layers.size(); ++i) {
    const LayerSpec& layer = layout.layers[i];
    const double bound = 1.0 / std::sqrt(static_cast<double>(layer.fan_in));
    const bool latent = i + 1 == layout.encoder_layers;
    const std::size_t drawn = layer.outputs / (latent ? layout.latent.heads() : 1);
    for (const std::size_t each : {layer.fan_in, std::size_t{1}}) {  // weight, bias
      for (std::size_t k = 0; k < drawn * each; ++k) {
        parameters.push_back(static_cast<float>((2.0 * stream.uniform() - 1.0) * bound));
      }
      parameters.resize(parameters.size() + (layer.outputs - drawn) * each);
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
