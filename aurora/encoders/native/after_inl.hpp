// What becomes of the values that a convolution makes.
//
// lanes(l) starts a pass over the lanes of the register at l, row(y, x, c) a row of pixels whose
// first is (y, x), in the channels from c on; then each value comes with its channel, counted from
// c, and its distance from the start of the row; done() ends the pass.
#if defined(AURORA_ENCODERS_NATIVE_AFTER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_ENCODERS_NATIVE_AFTER_INL_HPP
#undef AURORA_ENCODERS_NATIVE_AFTER_INL_HPP
#else
#define AURORA_ENCODERS_NATIVE_AFTER_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "aurora/encoders/native/lanes.hpp"
#include "aurora/encoders/native/loops_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::native::HWY_NAMESPACE {

/// Kept in a picture, through a ReLU if `relu`.
template <bool relu, class T>
struct Store {
  explicit Store(Planes<T>& output) : picture(output) {}
  void lanes(std::size_t lane) { first = lane; }
  void row(std::size_t y, std::size_t x, std::size_t channel) {
    out = picture.at(y, x) + channel * kLanes + first;
  }
  void done() {}

  HWY_INLINE void operator()(std::size_t, std::size_t place, hn::Vec<Tag<T>> value) {
    const Tag<T> d;
    hn::Store(relu ? hn::Max(value, hn::Zero(d)) : value, d, out + place);
  }

  Planes<T>& picture;
  std::size_t first = 0;
  T* out = nullptr;
};

/// A gradient, kept after its way back through the ReLU that made `map`.
template <class T>
struct StoreMasked {
  StoreMasked(const Planes<T>& relu_map, Planes<T>& output) : map(relu_map), picture(output) {}
  void lanes(std::size_t lane) { first = lane; }
  void row(std::size_t y, std::size_t x, std::size_t channel) {
    out = picture.at(y, x) + channel * kLanes + first;
    value_at = map.at(y, x) + channel * kLanes + first;
  }
  void done() {}

  HWY_INLINE void operator()(std::size_t, std::size_t place, hn::Vec<Tag<T>> value) {
    const Tag<T> d;
    const auto alive = hn::Gt(hn::Load(d, value_at + place), hn::Zero(d));
    hn::Store(hn::IfThenElseZero(alive, value), d, out + place);
  }

  const Planes<T>& map;
  Planes<T>& picture;
  std::size_t first = 0;
  T* out = nullptr;
  const T* value_at = nullptr;
};

/// Compared with a target of Outs channels: squared differences summed per individual and, if
/// `keep`, the differences kept (0 in lanes from `count` on).
template <bool keep, std::size_t Outs, class T>
struct Compare {
  using V = hn::Vec<Tag<T>>;

  Compare(const Planes<T>& wanted, std::size_t individuals, Planes<T>& output, T* squared)
      : target(wanted), count(individuals), picture(output), squares(squared) {}
  void lanes(std::size_t lane) {
    const Tag<T> d;
    first = lane;
    used = hn::FirstN(d, count > lane ? count - lane : 0);
    total = hn::Zero(d);
    for (V& sum : sums) sum = hn::Zero(d);
  }
  void row(std::size_t y, std::size_t x, std::size_t) {
    // Sums of sums: rounding does not grow with the size of the picture.
    for (V& sum : sums) {
      total = hn::Add(total, sum);
      sum = hn::Zero(Tag<T>());
    }
    out = picture.at(y, x) + first;
    wanted_at = target.at(y, x) + first;
  }
  void done() {
    for (const V& sum : sums) total = hn::Add(total, sum);
    hn::Store(total, Tag<T>(), squares + first);
  }

  HWY_INLINE void operator()(std::size_t o, std::size_t place, V value) {
    const Tag<T> d;
    const V difference = hn::Sub(value, hn::Load(d, wanted_at + place));
    sums[o] = hn::MulAdd(difference, difference, sums[o]);
    if constexpr (keep) hn::Store(hn::IfThenElseZero(used, difference), d, out + place);
  }

  const Planes<T>& target;
  std::size_t count;
  Planes<T>& picture;
  T* squares;
  std::size_t first = 0;
  T* out = nullptr;
  const T* wanted_at = nullptr;
  hn::Mask<Tag<T>> used{};
  V sums[Outs];
  V total;
};

}  // namespace aurora::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
