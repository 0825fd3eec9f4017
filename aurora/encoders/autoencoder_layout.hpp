// The auto-encoders' layers and weights, independent of the engine that computes with them
// (docs/algorithms.md). Engines that follow this layout can take over each other's state.
//
// conv-ae, for pictures of H x W x C bytes, H and W from 8 on, C from 1 to 4 (64 x 64 x 3 in the
// paper), with M channels (4 in the paper):
//   encoder.conv1..3    3 x [3x3 convolution to M channels, padding 1; ReLU; 2x2 max-pooling]
//   encoder.linear1..3  H/8 * W/8 * M -> 64 ReLU -> 32 ReLU -> n
//   decoder.linear1..3  n -> 32 ReLU -> 64 ReLU -> H/8 * W/8 * M ReLU
//   decoder.conv1..3    3 x [3x3 convolution to M channels, padding 1; ReLU; nearest up-sampling
//                       x2]
//   decoder.conv4       3x3 convolution to C channels, padding 1, linear
// H/8 and W/8 are rounded up. A picture that three poolings do not halve is made larger for the
// encoder, with zeros in scaled space (the mean) below and on the right; what the decoder says of
// these pixels is cut off and counts in no error.
// The paper's decoder has transposed convolutions: with stride 1 and padding 1 they are plain
// convolutions whose kernels are turned by 180 degrees, so plain ones span the same functions.
//
// mlp-ae, for anything: features - hidden - n - hidden reversed - features, ReLU on the hidden
// layers, latent and output linear: encoder.linear1.., decoder.linear1...
//
// conv1d-ae, for sequences of S steps of C channels, S from 8 on, with M channels:
//   encoder.conv1..3    3 x [convolution of 4 steps to M channels, stride 2, padding 1; ReLU]
//   encoder.linear1..2  S/8 * M -> 32 ReLU -> n
//   decoder.linear1..2  n -> 32 ReLU -> S/8 * M ReLU
//   decoder.conv1..3    3 x [up-sampling x2; convolution of 3 steps, padding 1], ReLU but for the
//                       last, which has C channels
// S/8 is rounded up, and what is missing is as with pictures. Convolutions are {outputs, steps,
// inputs}.
//
// lstm-ae, for the same, with H units:
//   encoder.lstm        of [input, hidden], 4 H outputs: input, forget, cell and output gates
//   encoder.linear      H -> n, of the last hidden state
//   decoder.lstm        of [code, hidden], the code in every step
//   decoder.linear      H -> C, of every hidden state
//
// A variational auto-encoder's last encoder layer has 2 n outputs: n means, then n logarithms of
// variances. The decoder gets a sample of n values in training, and the means otherwise. Weights
// and biases of the logarithms start at 0, and the others as if there were no variances.
//
// Weights: convolutions are {outputs, inputs, 3, 3} and computed as cross-correlations; linear
// layers are {outputs, inputs}. Feature maps are flattened channels last, (y, x, channel), as the
// sensory data is; the shapes say so where a feature map meets a linear layer:
// encoder.linear1.weight is {64, H/8, W/8, 4} and decoder.linear3.weight is {H/8, W/8, 4, 64}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/encoder_state.hpp"

namespace aurora {

struct LayerSpec {
  std::string name;          // "encoder.conv1"
  bool convolution = false;  // or else fully connected
  std::size_t outputs = 0;   // channels of a convolution, values of a linear layer
  std::size_t fan_in = 0;    // weights per output
  std::vector<std::size_t> weight_shape;
  std::vector<std::size_t> bias_shape;

  std::size_t weights() const { return outputs * fan_in; }
};

/// Heights and widths that the convolutional network works on are multiples of this: three
/// poolings.
inline constexpr std::size_t kShrink = 8;

constexpr std::size_t padded_extent(std::size_t pixels) {
  return (pixels + kShrink - 1) / kShrink * kShrink;
}

/// The loss on the latent layer. In the units of squared errors, summed over features and not
/// halved, an individual's is `weight` times its divergence or its triplet's.
struct LatentSpec {
  LatentLoss loss = LatentLoss::none;
  double weight = 0;
  double margin = 0;

  bool variational() const { return loss == LatentLoss::divergence; }
  /// Values that the encoder says of each of the descriptor's.
  std::size_t heads() const { return variational() ? 2 : 1; }
};

struct AutoencoderLayout {
  AutoencoderKind kind = AutoencoderKind::conv_ae;  // not `automatic`
  SensoryShape input;
  std::size_t dimension = 0;
  LatentSpec latent;
  bool masked = false;             // lstm-ae: sequences end (sequence_length())
  std::vector<LayerSpec> layers;   // from the input to the reconstruction
  std::size_t encoder_layers = 0;  // how many of them belong to the encoder

  /// Weights and biases of all layers.
  std::size_t parameters() const;
  /// The arrays of the state: the scaling, then weight and bias layer by layer.
  std::vector<ArraySpec> state_specs() const;
};

/// UsageError if config.kind, which is not `automatic`, does not fit the shape.
AutoencoderLayout autoencoder_layout(const AutoencoderConfig& config, const SensoryShape& shape,
                                     std::size_t dimension);

/// How many steps of a sequence count: those before the first whose last channel, as it was sensed,
/// is below one half (of bytes, at most 127).
std::size_t sequence_length(const std::byte* row, ElementType element, std::size_t steps,
                            std::size_t channels);

/// What somebody is wrong by who says of each feature its mean over these rows: the mean squared
/// error over rows and features, in scaled space. Of masked sequences only what counts is wrong.
double spread(const AutoencoderLayout& layout, const InputScaling& scaling, SensoryView data,
              std::span<const std::uint32_t> rows);

/// DataError unless the set has the layout's sensory data and, if triplets are made of it, the
/// fitness of everybody.
void check_training_set(const AutoencoderLayout& layout, const TrainingSet& set);

/// Initial parameters, layer by layer, weight then bias, uniform in +-1 / sqrt(fan_in) but for
/// those of the variances.
std::vector<float> draw_parameters(const AutoencoderLayout& layout, Stream& stream);

/// The state made of these parts, and the other way round (after check_state).
std::vector<NamedArray> to_state(const AutoencoderLayout& layout, const InputScaling& scaling,
                                 std::span<const float> parameters);
void from_state(std::span<const NamedArray> state, const AutoencoderLayout& layout,
                InputScaling& scaling, std::span<float> parameters);

}  // namespace aurora
