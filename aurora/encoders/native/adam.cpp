#include "aurora/encoders/native/targets.hpp"
// The first include above must come before Highway's.
#include "aurora/encoders/native/adam.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/encoders/native/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AURORA_ENCODERS_NATIVE_ADAM_ONCE
#define AURORA_ENCODERS_NATIVE_ADAM_ONCE
namespace aurora::native {

struct AdamStep {
  std::span<float> parameters;
  std::span<const float* const> parts;
  float* mean;
  float* square;
  float factor;      // of the gradient
  float rate;        // learning rate / (1 - beta1^t)
  float correction;  // 1 / sqrt(1 - beta2^t)
};

}  // namespace aurora::native
#endif

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Parameters [i, i + lanes), without fused operations: the same bits on every machine.
template <class D>
HWY_INLINE void step_lanes(D d, const AdamStep& step, std::size_t i) {
  constexpr float beta1 = 0.9, beta2 = 0.999, rest1 = 1.0 - 0.9, rest2 = 1.0 - 0.999;
  auto g = hn::LoadU(d, step.parts[0] + i);
  for (const float* part : step.parts.subspan(1)) g = hn::Add(g, hn::LoadU(d, part + i));
  g = hn::Mul(g, hn::Set(d, step.factor));
  const auto mean = hn::Add(hn::Mul(hn::Set(d, beta1), hn::LoadU(d, step.mean + i)),
                            hn::Mul(hn::Set(d, rest1), g));
  const auto square = hn::Add(hn::Mul(hn::Set(d, beta2), hn::LoadU(d, step.square + i)),
                              hn::Mul(hn::Mul(hn::Set(d, rest2), g), g));
  hn::StoreU(mean, d, step.mean + i);
  hn::StoreU(square, d, step.square + i);
  const auto spread =
      hn::Add(hn::Mul(hn::Sqrt(square), hn::Set(d, step.correction)), hn::Set(d, 1e-8F));
  const auto change = hn::Div(hn::Mul(hn::Set(d, step.rate), mean), spread);
  float* parameters = step.parameters.data() + i;
  hn::StoreU(hn::Sub(hn::LoadU(d, parameters), change), d, parameters);
}

void step_all(const AdamStep& step) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t count = step.parameters.size();
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) step_lanes(d, step, i);
  for (; i < count; ++i) step_lanes(one, step, i);
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aurora::native {

HWY_EXPORT(step_all);

void Adam::reset() {
  steps_ = 0;
  std::ranges::fill(mean_, 0.0F);
  std::ranges::fill(square_, 0.0F);
}

void Adam::step(std::span<float> parameters, std::span<const float* const> parts, double factor) {
  assert(parameters.size() == mean_.size() && !parts.empty());
  const double t = static_cast<double>(++steps_);
  HWY_DYNAMIC_DISPATCH(step_all)
  ({.parameters = parameters,
    .parts = parts,
    .mean = mean_.data(),
    .square = square_.data(),
    .factor = static_cast<float>(factor),
    .rate = static_cast<float>(learning_rate_ / (1.0 - std::pow(0.9, t))),
    .correction = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(0.999, t)))});
}

}  // namespace aurora::native
#endif
