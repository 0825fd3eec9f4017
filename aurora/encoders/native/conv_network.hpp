// The convolutional auto-encoder (autoencoder_layout.hpp) for groups of 16 pictures: its data.
// What is computed with it is in conv_network_inl.hpp. T is float; tests also use double.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "aurora/encoders/native/dense.hpp"
#include "aurora/encoders/native/kernels.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/network.hpp"
#include "aurora/encoders/native/winners.hpp"

namespace aurora::native {

/// Constant during a pass: sizes, parameters, and kernels made from them.
template <class T>
struct ConvNetwork {
  explicit ConvNetwork(const AutoencoderLayout& layout);

  void set_parameters(const T* values) {
    parameters = values;
    const auto set = [&](auto& kernels, LayerPlace place) {
      kernels.set(values + place.weight, values + place.bias);
    };
    for (std::size_t i = 0; i < 3; ++i) set(encoder[i], places[i]);
    set(decoder_first, places[9]);
    for (std::size_t i = 0; i < 3; ++i) set(decoder[i], places[10 + i]);
  }

  std::size_t height, width;                // of the pictures
  std::size_t padded_height, padded_width;  // to what three poolings halve; zeros, below and right
  bool one_tile;                            // of channels is enough for every map
  Channels colours, maps;                   // of the pictures, of the hidden maps
  std::vector<LayerPlace> places;           // encoder.conv1..3, six linear layers, decoder.conv1..4
  std::vector<DenseLayer> dense;            // encoder.linear1..3, decoder.linear1..3
  Latent<T> latent;                         // empty
  PlainKernels<T> encoder[3] = {{colours, maps}, {maps, maps}, {maps, maps}};
  PlainKernels<T> decoder_first{maps, maps};
  UpKernels<T> decoder[3] = {{maps, maps}, {maps, maps}, {maps, colours}};
  const T* parameters = nullptr;
};

template <class T>
ConvNetwork<T>::ConvNetwork(const AutoencoderLayout& layout)
    : height(layout.input.extents[0]),
      width(layout.input.extents[1]),
      padded_height(padded_extent(height)),
      padded_width(padded_extent(width)),
      one_tile(layout.input.extents[2] <= kFewColours && layout.layers.front().outputs <= kTile),
      colours(picture_channels(layout.input.extents[2], one_tile ? kFewColours : kTile)),
      maps(hidden_channels(layout.layers.front().outputs)),
      places(layer_places(layout)),
      latent(layout) {
  for (std::size_t i = 3; i < 9; ++i) {
    const LayerSpec& layer = layout.layers[i];
    const bool linear = i == 5;  // the latent one
    dense.push_back({layer.fan_in, layer.outputs, !linear, places[i]});
  }
}

/// Feature maps of one group, from the input on: e after poolings, d after the decoder's ReLUs.
template <class T>
struct ConvScratch final : Scratch<T> {
  explicit ConvScratch(const ConvNetwork<T>& net);
  const T* descriptor() const override { return this->latent.descriptor(values[3]); }

  Planes<T> input;
  Planes<T> e1, e2, e3;
  Winners winners1, winners2, winners3;
  std::vector<LineVector<T>> values;  // of the linear layers: values[k] enters layer k
  Planes<T> d0, d1, d2, d3;
  Planes<T> output;  // the decoder's picture, or its difference to the input

  // Gradients: half, quarter, eighth as high and wide as the picture; two where both sides of a
  // layer have the same size.
  Planes<T> half[2], quarter[2], eighth;
  Planes<T> rows;  // two rows of the first convolution's output
  std::vector<LineVector<T>> value_gradients;
  LineVector<T> transposed;   // for weight gradients of linear layers
  LineVector<T> weight_sums;  // of one convolution, still per lane
  LineVector<T> bias_sums;
};

template <class T>
ConvScratch<T>::ConvScratch(const ConvNetwork<T>& net)
    : Scratch<T>(net.latent),
      input(net.padded_height, net.padded_width, net.colours.room()),
      e1(input.height / 2, input.width / 2, net.maps.room()),
      e2(input.height / 4, input.width / 4, net.maps.room()),
      e3(input.height / 8, input.width / 8, net.maps.room()),
      winners1(e1.height, e1.width, e1.channels),
      winners2(e2.height, e2.width, e2.channels),
      winners3(e3.height, e3.width, e3.channels),
      d0(e3),
      d1(e3),
      d2(e2),
      d3(e1),
      output(input),
      half{e1, e1},
      quarter{e2, e2},
      eighth(e3),
      rows(2, input.width, e1.channels),
      weight_sums(16 * e1.channels * std::max(e1.channels, input.channels) * kLanes),
      bias_sums(e1.channels * kLanes) {
  std::size_t widest = 0;
  for (const DenseLayer& layer : net.dense) {
    values.emplace_back(layer.in * kLanes);
    widest = std::max(widest, layer.in);
  }
  values.emplace_back(net.dense.back().out * kLanes);
  value_gradients = values;
  transposed.resize(padded(widest) * kLanes);
}

}  // namespace aurora::native
