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

#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// The input windows of a row of output pixels: where the first one starts, how far it is to the
/// next one, and to the next row of the input. A window has Rows runs of Run vectors.
template <std::size_t Rows, std::size_t Run, class T>
struct Windows {
  const T* first;
  std::size_t step;
  std::size_t row;
};

/// Pixels [x, x + Pixels) of a row. The kernel is [Rows][Run][Outs]; no bias means 0.
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
    correlate<Pixels, kOuts, Rows, Run, Outs>(d, inputs, windows.row, kernel + first, sums);
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

/// Plain 3x3 convolution with padding 1. Also takes a gradient from its output to its input, with
/// the kernels for that and no bias.
template <std::size_t In, std::size_t Outs, class T, class After>
HWY_NOINLINE void plain_conv(const Planes<T>& input, const T* kernel, const T* bias, After after) {
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; y < input.height; ++y) {
      const Windows<3, 3 * In, T> windows{input.at(y - 1, kBefore) + lane, In * kLanes,
                                          input.row_stride()};
      after.row(y, 0);
      conv_row<Outs>(input.width, windows, kernel, bias, Outs * kLanes, after);
    }
    after.done();
  }
}

/// Weight gradient of a plain convolution from `rows` rows of the output's gradient, the first of
/// which belongs to row y of the input. sums [3][3][In][Outs][16].
template <std::size_t In, std::size_t Outs, class T>
HWY_NOINLINE void plain_weight_rows(const Planes<T>& input, std::size_t y, std::size_t rows,
                                    const T* gradient, std::size_t gradient_row, T* sums) {
  const Tag<T> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t ky = 0; ky < 3; ++ky) {
      const Pairing<T> pair{.input = input.at(y + ky - 1, kBefore) + lane,
                            .input_row = input.row_stride(),
                            .input_pixel = In * kLanes,
                            .gradient = gradient + lane,
                            .gradient_row = gradient_row,
                            .gradient_pixel = Outs * kLanes,
                            .rows = rows,
                            .cols = input.width};
      outer_run<3 * In, Outs>(d, pair, sums + ky * 3 * In * Outs * kLanes + lane);
    }
  }
}

template <std::size_t In, std::size_t Outs, class T>
void plain_weight_gradient(const Planes<T>& input, const Planes<T>& gradient, T* sums) {
  const std::size_t step = rows_together(input.width);
  for (std::size_t y = 0; y < input.height; y += step) {
    plain_weight_rows<In, Outs>(input, y, std::min(step, input.height - y), gradient.at(y, 0),
                                gradient.row_stride(), sums);
  }
}

/// sums [Outs][16] += the sum over all pixels.
template <std::size_t Outs, class T>
HWY_NOINLINE void sum_pixels(const Planes<T>& gradient, T* HWY_RESTRICT sums) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    V sum[Outs];
    for (std::size_t o = 0; o < Outs; ++o) sum[o] = hn::Load(d, sums + o * kLanes + lane);
    for (std::size_t y = 0; y < gradient.height; ++y) {
      const T* HWY_RESTRICT g = gradient.at(y, 0) + lane;
      for (std::size_t x = 0; x < gradient.width; ++x, g += Outs * kLanes) {
        HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
          sum[o] = hn::Add(sum[o], hn::Load(d, g + o * kLanes));
        }
      }
    }
    for (std::size_t o = 0; o < Outs; ++o) hn::Store(sum[o], d, sums + o * kLanes + lane);
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
