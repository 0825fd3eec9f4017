// The population loop: TAXONS and Novelty Search (specification, section 5).
//
// A population of B individuals evolves beside the container; the Q best children of a generation
// enter the container, and nothing ever leaves it. Fitness plays no part in the search.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/algorithms/config.hpp"
#include "aurora/algorithms/encoder_schedule.hpp"
#include "aurora/algorithms/offspring.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

class PopulationSearch : public Algorithm {
 public:
  /// The evaluator and the workers must outlive the algorithm. UsageError for a configuration that
  /// makes no sense.
  PopulationSearch(const TaskSpec& task, const AlgorithmConfig& config, Evaluator& evaluator,
                   Workers& workers);

  StepReport step() override;
  std::size_t iteration() const override { return iteration_; }
  const Individuals& individuals() const override { return container_; }
  double threshold() const override { return 0; }
  const Encoder* encoder() const override { return encoder_.get(); }
  void save(AlgorithmState& out) const override;
  void restore(AlgorithmState state) override;

 private:
  /// The children and (Novelty Search) the parents of this generation, best first.
  struct Candidate {
    const Individuals* from;
    std::uint32_t row;
    float score;  // novelty or surprise; -1 for a broken evaluation, which may never win
  };

  void propose();
  std::vector<Candidate> candidates();
  void score_novelty(std::span<Candidate> candidates);
  void add_best_children(std::span<const Candidate> ranking, StepReport& report);
  void renew_population(std::span<const Candidate> ranking);
  void update_encoder(StepReport& report);
  void fill_index();
  void describe_again(Individuals& individuals);

  AlgorithmConfig config_;
  Evaluator& evaluator_;
  Workers& workers_;
  std::unique_ptr<Encoder> encoder_;
  EncoderSchedule schedule_;
  Offspring children_;
  Individuals population_;  // empty before the first generation
  Individuals next_population_;
  Individuals container_;  // append only
  NeighbourIndex index_;   // of the container's descriptors; slot = row
  std::size_t iteration_ = 0;
};

}  // namespace aurora
