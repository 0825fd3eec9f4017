// Up-sampling x2 and a 3x3 convolution, as four 2x2 convolutions of the small picture
// (kernels.hpp), on groups of 16 pictures.
#if defined(AURORA_ENCODERS_NATIVE_UP_CONV_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_UP_CONV_INL_HPP
#undef AURORA_ENCODERS_NATIVE_UP_CONV_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_UP_CONV_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/conv_inl.hpp"
#include "aurora/encoders/native/kernels.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// Up-sampling x2 and a 3x3 convolution with padding 1 to tiles of Outs channels. Only the first
/// `height` rows and `width` columns of the output are computed.
template <Tiles tiles, std::size_t Outs, class T, class After>
HWY_NOINLINE void up_conv(const Planes<T>& input, ConvKernel<T> kernel, std::size_t height,
                          std::size_t width, After after) {
  const std::size_t in_tiles = tiles_of<tiles, kTile>(input), pixel = in_tiles * kTile * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; y < height; ++y) {
      const std::size_t p = y % 2;
      for (std::size_t q = 0; q < 2; ++q) {
        const Windows<2, 2 * kTile, T> windows{input.at(y / 2 + p - 1, q - 1) + lane, pixel,
                                               input.row_stride(), in_tiles};
        conv_tiles<tiles, Outs>(y, q, (width + 1 - q) / 2, windows, kernel, 2 * p + q, 2, after);
      }
    }
    after.done();
  }
}

/// The gradient from the output of an up-sampled convolution, in tiles of Outs channels, to its
/// input.
template <Tiles tiles, std::size_t Outs, class T, class After>
HWY_NOINLINE void up_conv_input_gradient(const Planes<T>& gradient, ConvKernel<T> kernel,
                                         After after) {
  const std::size_t out_tiles = tiles_of<tiles, Outs>(gradient);
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; 2 * y < gradient.height; ++y) {
      const Windows<4, 4 * Outs, T> windows{gradient.at(2 * y - 1, kBefore) + lane,
                                            2 * out_tiles * Outs * kLanes, gradient.row_stride(),
                                            out_tiles};
      conv_tiles<tiles, kTile>(y, 0, gradient.width / 2, windows, kernel, 0, 1, after);
    }
    after.done();
  }
}

/// sums [out tile][p][q][2][2][in][Outs][16] += the weight gradient of an up-sampled convolution.
template <Tiles tiles, std::size_t Outs, class T>
HWY_NOINLINE void up_conv_weight_gradient(const Planes<T>& input, const Planes<T>& gradient,
                                          T* sums) {
  const Tag<T> d;
  const std::size_t step = rows_together(input.width);
  const std::size_t in_tiles = tiles_of<tiles, kTile>(input);
  const std::size_t out_tiles = tiles_of<tiles, Outs>(gradient);
  const std::size_t tap_row = 2 * in_tiles * kTile * Outs * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t y = 0; y < input.height; y += step) {
      for (std::size_t i = 0; i < 8 * out_tiles; ++i) {
        const std::size_t tile = i / 8, p = i / 4 % 2, q = i / 2 % 2, ky = i % 2;
        const Pairing<T> pair{.input = input.at(y + p + ky - 1, q - 1) + lane,
                              .input_row = input.row_stride(),
                              .input_pixel = in_tiles * kTile * kLanes,
                              .gradient = gradient.at(2 * y + p, q) + tile * Outs * kLanes + lane,
                              .gradient_row = 2 * gradient.row_stride(),
                              .gradient_pixel = 2 * out_tiles * Outs * kLanes,
                              .rows = std::min(step, input.height - y),
                              .cols = input.width};
        outer_runs<2 * kTile, Outs>(d, in_tiles, pair, sums + i * tap_row + lane);
      }
    }
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
