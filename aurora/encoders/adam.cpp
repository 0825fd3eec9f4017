#include "aurora/encoders/adam.hpp"

#include <cassert>
#include <cmath>

namespace aurora {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr float kEpsilon = 1e-8F;

}  // namespace

void Adam::reset() {
  steps_ = 0;
  mean_.clear();
  square_.clear();
}

void Adam::step(std::span<float> parameters, std::span<const float> gradient) {
  assert(parameters.size() == gradient.size());
  mean_.resize(parameters.size());
  square_.resize(parameters.size());
  ++steps_;
  const double t = static_cast<double>(steps_);
  const float rate = static_cast<float>(learning_rate_ / (1.0 - std::pow(kBeta1, t)));
  const float correction = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(kBeta2, t)));
  constexpr float beta1 = kBeta1, beta2 = kBeta2, rest1 = 1.0 - kBeta1, rest2 = 1.0 - kBeta2;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float g = gradient[i];
    mean_[i] = beta1 * mean_[i] + rest1 * g;
    square_[i] = beta2 * square_[i] + rest2 * g * g;
    parameters[i] -= rate * mean_[i] / (std::sqrt(square_[i]) * correction + kEpsilon);
  }
}

}  // namespace aurora
