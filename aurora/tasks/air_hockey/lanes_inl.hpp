// What Air-Hockey computes with: a float for one arm, Lanes for as many as a register holds.
#if defined(AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "aurora/tasks/lanes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;

#if HWY_NATIVE_FMA
using Lanes = LanesOf<float, 16>;
#else
using Lanes = float;
#endif

/// A number of each robot, one by one.
template <class N>
using Column = float[kWidth<N>];

template <class N>
HWY_INLINE N loaded(const Column<N>& from) {
  N a;
  load(a, from);
  return a;
}

/// Robot n's.
template <class N>
HWY_INLINE float number(N a, std::size_t n) {
  Column<N> numbers;
  store(a, numbers);
  return numbers[n];
}
template <class N>
HWY_INLINE void set_number(N& a, std::size_t n, float number) {
  Column<N> numbers;
  store(a, numbers);
  numbers[n] = number;
  load(a, numbers);
}

template <class N>
HWY_INLINE N clamped(N a, N low, N high) {
  return max_of(low, min_of(a, high));
}

/// The nearest integer of a number below 2^22.
template <class N>
HWY_INLINE N rounded(N a) {
  const N big = 12582912.0F;  // 1.5 * 2^23: nothing is left behind its point
  return (a + big) - big;
}

/// Sine and cosine within 2e-7, for |x| up to a few hundred: Taylor's series around the nearest
/// multiple of pi.
template <class N>
HWY_INLINE void sin_cos(N x, N& sin, N& cos) {
  const N turns = rounded(x * N(0.318309886F));
  const N odd = neg_mul_add(N(2), rounded(turns * N(0.5F)), turns);  // -1, 0 or 1
  const N sign = neg_mul_add(N(2), odd * odd, N(1));
  // pi in three parts, of which multiples of the first two are exact.
  N r = neg_mul_add(turns, N(3.140625F), x);
  r = neg_mul_add(turns, N(9.67025756835938e-4F), r);
  r = neg_mul_add(turns, N(6.27832957e-7F), r);
  const N u = r * r;
  N s = mul_add(u, N(-2.50521084e-8F), N(2.75573192e-6F));
  s = mul_add(u, s, N(-1.98412698e-4F));
  s = mul_add(u, s, N(8.33333333e-3F));
  s = mul_add(u, s, N(-1.66666667e-1F));
  N c = mul_add(u, N(2.08767570e-9F), N(-2.75573192e-7F));
  c = mul_add(u, c, N(2.48015873e-5F));
  c = mul_add(u, c, N(-1.38888889e-3F));
  c = mul_add(u, c, N(4.16666667e-2F));
  c = mul_add(u, c, N(-0.5F));
  sin = sign * mul_add(r * u, s, r);
  cos = sign * mul_add(u, c, N(1));
}

/// Turns the direction (cos, sin) by a small angle: within 1e-7 for up to 0.2 rad.
template <class N>
HWY_INLINE void turn(N angle, N& cos, N& sin) {
  const N u = angle * angle;
  const N s = neg_mul_add(angle * u, N(1.0F / 6), angle);
  const N c = mul_add(u, mul_add(u, N(1.0F / 24), N(-0.5F)), N(1));
  const N turned = neg_mul_add(s, sin, c * cos);
  sin = mul_add(s, cos, c * sin);
  cos = turned;
}

}  // namespace aurora::air_hockey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
