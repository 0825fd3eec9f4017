// Variation: from parents to children (docs/algorithms.md). Genes lie in [0, 1].
#pragma once

#include <span>

#include "aurora/core/part.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

class Variation {
 public:
  virtual ~Variation() = default;
  /// Whether children have a second parent.
  virtual bool needs_mate() const { return false; }
  /// Writes a child of `parent` (and `mate`, if needs_mate()). Draws only from `stream`.
  virtual void vary(std::span<const float> parent, std::span<const float> mate,
                    std::span<float> child, Stream& stream) const = 0;
};

/// What a variation is made with.
struct VariationContext {
  std::size_t genes = 0;
};

using VariationEntry = Entry<Variation, VariationContext>;

VariationEntry polynomial_variation();
VariationEntry iso_line_variation();

/// Polynomial mutation's step for a uniform r in [0, 1) (Deb): in (-1, 1), symmetric about 0.
double polynomial_delta(double r, double eta);

/// SBX's spread factor for a uniform u in [0, 1) (Deb & Agrawal 1995).
double sbx_spread(double u, double eta);

}  // namespace aurora
