// Numbers that are one robot's (float) or those of a register full of robots (Lanes), with the same
// operations for both. The physics is written once, for either.
//
// Each operation is rounded as IEEE 754 says, a multiply-add once: float and every lane give the
// same bits. Instruction sets without fused multiply-adds have one lane, and the C library's.
//
// Files *_inl.hpp are compiled once per instruction set: their include guards toggle, as Highway
// asks for.
#if defined(AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#undef AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#else
#define AURORA_TASKS_AIR_HOCKEY_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace aurora::air_hockey::HWY_NAMESPACE {

// ---- One robot ----

/// a b + c
HWY_INLINE float mul_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
/// c - a b
HWY_INLINE float neg_mul_add(float a, float b, float c) {
  return std::fma(-a, b, c);
}
HWY_INLINE float select(bool mask, float yes, float no) {
  return mask ? yes : no;
}
HWY_INLINE float max_of(float a, float b) {
  return a > b ? a : b;
}
HWY_INLINE float min_of(float a, float b) {
  return a < b ? a : b;
}
HWY_INLINE float abs_of(float a) {
  return std::abs(a);
}
HWY_INLINE float sqrt_of(float a) {
  return std::sqrt(a);
}
HWY_INLINE bool any(bool mask) {
  return mask;
}
/// Bit n is lane n's.
HWY_INLINE std::uint64_t bits_of(bool mask) {
  return mask ? 1 : 0;
}
HWY_INLINE void store(float a, float* to) {
  *to = a;
}
HWY_INLINE void load(float& a, const float* from) {
  a = *from;
}

template <class N>
inline constexpr std::size_t kWidth = 1;

// ---- A register full of them ----

#if HWY_NATIVE_FMA
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;

struct LaneMask {
  hn::Mask<D> m;
};

struct Lanes {
  hn::Vec<D> v;

  Lanes() = default;
  HWY_INLINE Lanes(float x) : v(hn::Set(D(), x)) {}
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
HWY_INLINE std::uint64_t bits_of(LaneMask mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(D(), mask.m, bytes);
  return bytes[0] | static_cast<std::uint64_t>(bytes[1]) << 8;
}
HWY_INLINE void store(Lanes a, float* to) {
  hn::StoreU(a.v, D(), to);
}
HWY_INLINE void load(Lanes& a, const float* from) {
  a.v = hn::LoadU(D(), from);
}
#else
using Lanes = float;
#endif

// ---- For both ----

template <class N>
using Mask = decltype(N() < N());

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
