// Variation: from parents to children (specification, section 3). Genes lie in [0, 1].
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "aurora/core/names.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

enum class VariationKind { polynomial, iso_line };

template <>
struct Names<VariationKind> {
  static constexpr std::pair<VariationKind, std::string_view> entries[] = {
      {VariationKind::polynomial, "polynomial"}, {VariationKind::iso_line, "iso+line"}};
};

struct VariationConfig {
  VariationKind kind = VariationKind::polynomial;
  double rate = 0.05;         // polynomial: probability that a gene mutates
  double eta = 10;            // polynomial: distribution index eta_m
  double crossover = 0;       // probability that SBX crosses a child with a second parent
  double crossover_eta = 10;  // SBX: distribution index eta_c
  double iso_sigma = 0.01;    // iso+line: isotropic deviation
  double line_sigma = 0.2;    // iso+line: deviation along the line between two parents
};

/// Whether children have a second parent.
bool needs_mate(const VariationConfig& config);

/// Polynomial mutation's step for a uniform r in [0, 1) (Deb): in (-1, 1), symmetric about 0.
double polynomial_delta(double r, double eta);

/// SBX's spread factor for a uniform u in [0, 1) (Deb & Agrawal 1995).
double sbx_spread(double u, double eta);

/// Writes a child of `parent` (and `mate`, if needs_mate()). Draws only from `stream`.
void vary(const VariationConfig& config, std::span<const float> parent, std::span<const float> mate,
          std::span<float> child, Stream& stream);

}  // namespace aurora
