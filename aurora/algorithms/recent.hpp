// The individuals that were evaluated last, whether the container took them or not: what an encoder
// may learn from besides the members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/core/individuals.hpp"

namespace aurora {

/// Sensory data to learn from, with the fitness of each row.
struct Examples {
  SensoryData sensory;
  std::vector<float> fitness;
};

class Recent {
 public:
  /// Keeps the last `most` individuals, which have these columns.
  Recent(const Individuals& columns, std::size_t most);

  /// Takes these rows in, in their order, in the place of the oldest. Ids must grow. Individuals
  /// whose evaluation went wrong are passed over. Not for `most` = 0.
  void add(const Individuals& from, std::span<const std::uint32_t> rows);

  /// The members and after them, oldest first, everybody here who is none.
  Examples with(const Individuals& members) const;

  /// All that is kept, in no order: the state.
  const Individuals& individuals() const { return kept_; }
  /// DataError if these cannot be such individuals.
  void restore(Individuals kept);

 private:
  std::size_t most_;
  Individuals kept_;
  std::size_t next_ = 0;  // the row of the oldest, once all rows are taken
};

}  // namespace aurora
