// The vector code behind NeighbourIndex, compiled once for every instruction set and chosen at run
// time. Private to nearest_neighbours.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aurora/containers/nearest_neighbours.hpp"

namespace aurora::nearest_neighbours {

constexpr std::size_t kBucketSize = NeighbourIndex::kBucketSize;

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

/// The best neighbours found so far, nearest first.
struct NearestList {
  Neighbour* items = nullptr;  // room for `capacity`
  std::size_t capacity = 0;    // > 0
  std::uint32_t excluded = NeighbourIndex::kNoSlot;
  std::uint64_t older_than = NeighbourIndex::kAnyAge;
  float bound = 0;  // nothing above this squared distance can enter
  std::size_t count = 0;
  const float* fitness = nullptr;  // by slot; null if age alone counts
  float fitter_than = 0;           // of who is as fit as this, `older_than` says who may enter

  bool takes_anybody() const { return older_than == NeighbourIndex::kAnyAge && fitness == nullptr; }

  bool may_enter(const Neighbour& candidate) const {
    if (fitness != nullptr) [[unlikely]] {
      const float other = fitness[candidate.slot];
      if (other != fitter_than) return other > fitter_than;
    }
    return candidate.slot != excluded && candidate.id < older_than;
  }

  void offer(const Neighbour& candidate) {
    if (!may_enter(candidate)) return;
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

  static bool nearer(const Neighbour& a, const Neighbour& b) {
    return a.squared_distance < b.squared_distance ||
           (a.squared_distance == b.squared_distance && a.id < b.id);
  }
};

/// Squared distance from the box [lower, upper] (two arrays of `dimension` numbers; equal for a
/// point) to the box of every bucket. `out` has room for a multiple of 64. Returns the bucket with
/// the smallest; there must be one.
std::uint32_t box_distances(const View& view, const float* lower, const float* upper, float* out);

/// Where nearest_to_point notes which boxes are left to look into: room for all buckets, rounded up
/// to 64, each.
struct NearBoxes {
  float* distances;
  std::uint32_t* buckets;
  std::uint32_t* round;
};

/// Offers every point to `list` that may belong there. `box_distances` are those from `query`,
/// `nearest` is the bucket where they are smallest.
void nearest_to_point(const View& view, const float* query, std::uint32_t nearest,
                      const float* box_distances, const NearBoxes& boxes, NearestList& list);

/// The same for all points of a bucket as queries, looking only into the buckets of `others`, in
/// this order. lists[i] belongs to the point in lane i.
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
