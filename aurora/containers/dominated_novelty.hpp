// Dominated Novelty Search (Bahlous-Boldi, Faldor, Grillotti, Janmohamed, Coiffard, Spector & Cully
// 2025): whoever is far from those who are fitter stays. No threshold, no cells, no bounds.
//
// The score of a member is the mean distance to its k nearest fitter members, infinite for the
// fittest; of equal fitness the older counts as fitter. After every batch the N with the highest
// scores stay, of equal scores the older ones. N may grow during the run.
//
// The work of a batch of B is proportional to B N, and boxes around members leave little of it. A
// score is a function of distances alone, whoever they lead to: for each member a few more of them
// are kept than the score needs. Who comes or goes touches the lists that reach to it, and a list
// is asked for anew when too many have left it. The scores equal a recomputation, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aurora/containers/container.hpp"
#include "aurora/containers/growth.hpp"

namespace aurora {

struct DominatedNoveltyConfig {
  std::size_t k = 3;           // fitter neighbours that count
  std::size_t novelty_k = 15;  // neighbours that make the novelty score, for selectors
  // How many may stay, as in Growth.
  double start = 1;  // N from the beginning
  double iterations = 5000;
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
  Upkeep after_iteration(const IterationEnd& end, Workers& workers) override;
  /// At most N members, or what N is by now.
  std::string check(Workers& workers) const override;
  PartState state() const override;
  void restore(Individuals individuals, const PartState& state = {}) override;

  void retain(std::span<const std::uint32_t> rows) override;

  /// The score of every row.
  std::vector<double> scores(Workers& workers);

 private:
  struct Strength;  // who counts as fitter
  struct Gone;      // those who leave

  /// How many may stay.
  std::size_t target() const {
    return Growth{config_.start, config_.iterations}.target(iteration_, target_size_);
  }
  std::span<float> list(std::size_t row) { return distances_.row(row).first(counts_[row]); }
  void resize_lists(std::size_t rows);
  void forget_lists();
  void note_arrivals(std::size_t first, Workers& workers);
  void note_departures(const Gone& gone, Workers& workers);
  void measure_reach();
  void settle(Workers& workers);
  /// Removes all but the N best; returns the ids of those who go, in ascending order.
  std::vector<std::uint64_t> let_go(Workers& workers);

  DominatedNoveltyConfig config_;
  std::size_t target_size_;
  std::size_t iteration_ = 0;  // that have ended
  // By row. A list is a row of `distances_`: squares, ascending, of the nearest fitter members; it
  // is asked for anew before a score is needed if it is shorter than k.
  Matrix<float> distances_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> scores_;
  std::vector<std::uint8_t> changed_;  // whether the list is newer than the score
  std::vector<float> reach_;           // the last distance of the list; -1 if there is none
};

/// The part `dns`.
ContainerEntry dominated_novelty_container();

}  // namespace aurora
