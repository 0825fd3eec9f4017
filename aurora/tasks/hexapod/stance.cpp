#include "aurora/tasks/hexapod/stance.hpp"

#include <numeric>
#include <utility>

namespace aurora::hexapod {

void Stance::arrange() {
  std::iota(legs.begin(), legs.end(), std::size_t{0});
  const auto& counts = touches.counts;
  for (std::size_t i = 1; i < kLegs; ++i) {
    for (std::size_t j = i; j > 0 && counts[legs[j - 1]] < counts[legs[j]]; --j) {
      std::swap(legs[j - 1], legs[j]);
    }
  }
}

std::uint64_t Stance::key() const {
  static_assert(kLegs + 1 <= sizeof(std::uint64_t) && Touches::kMost < 256);
  std::uint64_t key = 0;
  for (const std::size_t leg : legs) key = key << 8 | touches.counts[leg];
  return key;
}

}  // namespace aurora::hexapod
