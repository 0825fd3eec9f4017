// Selection: which members of the container become parents (specification, section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

/// `none` selects nobody: every genotype is drawn afresh (Random Search).
enum class SelectionKind { uniform, novelty, surprise, novelty_surprise, none };

template <>
struct Names<SelectionKind> {
  static constexpr std::pair<SelectionKind, std::string_view> entries[] = {
      {SelectionKind::uniform, "uniform"},
      {SelectionKind::novelty, "novelty"},
      {SelectionKind::surprise, "surprise"},
      {SelectionKind::novelty_surprise, "novelty+surprise"},
      {SelectionKind::none, "none"}};
};

/// Whether this kind reads reconstruction errors, which only an encoder can give.
bool reads_surprise(SelectionKind kind);

/// novelty+surprise: one fair coin an iteration, for the whole batch. Other kinds are themselves.
SelectionKind toss(SelectionKind kind, std::uint64_t seed, std::uint32_t iteration);

/// Fills `parents` with numbers below `size` (> 0), with replacement, all equally likely.
void select_uniform(std::size_t size, std::span<std::uint32_t> parents, Stream& stream);

/// Fills `parents` with replacement, i with probability weights[i] / sum. Weights that are negative
/// or not finite count as 0; if nothing is left, all are equally likely.
void select_proportional(std::span<const float> weights, std::span<std::uint32_t> parents,
                         Stream& stream);

}  // namespace aurora
