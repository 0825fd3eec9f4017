// Convolution weights in the order in which the inner loops read them, and gradients back.
//
// Parameters are kept as {outputs, inputs, 3, 3}. A 3x3 convolution (padding 1) after nearest x2
// up-sampling never needs the large picture: the output pixel (2y+p, 2x+q) sees only 2x2 pixels of
// the small one, starting at (y+p-1, x+q-1), under a kernel whose taps are sums of the 3x3 ones.
// Zero padding of the large picture is zero padding of the small one. Four kernels, one per phase
// (p, q), with 4 taps each: 4/9 of the work.
#pragma once

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/lanes.hpp"

namespace aurora::native {

inline constexpr std::size_t kTile = 4;        // channels that are computed together
inline constexpr std::size_t kFewColours = 3;  // or so many, in pictures of no more

/// Channels of a map. The inner loops compute tiles of them, so a map has room for whole tiles:
/// what is beyond `count` has no weights and stays 0.
struct Channels {
  std::size_t count = 0;
  std::size_t tile = 0;
  std::size_t tiles = 0;

  std::size_t room() const { return tile * tiles; }
};

constexpr Channels hidden_channels(std::size_t count) {
  return {count, kTile, (count + kTile - 1) / kTile};
}

/// Of a picture, in one tile.
constexpr Channels picture_channels(std::size_t count, std::size_t tile) {
  return {count, tile, 1};
}

/// Kernels as a convolution reads them: [tile of outputs][phase][taps][inputs][tile].
template <class T>
struct ConvKernel {
  const T* first;
  const T* bias;  // null: 0
  std::size_t tile, tiles;
  std::size_t tile_size, phase_size;

  const T* weights(std::size_t t, std::size_t phase = 0) const {
    return first + t * tile_size + phase * phase_size;
  }
  const T* bias_of(std::size_t t) const { return bias == nullptr ? nullptr : bias + t * tile; }
};

/// The place of a tap of the 3x3 kernel in the 2x2 kernel of a phase, along one axis.
inline constexpr std::size_t kSubTap[2][3] = {{0, 1, 1}, {0, 0, 1}};

/// What both kinds of convolution have: `taps` taps for every pair of an input and an output.
template <class T>
struct Kernels {
  Kernels(Channels inputs, Channels outputs, std::size_t taps_of_pair)
      : in(inputs),
        out(outputs),
        taps(taps_of_pair),
        forward(taps * in.room() * out.room()),
        backward(forward.size()),
        bias(out.room()) {}

  /// Where the taps of a pair lie: first, first + step, ...
  struct Taps {
    std::size_t first, step;
    std::size_t operator[](std::size_t tap) const { return first + tap * step; }
  };
  Taps forward_taps(std::size_t c, std::size_t o) const {
    const std::size_t step = in.room() * out.tile;
    return {o / out.tile * taps * step + c * out.tile + o % out.tile, step};
  }
  Taps backward_taps(std::size_t c, std::size_t o) const {
    const std::size_t step = out.room() * in.tile;
    return {c / in.tile * taps * step + o * in.tile + c % in.tile, step};
  }

  std::size_t size() const { return forward.size(); }
  /// From the input to the output, in so many phases.
  ConvKernel<T> to_output(std::size_t phases = 1) const {
    const std::size_t tile_size = taps * in.room() * out.tile;
    return {forward.data(), bias.data(), out.tile, out.tiles, tile_size, tile_size / phases};
  }
  /// From the gradient of the output to that of the input.
  ConvKernel<T> to_input() const {
    const std::size_t tile_size = taps * out.room() * in.tile;
    return {backward.data(), nullptr, in.tile, in.tiles, tile_size, tile_size};
  }

  Channels in, out;
  std::size_t taps;
  LineVector<T> forward;   // [out tile][taps][in][tile]
  LineVector<T> backward;  // [in tile][taps][out][tile]
  LineVector<T> bias;
};

/// Plain 3x3 convolution.
template <class T>
struct PlainKernels : Kernels<T> {
  using Kernels<T>::in, Kernels<T>::out;

