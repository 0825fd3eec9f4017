// Adam on one flat array, for gradients that come in parts; the bits of aurora::Adam on their sum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/encoders/native/lanes.hpp"

namespace aurora::native {

class Adam {
 public:
  Adam(std::size_t parameters, double learning_rate)
      : learning_rate_(learning_rate), mean_(parameters), square_(parameters) {}

  /// One step along `factor` * (the sum of the parts, added in their order). Every part holds one
  /// value per parameter.
  void step(std::span<float> parameters, std::span<const float* const> parts, double factor);
  /// Forgets the running means.
  void reset();

 private:
  double learning_rate_;
  std::size_t steps_ = 0;
  LineVector<float> mean_;
  LineVector<float> square_;
};

}  // namespace aurora::native
