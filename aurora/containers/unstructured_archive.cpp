#include "aurora/containers/unstructured_archive.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

bool same_columns(const Individuals& a, const Individuals& b) {
  return a.genotypes.cols() == b.genotypes.cols() && a.descriptors.cols() == b.descriptors.cols() &&
         a.ground_truth.cols() == b.ground_truth.cols() && a.sensory.shape() == b.sensory.shape();
}

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
    : individuals_(layout),
      index_(std::max<std::size_t>(layout.descriptor_size, 1)),
      config_(config),
      novelty_(std::max<std::size_t>(config.k, 1)) {
  if (layout.descriptor_size == 0) {
    throw UsageError("an archive needs descriptors of at least one dimension");
  }
  if (config.k == 0) throw UsageError("container.k must be at least 1");
  if (!(config.epsilon >= 0 && config.epsilon < 1)) {
    throw UsageError("container.epsilon must be in [0, 1), not " + std::to_string(config.epsilon));
  }
}

void UnstructuredArchive::restore(Individuals individuals) {
  if (!same_columns(individuals, individuals_)) {
    throw DataError("the columns of the individuals are not those of this archive");
  }
  for (std::size_t row = 0; row < individuals.size(); ++row) {
    if (!is_finite(individuals, row)) {
      throw DataError("individual " + std::to_string(individuals.ids[row]) +
                      " holds a number that is not finite");
    }
  }
  std::vector<std::uint64_t> ids = individuals.ids;
  std::ranges::sort(ids);
  if (const auto twin = std::ranges::adjacent_find(ids); twin != ids.end()) {
    throw DataError("two individuals have the id " + std::to_string(*twin));
  }
  individuals_ = std::move(individuals);
  novelty_.clear();
  index_.clear();
  for (std::size_t row = 0; row < size(); ++row) {
    index_.insert(row, individuals_.descriptors.row(row), individuals_.ids[row]);
  }
}

/// What the rules say of a candidate that is younger than every individual of the index.
UnstructuredArchive::Decision UnstructuredArchive::decide(std::span<const float> descriptor,
                                                          float fitness, double threshold) {
  // Neighbours beyond the threshold change nothing in the first three rules.
  const auto close = index_.nearest(descriptor, 2, workspace_, squared_radius(threshold));
  if (close.empty()) return {Outcome::added, 0};
  if (index_.size() == 1) return {Outcome::rejected, 0};
  if (close.size() == 2 && std::sqrt(static_cast<double>(close[1].squared_distance)) <
                               (1 - config_.epsilon) * threshold) {
    return {Outcome::rejected, 0};
  }
  const std::uint32_t rival = close[0].slot;
  return {wins(descriptor, fitness, rival) ? Outcome::replaced : Outcome::rejected, rival};
}

/// Exclusive eps-dominance of a candidate over its nearest neighbour, the individual of row
/// `rival`: not much worse in fitness nor in novelty, and better in their sum.
bool UnstructuredArchive::wins(std::span<const float> descriptor, float fitness,
                               std::uint32_t rival) {
  const double eps = config_.epsilon;
  const double f = fitness;
  const double f1 = individuals_.fitness[rival];
  if (!(f >= (1 - (f1 < 0 ? -1 : 1) * eps) * f1)) return false;

  const auto others = index_.nearest(descriptor, config_.k + 1, workspace_).subspan(1);
  const double v = mean_distance(others);
  // The candidate's neighbours are near the rival too: none of its own is farther than these.
  const auto home = individuals_.descriptors.row(rival);
  float reach = 0;
  for (const Neighbour& other : others) {
    reach = std::max(reach, squared_distance(home, individuals_.descriptors.row(other.slot)));
  }
  const double v1 = mean_distance(index_.nearest(home, config_.k, workspace_, reach, rival));
  if (!(v >= (1 - eps) * v1)) return false;
  if (f1 == 0) return f > f1 || v > v1;
  return (f - f1) * std::abs(v1) > -(v - v1) * std::abs(f1);
}

Outcome UnstructuredArchive::add(const Individuals& batch, std::size_t row, double threshold) {
  assert(threshold >= 0 && same_columns(batch, individuals_));
  if (!is_finite(batch, row)) return Outcome::invalid;
  const auto descriptor = batch.descriptors.row(row);
  const Decision decision = decide(descriptor, batch.fitness[row], threshold);
  if (decision.outcome == Outcome::added) {
    const std::size_t to = size();
    individuals_.resize(to + 1);
    individuals_.copy_row(batch, row, to);
    index_.insert(to, descriptor, batch.ids[row], workspace_);
  } else if (decision.outcome == Outcome::replaced) {
    individuals_.copy_row(batch, row, decision.replaced);
    index_.erase(decision.replaced);
    index_.insert(decision.replaced, descriptor, batch.ids[row]);
  }
  return decision.outcome;
}

std::size_t UnstructuredArchive::update(double threshold) {
  const std::size_t before = size();
  order_.resize(before);
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::sort(order_, {}, [&](std::uint32_t row) { return individuals_.ids[row]; });
  // The index alone says who is back in; no column moves until all is decided.
  index_.clear();
  for (const std::uint32_t row : order_) {
    const auto descriptor = individuals_.descriptors.row(row);
    const Decision decision =
        decide(descriptor, individuals_.fitness[row], (1 - config_.epsilon) * threshold);
    if (decision.outcome == Outcome::added) {
      index_.insert(row, descriptor, individuals_.ids[row], workspace_);
    } else if (decision.outcome == Outcome::replaced) {
      index_.erase(decision.replaced);
      index_.insert(row, descriptor, individuals_.ids[row]);
    }
  }
  drop_rows_not_indexed();
  return before - size();
}

/// Fills each hole with the last row that stays, so that as little as possible is moved.
void UnstructuredArchive::drop_rows_not_indexed() {
  std::size_t end = size();
  for (std::size_t row = 0; row < index_.size(); ++row) {
    if (index_.contains(row)) continue;
    do --end;
    while (!index_.contains(end));
    individuals_.copy_row(individuals_, end, row);
    index_.rename(end, row);
  }
  individuals_.resize(index_.size());
}

std::size_t UnstructuredArchive::set_descriptors(MatrixView<const float> descriptors,
                                                 std::span<const float> errors) {
  const std::size_t before = size();
  if (descriptors.rows() != before || descriptors.cols() != index_.dimension() ||
      (!errors.empty() && errors.size() != before)) {
    throw DataError("new descriptors must have a row for each of the " + std::to_string(before) +
                    " individuals and " + std::to_string(index_.dimension()) + " columns, not " +
                    std::to_string(descriptors.rows()) + " x " +
                    std::to_string(descriptors.cols()));
  }
  novelty_.clear();
  index_.clear();
  for (std::size_t row = 0; row < before; ++row) {
    std::ranges::copy(descriptors.row(row), individuals_.descriptors.row(row).begin());
    if (!errors.empty()) individuals_.reconstruction_error[row] = errors[row];
    if (all_finite(descriptors.row(row)) && std::isfinite(individuals_.reconstruction_error[row])) {
      index_.insert(row, descriptors.row(row), individuals_.ids[row]);
    }
  }
  drop_rows_not_indexed();
  return before - size();
}

std::vector<float> UnstructuredArchive::novelty(Workers& workers) {
  return novelty_.scores(index_, individuals_.descriptors, individuals_.ids, workers);
}

double UnstructuredArchive::diameter(Workers& workers) const {
  return std::sqrt(static_cast<double>(index_.squared_diameter(workers)));
}

}  // namespace aurora
