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

/// Up-sampling x2 and a 3x3 convolution with padding 1.
template <std::size_t In, std::size_t Outs, class T, class After>
HWY_NOINLINE void up_conv(const Planes<T>& input, const UpKernels<T>& kernels, const T* bias,
                          After after) {
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; y < input.height; ++y) {
      for (std::size_t phase = 0; phase < 4; ++phase) {
        const std::size_t p = phase / 2, q = phase % 2;
        const Windows<2, 2 * In, T> windows{input.at(y + p - 1, q - 1) + lane, In * kLanes,
                                            input.row_stride()};
        const T* kernel = kernels.forward.data() + phase * 4 * In * Outs;
        after.row(2 * y + p, q);
        conv_row<Outs>(input.width, windows, kernel, bias, 2 * Outs * kLanes, after);
      }
    }
    after.done();
  }
}

/// The gradient from the output of an up-sampled convolution with In and Outs channels to its
/// input.
template <std::size_t In, std::size_t Outs, class T, class After>
HWY_NOINLINE void up_conv_input_gradient(const Planes<T>& gradient, const UpKernels<T>& kernels,
                                         After after) {
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag<T>())) {
    after.lanes(lane);
    for (std::size_t y = 0; 2 * y < gradient.height; ++y) {
      const Windows<4, 4 * Outs, T> windows{gradient.at(2 * y - 1, kBefore) + lane,
                                            2 * Outs * kLanes, gradient.row_stride()};
      const T* no_bias = nullptr;
      after.row(y, 0);
      conv_row<In>(gradient.width / 2, windows, kernels.backward.data(), no_bias, In * kLanes,
                   after);
    }
    after.done();
  }
}

/// sums [p][q][2][2][In][Outs][16] += the weight gradient of an up-sampled convolution.
template <std::size_t In, std::size_t Outs, class T>
HWY_NOINLINE void up_conv_weight_gradient(const Planes<T>& input, const Planes<T>& gradient,
                                          T* sums) {
  const Tag<T> d;
  const std::size_t step = rows_together(input.width);
  constexpr std::size_t kTapRow = 2 * In * Outs * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t y = 0; y < input.height; y += step) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t p = i / 4, q = i / 2 % 2, ky = i % 2;
        const Pairing<T> pair{.input = input.at(y + p + ky - 1, q - 1) + lane,
                              .input_row = input.row_stride(),
                              .input_pixel = In * kLanes,
                              .gradient = gradient.at(2 * y + p, q) + lane,
                              .gradient_row = 2 * gradient.row_stride(),
                              .gradient_pixel = 2 * Outs * kLanes,
                              .rows = std::min(step, input.height - y),
                              .cols = input.width};
        outer_run<2 * In, Outs>(d, pair, sums + i * kTapRow + lane);
      }
    }
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
