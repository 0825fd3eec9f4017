// Adam (Kingma & Ba 2015) on one flat array of parameters.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace aurora {

class Adam {
 public:
  explicit Adam(double learning_rate) : learning_rate_(learning_rate) {}

  /// parameters -= rate * m / (sqrt(v) + eps), with m and v the bias-corrected running means of the
  /// gradient (decay 0.9) and of its square (0.999), eps = 1e-8.
  void step(std::span<float> parameters, std::span<const float> gradient);
  /// Forgets the running means.
  void reset();

 private:
  double learning_rate_;
  std::size_t steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace aurora
