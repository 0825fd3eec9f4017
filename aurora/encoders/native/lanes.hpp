// Sixteen individuals side by side: the layout of the native engine.
//
// A value of the network is a stretch of 16 numbers, one per individual of a group, so that a
// vector register works on individuals and a weight is one number that all of them share. Nothing
// is ever shuffled between lanes in a forward pass: what an individual gets does not depend on its
// lane or on its neighbours. A group holds 16 whatever the width of the machine's registers.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <vector>

#include "aurora/core/sensory_data.hpp"
#include "aurora/encoders/scaling.hpp"

namespace aurora::native {

inline constexpr std::size_t kLanes = 16;

constexpr std::size_t groups_of(std::size_t rows) {
  return (rows + kLanes - 1) / kLanes;
}

/// Cache-line alignment, which is also that of the widest registers.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

/// The feature maps of a group, [y][x][channel][16], inside a border of one pixel that stays zero.
template <class T>
struct Planes {
  Planes(std::size_t rows, std::size_t cols, std::size_t depth)
      : height(rows),
        width(cols),
        channels(depth),
        values((rows + 2) * (cols + 2) * depth * kLanes) {}

  std::size_t pixel_stride() const { return channels * kLanes; }
  std::size_t row_stride() const { return (width + 2) * pixel_stride(); }
  /// Pixel (y, x); the border is reached with -1 (which may wrap around) and height or width.
  T* at(std::size_t y, std::size_t x) { return values.data() + offset(y, x); }
  const T* at(std::size_t y, std::size_t x) const { return values.data() + offset(y, x); }

  std::size_t height, width, channels;
  LineVector<T> values;

 private:
  std::size_t offset(std::size_t y, std::size_t x) const {
    return ((y + 1) * (width + 2) + (x + 1)) * pixel_stride();
  }
};

/// Up to 16 rows of sensory data, and how they are read. Lanes from `count` on repeat row 0.
struct Group {
  std::array<const std::byte*, kLanes> rows{};
  std::size_t count = 0;
  ElementType element = ElementType::float32;
  const InputScaling* scaling = nullptr;
  std::array<const float*, kLanes> noise{};  // null, or standard normal, one a latent dimension
  bool plain = false;                        // a variational encoder has no divergence here
  std::array<float, kLanes> fitness{};       // for triplets
};

/// The sum over the lanes, always in the same order.
template <class T>
T sum_lanes(const T* lanes) {
  T half[kLanes / 2];
  for (std::size_t i = 0; i < kLanes / 2; ++i) half[i] = lanes[i] + lanes[i + kLanes / 2];
  for (std::size_t n = kLanes / 4; n > 0; n /= 2) {
    for (std::size_t i = 0; i < n; ++i) half[i] += half[i + n];
  }
  return half[0];
}

}  // namespace aurora::native
