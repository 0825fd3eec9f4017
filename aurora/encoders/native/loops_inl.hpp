// The two inner loops of convolutions on groups of 16 pictures; everything else rests on them.
//
// `correlate` computes a few pixels x channels of an output from windows of an input; `outer`
// computes a few taps x channels of a weight gradient over rows of pixels. Both hold their sums in
// registers, so that a multiply-add costs half a load or less. Channels lie next to each other in
// memory: a row of a window is one run of vectors.
//
// Files *_inl.hpp are compiled once per instruction set: their include guards toggle, as Highway
// asks for. Layers are kept out of line, or compilers make one function of the whole network and
// take minutes over it.
#if defined(AURORA_ENCODERS_NATIVE_LOOPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_LOOPS_INL_HPP
#undef AURORA_ENCODERS_NATIVE_LOOPS_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_LOOPS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "aurora/encoders/native/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Registers of T that never hold more lanes than a group has.
template <class T>
using Tag = hn::CappedTag<T, kLanes>;

inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3;  // 32 instead of 16
/// Convolutions are compiled twice: for maps of a single tile of channels, whose strides compilers
/// then know, and for maps of as many tiles as there are.
enum class Tiles { one, any };

template <Tiles tiles, std::size_t Tile, class T>
HWY_INLINE std::size_t tiles_of(const Planes<T>& map) {
  return tiles == Tiles::one ? 1 : map.channels / Tile;
}

inline constexpr std::size_t kBefore = static_cast<std::size_t>(-1);  // one pixel before the first

/// sums[p][o] += input * weight over a window of Rows rows, each of `runs` runs of Run vectors. The
/// window of pixel p starts at inputs[p]; weights are [Rows][runs][Run][Stride], of which Outs are
/// used.
template <std::size_t Pixels, std::size_t Outs, std::size_t Rows, std::size_t Run,
          std::size_t Stride, class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void correlate(D d, const T* const (&inputs)[Pixels], std::size_t row_stride,
                          std::size_t runs, const T* HWY_RESTRICT weights,
                          V (&sums)[Pixels][Outs]) {
  for (std::size_t r = 0; r < Rows; ++r) {
    std::size_t place = r * row_stride;
    for (std::size_t i = 0; i < runs; ++i, place += Run * kLanes) {
      for (std::size_t j = 0; j < Run; ++j, weights += Stride) {
        V weight[Outs];
        HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) weight[o] = hn::Set(d, weights[o]);
        HWY_UNROLL(8) for (std::size_t p = 0; p < Pixels; ++p) {
          const V input = hn::Load(d, inputs[p] + place + j * kLanes);
          HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
            sums[p][o] = hn::MulAdd(input, weight[o], sums[p][o]);
          }
        }
      }
    }
  }
}

/// Pixels of two pictures that meet in a weight gradient.
template <class T>
struct Pairing {
  const T* input;
  std::size_t input_row, input_pixel;  // strides
  const T* gradient;
  std::size_t gradient_row, gradient_pixel;
  std::size_t rows, cols;
};

/// sums[j][o] += input vector j * gradient vector o over all pixels.
template <std::size_t Taps, std::size_t Outs, class D, class T = hn::TFromD<D>>
HWY_INLINE void outer(D d, const Pairing<T>& pair, T* HWY_RESTRICT sums) {
  using V = hn::Vec<D>;
  V sum[Taps][Outs];
  HWY_UNROLL(8) for (std::size_t j = 0; j < Taps; ++j) {
    HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
      sum[j][o] = hn::Load(d, sums + (j * Outs + o) * kLanes);
    }
  }
  for (std::size_t y = 0; y < pair.rows; ++y) {
    const T* HWY_RESTRICT input = pair.input + y * pair.input_row;
    const T* HWY_RESTRICT gradient = pair.gradient + y * pair.gradient_row;
    for (std::size_t x = 0; x < pair.cols; ++x) {
      V g[Outs];
      HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
        g[o] = hn::Load(d, gradient + o * kLanes);
      }
      HWY_UNROLL(8) for (std::size_t j = 0; j < Taps; ++j) {
        const V in = hn::Load(d, input + j * kLanes);
        HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
          sum[j][o] = hn::MulAdd(in, g[o], sum[j][o]);
        }
      }
      input += pair.input_pixel;
      gradient += pair.gradient_pixel;
    }
  }
  HWY_UNROLL(8) for (std::size_t j = 0; j < Taps; ++j) {
    HWY_UNROLL(8) for (std::size_t o = 0; o < Outs; ++o) {
      hn::Store(sum[j][o], d, sums + (j * Outs + o) * kLanes);
    }
  }
}

/// `outer` over `runs` runs of Run vectors, cut into pieces whose sums fit the registers.
template <std::size_t Run, std::size_t Outs, class D, class T = hn::TFromD<D>>
HWY_INLINE void outer_runs(D d, std::size_t runs, Pairing<T> pair, T* HWY_RESTRICT sums) {
  constexpr std::size_t kMost = (kManyRegisters ? 24 : 11) / Outs;
  constexpr std::size_t kPieces = (Run + kMost - 1) / kMost;
  constexpr std::size_t kTaps = (Run + kPieces - 1) / kPieces;
  constexpr std::size_t kRest = Run % kTaps;
  for (std::size_t r = 0; r < runs; ++r, sums += Run * Outs * kLanes) {
    for (std::size_t j = 0; j + kTaps <= Run; j += kTaps) {
      outer<kTaps, Outs>(d, pair, sums + j * Outs * kLanes);
      pair.input += kTaps * kLanes;
    }
    if constexpr (kRest > 0) {
      outer<kRest, Outs>(d, pair, sums + (Run - kRest) * Outs * kLanes);
      pair.input += kRest * kLanes;
    }
  }
}

/// Rows taken together in a weight gradient: enough pixels to pay for loading and storing the sums,
/// few enough to stay in the first-level cache.
inline std::size_t rows_together(std::size_t width) {
  return std::max<std::size_t>(1, 64 / width);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
