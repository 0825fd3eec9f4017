// The new individuals of one iteration, from genotype to descriptor; the same for every loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/core/individuals.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/evolution/variation.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// A number as part of a random stream's address.
inline std::uint32_t address(std::size_t number) {
  return static_cast<std::uint32_t>(number);
}

class Offspring {
 public:
  /// UsageError if the batch is 0.
  Offspring(const IndividualsLayout& layout, std::size_t batch, std::uint64_t seed);

  /// UsageError if these are more genotypes than the batch has, or are none.
  void check(MatrixView<const float> given) const;
  /// Draws every genotype uniformly from [0, 1]^G, but for the first ones, which may be given.
  void draw(std::size_t iteration, Workers& workers, MatrixView<const float> given = {});

  /// Child i is a varied copy of row parents[i] of `from` (crossed with row mates[i] where the
  /// variation has mates), or, with probability `unvaried`, a plain copy. Genotypes of somebody
  /// else's may come first; child i is then that of parents[i - first.rows()].
  void breed(std::size_t iteration, const Variation& variation, const Individuals& from,
             std::span<const std::uint32_t> parents, std::span<const std::uint32_t> mates,
             double unvaried = 0, MatrixView<const float> first = {});

  /// Whoever is not a clone: an evaluation is a pure function of the genotype, so a clone's is its
  /// parent's.
  MatrixView<const float> genotypes() const { return batch_.genotypes.view().slice(0, simulated_); }
  /// Where their results belong.
  EvaluationView evaluation();

  /// Gives descriptors, from the encoder or (null) from the ground truth.
  void describe(const Encoder* encoder, bool with_errors, Workers& workers);

  std::size_t size() const { return order_.size(); }
  std::size_t simulated() const { return simulated_; }
  /// The children, in rows that row(i) gives.
  const Individuals& individuals() const { return batch_; }
  std::size_t row(std::size_t child) const { return order_[child]; }
  std::span<const std::uint32_t> rows() const { return order_; }

 private:
  void number(std::size_t iteration);

  std::uint64_t seed_;
  // Rows [0, simulated_) are to be simulated, the rest are clones: what goes to the simulator and
  // to the encoder is contiguous. order_[i] is the row of child i.
  Individuals batch_;
  std::vector<std::uint32_t> order_;
  std::size_t simulated_ = 0;
};

}  // namespace aurora
