// The recurrent auto-encoder (autoencoder_layout.hpp) for groups of 16 sequences: its data. What is
// computed with it is in lstm_network_inl.hpp. T is float; tests also use double.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "aurora/encoders/native/dense.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/network.hpp"

namespace aurora::native {

/// Constant during a pass.
template <class T>
struct LstmNetwork {
  explicit LstmNetwork(const AutoencoderLayout& layout)
      : steps(layout.input.extents[0]),
        channels(layout.input.extents[1]),
        units(layout.layers[0].outputs / 4),
        masked(layout.masked),
        latent(layout) {
    const std::vector<LayerPlace> places = layer_places(layout);
    for (std::size_t i = 0; i < places.size(); ++i) {
      layers.push_back({layout.layers[i].fan_in, layout.layers[i].outputs, false, places[i]});
    }
  }
  void set_parameters(const T* values) { parameters = values; }

  const DenseLayer& encoder() const { return layers[0]; }    // of [input, hidden]
  const DenseLayer& to_latent() const { return layers[1]; }  // of the last hidden
  const DenseLayer& decoder() const { return layers[2]; }    // of [code, hidden]
  const DenseLayer& to_output() const { return layers[3]; }  // of each hidden

  std::size_t steps, channels, units;
  bool masked;  // sequences end (sequence_length())
  std::vector<DenseLayer> layers;
  Latent<T> latent;  // empty
  const T* parameters = nullptr;
};

/// What a recurrent layer leaves for its way back, step by step.
template <class T>
struct Recurrence {
  Recurrence(std::size_t length, std::size_t inputs, std::size_t count)
      : width(inputs),
        units(count),
        in((length + 1) * (inputs + count) * kLanes),
        gates(length * 4 * count * kLanes),
        cells((length + 1) * count * kLanes),
        squashed(length * count * kLanes) {}

  /// [input, hidden before] of step t; what comes out of the last step is in the hidden of t =
  /// length.
  T* input(std::size_t t) { return in.data() + t * (width + units) * kLanes; }
  T* hidden_before(std::size_t t) { return input(t) + width * kLanes; }
  T* gate(std::size_t t) {
    return gates.data() + t * 4 * units * kLanes;
  }  // input, forget, cell, output
  T* cell_before(std::size_t t) { return cells.data() + t * units * kLanes; }
  T* squashed_cell(std::size_t t) { return squashed.data() + t * units * kLanes; }

  std::size_t width, units;
  LineVector<T> in, gates, cells, squashed;
};

template <class T>
struct LstmScratch final : Scratch<T> {
  explicit LstmScratch(const LstmNetwork<T>& net)
      : Scratch<T>(net.latent),
        packed(net.steps * net.channels * kLanes),
        output(packed),
        difference(packed),
        encoder(net.steps, net.channels, net.units),
        decoder(net.steps, net.latent.n, net.units),
        code(net.latent.n * kLanes),
        code_slopes(code),
        gate_slopes(4 * net.units * kLanes),
        hidden_slopes(net.units * kLanes),
        cell_slopes(hidden_slopes),
        output_slopes(hidden_slopes) {
    std::size_t widest = 0;
    for (const DenseLayer& layer : net.layers) widest = std::max(widest, layer.in);
    transposed.resize(padded(widest) * kLanes);
    input_slopes.resize(widest * kLanes);
  }
  const T* descriptor() const override { return this->latent.descriptor(code); }

  LineVector<T> packed, output, difference;  // [step][channel][16]
  Recurrence<T> encoder, decoder;
  std::array<std::size_t, kLanes> lengths{};  // steps that count, of each lane
  LineVector<T> code, code_slopes;
  LineVector<T> gate_slopes, hidden_slopes, cell_slopes, output_slopes, input_slopes;
  LineVector<T> transposed;
};

}  // namespace aurora::native
