// Numbers that are one robot's (double) or those of a register full of robots (Lanes), with the
// same operations for both. The physics is written once, for either.
//
// Each operation is rounded as IEEE 754 says, a multiply-add once: double and every lane give the
// same bits. Instruction sets without fused multiply-adds have one lane, and the C library's.
//
// Files *_inl.hpp are compiled once per instruction set: their include guards toggle, as Highway
// asks for.
#if defined(AURORA_TASKS_HEXAPOD_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#undef AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

// ---- One robot ----

/// a b + c
HWY_INLINE double mul_add(double a, double b, double c) {
  return std::fma(a, b, c);
}
/// c - a b
HWY_INLINE double neg_mul_add(double a, double b, double c) {
  return std::fma(-a, b, c);
}
HWY_INLINE double select(bool mask, double yes, double no) {
  return mask ? yes : no;
}
HWY_INLINE double max_of(double a, double b) {
  return a > b ? a : b;
}
HWY_INLINE double min_of(double a, double b) {
  return a < b ? a : b;
}
HWY_INLINE double abs_of(double a) {
  return std::abs(a);
}
HWY_INLINE double sqrt_of(double a) {
  return std::sqrt(a);
}
HWY_INLINE bool any(bool mask) {
  return mask;
}
HWY_INLINE void store(double a, double* to) {
  *to = a;
}
HWY_INLINE void load(double& a, const double* from) {
  a = *from;
}

template <class N>
inline constexpr std::size_t kWidth = 1;

// ---- A register full of them ----

#if HWY_NATIVE_FMA && HWY_HAVE_FLOAT64
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;

struct LaneMask {
  hn::Mask<D> m;
};

struct Lanes {
  hn::Vec<D> v;

  Lanes() = default;
  HWY_INLINE Lanes(double x) : v(hn::Set(D(), x)) {}
  HWY_INLINE explicit Lanes(hn::Vec<D> x) : v(x) {}
};

template <>
inline constexpr std::size_t kWidth<Lanes> = hn::MaxLanes(D());

HWY_INLINE Lanes operator+(Lanes a, Lanes b) {
  return Lanes(hn::Add(a.v, b.v));
}
HWY_INLINE Lanes operator-(Lanes a, Lanes b) {
  return Lanes(hn::Sub(a.v, b.v));
}
HWY_INLINE Lanes operator*(Lanes a, Lanes b) {
  return Lanes(hn::Mul(a.v, b.v));
}
HWY_INLINE Lanes operator/(Lanes a, Lanes b) {
  return Lanes(hn::Div(a.v, b.v));
}
HWY_INLINE Lanes operator-(Lanes a) {
  return Lanes(hn::Neg(a.v));
}
HWY_INLINE Lanes& operator+=(Lanes& a, Lanes b) {
  return a = a + b;
}
HWY_INLINE Lanes& operator-=(Lanes& a, Lanes b) {
  return a = a - b;
}
HWY_INLINE LaneMask operator<(Lanes a, Lanes b) {
  return {hn::Lt(a.v, b.v)};
}
HWY_INLINE LaneMask operator>(Lanes a, Lanes b) {
  return {hn::Gt(a.v, b.v)};
}
HWY_INLINE LaneMask operator<=(Lanes a, Lanes b) {
  return {hn::Le(a.v, b.v)};
}
HWY_INLINE LaneMask operator>=(Lanes a, Lanes b) {
  return {hn::Ge(a.v, b.v)};
}
HWY_INLINE LaneMask operator&(LaneMask a, LaneMask b) {
  return {hn::And(a.m, b.m)};
}
HWY_INLINE LaneMask operator|(LaneMask a, LaneMask b) {
  return {hn::Or(a.m, b.m)};
}
HWY_INLINE LaneMask operator!(LaneMask a) {
  return {hn::Not(a.m)};
}
HWY_INLINE Lanes mul_add(Lanes a, Lanes b, Lanes c) {
  return Lanes(hn::MulAdd(a.v, b.v, c.v));
}
HWY_INLINE Lanes neg_mul_add(Lanes a, Lanes b, Lanes c) {
  return Lanes(hn::NegMulAdd(a.v, b.v, c.v));
}
HWY_INLINE Lanes select(LaneMask mask, Lanes yes, Lanes no) {
  return Lanes(hn::IfThenElse(mask.m, yes.v, no.v));
}
HWY_INLINE Lanes max_of(Lanes a, Lanes b) {
#if HWY_ARCH_X86  // where Max is the same as the comparison, for zeros and NaN, too
  return Lanes(hn::Max(a.v, b.v));
#else
  return select(a > b, a, b);
#endif
}
HWY_INLINE Lanes min_of(Lanes a, Lanes b) {
#if HWY_ARCH_X86
  return Lanes(hn::Min(a.v, b.v));
#else
  return select(a < b, a, b);
#endif
}
HWY_INLINE Lanes abs_of(Lanes a) {
  return Lanes(hn::Abs(a.v));
}
HWY_INLINE Lanes sqrt_of(Lanes a) {
  return Lanes(hn::Sqrt(a.v));
}
HWY_INLINE bool any(LaneMask mask) {
  return !hn::AllFalse(D(), mask.m);
}
HWY_INLINE void store(Lanes a, double* to) {
  hn::StoreU(a.v, D(), to);
}
HWY_INLINE void load(Lanes& a, const double* from) {
  a.v = hn::LoadU(D(), from);
}
#else
using Lanes = double;
#endif

// ---- For both ----

template <class N>
using Mask = decltype(N() < N());

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
