#include "aurora/containers/unstructured_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "aurora/containers/distance.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr float kAnyDistance = std::numeric_limits<float>::infinity();
constexpr const char* kRanked = "ranked";
constexpr double kFarAway = std::numeric_limits<double>::infinity();

/// A member near a candidate.
struct Close {
  double scaled = kFarAway;  // its distance, divided by the factor of its radius
  Neighbour who = {};
};

}  // namespace

UnstructuredArchive::UnstructuredArchive(const IndividualsLayout& layout,
                                         const ArchiveConfig& config,
                                         std::unique_ptr<Threshold> threshold)
    : Container(layout, config.k), config_(config), threshold_(std::move(threshold)) {
  if (config.update_period == 0) throw UsageError("container.update_period must be at least 1");
  if (!(config.epsilon >= 0 && config.epsilon < 1)) {
    throw UsageError("container.epsilon must be in [0, 1), not " + std::to_string(config.epsilon));
  }
  if (!(config.relevance >= 0 && config.relevance < 1)) {
    throw UsageError("container.relevance must be in [0, 1), not " +
                     std::to_string(config.relevance));
  }
}

void UnstructuredArchive::rank_anew() {
  if (config_.relevance == 0) return;
  ranked_ = individuals_.fitness;
  std::ranges::sort(ranked_);
  spacing_ = 0;  // some have a larger radius now
}

/// Of those with the same fitness everybody has the mean rank.
double UnstructuredArchive::factor(float fitness) const {
  if (ranked_.empty()) return 1;
  const auto first = std::ranges::lower_bound(ranked_, fitness);
  const auto last = std::ranges::upper_bound(ranked_, fitness);
  const auto worse = static_cast<double>(first - ranked_.begin());
  const double rank = worse + 0.5 * static_cast<double>(last - first);
  return 1 + config_.relevance * (1 - 2 * rank / static_cast<double>(ranked_.size()));
}

std::vector<double> UnstructuredArchive::radius_factors() const {
  if (ranked_.empty()) return {};
  std::vector<double> factors(size());
  std::ranges::transform(individuals_.fitness, factors.begin(),
                         [&](float fitness) { return factor(fitness); });
  return factors;
}

/// What the rules say of a candidate and the individuals of the index that are older than it.
UnstructuredArchive::Decision UnstructuredArchive::decide(const Candidate& candidate,
                                                          double threshold,
                                                          Workspace& workspace) const {
  // Neighbours beyond the largest radius change nothing in the first three rules. The two that
  // count are those whose distance is the smallest share of their radius: whoever comes later in
  // the order of distances is out of it as soon as not even the largest radius would help.
  const float radius = squared_radius(threshold * largest_factor());
  const double tolerated = (1 - config_.epsilon) * threshold;
  Close first;
  Close second;
  visit_nearest(index_, candidate.descriptor, 2, workspace, radius, candidate.id,
                [&](const Neighbour& other) {
                  const double distance = distance_of(other);
                  const double share = factor(individuals_.fitness[other.slot]);
                  if (distance <= threshold * share) {
                    const Close found{distance / share, other};
                    if (found.scaled < first.scaled) {
                      second = std::exchange(first, found);
                    } else if (found.scaled < second.scaled) {
                      second = found;
                    }
                  }
                  return second.scaled >= tolerated && distance / largest_factor() < second.scaled;
                });
  if (first.scaled == kFarAway) return {.outcome = Outcome::added, .reach = radius};
  if (second.scaled < tolerated) {
    const float reach = std::max(first.who.squared_distance, second.who.squared_distance);
    return {.outcome = Outcome::rejected, .reach = reach};
  }
  Decision decision = compete(candidate, first.who.slot, workspace);
  decision.reach = std::max(decision.reach, radius);
  return decision;
}

/// Exclusive eps-dominance of a candidate over its nearest neighbour, the individual of row
/// `rival`: not much worse in fitness nor in novelty, and better in their sum. Nobody wins over the
/// only one there is.
UnstructuredArchive::Decision UnstructuredArchive::compete(const Candidate& candidate,
                                                           std::uint32_t rival,
                                                           Workspace& workspace) const {
  Decision decision{.outcome = Outcome::rejected, .rival = rival};
  const double eps = config_.epsilon;
  const double f = candidate.fitness;
  const double f1 = individuals_.fitness[rival];
  if (!(f >= (1 - (f1 < 0 ? -1 : 1) * eps) * f1)) return decision;

  const auto others =
      index_.nearest(candidate.descriptor, config_.k, workspace, kAnyDistance, rival, candidate.id);
  const bool enough = others.size() == config_.k;
  decision.reach = enough ? others.back().squared_distance : kAnyDistance;
  if (others.empty()) return decision;
  const double v = mean_distance(others);
  // The candidate's neighbours are near the rival too: none of its own is farther than these.
  const auto home = individuals_.descriptors.row(rival);
  float reach = 0;
  for (const Neighbour& other : others) {
    reach = std::max(reach, squared_distance(home, individuals_.descriptors.row(other.slot)));
  }
  decision.rival_reach = enough ? reach : kAnyDistance;
  const double v1 =
      mean_distance(index_.nearest(home, config_.k, workspace, reach, rival, candidate.id));
  const bool novel = v >= (1 - eps) * v1;
  const bool better =
      f1 == 0 ? f > f1 || v > v1 : (f - f1) * std::abs(v1) > -(v - v1) * std::abs(f1);
  if (novel && better) decision.outcome = Outcome::replaced;
  return decision;
}

