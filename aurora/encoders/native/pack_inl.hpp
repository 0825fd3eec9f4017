// Sixteen rows of sensory data into the lanes, scaled; compiled once per instruction set.
#if defined(AURORA_ENCODERS_NATIVE_PACK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_PACK_INL_HPP
#undef AURORA_ENCODERS_NATIVE_PACK_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_PACK_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

inline constexpr std::size_t kFeatures = 1;  // transposed at once

inline void transpose_bytes(const Group& group, std::size_t begin, std::uint8_t* out) {
  for (const std::byte* row : group.rows) *out++ = static_cast<std::uint8_t>(row[begin]);
}

#else

inline constexpr std::size_t kFeatures = hn::MaxLanes(hn::ScalableTag<std::uint8_t>());

/// One of four equal steps that, together, transpose 16 x 16 bytes in each 128-bit block of 16
/// registers: interleaves register i with register i + 8.
template <class V>
HWY_INLINE void interleave_halves(V (&v)[kLanes]) {
  const hn::DFromV<V> d;
  V next[kLanes];
  HWY_UNROLL(8) for (std::size_t i = 0; i < kLanes / 2; ++i) {
    next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kLanes / 2]);
    next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kLanes / 2]);
  }
  HWY_UNROLL(16) for (std::size_t i = 0; i < kLanes; ++i) v[i] = next[i];
}

/// Bytes [begin, begin + kFeatures) of each row, to out [feature][16].
inline void transpose_bytes(const Group& group, std::size_t begin, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint8_t> d;
  hn::Vec<decltype(d)> v[kLanes];
  HWY_UNROLL(16) for (std::size_t i = 0; i < kLanes; ++i) {
    v[i] = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(group.rows[i]) + begin);
  }
  interleave_halves(v);
  interleave_halves(v);
  interleave_halves(v);
  interleave_halves(v);
  // Block b of register i holds feature 16 b + i of every row.
  alignas(64) std::uint8_t blocks[kFeatures];
  for (std::size_t i = 0; i < kLanes; ++i) {
    hn::Store(v[i], d, blocks);
    for (std::size_t b = 0; b < kFeatures / kLanes; ++b) {
      std::copy_n(blocks + b * kLanes, kLanes, out + (b * kLanes + i) * kLanes);
    }
  }
}

#endif

/// (value - mean) * scale, in the operations of InputScaling::apply: the same bits.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_scaled(D d, hn::Vec<D> value, float mean, float scale, T* out) {
  const auto centred = hn::Sub(value, hn::Set(d, static_cast<T>(mean)));
  hn::Store(hn::Mul(centred, hn::Set(d, static_cast<T>(scale))), d, out);
}

/// Features [begin, begin + count) of the group to out [count][16].
template <class T>
HWY_NOINLINE void pack_bytes(const Group& group, std::size_t begin, std::size_t count,
                             T* HWY_RESTRICT out) {
  const Tag<T> d;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const hn::Rebind<std::uint8_t, decltype(d)> few_bytes;
  alignas(64) std::uint8_t transposed[kFeatures * kLanes];
  const auto unit = hn::Set(d, static_cast<T>(1.0F / 255.0F));
  const float* mean = group.scaling->mean.data() + begin;
  const float* scale = group.scaling->scale.data() + begin;
  for (std::size_t f = 0; f < count; f += kFeatures) {
    const std::size_t some = std::min(kFeatures, count - f);
    if (some == kFeatures) {
      transpose_bytes(group, begin + f, transposed);
    } else {
      for (std::size_t i = 0; i < some * kLanes; ++i) {
        transposed[i] = static_cast<std::uint8_t>(group.rows[i % kLanes][begin + f + i / kLanes]);
      }
    }
    for (std::size_t i = 0; i < some; ++i) {
      for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
        const auto byte = hn::LoadU(few_bytes, transposed + i * kLanes + lane);
        hn::Vec<decltype(d)> value;
        if constexpr (sizeof(T) == sizeof(float)) {
          value = hn::ConvertTo(d, hn::PromoteTo(integers, byte));
        } else {
          value = hn::PromoteTo(d, hn::PromoteTo(integers, byte));
        }
        store_scaled(d, hn::Mul(value, unit), mean[f + i], scale[f + i],
                     out + (f + i) * kLanes + lane);
      }
    }
  }
}

/// Pixels of `channels` values [16] to pixels with room for more, in place; the rest is 0.
template <class T>
void spread(std::size_t pixels, std::size_t channels, std::size_t room, T* row) {
  if (channels == room) return;
  for (std::size_t x = pixels; x-- > 0;) {
    T* to = row + x * room * kLanes;
    // Backwards: a pixel never lands on one that has not moved yet.
    std::copy_backward(row + x * channels * kLanes, row + (x + 1) * channels * kLanes,
                       to + channels * kLanes);
    std::fill_n(to + channels * kLanes, (room - channels) * kLanes, T{0});
  }
}

template <class T>
HWY_NOINLINE void pack_floats(const Group& group, std::size_t count, T* HWY_RESTRICT out) {
  const Tag<T> d;
  alignas(64) T values[kLanes];
  for (std::size_t f = 0; f < count; ++f) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      values[lane] = static_cast<T>(reinterpret_cast<const float*>(group.rows[lane])[f]);
    }
    for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
      store_scaled(d, hn::Load(d, values + lane), group.scaling->mean[f], group.scaling->scale[f],
                   out + f * kLanes + lane);
    }
  }
}

/// All `count` features of the group, of either type.
template <class T>
void pack(const Group& group, std::size_t count, T* out) {
  if (group.element == ElementType::uint8) {
    pack_bytes(group, 0, count, out);
  } else {
    pack_floats(group, count, out);
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