  PlainKernels(Channels inputs, Channels outputs) : Kernels<T>(inputs, outputs, 9) {}

  void set(const T* weight, const T* biases) {
    std::copy_n(biases, out.count, this->bias.begin());
    for (std::size_t o = 0; o < out.count; ++o) {
      for (std::size_t c = 0; c < in.count; ++c) {
        const auto to_output = this->forward_taps(c, o), to_input = this->backward_taps(c, o);
        for (std::size_t k = 0; k < 9; ++k, ++weight) {
          this->forward[to_output[k]] = *weight;
          this->backward[to_input[8 - k]] = *weight;
        }
      }
    }
  }
  /// Adds the lane sums of a gradient in the order of `forward` to one in the order of parameters.
  void add_gradient(const T* lanes, T* gradient) const {
    for (std::size_t o = 0; o < out.count; ++o) {
      for (std::size_t c = 0; c < in.count; ++c) {
        const auto place = this->forward_taps(c, o);
        for (std::size_t k = 0; k < 9; ++k) *gradient++ += sum_lanes(lanes + place[k] * kLanes);
      }
    }
  }
};

/// 3x3 convolution of a picture up-sampled x2. Forward, taps are [p][q][2][2]. Backward they are
/// [4][4]: a small pixel (y, x) gets gradient from the 4x4 large ones that start at (2y-1, 2x-1).
template <class T>
struct UpKernels : Kernels<T> {
  using Kernels<T>::in, Kernels<T>::out;

  UpKernels(Channels inputs, Channels outputs) : Kernels<T>(inputs, outputs, 16) {}

  ConvKernel<T> to_output() const { return Kernels<T>::to_output(4); }

  void set(const T* weight, const T* biases) {
    std::copy_n(biases, out.count, this->bias.begin());
    std::ranges::fill(this->forward, T{0});
    std::ranges::fill(this->backward, T{0});
    for (std::size_t o = 0; o < out.count; ++o) {
      for (std::size_t c = 0; c < in.count; ++c, weight += 9) add_taps(weight, o, c);
    }
  }
  void add_gradient(const T* lanes, T* gradient) const {
    for (std::size_t o = 0; o < out.count; ++o) {
      for (std::size_t c = 0; c < in.count; ++c) {
        // Sums over lanes of the 16 sub-pixel taps first: each is used by several of the 9 taps.
        const auto place = this->forward_taps(c, o);
        T sums[16];
        for (std::size_t k = 0; k < 16; ++k) sums[k] = sum_lanes(lanes + place[k] * kLanes);
        for (std::size_t k = 0; k < 9; ++k) {
          T sum{0};
          for (std::size_t phase = 0; phase < 4; ++phase) sum += sums[sub_tap(phase, k)];
          *gradient++ += sum;
        }
      }
    }
  }

 private:
  /// Tap k of the 3x3 kernel among the 16 taps of all phases.
  static std::size_t sub_tap(std::size_t phase, std::size_t k) {
    return phase * 4 + kSubTap[phase / 2][k / 3] * 2 + kSubTap[phase % 2][k % 3];
  }

  void add_taps(const T* weight, std::size_t o, std::size_t c) {
    const auto to_output = this->forward_taps(c, o), to_input = this->backward_taps(c, o);
    for (std::size_t k = 0; k < 9; ++k) {
      for (std::size_t phase = 0; phase < 4; ++phase) {
        this->forward[to_output[sub_tap(phase, k)]] += weight[k];
        // The large pixel in row r of the window sees the small one through taps 2-r and 3-r.
        const std::size_t r = 2 - k / 3 + phase / 2, s = 2 - k % 3 + phase % 2;
        this->backward[to_input[r * 4 + s]] += weight[k];
      }
    }
  }
};

}  // namespace aurora::native
