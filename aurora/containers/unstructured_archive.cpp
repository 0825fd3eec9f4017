#include "aurora/containers/unstructured_archive.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

/// The same sum as in the index, bit by bit.
float squared_distance(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

double mean_distance(std::span<const Neighbour> neighbours) {
  double sum = 0;
  for (const Neighbour& n : neighbours) sum += std::sqrt(static_cast<double>(n.squared_distance));
  return neighbours.empty() ? 0 : sum / static_cast<double>(neighbours.size());
}

}  // namespace

UnstructuredArchive::UnstructuredArchive(const IndividualsLayout& layout,
                                         const ArchiveConfig& config)
    : Container(layout, config.k), config_(config) {
  if (!(config.epsilon >= 0 && config.epsilon < 1)) {
    throw UsageError("container.epsilon must be in [0, 1), not " + std::to_string(config.epsilon));
  }
}

/// What the rules say of a candidate and the individuals of the index that are older than it.
UnstructuredArchive::Decision UnstructuredArchive::decide(const Candidate& candidate,
                                                          double threshold) {
  // Neighbours beyond the threshold change nothing in the first three rules.
  const auto close = index_.nearest(candidate.descriptor, 2, workspace_, squared_radius(threshold),
                                    NeighbourIndex::kNoSlot, candidate.id);
  if (close.empty()) return {Outcome::added, 0};
  if (close.size() == 2 && std::sqrt(static_cast<double>(close[1].squared_distance)) <
                               (1 - config_.epsilon) * threshold) {
    return {Outcome::rejected, 0};
  }
  const std::uint32_t rival = close[0].slot;
  return {wins(candidate, rival) ? Outcome::replaced : Outcome::rejected, rival};
}

/// Exclusive eps-dominance of a candidate over its nearest neighbour, the individual of row
/// `rival`: not much worse in fitness nor in novelty, and better in their sum. Nobody wins over the
/// only one there is.
bool UnstructuredArchive::wins(const Candidate& candidate, std::uint32_t rival) {
  const double eps = config_.epsilon;
  const double f = candidate.fitness;
  const double f1 = individuals_.fitness[rival];
  if (!(f >= (1 - (f1 < 0 ? -1 : 1) * eps) * f1)) return false;

  constexpr float kAnyDistance = std::numeric_limits<float>::infinity();
  const auto others = index_
                          .nearest(candidate.descriptor, config_.k + 1, workspace_, kAnyDistance,
                                   NeighbourIndex::kNoSlot, candidate.id)
                          .subspan(1);
  if (others.empty()) return false;
  const double v = mean_distance(others);
  // The candidate's neighbours are near the rival too: none of its own is farther than these.
  const auto home = individuals_.descriptors.row(rival);
  float reach = 0;
  for (const Neighbour& other : others) {
    reach = std::max(reach, squared_distance(home, individuals_.descriptors.row(other.slot)));
  }
  const double v1 =
      mean_distance(index_.nearest(home, config_.k, workspace_, reach, rival, candidate.id));
  if (!(v >= (1 - eps) * v1)) return false;
  if (f1 == 0) return f > f1 || v > v1;
  return (f - f1) * std::abs(v1) > -(v - v1) * std::abs(f1);
}

Outcome UnstructuredArchive::add(const Individuals& batch, std::size_t row, double threshold) {
  assert(threshold >= 0 && same_columns(batch, individuals_));
  if (!is_finite(batch, row)) return Outcome::invalid;
  const auto descriptor = batch.descriptors.row(row);
  const Decision decision = decide({descriptor, batch.fitness[row], batch.ids[row]}, threshold);
  if (decision.outcome == Outcome::added) {
    index_.insert(append(batch, row), descriptor, batch.ids[row], workspace_);
  } else if (decision.outcome == Outcome::replaced) {
    replace(decision.replaced, batch, row);
  }
  return decision.outcome;
}

/// The rows of those who have somebody else within the distance.
std::vector<std::uint32_t> UnstructuredArchive::rows_with_company(double distance,
                                                                  Workers& workers) const {
  std::vector<std::uint32_t> company(size());  // everybody is close to themselves
  const std::vector<float> reach(size(), squared_radius(distance));
  index_.close_pairs(index_, reach, workers, [&](std::uint32_t row, float) { ++company[row]; });
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < size(); ++row) {
    if (company[row] > 1) rows.push_back(row);
  }
  return rows;
}

std::size_t UnstructuredArchive::update(double threshold, Workers& workers) {
  const std::size_t before = size();
  const double distance = (1 - config_.epsilon) * threshold;
  std::vector<std::uint32_t> rows = rows_with_company(distance, workers);
  sort_by_age(rows);
  // The index alone says who is still in; no column moves until all is decided.
  for (const std::uint32_t row : rows) {
    const Decision decision = decide(
        {individuals_.descriptors.row(row), individuals_.fitness[row], individuals_.ids[row]},
        distance);
    if (decision.outcome == Outcome::added) continue;
    index_.erase(decision.outcome == Outcome::replaced ? decision.replaced : row);
  }
  index_.tighten();
  drop_rows_not_indexed();
  return before - size();
}

}  // namespace aurora
