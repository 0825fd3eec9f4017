// The distance between two descriptors, as the index of nearest neighbours computes it.
#pragma once

#include <cstddef>
#include <span>

namespace aurora {

/// Squared Euclidean distance: the same sum as in the index, bit by bit.
inline float squared_distance(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace aurora
