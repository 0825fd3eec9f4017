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

inline constexpr std::size_t kMaps = 4;     // channels of the hidden maps
inline constexpr std::size_t kColours = 3;  // channels of the picture

/// The place of a tap of the 3x3 kernel in the 2x2 kernel of a phase, along one axis.
inline constexpr std::size_t kSubTap[2][3] = {{0, 1, 1}, {0, 0, 1}};

/// Plain 3x3 convolution with `in` and `out` channels.
template <class T>
struct PlainKernels {
  PlainKernels(std::size_t inputs, std::size_t outputs)
      : in(inputs), out(outputs), forward(9 * inputs * outputs), backward(forward.size()) {}

  void set(const T* weight) {
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t c = 0; c < in; ++c) {
        for (std::size_t k = 0; k < 9; ++k, ++weight) {
          forward[(k * in + c) * out + o] = *weight;
          backward[((8 - k) * out + o) * in + c] = *weight;
        }
      }
    }
  }
  /// Adds the lane sums of a gradient in the order of `forward` to one in the order of parameters.
  void add_gradient(const T* lanes, T* gradient) const {
    for (std::size_t k = 0; k < 9; ++k) {
      for (std::size_t c = 0; c < in; ++c) {
        for (std::size_t o = 0; o < out; ++o, lanes += kLanes) {
          gradient[(o * in + c) * 9 + k] += sum_lanes(lanes);
        }
      }
    }
  }
  std::size_t taps() const { return forward.size(); }

  std::size_t in, out;
  LineVector<T> forward;   // [3][3][in][out]
  LineVector<T> backward;  // [3][3][out][in]: from the gradient of the output to that of the input
};

/// 3x3 convolution of a picture up-sampled x2.
template <class T>
struct UpKernels {
  UpKernels(std::size_t inputs, std::size_t outputs)
      : in(inputs), out(outputs), forward(16 * inputs * outputs), backward(forward.size()) {}

  std::size_t index(std::size_t p, std::size_t q, std::size_t ky, std::size_t kx) const {
    return ((p * 2 + q) * 4 + kSubTap[p][ky] * 2 + kSubTap[q][kx]) * in * out;
  }

  void set(const T* weight) {
    std::ranges::fill(forward, T{0});
    std::ranges::fill(backward, T{0});
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t c = 0; c < in; ++c, weight += 9) add_taps(weight, o, c);
    }
  }
  void add_gradient(const T* lanes, T* gradient) const {
    for (std::size_t c = 0; c < in; ++c) {
      for (std::size_t o = 0; o < out; ++o) {
        // Sums over lanes of the 16 sub-pixel taps first: each is used by several of the 9 taps.
        T taps[16];
        for (std::size_t k = 0; k < 16; ++k) {
          taps[k] = sum_lanes(lanes + ((k * in + c) * out + o) * kLanes);
        }
        for (std::size_t k = 0; k < 9; ++k) {
          T sum{0};
          for (std::size_t phase = 0; phase < 4; ++phase) {
            sum += taps[phase * 4 + kSubTap[phase / 2][k / 3] * 2 + kSubTap[phase % 2][k % 3]];
          }
          gradient[(o * in + c) * 9 + k] += sum;
        }
      }
    }
  }
  std::size_t taps() const { return forward.size(); }

  std::size_t in, out;
  LineVector<T> forward;   // [p][q][2][2][in][out]
  LineVector<T> backward;  // [4][4][out][in]: a small pixel (y, x) gets gradient from the 4x4 large
                           // ones that start at (2y-1, 2x-1)

 private:
  void add_taps(const T* weight, std::size_t o, std::size_t c) {
    for (std::size_t k = 0; k < 9; ++k) {
      const std::size_t ky = k / 3, kx = k % 3;
      for (std::size_t p = 0; p < 2; ++p) {
        for (std::size_t q = 0; q < 2; ++q) {
          forward[index(p, q, ky, kx) + c * out + o] += weight[k];
          // The large pixel in row r of the window sees the small one through taps 2-r and 3-r.
          const std::size_t r = 2 - ky + p, s = 2 - kx + q;
          backward[((r * 4 + s) * out + o) * in + c] += weight[k];
        }
      }
    }
  }
};

}  // namespace aurora::native
