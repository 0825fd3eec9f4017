#include "aurora/core/random.hpp"

#include <Random123/philox.h>

#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace aurora {

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint32_t iteration, std::uint32_t index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, index, iteration, static_cast<std::uint32_t>(purpose)} {}

std::uint32_t Stream::bits() {
  if (used_ == 4) {
    r123::Philox4x32 philox;
    r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
    r123::Philox4x32::key_type key{{key_[0], key_[1]}};
    const auto block = philox(counter, key);
    for (std::size_t i = 0; i < 4; ++i) block_[i] = block[i];
    ++counter_[0];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double Stream::uniform() {
  const std::uint64_t high = bits() >> 5;  // 27 bits
  const std::uint64_t low = bits() >> 6;   // 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

std::uint64_t Stream::below(std::uint64_t n) {
  assert(n > 0);
  // Reject the first 2^64 mod n values, so that every remainder is equally likely.
  const std::uint64_t rejected = (0 - n) % n;
  for (;;) {
    const std::uint64_t high = bits();
    const std::uint64_t value = (high << 32) | bits();
    if (value >= rejected) return value % n;
  }
}

double Stream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<std::uint32_t> Stream::permutation(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace aurora
