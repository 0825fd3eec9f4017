// Sums over long rows, cut into a fixed number of lanes: compilers turn the lanes into SIMD without
// being allowed to reorder anything, so the bits are the same whatever the instruction set.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>

namespace aurora {

/// sum_i a_i * b_i, computed in T.
template <class T>
T lane_dot(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  constexpr std::size_t kLanes = 16;
  std::array<T, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      lanes[l] += static_cast<T>(a[i + l]) * static_cast<T>(b[i + l]);
    }
  }
  for (std::size_t l = 0; i < a.size(); ++i, ++l) {
    lanes[l] += static_cast<T>(a[i]) * static_cast<T>(b[i]);
  }
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  }
  return lanes[0];
}

/// The L2 norm, summed in double precision.
inline float lane_norm(std::span<const float> values) {
  return static_cast<float>(std::sqrt(lane_dot<double>(values, values)));
}

}  // namespace aurora
