#include "aurora/evolution/variation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace aurora {
namespace {

float clip(double gene) {
  return static_cast<float>(std::clamp(gene, 0.0, 1.0));
}

/// One of the two SBX children, gene by gene; each gene is exchanged with probability 1/2.
void cross(double eta, std::span<const float> mate, std::span<float> child, Stream& stream) {
  for (std::size_t i = 0; i < child.size(); ++i) {
    const double spread = sbx_spread(stream.uniform(), eta);
    const bool first = stream.uniform() < 0.5;
    const double a = first ? child[i] : mate[i];
    const double b = first ? mate[i] : child[i];
    child[i] = clip(0.5 * ((1 + spread) * a + (1 - spread) * b));
  }
}

}  // namespace

bool needs_mate(const VariationConfig& config) {
  return config.kind == VariationKind::iso_line || config.crossover > 0;
}

double polynomial_delta(double r, double eta) {
  const double power = 1.0 / (eta + 1.0);
  return r < 0.5 ? std::pow(2.0 * r, power) - 1.0 : 1.0 - std::pow(2.0 * (1.0 - r), power);
}

double sbx_spread(double u, double eta) {
  const double power = 1.0 / (eta + 1.0);
  return u <= 0.5 ? std::pow(2.0 * u, power) : std::pow(1.0 / (2.0 * (1.0 - u)), power);
}

void vary(const VariationConfig& config, std::span<const float> parent, std::span<const float> mate,
          std::span<float> child, Stream& stream) {
  assert(parent.size() == child.size());
  std::ranges::copy(parent, child.begin());
  if (config.crossover > 0 && stream.uniform() < config.crossover) {
    cross(config.crossover_eta, mate, child, stream);
  }
  switch (config.kind) {
    case VariationKind::polynomial:
      for (float& gene : child) {
        if (stream.uniform() >= config.rate) continue;
        gene = clip(static_cast<double>(gene) + polynomial_delta(stream.uniform(), config.eta));
      }
      break;
    case VariationKind::iso_line: {
      const double along = config.line_sigma * stream.normal();
      for (std::size_t i = 0; i < child.size(); ++i) {
        const double line = static_cast<double>(mate[i]) - static_cast<double>(parent[i]);
        child[i] = clip(child[i] + config.iso_sigma * stream.normal() + along * line);
      }
      break;
    }
  }
}

}  // namespace aurora
