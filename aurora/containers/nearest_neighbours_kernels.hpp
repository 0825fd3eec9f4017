// The vector code behind NeighbourIndex, compiled once for every instruction set and chosen at run
// time. Private to nearest_neighbours.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aurora/containers/nearest_neighbours.hpp"

namespace aurora::nearest_neighbours {

constexpr std::size_t kBucketSize = NeighbourIndex::kBucketSize;

/// So many points more than are asked for are kept before the farther ones are sorted out.
constexpr std::size_t kSpare = 8;

/// The arrays of a NeighbourIndex; see there. A row is kBucketSize floats.
struct View {
  const float* points;
  const float* lower;
  const float* upper;
  const std::uint32_t* counts;
  const std::uint32_t* slots;
  const std::uint64_t* ids;
  std::size_t buckets;
  std::size_t dimension;

  const float* bucket(std::size_t b) const { return points + b * dimension * kBucketSize; }
};

/// The order of neighbours: of two at the same distance the older one counts as nearer.
inline bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.squared_distance < b.squared_distance ||
         (a.squared_distance == b.squared_distance && a.id < b.id);
}

/// The best neighbours found so far of a point in a bucket, nearest first.
struct NearestList {
  Neighbour* items = nullptr;  // room for `capacity`
  std::size_t capacity = 0;    // > 0
  std::uint32_t excluded = NeighbourIndex::kNoSlot;
  float bound = 0;  // nothing above this squared distance can enter
  std::size_t count = 0;

  void offer(const Neighbour& candidate) {
    if (candidate.slot == excluded) return;
    std::size_t i = count;
    if (count < capacity) {
      ++count;
    } else if (nearer(candidate, items[--i])) {
      // the last one falls out
    } else {
      return;
    }
    for (; i > 0 && nearer(candidate, items[i - 1]); --i) items[i] = items[i - 1];
    items[i] = candidate;
    if (count == capacity) bound = items[count - 1].squared_distance;
  }
};

/// What is asked about one point: who is nearest to it.
struct Question {
  const float* point;
  std::size_t capacity;                                // > 0: of how many
  float bound;                                         // not above this squared distance
  std::uint32_t excluded = NeighbourIndex::kNoSlot;    // who is at this position does not count
  std::uint64_t older_than = NeighbourIndex::kAnyAge;  // nor whose id is not below
  const float* fitness = nullptr;  // by slot: who is fitter than this counts, whatever the id,
  float fitter_than = 0;           // and who is less fit does not; null if age alone counts
  bool any_of_equals = false;      // of those who are equally far any will do

  bool anybody() const { return older_than == NeighbourIndex::kAnyAge && fitness == nullptr; }

  bool counts(std::uint32_t slot, std::uint64_t id) const {
    if (fitness != nullptr && fitness[slot] != fitter_than) return fitness[slot] > fitter_than;
    return id < older_than;
  }
};

/// Squared distance from the box [lower, upper] (two arrays of `dimension` numbers; equal for a
/// point) to the box of every bucket. `out` has room for a multiple of 64. Returns the bucket with
/// the smallest; there must be one.
std::uint32_t box_distances(const View& view, const float* lower, const float* upper, float* out);

/// Memory for the answer to a question.
struct Scratch {
  std::uint32_t* boxes;      // those left to look into: room for all buckets
  std::uint32_t* round;      // those of them whose turn it is: the same
  float* distances;          // of the points found, in no order: room_for(capacity)
  std::uint32_t* positions;  // theirs: the same
  Neighbour* neighbours;     // the same; at last the answer, nearest first
};

/// Of how many points found there may be: more than are asked for, a bucket, and a vector.
constexpr std::size_t room_for(std::size_t capacity) {
  return capacity + kSpare + kBucketSize + 16;
}

/// Writes the answer to scratch.neighbours and returns how many they are. `box_distances` are those
/// from the point, `nearest` is the bucket where they are smallest.
std::size_t nearest_to_point(const View& view, const Question& question, std::uint32_t nearest,
                             const float* box_distances, const Scratch& scratch);

/// Offers every point of the buckets `others` to the lists of the points in `bucket` that it may
/// belong to; in this order. lists[i] belongs to the point in lane i.
void nearest_to_bucket(const View& view, std::uint32_t bucket,
                       std::span<const std::uint32_t> others, NearestList* lists);

/// A point of a bucket and a point of another index that are close to each other.
struct ClosePair {
  std::uint32_t lane;
  std::uint32_t other;  // the lane of the other point
  float squared_distance;
};

/// Writes the pairs of a point in `bucket` and a point in the bucket `other` of another index whose
/// squared distance is not above reach[lane of the first]. Returns how many; `out` has room for
/// kBucketSize * kBucketSize.
std::size_t close_pairs(const View& view, std::uint32_t bucket, const float* reach,
                        const View& others, std::uint32_t other, ClosePair* out);

/// The larger of `at_least` and the largest squared distance between a point of `bucket` and a
/// point of `bucket` or a later one.
float farthest_from_bucket(const View& view, std::uint32_t bucket, float at_least);

}  // namespace aurora::nearest_neighbours
