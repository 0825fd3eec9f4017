// Novelty scores that follow a container at the cost of what has changed in it.
//
// A score is a function of the distances to the nearest others, whoever they are. For each member
// the cache keeps a few more of the smallest distances than the score needs. Somebody who comes or
// goes touches only the lists of those members whose largest kept distance reaches to it; a list is
// asked for anew when too many have left it. The scores equal those of a recomputation, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

class NoveltyCache {
 public:
  /// The score is the mean distance to the k nearest others; k > 0.
  explicit NoveltyCache(std::size_t k);

  /// The scores of the points of an index whose slots are the rows of `descriptors` and `ids`. What
  /// has changed since the last call is found by the ids: one that was there then must still have
  /// the same descriptor, in whatever row. Nothing is kept before the first call.
  std::vector<float> scores(const NeighbourIndex& index, MatrixView<const float> descriptors,
                            std::span<const std::uint64_t> ids, Workers& workers);

  /// Forgets everything: to be called when members get other descriptors.
  void clear() { ids_.clear(); }

 private:
  /// Those who left and those who came since the last call.
  struct Changes {
    NeighbourIndex gone;
    NeighbourIndex come;
  };

  std::size_t capacity() const { return distances_.cols(); }
  std::span<float> list(std::size_t slot) { return distances_.row(slot).first(counts_[slot]); }
  Changes follow(MatrixView<const float> descriptors, std::span<const std::uint64_t> ids);
  void move_rows(std::span<const std::pair<std::uint32_t, std::uint32_t>> from_to,
                 std::size_t rows);
  void compute_all(const NeighbourIndex& index, Workers& workers);
  void compute_changed(const NeighbourIndex& index, const Changes& changes, Workers& workers);
  void measure_reach();

  std::size_t k_;
  // By slot, as of the last call. A list is a row of `distances_`: squares, ascending.
  std::vector<std::uint64_t> ids_;
  Matrix<float> descriptors_;
  Matrix<float> distances_;
  std::vector<std::uint32_t> counts_;
  std::vector<float> scores_;
  std::vector<std::uint8_t> changed_;  // whether the list is newer than the score
  std::vector<float> reach_;           // the last distance of the list; -1 if there is none
};

}  // namespace aurora
