// Fully connected layers: their description. The loops are in dense_inl.hpp.
#pragma once

#include <cstddef>

#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/network.hpp"

namespace aurora::native {

struct DenseLayer {
  std::size_t in = 0;
  std::size_t out = 0;
  bool relu = false;
  LayerPlace place;  // weight {out, in}, bias {out}
};

/// Room for a row of `n` values that is read two whole registers at a time.
constexpr std::size_t padded(std::size_t n) {
  return (n + 2 * kLanes - 1) / (2 * kLanes) * (2 * kLanes);
}

}  // namespace aurora::native
