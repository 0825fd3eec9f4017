// Numbers that are one robot's (float or double) or those of a register full of robots (LanesOf),
// with the same operations for both: physics is written once, for either.
//
// Each operation is rounded as IEEE 754 says, a multiply-add once: a number and every lane give the
// same bits. Instruction sets without fused multiply-adds have no lanes, and the C library's.
//
// Files *_inl.hpp are compiled once per instruction set: their include guards toggle, as Highway
// asks for.
#if defined(AURORA_TASKS_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_LANES_INL_HPP
#undef AURORA_TASKS_LANES_INL_HPP
#else
#define AURORA_TASKS_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace aurora::lanes::HWY_NAMESPACE {

// ---- One robot ----

/// a b + c
template <std::floating_point T>
HWY_INLINE T mul_add(T a, T b, T c) {
  return std::fma(a, b, c);
}
/// c - a b
template <std::floating_point T>
HWY_INLINE T neg_mul_add(T a, T b, T c) {
  return std::fma(-a, b, c);
}
template <std::floating_point T>
HWY_INLINE T select(bool mask, T yes, T no) {
  return mask ? yes : no;
}
template <std::floating_point T>
HWY_INLINE T max_of(T a, T b) {
  return a > b ? a : b;
}
template <std::floating_point T>
HWY_INLINE T min_of(T a, T b) {
  return a < b ? a : b;
}
template <std::floating_point T>
HWY_INLINE T abs_of(T a) {
  return std::abs(a);
}
template <std::floating_point T>
HWY_INLINE T sqrt_of(T a) {
  return std::sqrt(a);
}
HWY_INLINE bool any(bool mask) {
  return mask;
}
/// Bit n is lane n's.
HWY_INLINE std::uint64_t bits_of(bool mask) {
  return mask ? 1 : 0;
}
template <std::floating_point T>
HWY_INLINE void store(T a, T* to) {
  *to = a;
}
template <std::floating_point T>
HWY_INLINE void load(T& a, const T* from) {
  a = *from;
}

template <class N>
inline constexpr std::size_t kWidth = 1;

// ---- A register full of them ----

#if HWY_NATIVE_FMA
namespace hn = hwy::HWY_NAMESPACE;

/// At most kMost lanes, however long the registers are.
template <class T, std::size_t kMost>
struct LanesOf {
  using D = hn::CappedTag<T, kMost>;

  struct Mask {
    hn::Mask<D> m;

    friend HWY_INLINE Mask operator&(Mask a, Mask b) { return {hn::And(a.m, b.m)}; }
    friend HWY_INLINE Mask operator|(Mask a, Mask b) { return {hn::Or(a.m, b.m)}; }
    friend HWY_INLINE Mask operator!(Mask a) { return {hn::Not(a.m)}; }
    friend HWY_INLINE bool any(Mask mask) { return !hn::AllFalse(D(), mask.m); }
    friend HWY_INLINE std::uint64_t bits_of(Mask mask) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(D(), mask.m, bytes);
      return bytes[0] | static_cast<std::uint64_t>(bytes[1]) << 8;
    }
  };

  hn::Vec<D> v;

  LanesOf() = default;
  HWY_INLINE LanesOf(T x) : v(hn::Set(D(), x)) {}
  HWY_INLINE explicit LanesOf(hn::Vec<D> x) : v(x) {}

  friend HWY_INLINE LanesOf operator+(LanesOf a, LanesOf b) { return LanesOf(hn::Add(a.v, b.v)); }
  friend HWY_INLINE LanesOf operator-(LanesOf a, LanesOf b) { return LanesOf(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE LanesOf operator*(LanesOf a, LanesOf b) { return LanesOf(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE LanesOf operator/(LanesOf a, LanesOf b) { return LanesOf(hn::Div(a.v, b.v)); }
  friend HWY_INLINE LanesOf operator-(LanesOf a) { return LanesOf(hn::Neg(a.v)); }
  friend HWY_INLINE LanesOf& operator+=(LanesOf& a, LanesOf b) { return a = a + b; }
  friend HWY_INLINE LanesOf& operator-=(LanesOf& a, LanesOf b) { return a = a - b; }
  friend HWY_INLINE Mask operator<(LanesOf a, LanesOf b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(LanesOf a, LanesOf b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(LanesOf a, LanesOf b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(LanesOf a, LanesOf b) { return {hn::Ge(a.v, b.v)}; }
  friend HWY_INLINE LanesOf mul_add(LanesOf a, LanesOf b, LanesOf c) {
    return LanesOf(hn::MulAdd(a.v, b.v, c.v));
  }
  friend HWY_INLINE LanesOf neg_mul_add(LanesOf a, LanesOf b, LanesOf c) {
    return LanesOf(hn::NegMulAdd(a.v, b.v, c.v));
  }
  friend HWY_INLINE LanesOf select(Mask mask, LanesOf yes, LanesOf no) {
    return LanesOf(hn::IfThenElse(mask.m, yes.v, no.v));
  }
  friend HWY_INLINE LanesOf max_of(LanesOf a, LanesOf b) {
#if HWY_ARCH_X86  // where Max is the same as the comparison, for zeros and NaN, too
    return LanesOf(hn::Max(a.v, b.v));
#else
    return select(a > b, a, b);
#endif
  }
  friend HWY_INLINE LanesOf min_of(LanesOf a, LanesOf b) {
#if HWY_ARCH_X86
    return LanesOf(hn::Min(a.v, b.v));
#else
    return select(a < b, a, b);
#endif
  }
  friend HWY_INLINE LanesOf abs_of(LanesOf a) {
    return LanesOf(hn::Abs(a.v));
  }
  friend HWY_INLINE LanesOf sqrt_of(LanesOf a) {
    return LanesOf(hn::Sqrt(a.v));
  }
  friend HWY_INLINE void store(LanesOf a, T* to) {
    hn::StoreU(a.v, D(), to);
  }
  friend HWY_INLINE void load(LanesOf& a, const T* from) {
    a.v = hn::LoadU(D(), from);
  }
};

template <class T, std::size_t kMost>
inline constexpr std::size_t kWidth<LanesOf<T, kMost>> =
    hn::MaxLanes(typename LanesOf<T, kMost>::D());
#endif

// ---- For both ----

template <class N>
using Mask = decltype(N() < N());

}  // namespace aurora::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
