// The new individuals of one iteration, from genotype to descriptor; the same for every loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/algorithms/config.hpp"
#include "aurora/containers/individuals.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

/// Dimension of hand-coded descriptors: the first two values of the ground truth.
inline constexpr std::size_t kHandCodedSize = 2;

/// Columns of the individuals that a configuration makes. UsageError if the task has fewer than two
/// ground-truth axes.
IndividualsLayout layout_of(const TaskSpec& task, const AlgorithmConfig& config);

/// The encoder that a configuration asks for; null if descriptors are hand-coded. UsageError if the
/// selection needs an encoder and there is none.
std::unique_ptr<Encoder> encoder_of(const TaskSpec& task, const AlgorithmConfig& config);

/// Gives the encoder (null if there is none) the state it was saved with. DataError if that is not
/// a state of this encoder.
void restore_encoder(Encoder* encoder, std::span<const NamedArray> state);

/// A number as part of a random stream's address.
inline std::uint32_t address(std::size_t number) {
  return static_cast<std::uint32_t>(number);
}

class Offspring {
 public:
  Offspring(const IndividualsLayout& layout, const AlgorithmConfig& config);

  /// Draws every genotype uniformly from [0, 1]^G.
  void draw(std::size_t iteration, Workers& workers);

  /// Child i is a varied copy of row parents[i] of `from` (crossed with row mates[i] where the
  /// variation has mates), or, with probability `unvaried`, a plain copy.
  void breed(std::size_t iteration, const Individuals& from, std::span<const std::uint32_t> parents,
             std::span<const std::uint32_t> mates, double unvaried = 0);

  /// Simulates whoever is not a clone: an evaluation is a pure function of the genotype, so a
  /// clone's is its parent's.
  void evaluate(Evaluator& evaluator);

  /// Gives descriptors, from the encoder or (null) from the ground truth.
  void describe(const Encoder* encoder, bool with_errors, Workers& workers);

  /// Both, with what they took in the report.
  void realise(Evaluator& evaluator, const Encoder* encoder, bool with_errors, Workers& workers,
               StepReport& report);

  std::size_t size() const { return order_.size(); }
  std::size_t simulated() const { return simulated_; }
  /// The children, in rows that row(i) gives.
  const Individuals& individuals() const { return batch_; }
  std::size_t row(std::size_t child) const { return order_[child]; }
  std::span<const std::uint32_t> rows() const { return order_; }

 private:
  void number(std::size_t iteration);

  std::uint64_t seed_;
  VariationConfig variation_;
  // Rows [0, simulated_) are to be simulated, the rest are clones: what goes to the simulator and
  // to the encoder is contiguous. order_[i] is the row of child i.
  Individuals batch_;
  std::vector<std::uint32_t> order_;
  std::size_t simulated_ = 0;
};

}  // namespace aurora
