// 3x3 convolution, ReLU and 2x2 max-pool in one pass on groups of 16 pictures.
#if defined(AURORA_ENCODERS_NATIVE_POOLED_CONV_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_POOLED_CONV_INL_HPP
#undef AURORA_ENCODERS_NATIVE_POOLED_CONV_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_POOLED_CONV_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "aurora/encoders/native/kernels.hpp"
#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"
#include "aurora/encoders/native/winners.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// The maximum of four values and 0. Unless `bits` is null, says which of the four it was.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V pool(D d, V top_left, V top_right, V bottom_left, V bottom_right, std::uint8_t* bits) {
  const V top = hn::Max(top_left, top_right);
  const V bottom = hn::Max(bottom_left, bottom_right);
  if (bits != nullptr) {
    const auto below = hn::Gt(bottom, top);
    const auto right = hn::Or(hn::And(below, hn::Gt(bottom_right, bottom_left)),
                              hn::AndNot(below, hn::Gt(top_right, top_left)));
    hn::StoreMaskBits(d, below, bits);
    hn::StoreMaskBits(d, right, bits + Winners::kMaskBytes<hn::MaxLanes(d)>);
  }
  return hn::Max(hn::Max(top, bottom), hn::Zero(d));
}

/// The whole layer, for an input with tiles of In channels. The four pixels that meet in a pool are
/// computed together and only their maximum is written; `winners`, unless null, remembers which it
/// was.
template <Tiles tiles, std::size_t In, class T>
HWY_NOINLINE void pooled_conv(const Planes<T>& input, ConvKernel<T> kernel, Planes<T>& output,
                              Winners* winners) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  constexpr std::size_t kOuts = kManyRegisters ? 4 : 2;  // channels at once
  const std::size_t in_tiles = tiles_of<tiles, In>(input);
  const std::size_t row = input.row_stride(), pixel = in_tiles * In * kLanes;
  const std::size_t channels = tiles_of<tiles, kTile>(output) * kTile;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t y = 0; y < output.height; ++y) {
      for (std::size_t x = 0; x < output.width; ++x) {
        const T* corner = input.at(2 * y - 1, 2 * x - 1) + lane;
        const T* const windows[4] = {corner, corner + pixel, corner + row, corner + row + pixel};
        T* out = output.at(y, x) + lane;
        for (std::size_t first = 0; first < channels; first += kOuts) {
          V sums[4][kOuts];
          HWY_UNROLL(8) for (std::size_t o = 0; o < kOuts; ++o) {
            sums[0][o] = sums[1][o] = sums[2][o] = sums[3][o] = hn::Set(d, kernel.bias[first + o]);
          }
          const T* weights = kernel.weights(first / kTile) + first % kTile;
          correlate<4, kOuts, 3, 3 * In, kTile>(d, windows, row, in_tiles, weights, sums);
          HWY_UNROLL(8) for (std::size_t o = 0; o < kOuts; ++o) {
            std::uint8_t* bits =
                winners == nullptr ? nullptr : winners->at<kWidth>(y, x, first + o, lane);
            hn::Store(pool(d, sums[0][o], sums[1][o], sums[2][o], sums[3][o], bits), d,
                      out + (first + o) * kLanes);
          }
        }
      }
    }
  }
}

/// Sends the gradient of one row of pooled pixels back to the pixels that won: rows 0 and 1 of
/// `out` from row `y`. Pixels that ReLU cut off (output 0) get nothing. Adds to bias_sums
/// [channels][16].
template <Tiles tiles, class T>
HWY_NOINLINE void unpool_row(const Planes<T>& output, const Planes<T>& gradient,
                             const Winners& winners, std::size_t y, T* out, std::size_t out_row,
                             T* HWY_RESTRICT bias_sums) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  const V zero = hn::Zero(d);
  const std::size_t channels = tiles_of<tiles, kTile>(output) * kTile, step = channels * kLanes;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    for (std::size_t first = 0; first < channels; first += kTile) {
      const std::size_t start = first * kLanes + lane;
      V sum[kTile];
      for (std::size_t o = 0; o < kTile; ++o) sum[o] = hn::Load(d, bias_sums + start + o * kLanes);
      for (std::size_t x = 0; x < output.width; ++x) {
        HWY_UNROLL(8) for (std::size_t o = 0; o < kTile; ++o) {
          const std::size_t place = start + o * kLanes;
          const std::uint8_t* bits = winners.at<kWidth>(y, x, first + o, lane);
          const auto below = hn::LoadMaskBits(d, bits);
          const auto right = hn::LoadMaskBits(d, bits + Winners::kMaskBytes<kWidth>);
          const auto alive = hn::Gt(hn::Load(d, output.at(y, x) + place), zero);
          const V g = hn::IfThenElseZero(alive, hn::Load(d, gradient.at(y, x) + place));
          sum[o] = hn::Add(sum[o], g);
          const V upper = hn::IfThenZeroElse(below, g);
          const V lower = hn::IfThenElseZero(below, g);
          T* pixel = out + 2 * x * step + place;
          hn::Store(hn::IfThenZeroElse(right, upper), d, pixel);
          hn::Store(hn::IfThenElseZero(right, upper), d, pixel + step);
          hn::Store(hn::IfThenZeroElse(right, lower), d, pixel + out_row);
          hn::Store(hn::IfThenElseZero(right, lower), d, pixel + out_row + step);
        }
      }
      for (std::size_t o = 0; o < kTile; ++o) hn::Store(sum[o], d, bias_sums + start + o * kLanes);
    }
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
