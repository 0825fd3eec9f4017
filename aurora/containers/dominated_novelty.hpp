// Dominated Novelty Search (Bahlous-Boldi, Faldor, Grillotti, Janmohamed, Coiffard, Spector & Cully
// 2025): whoever is far from those who are fitter stays. No threshold, no cells, no bounds.
//
// The score of a member is the mean distance to its k nearest fitter members, infinite for the
// fittest; of equal fitness the older counts as fitter. After every batch the N with the highest
// scores stay, of equal scores the older ones. The work is proportional to N times the batch: each
// member remembers its nearest fitter ones, and looks for them anew only when one of them has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aurora/containers/container.hpp"

namespace aurora {

struct DominatedNoveltyConfig {
  std::size_t k = 3;           // fitter neighbours that count
  std::size_t novelty_k = 15;  // neighbours that make the novelty score, for selectors
};

class DominatedNovelty final : public Container {
 public:
  /// UsageError if a number is 0 or the layout has no descriptor.
  DominatedNovelty(const IndividualsLayout& layout, const DominatedNoveltyConfig& config,
                   std::size_t target_size);

  Outcome add(const Individuals& batch, std::size_t row) override;
  void add_all(const Individuals& batch, std::span<const std::uint32_t> rows, Workers& workers,
               std::span<Outcome> outcomes) override;
  std::size_t set_descriptors(MatrixView<const float> descriptors,
                              std::span<const float> errors) override;
  /// At most N members.
  std::string check(Workers& workers) const override;
  void restore(Individuals individuals, const PartState& state = {}) override;

  /// The score of every row.
  std::vector<double> scores() const;

 private:
  /// The nearest fitter members of one, nearest first; k at most.
  using Rivals = std::vector<Neighbour>;

  bool fitter(std::size_t row, std::size_t other) const;
  void meet(std::size_t row, std::size_t other, Rivals& rivals) const;
  Rivals rivals_of(std::size_t row) const;
  void find_all_rivals();
  /// Removes all but the N best; returns the ids of those who go.
  std::vector<std::uint64_t> let_go(Workers& workers);

  DominatedNoveltyConfig config_;
  std::size_t target_size_;
  std::vector<Rivals> rivals_;  // by row
};

/// The part `dns`.
ContainerEntry dominated_novelty_container();

}  // namespace aurora
