#include "aurora/containers/dominated_novelty.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "aurora/containers/distance.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kRowsPerChunk = 256;

bool nearer(const Neighbour& a, const Neighbour& b) {
  return std::pair(a.squared_distance, a.id) < std::pair(b.squared_distance, b.id);
}

}  // namespace

DominatedNovelty::DominatedNovelty(const IndividualsLayout& layout,
                                   const DominatedNoveltyConfig& config, std::size_t target_size)
    : Container(layout, config.novelty_k), config_(config), target_size_(target_size) {
  if (config.k == 0) throw UsageError("container.k must be at least 1");
  if (target_size == 0) throw UsageError("container.target_size must be at least 1");
}

bool DominatedNovelty::fitter(std::size_t row, std::size_t other) const {
  const float a = individuals_.fitness[row];
  const float b = individuals_.fitness[other];
  return a != b ? a > b : individuals_.ids[row] < individuals_.ids[other];
}

/// Puts `other` among the rivals of `row` if it is fitter and near enough.
void DominatedNovelty::meet(std::size_t row, std::size_t other, Rivals& rivals) const {
  if (!fitter(other, row)) return;
  const Neighbour rival{
      squared_distance(individuals_.descriptors.row(row), individuals_.descriptors.row(other)), 0,
      individuals_.ids[other]};
  if (rivals.size() == config_.k && !nearer(rival, rivals.back())) return;
  if (rivals.size() == config_.k) rivals.pop_back();
  rivals.insert(std::ranges::upper_bound(rivals, rival, nearer), rival);
}

DominatedNovelty::Rivals DominatedNovelty::rivals_of(std::size_t row) const {
  Rivals rivals;
  for (std::size_t other = 0; other < size(); ++other) meet(row, other, rivals);
  return rivals;
}

/// Of everybody, with an index in which members are numbered by fitness: those before somebody are
/// the fitter ones.
void DominatedNovelty::find_all_rivals() {
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return fitter(a, b); });
  rivals_.assign(size(), {});
  NeighbourIndex ranks(individuals_.descriptors.cols());
  NeighbourIndex::Workspace workspace;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::uint32_t row = order[rank];
    const auto nearest = ranks.nearest(individuals_.descriptors.row(row), config_.k, workspace);
    Rivals& rivals = rivals_[row];
    rivals.assign(nearest.begin(), nearest.end());
    for (Neighbour& rival : rivals) rival.id = individuals_.ids[rival.slot];
    std::ranges::sort(rivals, nearer);
    ranks.insert(row, individuals_.descriptors.row(row), individuals_.ids[row]);
  }
}

std::vector<double> DominatedNovelty::scores() const {
  std::vector<double> scores;
  for (const Rivals& rivals : rivals_) {
    scores.push_back(rivals.empty() ? std::numeric_limits<double>::infinity()
                                    : mean_distance(rivals));
  }
  return scores;
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
  // Old members meet the new ones, new ones meet everybody.
  rivals_.resize(size());
  workers.parallel_for(size(), kRowsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      if (row < before) {
        for (std::size_t other = before; other < size(); ++other) meet(row, other, rivals_[row]);
      } else {
        rivals_[row] = rivals_of(row);
      }
    }
  });
  std::vector<std::uint64_t> gone = let_go(workers);
  std::ranges::sort(gone);
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
  std::vector<std::uint64_t> gone;
  if (size() <= target_size_) return gone;
  const std::vector<double> score = scores();
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0U);
  const auto kept = order.begin() + static_cast<std::ptrdiff_t>(target_size_);
  std::ranges::nth_element(order, kept, [&](std::uint32_t a, std::uint32_t b) {
    return score[a] != score[b] ? score[a] > score[b] : individuals_.ids[a] < individuals_.ids[b];
  });
  for (auto row = kept; row != order.end(); ++row) {
    gone.push_back(individuals_.ids[*row]);
    index_.erase(*row);
  }
  for (const auto& [from, to] : drop_rows_not_indexed()) rivals_[to] = std::move(rivals_[from]);
  rivals_.resize(size());
  std::ranges::sort(gone);
  workers.parallel_for(size(), kRowsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const bool bereft = std::ranges::any_of(rivals_[row], [&](const Neighbour& rival) {
        return std::ranges::binary_search(gone, rival.id);
      });
      if (bereft) rivals_[row] = rivals_of(row);
    }
  });
  return gone;
}

std::size_t DominatedNovelty::set_descriptors(MatrixView<const float> descriptors,
                                              std::span<const float> errors) {
  const std::size_t lost = Container::set_descriptors(descriptors, errors);
  find_all_rivals();
  return lost;
}

std::string DominatedNovelty::check(Workers& workers) const {
  if (size() > target_size_) {
    throw DataError("there are " + std::to_string(size()) + " members, at most " +
                    std::to_string(target_size_) + " may stay");
  }
  Container::check(workers);
  return std::to_string(size()) + " members, at most " + std::to_string(target_size_);
}

void DominatedNovelty::restore(Individuals individuals, const PartState& state) {
  Container::restore(std::move(individuals), state);
  find_all_rivals();
}

ContainerEntry dominated_novelty_container() {
  using Config = DominatedNoveltyConfig;
  return part<Config>("dns", "the N farthest from those who are fitter (Dominated Novelty Search)")
      .option("k", &Config::k, 1, 1000, "fitter neighbours that count (k)")
      .option("novelty_k", &Config::novelty_k, 1, 1000,
              "dns: neighbours that make the novelty score")
      .without("threshold", "it keeps the N best, whatever their distance")
      .made_by([](const Config& config, const ContainerContext& context) {
        return std::make_unique<DominatedNovelty>(context.layout, config, context.target_size);
      });
}

}  // namespace aurora
