#include "aurora/containers/individuals.hpp"

#include <bit>
#include <cmath>

namespace aurora {

bool same_columns(const Individuals& a, const Individuals& b) {
  return a.genotypes.cols() == b.genotypes.cols() && a.descriptors.cols() == b.descriptors.cols() &&
         a.ground_truth.cols() == b.ground_truth.cols() && a.sensory.shape() == b.sensory.shape();
}

bool all_finite(std::span<const float> values) {
  // On the bits and without an early exit: this becomes vector code.
  std::uint32_t bad = 0;
  for (const float v : values) {
    constexpr std::uint32_t kExponent = 0x7f800000;
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(v) & kExponent) == kExponent);
  }
  return bad == 0;
}

bool is_finite(const Individuals& individuals, std::size_t row) {
  return std::isfinite(individuals.fitness[row]) &&
         std::isfinite(individuals.reconstruction_error[row]) &&
         all_finite(individuals.descriptors.row(row)) &&
         all_finite(individuals.ground_truth.row(row)) &&
         all_finite(individuals.genotypes.row(row)) &&
         (individuals.sensory.shape().element != ElementType::float32 ||
          all_finite(individuals.sensory.view().row<float>(row)));
}

}  // namespace aurora
