#include "aurora/containers/dominated_novelty.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

/// Distances kept beyond those that make the score: more of them mean fewer new queries and more
/// lists to touch.
constexpr std::size_t kSpare = 9;
constexpr std::size_t kRowsPerChunk = 64;
constexpr const char* kIteration = "container.iteration";
constexpr double kMostIterations = 1e15;

}  // namespace

/// Of equal fitness the older counts as fitter.
struct DominatedNovelty::Strength {
  float fitness;
  std::uint64_t id;

  bool beats(const Strength& other) const {
    return fitness != other.fitness ? fitness > other.fitness : id < other.id;
  }
};

struct DominatedNovelty::Gone {
  NeighbourIndex places;
  std::vector<Strength> strengths = {};  // by slot
};

DominatedNovelty::DominatedNovelty(const IndividualsLayout& layout,
                                   const DominatedNoveltyConfig& config, std::size_t target_size)
    : Container(layout, config.novelty_k),
      config_(config),
      target_size_(target_size),
      distances_(0, config.k + kSpare) {
  if (config.k == 0) throw UsageError("container.k must be at least 1");
  if (target_size == 0) throw UsageError("container.target_size must be at least 1");
}

void DominatedNovelty::resize_lists(std::size_t rows) {
  distances_.resize_rows(rows);
  counts_.resize(rows);
  scores_.resize(rows);
  changed_.resize(rows);
}

void DominatedNovelty::forget_lists() {
  counts_.clear();
  resize_lists(size());
}

void DominatedNovelty::measure_reach() {
  reach_.resize(counts_.size());
  for (std::size_t row = 0; row < reach_.size(); ++row) {
    reach_[row] = counts_[row] == 0 ? -1 : list(row).back();
  }
}

/// Puts the members from row `first` on into the lists of the others, where they are near enough.
void DominatedNovelty::note_arrivals(std::size_t first, Workers& workers) {
  NeighbourIndex come(index_.dimension());
  for (std::size_t row = first; row < size(); ++row) {
    come.insert(row, individuals_.descriptors.row(row), individuals_.ids[row]);
  }
  resize_lists(size());
  measure_reach();
  index_.close_pairs(come, reach_, workers,
                     [&](std::uint32_t row, std::uint32_t other, float distance) {
                       // Beyond its last distance a list knows nothing, so nobody can enter there.
                       if (distance >= list(row).back()) return;
                       const Strength comer{individuals_.fitness[other], individuals_.ids[other]};
                       if (!comer.beats({individuals_.fitness[row], individuals_.ids[row]})) return;
                       if (counts_[row] < distances_.cols()) ++counts_[row];
                       const std::span<float> kept = list(row);
                       const auto place = std::upper_bound(kept.begin(), kept.end() - 1, distance);
                       std::copy_backward(place, kept.end() - 1, kept.end());
                       *place = distance;
                       changed_[row] = 1;
                     });
}

/// Takes those who have gone out of the lists of the others.
void DominatedNovelty::note_departures(const Gone& gone, Workers& workers) {
  measure_reach();
  index_.close_pairs(gone.places, reach_, workers,
                     [&](std::uint32_t row, std::uint32_t other, float distance) {
                       const Strength self{individuals_.fitness[row], individuals_.ids[row]};
                       if (!gone.strengths[other].beats(self)) return;
                       // Of those at its last distance more may leave than the list has.
                       const std::span<float> kept = list(row);
                       const auto place = std::ranges::lower_bound(kept, distance);
                       if (place == kept.end()) return;
                       std::copy(place + 1, kept.end(), place);
                       --counts_[row];
                       changed_[row] = 1;
                     });
}

/// Brings every list and score up to date. Few have less than k fitter members; these are asked for
/// anew each time.
void DominatedNovelty::settle(Workers& workers) {
  workers.parallel_for(size(), kRowsPerChunk, [&](std::size_t begin, std::size_t end) {
    NeighbourIndex::Workspace workspace;
    for (std::size_t row = begin; row < end; ++row) {
      if (counts_[row] < config_.k) {
        const auto rivals = index_.nearest_fitter(
            individuals_.descriptors.row(row), distances_.cols(), workspace, individuals_.fitness,
            individuals_.fitness[row], individuals_.ids[row]);
        std::ranges::transform(rivals, distances_.row(row).begin(), &Neighbour::squared_distance);
        counts_[row] = static_cast<std::uint32_t>(rivals.size());
        changed_[row] = 1;
      }
      if (std::exchange(changed_[row], 0) == 0) continue;
      const std::span<const float> nearest =
          list(row).first(std::min<std::size_t>(counts_[row], config_.k));
      scores_[row] =
          nearest.empty() ? std::numeric_limits<double>::infinity() : mean_distance(nearest);
    }
  });
}

std::vector<double> DominatedNovelty::scores(Workers& workers) {
  settle(workers);
  return scores_;
}