/// Whether a decision is the same after these individuals have come or gone.
bool UnstructuredArchive::stands(const Decision& decision, const Candidate& candidate,
                                 MatrixView<const float> changes) const {
  for (std::size_t i = 0; i < changes.rows(); ++i) {
    const auto change = changes.row(i);
    if (squared_distance(candidate.descriptor, change) <= decision.reach) return false;
    // A rival that has gone itself is a change within the candidate's reach.
    if (decision.rival_reach >= 0 && squared_distance(individuals_.descriptors.row(decision.rival),
                                                      change) <= decision.rival_reach) {
      return false;
    }
  }
  return true;
}

void UnstructuredArchive::carry_out(const Decision& decision, const Individuals& batch,
                                    std::size_t row) {
  if (decision.outcome == Outcome::added) {
    index_.insert(append(batch, row), batch.descriptors.row(row), batch.ids[row]);
  } else if (decision.outcome == Outcome::replaced) {
    replace(decision.rival, batch, row);
  }
}

Outcome UnstructuredArchive::add(const Individuals& batch, std::size_t row, double threshold) {
  assert(threshold >= 0 && same_columns(batch, individuals_));
  if (!is_finite(batch, row)) return Outcome::invalid;
  allow((1 - config_.epsilon) * threshold);
  const Decision decision = decide({batch.descriptors.row(row), batch.fitness[row], batch.ids[row]},
                                   threshold, workspace_);
  carry_out(decision, batch, row);
  return decision.outcome;
}

void UnstructuredArchive::add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                                  double threshold, Workers& workers, std::span<Outcome> outcomes) {
  assert(threshold >= 0 && same_columns(batch, individuals_));
  constexpr std::size_t kCandidatesPerChunk = 8;
  allow((1 - config_.epsilon) * threshold);
  if (workers.threads() == 1) {  // nobody decides meanwhile: one after the other costs least
    std::ranges::transform(rows, outcomes.begin(),
                           [&](std::uint32_t row) { return add(batch, row, threshold); });
    return;
  }
  const auto candidate = [&](std::size_t i) -> Candidate {
    return {batch.descriptors.row(rows[i]), batch.fitness[rows[i]], batch.ids[rows[i]]};
  };
  std::vector<Decision> decisions(rows.size());
  workers.parallel_for(rows.size(), kCandidatesPerChunk, [&](std::size_t begin, std::size_t end) {
    Workspace workspace;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(batch, rows[i])) decisions[i] = decide(candidate(i), threshold, workspace);
    }
  });
  Matrix<float> changes(0, index_.dimension());
  const auto note = [&](std::span<const float> descriptor) {
    changes.resize_rows(changes.rows() + 1);
    std::ranges::copy(descriptor, changes.row(changes.rows() - 1).begin());
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Decision& decision = decisions[i];
    if (!stands(decision, candidate(i), changes)) {
      decision = decide(candidate(i), threshold, workspace_);
    }
    outcomes[i] = decision.outcome;
    if (decision.outcome == Outcome::replaced) note(individuals_.descriptors.row(decision.rival));
    carry_out(decision, batch, rows[i]);
    if (decision.outcome == Outcome::added || decision.outcome == Outcome::replaced) {
      note(candidate(i).descriptor);
    }
  }
}

/// The rows of those who have somebody else within the distance.
std::vector<std::uint32_t> UnstructuredArchive::rows_with_company(double distance,
                                                                  Workers& workers) const {
  std::vector<std::uint32_t> company(size());  // everybody is close to themselves
  const std::vector<float> reach(size(), squared_radius(distance));
  index_.close_pairs(index_, reach, workers,
                     [&](std::uint32_t row, std::uint32_t, float) { ++company[row]; });
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < size(); ++row) {
    if (company[row] > 1) rows.push_back(row);
  }
  return rows;
}

std::size_t UnstructuredArchive::update(double threshold, Workers& workers) {
  const std::size_t before = size();
  const double distance = (1 - config_.epsilon) * threshold;
  std::vector<std::uint32_t> rows = rows_with_company(distance * largest_factor(), workers);
  std::ranges::sort(rows, {}, [&](std::uint32_t row) { return individuals_.ids[row]; });
  // The index alone says who is still in; no column moves until all is decided.
  for (const std::uint32_t row : rows) {
    const Decision decision = decide(
        {individuals_.descriptors.row(row), individuals_.fitness[row], individuals_.ids[row]},
        distance, workspace_);
    if (decision.outcome == Outcome::added) continue;
    index_.erase(decision.outcome == Outcome::replaced ? decision.rival : row);
  }
  index_.tighten();
  drop_rows_not_indexed();
  // Whoever was farther from all others still is.
  spacing_ = std::max(spacing_, (1 - config_.epsilon) * distance);
  return before - size();
}

