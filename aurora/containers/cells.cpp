#include "aurora/containers/cells.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr double kMaxCells = 1e8;

}  // namespace

Cells::Cells(std::vector<Interval> box) : box_(std::move(box)), unit_(box_.size()) {
  if (box_.empty()) throw UsageError("cells need a box of at least one dimension");
  for (const Interval& side : box_) {
    if (!(std::isfinite(side.max - side.min) && side.min < side.max)) {
      throw UsageError("cells need finite bounds with min < max, not " + std::to_string(side.min) +
                       " to " + std::to_string(side.max));
    }
  }
}

std::size_t Cells::cell(std::span<const float> point) {
  for (std::size_t i = 0; i < box_.size(); ++i) {
    const auto [min, max] = box_[i];
    const double value = point[i];
    // Written so that NaN is outside.
    if (!(value >= min && value <= max)) return kOutside;
    unit_[i] = (value - min) / (max - min);
  }
  return cell_of_unit(unit_);
}

GridCells::GridCells(std::vector<Interval> box, std::size_t count) : Cells(std::move(box)) {
  const double n = static_cast<double>(dimension());
  const double steps = std::max(std::round(std::pow(static_cast<double>(count), 1 / n)), 1.0);
  if (!(std::pow(steps, n) <= kMaxCells)) {
    throw UsageError("a grid of " + std::to_string(count) + " cells in " +
                     std::to_string(dimension()) + " dimensions is too large");
  }
  resolution_ = static_cast<std::size_t>(steps);
  for (std::size_t i = 0; i < dimension(); ++i) count_ *= resolution_;
}

std::size_t GridCells::cell_of_unit(std::span<const double> point) {
  // The last axis counts most, as in the grid of the metrics.
  std::size_t cell = 0;
  for (std::size_t i = point.size(); i-- > 0;) {
    const auto step = static_cast<std::size_t>(point[i] * static_cast<double>(resolution_));
    cell = cell * resolution_ + std::min(step, resolution_ - 1);
  }
  return cell;
}

VoronoiCells::VoronoiCells(std::vector<Interval> box, MatrixView<const float> centroids)
    : Cells(std::move(box)), index_(dimension()), query_(dimension()) {
  if (centroids.rows() == 0) throw UsageError("Voronoi cells need at least one centroid");
  if (centroids.cols() != dimension()) {
    throw DataError("centroids of " + std::to_string(centroids.cols()) +
                    " dimensions do not fit a box of " + std::to_string(dimension()));
  }
  for (std::size_t i = 0; i < centroids.rows(); ++i) {
    if (!std::ranges::all_of(centroids.row(i), [](float x) { return x >= 0 && x <= 1; })) {
      throw DataError("centroid " + std::to_string(i) + " lies outside the unit cube");
    }
    index_.insert(i, centroids.row(i), i);
  }
}

std::size_t VoronoiCells::cell_of_unit(std::span<const double> point) {
  std::ranges::transform(point, query_.begin(), [](double x) { return static_cast<float>(x); });
  return index_.nearest(query_, 1, workspace_)[0].slot;
}

}  // namespace aurora
