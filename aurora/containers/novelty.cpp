#include "aurora/containers/novelty.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace aurora {
namespace {

/// Distances kept beyond those that make the score. More of them mean fewer new queries and more
/// lists to touch for every change.
constexpr std::size_t kSlack = 9;
/// When more than this part of the container has changed, to compute everything is faster.
constexpr std::size_t kLargestPart = 8;
constexpr std::size_t kQueriesPerChunk = 16;

}  // namespace

NoveltyCache::NoveltyCache(std::size_t k) : k_(k), distances_(0, k + kSlack) {
  assert(k > 0);
}

std::vector<float> NoveltyCache::scores(const NeighbourIndex& index,
                                        MatrixView<const float> descriptors,
                                        std::span<const std::uint64_t> ids, Workers& workers) {
  assert(index.size() == ids.size() && descriptors.rows() == ids.size());
  // Below, everybody has enough others to fill a list.
  if (ids.size() <= capacity()) {
    clear();
    std::vector<float> scores = index.mean_distances(k_, workers);
    scores.resize(ids.size());
    return scores;
  }
  const bool known = !ids_.empty();
  const Changes changes = follow(descriptors, ids);
  if (known && (changes.gone.size() + changes.come.size()) * kLargestPart <= ids.size()) {
    compute_changed(index, changes, workers);
  } else {
    compute_all(index, workers);
  }
  return scores_;
}

/// Brings the rows up to date; those who came have empty lists.
NoveltyCache::Changes NoveltyCache::follow(MatrixView<const float> descriptors,
                                           std::span<const std::uint64_t> ids) {
  using IdAndSlot = std::pair<std::uint64_t, std::uint32_t>;
  const auto stays = [&](std::size_t slot) {
    return slot < ids.size() && slot < ids_.size() && ids[slot] == ids_[slot];
  };
  std::vector<IdAndSlot> before;
  for (std::uint32_t slot = 0; slot < ids_.size(); ++slot) {
    if (!stays(slot)) before.emplace_back(ids_[slot], slot);
  }
  std::ranges::sort(before);
  Changes changes{NeighbourIndex(descriptors.cols()), NeighbourIndex(descriptors.cols())};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moved;
  std::vector<std::uint32_t> others;
  std::vector<bool> found(before.size());
  for (std::uint32_t slot = 0; slot < ids.size(); ++slot) {
    if (stays(slot)) continue;
    others.push_back(slot);
    const auto old = std::ranges::lower_bound(before, ids[slot], {}, &IdAndSlot::first);
    if (old != before.end() && old->first == ids[slot]) {
      moved.emplace_back(old->second, slot);
      found[static_cast<std::size_t>(old - before.begin())] = true;
    } else {
      changes.come.insert(slot, descriptors.row(slot), ids[slot]);
    }
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto [id, slot] = before[i];
    if (!found[i]) changes.gone.insert(slot, descriptors_.row(slot), id);
  }
  if (descriptors_.cols() != descriptors.cols()) descriptors_ = {0, descriptors.cols()};
  move_rows(moved, ids.size());
  for (const std::uint32_t slot : others) {
    ids_[slot] = ids[slot];
    std::ranges::copy(descriptors.row(slot), descriptors_.row(slot).begin());
    if (changes.come.contains(slot)) counts_[slot] = 0;
  }
  return changes;
}

/// Moves lists and scores, whatever the order of the pairs, and changes the number of rows.
void NoveltyCache::move_rows(std::span<const std::pair<std::uint32_t, std::uint32_t>> from_to,
                             std::size_t rows) {
  Matrix<float> distances(from_to.size(), capacity());
  std::vector<std::uint32_t> counts(from_to.size());
  std::vector<float> scores(from_to.size());
  for (std::size_t i = 0; i < from_to.size(); ++i) {
    std::ranges::copy(distances_.row(from_to[i].first), distances.row(i).begin());
    counts[i] = counts_[from_to[i].first];
    scores[i] = scores_[from_to[i].first];
  }
  ids_.resize(rows);
  descriptors_.resize_rows(rows);
  distances_.resize_rows(rows);
  counts_.resize(rows);
  scores_.resize(rows);
  reach_.resize(rows);
  changed_.assign(rows, 0);
  for (std::size_t i = 0; i < from_to.size(); ++i) {
    std::ranges::copy(distances.row(i), distances_.row(from_to[i].second).begin());
    counts_[from_to[i].second] = counts[i];
    scores_[from_to[i].second] = scores[i];
  }
}

void NoveltyCache::compute_all(const NeighbourIndex& index, Workers& workers) {
  index.nearest_of_all(capacity(), workers,
                       [&](std::uint32_t slot, std::span<const Neighbour> neighbours) {
                         std::ranges::transform(neighbours, distances_.row(slot).begin(),
                                                &Neighbour::squared_distance);
                         counts_[slot] = static_cast<std::uint32_t>(neighbours.size());
                         scores_[slot] = static_cast<float>(mean_distance(list(slot).first(k_)));
                       });
}

void NoveltyCache::measure_reach() {
  for (std::size_t slot = 0; slot < reach_.size(); ++slot) {
    reach_[slot] = counts_[slot] == 0 ? -1 : list(slot).back();
  }
}

void NoveltyCache::compute_changed(const NeighbourIndex& index, const Changes& changes,
                                   Workers& workers) {
  // A list holds the smallest distances: without one of them it holds the smallest of the rest. Of
  // those at its last distance more may leave than the list has.
  measure_reach();
  index.close_pairs(changes.gone, reach_, workers,
                    [&](std::uint32_t slot, std::uint32_t, float distance) {
                      const std::span<float> kept = list(slot);
                      const auto gone = std::ranges::lower_bound(kept, distance);
                      if (gone == kept.end()) return;
                      std::copy(gone + 1, kept.end(), gone);
                      --counts_[slot];
                      changed_[slot] = 1;
                    });
  // Beyond its last distance a list knows nothing, so nobody can enter there.
  measure_reach();
  index.close_pairs(changes.come, reach_, workers,
                    [&](std::uint32_t slot, std::uint32_t, float distance) {
                      if (distance >= list(slot).back()) return;
                      if (counts_[slot] < capacity()) ++counts_[slot];
                      const std::span<float> kept = list(slot);
                      const auto place = std::upper_bound(kept.begin(), kept.end() - 1, distance);
                      std::copy_backward(place, kept.end() - 1, kept.end());
                      *place = distance;
                      changed_[slot] = 1;
                    });

  std::vector<std::uint32_t> too_short;
  for (std::uint32_t slot = 0; slot < counts_.size(); ++slot) {
    if (counts_[slot] < k_) {
      too_short.push_back(slot);
    } else if (changed_[slot] != 0) {
      scores_[slot] = static_cast<float>(mean_distance(list(slot).first(k_)));
    }
  }
  workers.parallel_for(too_short.size(), kQueriesPerChunk, [&](std::size_t begin, std::size_t end) {
    NeighbourIndex::Workspace workspace;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t slot = too_short[i];
      const auto neighbours = index.nearest(descriptors_.row(slot), capacity(), workspace,
                                            std::numeric_limits<float>::infinity(), slot);
      std::ranges::transform(neighbours, distances_.row(slot).begin(),
                             &Neighbour::squared_distance);
      counts_[slot] = static_cast<std::uint32_t>(neighbours.size());
      scores_[slot] = static_cast<float>(mean_distance(list(slot).first(k_)));
    }
  });
}

}  // namespace aurora
