// A box of descriptors cut into cells: every point inside belongs to exactly one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/containers/container.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/matrix.hpp"

namespace aurora {

class Cells {
 public:
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);

  virtual ~Cells() = default;

  std::size_t dimension() const { return box_.size(); }
  virtual std::size_t count() const = 0;

  /// The cell that holds a point, from 0 to count() - 1; kOutside beyond the box and for NaN.
  /// Reuses memory: not for several threads at once.
  std::size_t cell(std::span<const float> point);

 protected:
  /// UsageError if the box has no side, or one that is empty or not finite.
  explicit Cells(std::vector<Interval> box);

 private:
  /// The same for a point of the box that has been scaled to the unit cube.
  virtual std::size_t cell_of_unit(std::span<const double> point) = 0;

  std::vector<Interval> box_;
  std::vector<double> unit_;
};

/// A grid with the same number of equal steps along every axis (Mouret & Clune 2015).
class GridCells final : public Cells {
 public:
  /// About `count` cells: round(count^(1/n)) steps along each of the n axes. UsageError as above,
  /// or if that makes more than a hundred million cells.
  GridCells(std::vector<Interval> box, std::size_t count);

  std::size_t resolution() const { return resolution_; }
  std::size_t count() const override { return count_; }

 private:
  std::size_t cell_of_unit(std::span<const double> point) override;

  std::size_t resolution_ = 1;
  std::size_t count_ = 1;
};

/// The Voronoi cells of centroids in the unit cube, which the box is scaled to: no axis counts for
/// more because its unit is small. Of two centroids at the same distance the first is the nearer.
class VoronoiCells final : public Cells {
 public:
  /// UsageError as above, or if there is no centroid; DataError if the columns of the centroids are
  /// not the sides of the box, or one lies outside the unit cube.
  VoronoiCells(std::vector<Interval> box, MatrixView<const float> centroids);

  std::size_t count() const override { return index_.size(); }

 private:
  std::size_t cell_of_unit(std::span<const double> point) override;

  NeighbourIndex index_;  // slot and id: the number of the centroid
  NeighbourIndex::Workspace workspace_;
  std::vector<float> query_;
};

}  // namespace aurora
