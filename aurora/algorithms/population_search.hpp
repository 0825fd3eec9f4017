// The population loop: TAXONS and Novelty Search (docs/algorithms.md).
//
// A population of B individuals evolves beside the container; the Q best children of a generation
// enter the container, and nothing ever leaves it. Fitness plays no part in the search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/containers/nearest_neighbours.hpp"

namespace aurora {

/// The population is as large as the batch.
struct PopulationConfig {
  std::size_t added = 5;  // Q: individuals added to the container in a generation
  std::size_t k = 15;     // neighbours that make the novelty score
};

struct TaxonsConfig : PopulationConfig {
  double unvaried = 0.1;  // probability that a child is a plain copy
};

class PopulationSearch : public Algorithm {
 public:
  /// UsageError if Q is 0 or above the batch, or the selector gives no ranking.
  PopulationSearch(LoopContext& context, const PopulationConfig& config);

  const Individuals& individuals() const override { return container_; }

 protected:
  /// The children and, in Novelty Search, the parents of a generation, best first.
  struct Candidate {
    const Individuals* from;
    std::uint32_t row;
    float score;  // what the selector says; -1 for a broken evaluation, which may never win
  };

  PopulationConfig config_;
  Individuals population_;  // empty before the first generation
  Individuals next_population_;

 private:
  /// The next population, from the ranking.
  virtual void renew_population(std::span<const Candidate> ranking) = 0;
  /// Whether parents compete with their children.
  virtual bool parents_compete() const = 0;
  /// Probability that a child is a plain copy.
  virtual double unvaried() const { return 0; }

  void breed(MatrixView<const float> given) override;
  void take(StepReport& report) override;
  bool has_calendar() const override { return encoder_ && container_.size() > 0; }
  void describe_again(StepReport& report) override;
  void save_members(AlgorithmState& out) const override;
  void restore_members(AlgorithmState& state) override;

  class View;
  std::vector<Candidate> ranked();
  std::vector<float> novelty_of(std::span<const Candidate> candidates);
  void add_best_children(std::span<const Candidate> ranking, StepReport& report);
  void fill_index();
  void describe(Individuals& individuals);

  Individuals container_;  // append only
  NeighbourIndex index_;   // of the container's descriptors; slot = row
};

}  // namespace aurora
