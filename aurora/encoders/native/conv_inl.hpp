// Plain 3x3 convolutions with padding 1 on groups of 16 pictures, and their gradients.
#if defined(AURORA_ENCODERS_NATIVE_CONV_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_CONV_INL_HPP
#undef AURORA_ENCODERS_NATIVE_CONV_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_CONV_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/kernels.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// The input windows of a row of output pixels: where the first one starts, how far it is to the
/// next one, and to the next row of the input. A window has Rows rows of `runs` runs of Run
/// vectors.
template <std::size_t Rows, std::size_t Run, class T>
struct Windows {
  const T* first;
  std::size_t step;
  std::size_t row;
  std::size_t runs;
};

/// Pixels [x, x + Pixels) of a row. The kernel is [Rows][runs][Run][Outs]; no bias means 0.
template <std::size_t Pixels, std::size_t Outs, std::size_t Rows, std::size_t Run, class T,
          class After>
HWY_INLINE void conv_pixels(std::size_t x, const Windows<Rows, Run, T>& windows, const T* kernel,
                            const T* bias, std::size_t out_step, After& after) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kOuts = kManyRegisters || Outs % 2 == 1 ? Outs : 2;  // channels at once
  const T* inputs[Pixels];
  HWY_UNROLL(8) for (std::size_t p = 0; p < Pixels; ++p) {
    inputs[p] = windows.first + (x + p) * windows.step;
  }
  for (std::size_t first = 0; first < Outs; first += kOuts) {
    V sums[Pixels][kOuts];
    HWY_UNROLL(8) for (std::size_t o = 0; o < kOuts; ++o) {
      const V start = bias == nullptr ? hn::Zero(d) : hn::Set(d, bias[first + o]);
      HWY_UNROLL(8) for (std::size_t p = 0; p < Pixels; ++p) sums[p][o] = start;
    }
    correlate<Pixels, kOuts, Rows, Run, Outs>(d, inputs, windows.row, windows.runs, kernel + first,
                                              sums);
    HWY_UNROLL(8) for (std::size_t p = 0; p < Pixels; ++p) {
      HWY_UNROLL(8) for (std::size_t o = 0; o < kOuts; ++o) {
        after(first + o, (x + p) * out_step + (first + o) * kLanes, sums[p][o]);
      }
    }
  }
}

/// A row of output pixels: as many as fit the registers at once, then one by one.
template <std::size_t Outs, std::size_t Rows, std::size_t Run, class T, class After>
HWY_INLINE void conv_row(std::size_t width, const Windows<Rows, Run, T>& windows, const T* kernel,
                         const T* bias, std::size_t out_step, After& after) {
  constexpr std::size_t kPixels = kManyRegisters && Outs <= 3 ? 8 : 4;
  std::size_t x = 0;
  for (; x + kPixels <= width; x += kPixels) {
    conv_pixels<kPixels, Outs>(x, windows, kernel, bias, out_step, after);
  }
  for (; x < width; ++x) conv_pixels<1, Outs>(x, windows, kernel, bias, out_step, after);
}

/// Every `stride`th pixel of a row, from pixel (y, x) on, in all channels, tile by tile.
template <Tiles tiles, std::size_t Outs, std::size_t Rows, std::size_t Run, class T, class After>
HWY_INLINE void conv_tiles(std::size_t y, std::size_t x, std::size_t width,
                           const Windows<Rows, Run, T>& windows, const ConvKernel<T>& kernel,
                           std::size_t phase, std::size_t stride, After& after) {
  const std::size_t count = tiles == Tiles::one ? 1 : kernel.tiles;
  for (std::size_t t = 0; t < count; ++t) {
    after.row(y, x, t * Outs);
    conv_row<Outs>(width, windows, kernel.weights(t, phase), kernel.bias_of(t),
                   stride * count * Outs * kLanes, after);
  }
}

/// Plain 3x3 convolution of hidden maps with padding 1. Also takes a gradient from its output to
/// its input, with the kernels for that and no bias.
template <Tiles tiles, class T, class After>
HWY_NOINLINE void plain_conv(const Planes<T>& input, ConvKernel<T> kernel, After after) {
  const std::size_t in_tiles = tiles_of<tiles, kTile>(input), pixel = in_tiles * kTile * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; y < input.height; ++y) {
      const Windows<3, 3 * kTile, T> windows{input.at(y - 1, kBefore) + lane, pixel,
                                             input.row_stride(), in_tiles};
      conv_tiles<tiles, kTile>(y, 0, input.width, windows, kernel, 0, 1, after);
    }
    after.done();
  }
}

/// Weight gradient of a plain convolution from `rows` rows of the output's gradient, from
/// gradient_y on, which belong to the rows of the input from y on. The input has tiles of In
/// channels. sums [out tile][3][3][in][tile][16].
template <Tiles tiles, std::size_t In, class T>
HWY_NOINLINE void plain_weight_rows(const Planes<T>& input, std::size_t y,
                                    const Planes<T>& gradient, std::size_t gradient_y,
                                    std::size_t rows, T* sums) {
  const Tag<T> d;
  const std::size_t in_tiles = tiles_of<tiles, In>(input);
  const std::size_t out_tiles = tiles_of<tiles, kTile>(gradient);
  const std::size_t tap_row = 3 * in_tiles * In * kTile * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t i = 0; i < 3 * out_tiles; ++i) {
      const std::size_t tile = i / 3, ky = i % 3;
      const Pairing<T> pair{.input = input.at(y + ky - 1, kBefore) + lane,
                            .input_row = input.row_stride(),
                            .input_pixel = in_tiles * In * kLanes,
                            .gradient = gradient.at(gradient_y, 0) + tile * kTile * kLanes + lane,
                            .gradient_row = gradient.row_stride(),
                            .gradient_pixel = out_tiles * kTile * kLanes,
                            .rows = rows,
                            .cols = input.width};
      outer_runs<3 * In, kTile>(d, in_tiles, pair, sums + i * tap_row + lane);
    }
  }
}

/// Of hidden maps.
template <Tiles tiles, class T>
void plain_weight_gradient(const Planes<T>& input, const Planes<T>& gradient, T* sums) {
  const std::size_t step = rows_together(input.width);
  for (std::size_t y = 0; y < input.height; y += step) {
    plain_weight_rows<tiles, kTile>(input, y, gradient, y, std::min(step, input.height - y), sums);
  }
}

/// sums [channels][16] += the sum over all pixels, for tiles of Outs channels.
template <Tiles tiles, std::size_t Outs, class T>
HWY_NOINLINE void sum_pixels(const Planes<T>& gradient, T* HWY_RESTRICT sums) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t step = tiles_of<tiles, Outs>(gradient) * Outs * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t first = lane; first < step; first += Outs * kLanes) {
      V sum[Outs];
      for (std::size_t o = 0; o < Outs; ++o) sum[o] = hn::Load(d, sums + o * kLanes + first);
      for (std::size_t y = 0; y < gradient.height; ++y) {
        const T* HWY_RESTRICT g = gradient.at(y, 0) + first;
        for (std::size_t x = 0; x < gradient.width; ++x, g += step) {
          HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
            sum[o] = hn::Add(sum[o], hn::Load(d, g + o * kLanes));
          }
        }
      }
      for (std::size_t o = 0; o < Outs; ++o) hn::Store(sum[o], d, sums + o * kLanes + first);
    }
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
