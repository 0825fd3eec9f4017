// The fully connected auto-encoder (autoencoder_layout.hpp) for groups of 16 individuals: its data.
// What is computed with it is in mlp_network_inl.hpp. T is float; tests also use double.
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
struct MlpNetwork {
  explicit MlpNetwork(const AutoencoderLayout& layout)
      : encoder_layers(layout.encoder_layers), latent(layout) {
    const std::vector<LayerPlace> places = layer_places(layout);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const LayerSpec& layer = layout.layers[i];
      const bool linear = i + 1 == encoder_layers || i + 1 == places.size();  // latent and output
      dense.push_back({layer.fan_in, layer.outputs, !linear, places[i]});
    }
  }
  void set_parameters(const T* values) { parameters = values; }

  std::vector<DenseLayer> dense;
  std::size_t encoder_layers;
  Latent<T> latent;  // empty
  const T* parameters = nullptr;
};

template <class T>
struct MlpScratch final : Scratch<T> {
  explicit MlpScratch(const MlpNetwork<T>& net)
      : Scratch<T>(net.latent), encoder_layers(net.encoder_layers) {
    std::size_t widest = 0;
    for (const DenseLayer& layer : net.dense) {
      values.emplace_back(layer.in * kLanes);
      widest = std::max(widest, layer.in);
    }
    values.emplace_back(net.dense.back().out * kLanes);
    gradients = values;
    transposed.resize(padded(widest) * kLanes);
  }
  const T* descriptor() const override { return this->latent.descriptor(values[encoder_layers]); }

  std::size_t encoder_layers;
  std::vector<LineVector<T>> values;     // values[k] enters layer k; the last is the output
  std::vector<LineVector<T>> gradients;  // of the values
  LineVector<T> transposed;              // for weight gradients
};

}  // namespace aurora::native