void UnstructuredArchive::follow_threshold(const IterationEnd& end, Workers& workers) {
  if (size() == 0) return;
  if (end.encoder_updates == 0) return threshold_->start(*this);
  if (end.update_due) threshold_->encoder_updated(*this, config_.epsilon, workers);
  const bool first = end.update_due && end.encoder_updates == 1;
  if (!first) threshold_->follow(size());
}

Upkeep UnstructuredArchive::after_iteration(const IterationEnd& end, Workers& workers) {
  const bool ranked = config_.relevance > 0 &&
                      (end.descriptors_changed || end.iteration % config_.update_period == 0);
  if (ranked) rank_anew();
  follow_threshold(end, workers);
  // Those whose radius has changed are looked at again, whatever the threshold wants.
  if (!threshold_->wants_update(end, config_.update_period) && !ranked) return {};
  const double threshold = threshold_->for_update(*this, config_.epsilon);
  return {.updated = true, .lost = update(threshold, workers)};
}

std::size_t UnstructuredArchive::set_descriptors(MatrixView<const float> descriptors,
                                                 std::span<const float> errors) {
  spacing_ = 0;  // anybody may be anywhere now
  return Container::set_descriptors(descriptors, errors);
}

std::vector<NamedNumber> UnstructuredArchive::numbers() const {
  return {{"threshold", threshold_->value()}};
}

std::string UnstructuredArchive::check(Workers& workers) const {
  Container::check(workers);
  if (size() < 2) return "fewer than two individuals";
  std::vector<double> closest(size(), kFarAway);
  workers.parallel_for(size(), 64, [&](std::size_t begin, std::size_t end) {
    Workspace workspace;
    for (std::size_t row = begin; row < end; ++row) {
      visit_nearest(index_, individuals_.descriptors.row(row), 1, workspace, kAnyDistance,
                    individuals_.ids[row], [&](const Neighbour& older) {
                      const double distance = distance_of(older);
                      const double share = factor(individuals_.fitness[older.slot]);
                      closest[row] = std::min(closest[row], distance / share);
                      return distance / largest_factor() < closest[row];
                    });
    }
  });
  const double distance = *std::ranges::min_element(closest);
  // The rules compare distances that are rounded to float.
  constexpr double kRounding = 1e-5;
  if (distance < (1 - kRounding) * spacing_) {
    throw DataError(
        fmt::format("two individuals are {:.6g} apart, closer than the {:.6g} that "
                    "their container allows",
                    distance, spacing_));
  }
  return fmt::format("closest pair {:.4g} apart{}, at least {:.4g} is promised", distance,
                     ranked_.empty() ? "" : " (as a share of the radius)", spacing_);
}

PartState UnstructuredArchive::state() const {
  PartState state{.numbers = threshold_->state(), .arrays = {}};
  // Infinity, before the first member, cannot be said in JSON.
  if (std::isfinite(spacing_)) state.numbers.push_back({"spacing", spacing_});
  if (!ranked_.empty()) state.arrays.push_back({kRanked, {ranked_.size()}, ranked_});
  return state;
}

void UnstructuredArchive::restore(Individuals individuals, const PartState& state) {
  std::vector<float> ranked;
  if (const NamedArray* array = array_called(state.arrays, kRanked)) ranked = array->values;
  if (!all_finite(ranked) || !std::ranges::is_sorted(ranked)) {
    throw DataError("the fitness by which members are ranked is not finite or not in order");
  }
  const std::vector<NamedNumber> before =
      threshold_ ? threshold_->state() : std::vector<NamedNumber>();
  if (threshold_) threshold_->restore(state.numbers);
  try {
    Container::restore(std::move(individuals), state);
  } catch (const DataError&) {
    if (threshold_) threshold_->restore(before);
    throw;
  }
  ranked_ = std::move(ranked);
  const double promised = size() == 0 ? std::numeric_limits<double>::infinity() : 0;
  spacing_ = number_called(state.numbers, "spacing", promised);
}

ContainerEntry unstructured_container() {
  using Config = ArchiveConfig;
  return part<Config>("unstructured", "whoever keeps his distance (the archive of the paper)")
      .option("k", &Config::k, 1, 1000, "neighbours that make the novelty score (k)")
      .option("epsilon", &Config::epsilon, Range{.high = 1, .below_high = true},
              "tolerance of the replacement rule (eps)")
      .option("update_period", &Config::update_period, 1, 1'000'000'000,
              "iterations between two container updates (T_C)")
      .option("relevance", &Config::relevance, Range{.high = 1, .below_high = true},
              "by how much the fitter have a smaller radius around them than the others (w)")
      .made_by([](const Config& config, ContainerContext& context) {
        return std::make_unique<UnstructuredArchive>(context.layout, config,
                                                     std::move(context.threshold));
      });
}

}  // namespace aurora
