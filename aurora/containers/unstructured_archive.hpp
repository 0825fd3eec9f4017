// The unstructured archive with exclusive eps-dominance (Cully & Demiris 2018; specification 2).
//
// Distances are Euclidean. Squared distances are summed in float, dimension by dimension and
// without fused multiply-add, on every instruction set: the same bits on every machine.
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

struct ArchiveConfig {
  std::size_t k = 15;    // neighbours that make the novelty score
  double epsilon = 0.1;  // tolerance of the exclusive eps-dominance, in [0, 1)
};

class UnstructuredArchive {
 public:
  /// UsageError if k is 0, epsilon outside [0, 1), or the layout has no descriptor.
  UnstructuredArchive(const IndividualsLayout& layout, const ArchiveConfig& config);

  /// Takes over individuals that were in an archive before, row by row: what add() and update() do
  /// from here on is what they would have done there. DataError if the columns do not match the
  /// layout, a number is not finite, or two ids are equal.
  void restore(Individuals individuals);

  const Individuals& individuals() const { return individuals_; }
  std::size_t size() const { return individuals_.size(); }

  /// Tries to add row `row` of `batch`, whose id must be larger than every id seen so far. The
  /// threshold may be 0; every distance above 0 is then far enough.
  Outcome add(const Individuals& batch, std::size_t row, double threshold);

  /// Container update: takes everything out and re-adds it, oldest first, with the threshold
  /// (1 - epsilon) * threshold. Returns how many were lost. Rows move; ids stay.
  std::size_t update(double threshold);

  /// Overwrites the descriptors (and, if given, the reconstruction errors), row by row, after the
  /// encoder has changed. Individuals whose new descriptor (or error) is not finite are removed;
  /// returns how many. DataError if the number of rows or columns is not the archive's.
  std::size_t set_descriptors(MatrixView<const float> descriptors, std::span<const float> errors);

  /// Novelty score of every row: mean distance to its k nearest other members (0 for a lone one).
  /// The first call computes all of them, the next ones what has changed.
  std::vector<float> novelty(Workers& workers);

  /// The largest distance between two members (0 if there are fewer than two).
  double diameter(Workers& workers) const;

 private:
  struct Decision {
    Outcome outcome;
    std::uint32_t replaced;  // the row that loses its place to the candidate
  };

  Decision decide(std::span<const float> descriptor, float fitness, double threshold);
  bool wins(std::span<const float> descriptor, float fitness, std::uint32_t rival);
  void drop_rows_not_indexed();

  Individuals individuals_;
  NeighbourIndex index_;  // slots are rows
  ArchiveConfig config_;
  NoveltyCache novelty_;
  NeighbourIndex::Workspace workspace_;
  std::vector<std::uint32_t> order_;  // rows, oldest first: memory reused between updates
};

}  // namespace aurora
