// What the decoder says against what it should have said; compiled once per instruction set.
#if defined(AURORA_ENCODERS_NATIVE_COMPARE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_COMPARE_INL_HPP
#undef AURORA_ENCODERS_NATIVE_COMPARE_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_COMPARE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// `size` values, [feature][16]: difference = output - input in the group's lanes, 0 in others;
/// squares = its sum of squares.
template <class T>
void compare(const T* input, const T* output, std::size_t size, std::size_t count, T* difference,
             T* squares) {
  const Tag<T> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    const auto used = hn::FirstN(d, count > lane ? count - lane : 0);
    auto sum = hn::Zero(d);
    for (std::size_t i = lane; i < size; i += kLanes) {
      const auto difference_i = hn::Sub(hn::Load(d, output + i), hn::Load(d, input + i));
      sum = hn::MulAdd(difference_i, difference_i, sum);
      hn::Store(hn::IfThenElseZero(used, difference_i), d, difference + i);
    }
    hn::Store(sum, d, squares + lane);
  }
}

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
