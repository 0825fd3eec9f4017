#include "aurora/core/individuals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {

bool same_columns(const Individuals& a, const Individuals& b) {
  return a.genotypes.cols() == b.genotypes.cols() && a.descriptors.cols() == b.descriptors.cols() &&
         a.ground_truth.cols() == b.ground_truth.cols() && a.sensory.shape() == b.sensory.shape() &&
         a.extra_names == b.extra_names;
}

std::size_t Individuals::extra_column(std::string_view name) const {
  const auto found = std::ranges::find(extra_names, name);
  if (found == extra_names.end()) {
    throw DataError("individuals have no column '" + std::string(name) + "'");
  }
  return static_cast<std::size_t>(found - extra_names.begin());
}

std::vector<std::uint32_t> rows_by_age(const Individuals& individuals) {
  std::vector<std::uint32_t> rows(individuals.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::sort(rows, {}, [&](std::uint32_t row) { return individuals.ids[row]; });
  return rows;
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

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

bool has_valid_genes(const Individuals& individuals) {
  const Matrix<float>& genes = individuals.genotypes;
  return std::ranges::all_of(std::span(genes.data(), genes.rows() * genes.cols()),
                             [](float gene) { return gene >= 0 && gene <= 1; });
}

void check_ids(const Individuals& individuals) {
  std::vector<std::uint64_t> ids = individuals.ids;
  std::ranges::sort(ids);
  if (const auto twin = std::ranges::adjacent_find(ids); twin != ids.end()) {
    throw DataError("two individuals have the id " + std::to_string(*twin));
  }
}

bool is_evaluated(const Individuals& individuals, std::size_t row) {
  return std::isfinite(individuals.fitness[row]) && all_finite(individuals.ground_truth.row(row)) &&
         all_finite(individuals.genotypes.row(row)) &&
         (individuals.sensory.shape().element != ElementType::float32 ||
          all_finite(individuals.sensory.view().row<float>(row)));
}

bool is_finite(const Individuals& individuals, std::size_t row) {
  return is_evaluated(individuals, row) && std::isfinite(individuals.reconstruction_error[row]) &&
         all_finite(individuals.descriptors.row(row)) && all_finite(individuals.extra.row(row));
}

}  // namespace aurora
