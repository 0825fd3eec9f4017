// What the Hexapod computes with: a double for one robot, Lanes for as many as a register holds.
#if defined(AURORA_TASKS_HEXAPOD_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#undef AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include "aurora/tasks/lanes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;

#if HWY_NATIVE_FMA && HWY_HAVE_FLOAT64
using Lanes = LanesOf<double, 8>;
#else
using Lanes = double;
#endif

/// 1 or 0.
template <class N>
HWY_INLINE N one_if(Mask<N> mask) {
  return select(mask, N(1), N(0));
}

template <class N>
struct Vec3 {
  N x, y, z;
};
template <class N>
HWY_INLINE Vec3<N> operator+(const Vec3<N>& a, const Vec3<N>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class N>
HWY_INLINE Vec3<N> operator-(const Vec3<N>& a, const Vec3<N>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class N>
HWY_INLINE Vec3<N> operator*(N s, const Vec3<N>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class N>
HWY_INLINE N dot(const Vec3<N>& a, const Vec3<N>& b) {
  return mul_add(a.x, b.x, mul_add(a.y, b.y, a.z * b.z));
}
template <class N>
HWY_INLINE Vec3<N> cross(const Vec3<N>& a, const Vec3<N>& b) {
  return {neg_mul_add(a.z, b.y, a.y * b.z), neg_mul_add(a.x, b.z, a.z * b.x),
          neg_mul_add(a.y, b.x, a.x * b.y)};
}

/// Sine and cosine by Taylor's series: for |x| <= 1.8 within 2e-15.
template <class N>
HWY_INLINE void sin_cos(N x, N& sin, N& cos) {
  const N u = x * x;
  N s = 0;
  N c = 0;
  for (int k = 11; k >= 1; --k) {
    s = (N(1) - s) * (u * N(1.0 / (2.0 * k * (2 * k + 1))));
    c = (N(1) - c) * (u * N(1.0 / (2.0 * k * (2 * k - 1))));
  }
  sin = neg_mul_add(x, s, x);
  cos = N(1) - c;
}

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
