// A container: the individuals that a search keeps. A kind of container says who may join them.
//
// Every kind has the descriptors of its members in an index of nearest neighbours, so that novelty
// means the same in all of them: the distance to other members, Euclidean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/containers/individuals.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/containers/novelty.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

/// What became of a candidate. `invalid`: something in it was NaN or infinite.
enum class Outcome : std::uint8_t { added, replaced, rejected, invalid };

class Container {
 public:
  virtual ~Container() = default;

  const Individuals& individuals() const { return individuals_; }
  std::size_t size() const { return individuals_.size(); }

  /// Tries to add row `row` of `batch`, whose id must be larger than every id seen so far. The
  /// threshold d_min may be 0; containers without one do not look at it.
  virtual Outcome add(const Individuals& batch, std::size_t row, double threshold) = 0;

  /// add() for the rows of `batch` that are given, one after the other. Containers may look at them
  /// side by side first: the outcomes, which go to `outcomes`, are the same.
  virtual void add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                       double threshold, Workers& workers, std::span<Outcome> outcomes);

  /// Container update: leaves those who would stay if all were taken out and added again, oldest
  /// first. Returns how many were lost. Rows move; ids stay.
  virtual std::size_t update(double threshold, Workers& workers) = 0;

  /// Overwrites the descriptors (and, if given, the reconstruction errors), row by row, after the
  /// encoder has changed. Individuals whose new descriptor (or error) is not finite are removed;
  /// returns how many. DataError if the number of rows or columns is not the container's.
  virtual std::size_t set_descriptors(MatrixView<const float> descriptors,
                                      std::span<const float> errors);

  /// Takes over individuals that were in such a container before, row by row: what add() and
  /// update() do from here on is what they would have done there. DataError, and nothing taken
  /// over, if the columns do not match the layout, a number is not finite, two ids are equal, or
  /// the kind of container cannot have held them together.
  virtual void restore(Individuals individuals);

  /// Novelty score of every row: mean distance to its k nearest other members (0 for a lone one).
  /// The first call computes all of them, the next ones what has changed.
  std::vector<float> novelty(Workers& workers);

  /// The largest distance between two members (0 if there are fewer than two).
  double diameter(Workers& workers) const;

 protected:
  /// k: neighbours that make the novelty score. UsageError if it is 0 or the layout has no
  /// descriptor.
  Container(const IndividualsLayout& layout, std::size_t k);
  Container(const Container&) = default;
  Container(Container&&) = default;
  Container& operator=(const Container&) = default;
  Container& operator=(Container&&) = default;

  /// Copies a candidate into a new last row, which it returns; the index is left to the caller.
  std::size_t append(const Individuals& batch, std::size_t row);
  /// Puts a candidate in the place of the individual of row `to`.
  void replace(std::size_t to, const Individuals& batch, std::size_t row);
  /// Sorts rows, oldest first.
  void sort_by_age(std::span<std::uint32_t> rows) const;
  /// Fills each hole with the last row that stays, so that as little as possible is moved.
  void drop_rows_not_indexed();

  Individuals individuals_;
  NeighbourIndex index_;  // slots are rows
  NoveltyCache novelty_;
};

}  // namespace aurora
