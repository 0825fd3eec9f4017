// The convolutional auto-encoder of sequences (autoencoder_layout.hpp) for groups of 16: its data.
// What is computed with it is in sequence_conv_network_inl.hpp. T is float; tests also use double.
//
// A map is [step][channel][16] inside a border of one step that stays zero, so that the window of a
// few steps that a convolution looks at is one run of memory, and a convolution is a fully
// connected layer that moves along.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "aurora/encoders/native/dense.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/network.hpp"

namespace aurora::native {

/// Constant during a pass.
template <class T>
struct SequenceConvNetwork {
  explicit SequenceConvNetwork(const AutoencoderLayout& layout)
      : steps(layout.input.extents[0]),
        padded_steps(padded_extent(steps)),
        channels(layout.input.extents[1]),
        maps(layout.layers.front().outputs),
        latent(layout) {
    const std::vector<LayerPlace> places = layer_places(layout);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const LayerSpec& layer = layout.layers[i];
      const bool linear = i == kLatent || i + 1 == places.size();
      layers.push_back({layer.fan_in, layer.outputs, !linear, places[i]});
    }
  }
  void set_parameters(const T* values) { parameters = values; }

  static constexpr std::size_t kConvolutions = 3;  // layers 0 to 2, and 7 to 9
  static constexpr std::size_t kLatent = 4;        // the encoder's last layer
  static constexpr std::size_t kDecoder = 7;       // its first convolution

  std::size_t steps, padded_steps;  // padded to what three halvings leave whole, with zeros
  std::size_t channels, maps;       // of the sequence, of the hidden maps
  std::vector<DenseLayer> layers;
  Latent<T> latent;  // empty
  const T* parameters = nullptr;
};

/// A map and its gradient.
template <class T>
struct Track {
  Track(std::size_t length, std::size_t width)
      : steps(length), channels(width), values((length + 2) * width * kLanes), slopes(values) {}

  /// Step t, from -1 (which may wrap around) to `steps`.
  std::size_t at(std::size_t t) const { return (t + 1) * channels * kLanes; }

  std::size_t steps, channels;
  LineVector<T> values, slopes;
};

template <class T>
struct SequenceConvScratch final : Scratch<T> {
  explicit SequenceConvScratch(const SequenceConvNetwork<T>& net) : Scratch<T>(net.latent) {
    std::size_t length = net.padded_steps, widest = 0;
    down.emplace_back(length, net.channels);
    for (std::size_t i = 0; i < net.kConvolutions; ++i) down.emplace_back(length /= 2, net.maps);
    for (std::size_t i = 0; i < net.kConvolutions; ++i) {
      up.emplace_back(length *= 2, net.maps);
      out.emplace_back(length, net.layers[net.kDecoder + i].out);
    }
    for (std::size_t k = net.kConvolutions; k < net.kDecoder; ++k) {
      values.emplace_back(net.layers[k].in * kLanes);
    }
    values.emplace_back(net.layers[net.kDecoder - 1].out * kLanes);
    slopes = values;
    for (const DenseLayer& layer : net.layers) widest = std::max(widest, layer.in);
    transposed.resize(padded(widest) * kLanes);
    window.resize(widest * kLanes);
  }
  const T* descriptor() const override { return this->latent.descriptor(values[2]); }

  std::vector<Track<T>> down;                 // the input, and after each of its convolutions
  std::vector<LineVector<T>> values, slopes;  // values[k] enters the linear layer 3 + k
  std::vector<Track<T>> up, out;              // before and after each of the decoder's convolutions
  LineVector<T> transposed, window;
};

}  // namespace aurora::native