Outcome DominatedNovelty::add(const Individuals& batch, std::size_t row) {
  Workers alone;
  const auto rows = static_cast<std::uint32_t>(row);
  Outcome outcome = Outcome::invalid;
  add_all(batch, {&rows, 1}, alone, {&outcome, 1});
  return outcome;
}

void DominatedNovelty::add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                               Workers& workers, std::span<Outcome> outcomes) {
  const std::size_t before = size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    outcomes[i] = Outcome::invalid;
    if (!is_finite(batch, rows[i])) continue;
    outcomes[i] = Outcome::rejected;
    index_.insert(append(batch, rows[i]), batch.descriptors.row(rows[i]), batch.ids[rows[i]]);
  }
  note_arrivals(before, workers);
  const std::vector<std::uint64_t> gone = let_go(workers);
  // Who stays makes the container larger, until it is full; from there on he takes a place.
  std::size_t growth = size() - std::min(before, size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (outcomes[i] == Outcome::invalid || std::ranges::binary_search(gone, batch.ids[rows[i]])) {
      continue;
    }
    outcomes[i] = growth > 0 ? Outcome::added : Outcome::replaced;
    growth -= growth > 0 ? 1 : 0;
  }
}

std::vector<std::uint64_t> DominatedNovelty::let_go(Workers& workers) {
  const std::size_t most = target();
  if (size() <= most) return {};
  settle(workers);
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0U);
  const auto kept = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(order, kept, [&](std::uint32_t a, std::uint32_t b) {
    return scores_[a] != scores_[b] ? scores_[a] > scores_[b]
                                    : individuals_.ids[a] < individuals_.ids[b];
  });
  Gone gone{NeighbourIndex(index_.dimension())};
  std::vector<std::uint64_t> ids;
  for (auto row = kept; row != order.end(); ++row) {
    gone.places.insert(ids.size(), individuals_.descriptors.row(*row), individuals_.ids[*row]);
    gone.strengths.push_back({individuals_.fitness[*row], individuals_.ids[*row]});
    ids.push_back(individuals_.ids[*row]);
    index_.erase(*row);
  }
  for (const auto& [from, to] : drop_rows_not_indexed()) {
    std::ranges::copy(distances_.row(from), distances_.row(to).begin());
    counts_[to] = counts_[from];
    scores_[to] = scores_[from];
  }
  resize_lists(size());
  note_departures(gone, workers);
  std::ranges::sort(ids);
  return ids;
}

std::size_t DominatedNovelty::set_descriptors(MatrixView<const float> descriptors,
                                              std::span<const float> errors) {
  const std::size_t lost = Container::set_descriptors(descriptors, errors);
  forget_lists();
  return lost;
}

void DominatedNovelty::retain(std::span<const std::uint32_t> rows) {
  Container::retain(rows);
  forget_lists();
}

std::string DominatedNovelty::check(Workers& workers) const {
  const std::string most = std::to_string(target());
  if (size() > target()) {
    throw DataError("there are " + std::to_string(size()) + " members, at most " + most +
                    " may stay");
  }
  Container::check(workers);
  return std::to_string(size()) + " members, at most " + most;
}

Upkeep DominatedNovelty::after_iteration(const IterationEnd& end, Workers&) {
  iteration_ = end.iteration;
  return {};
}

PartState DominatedNovelty::state() const {
  if (config_.start >= 1) return {};
  return {.numbers = {{kIteration, static_cast<double>(iteration_)}}};
}

void DominatedNovelty::restore(Individuals individuals, const PartState& state) {
  // What an older version saved does not grow.
  const double iteration = number_called(state.numbers, kIteration, 0);
  if (!(iteration >= 0 && iteration <= kMostIterations)) {
    throw DataError("the iteration of the container is " + std::to_string(iteration));
  }
  Container::restore(std::move(individuals), state);
  iteration_ = static_cast<std::size_t>(iteration);
  forget_lists();
}

ContainerEntry dominated_novelty_container() {
  using Config = DominatedNoveltyConfig;
  return part<Config>("dns", "the N farthest from those who are fitter (Dominated Novelty Search)")
      .option("k", &Config::k, 1, 1000, "fitter neighbours that count (k)")
      .option("novelty_k", &Config::novelty_k, 1, 1000,
              "dns: neighbours that make the novelty score")
      .option("start", &Config::start, Range{0, 1, true},
              "dns: how many may stay at first, as a share of container.target_size")
      .option("iterations", &Config::iterations, Range{1, 1e9},
              "dns: iterations until container.target_size may stay; half of the run unless said")
      .depends(
          "iterations",
          [](const Mix& mix) { return std::max(1.0, static_cast<double>(mix.iterations) / 2); })
      .idle([](const Config& config, const Mix&) {
        Idle idle;
        if (config.start >= 1) {
          idle.emplace_back("container.iterations", "container.start=1: all may stay at once");
        }
        return idle;
      })
      .without("threshold", "it keeps the N best, whatever their distance")
      .made_by([](const Config& config, const ContainerContext& context) {
        return std::make_unique<DominatedNovelty>(context.layout, config, context.target_size);
      });
}

}  // namespace aurora
