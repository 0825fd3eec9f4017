#include "aurora/evolution/selector.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace aurora {

bool reads_surprise(SelectionKind kind) {
  return kind == SelectionKind::surprise || kind == SelectionKind::novelty_surprise;
}

SelectionKind toss(SelectionKind kind, std::uint64_t seed, std::uint32_t iteration) {
  if (kind != SelectionKind::novelty_surprise) return kind;
  Stream coin(seed, Purpose::criterion, iteration);
  return coin.uniform() < 0.5 ? SelectionKind::novelty : SelectionKind::surprise;
}

void select_uniform(std::size_t size, std::span<std::uint32_t> parents, Stream& stream) {
  assert(size > 0);
  for (std::uint32_t& parent : parents) parent = static_cast<std::uint32_t>(stream.below(size));
}

void select_proportional(std::span<const float> weights, std::span<std::uint32_t> parents,
                         Stream& stream) {
  assert(!weights.empty());
  std::vector<double> cumulative(weights.size());
  double sum = 0;
  std::size_t last = 0;  // the last one that can be chosen at all
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] > 0) {
      sum += static_cast<double>(weights[i]);
      last = i;
    }
    cumulative[i] = sum;
  }
  if (!(sum > 0)) return select_uniform(weights.size(), parents, stream);
  for (std::uint32_t& parent : parents) {
    const double at = stream.uniform() * sum;
    const auto chosen = std::ranges::upper_bound(cumulative, at) - cumulative.begin();
    parent =
        static_cast<std::uint32_t>(std::min<std::size_t>(static_cast<std::size_t>(chosen), last));
  }
}

}  // namespace aurora
