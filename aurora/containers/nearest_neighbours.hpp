// Exact k-nearest neighbours in a set of points that changes all the time.
//
// Points live in buckets of up to 64 near-by points, stored dimension by dimension (the lanes of a
// vector register are points), each bucket with its bounding box. A query looks at the boxes first
// and then at the points of those buckets only that can still hold a neighbour. There is no tree: a
// point goes to the bucket with the nearest box, a full bucket is split at the median of its widest
// dimension, and that is all the maintenance there is.
//
// Squared distances are summed in float, dimension by dimension, each term multiplied and then
// added, never fused: the same bits on every instruction set. Rounding is monotone, so the distance
// to a box, summed in the same way, is never above the computed distance to a point inside: pruning
// is exact down to the last bit, without any tolerance. Neighbours are ordered by (squared
// distance, id): of two at the same distance the older one counts as nearer. What a query returns
// never depends on how points came to be in their buckets.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "aurora/core/parallel.hpp"

namespace aurora {

struct Neighbour {
  float squared_distance = 0;
  std::uint32_t slot = 0;
  std::uint64_t id = 0;

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

/// The largest float whose square root (taken in double) is not above `radius`; -1 if there is
/// none. "squared distance <= squared_radius(r)" says exactly "distance <= r".
float squared_radius(double radius);

/// The mean of distances, summed in the order in which their squares are given; 0 if there are
/// none.
double mean_distance(std::span<const float> squares);
double mean_distance(std::span<const Neighbour> neighbours);

inline double distance_of(const Neighbour& neighbour) {
  return std::sqrt(static_cast<double>(neighbour.squared_distance));
}

class NeighbourIndex {
 public:
  static constexpr std::size_t kBucketSize = 64;
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kAnyAge = std::numeric_limits<std::uint64_t>::max();

  /// Memory that queries reuse, and where their answers lie. One for each thread that asks.
  class Workspace {
    friend class NeighbourIndex;
    std::vector<float> box_distances_;
    std::vector<std::uint32_t> boxes_;
    std::vector<std::uint32_t> round_;
    std::vector<float> distances_;
    std::vector<std::uint32_t> positions_;
    std::vector<Neighbour> neighbours_;
    std::uint32_t nearest_bucket_ = 0;
  };

  explicit NeighbourIndex(std::size_t dimension);

  std::size_t dimension() const { return dimension_; }
  std::size_t size() const { return size_; }
  bool contains(std::size_t slot) const {
    return slot < positions_.size() && positions_[slot] != kNoSlot;
  }

  /// Adds a point of finite coordinates under the number `slot`, which must be free. Slots need not
  /// be dense, but memory grows with the largest one. O(n * buckets).
  void insert(std::size_t slot, std::span<const float> point, std::uint64_t id);
  /// The same for a point that `workspace` was last used to query in this index, unchanged since:
  /// the search for the bucket is already done.
  void insert(std::size_t slot, std::span<const float> point, std::uint64_t id,
              const Workspace& workspace);
  /// Takes the point under `slot` out.
  void erase(std::size_t slot);
  /// Gives the point under `from` the number `to`, which must be free.
  void rename(std::size_t from, std::size_t to);
  /// Makes the boxes fit again after points were taken out: queries look into fewer buckets.
  void tighten();
  /// Takes everything out and keeps the memory.
  void clear();

  /// The (at most) k nearest points to `query` within the given squared distance, nearest first,
  /// without the point under `excluded` and those whose id is not below `older_than`. The answer
  /// lies in `workspace` until its next use.
  std::span<const Neighbour> nearest(
      std::span<const float> query, std::size_t k, Workspace& workspace,
      float max_squared_distance = std::numeric_limits<float>::infinity(),
      std::uint32_t excluded = kNoSlot, std::uint64_t older_than = kAnyAge) const;

  /// The k nearest points to `query` of those who beat somebody of the given fitness and id:
  /// fitness[slot] is larger, or as large and their id lower. Of those who are equally far as the
  /// last of them any may be there: hundreds may be in one place.
  std::span<const Neighbour> nearest_fitter(std::span<const float> query, std::size_t k,
                                            Workspace& workspace, std::span<const float> fitness,
                                            float than, std::uint64_t id) const;

  /// Calls visit(slot, its k nearest others) once for every point, concurrently. The queries of a
  /// bucket share every bucket that they load, four at a time in registers.
  void nearest_of_all(
      std::size_t k, Workers& workers,
      const std::function<void(std::uint32_t, std::span<const Neighbour>)>& visit) const;

  /// Calls visit(slot, slot of the other, squared distance) for every pair of a point of this index
  /// and a point of `others` whose squared distance is not above reach[slot]: concurrently for
  /// different slots, one after the other, in no special order, for the same one.
  void close_pairs(const NeighbourIndex& others, std::span<const float> reach, Workers& workers,
                   const std::function<void(std::uint32_t, std::uint32_t, float)>& visit) const;

  /// For every slot the mean distance to its k nearest others: the novelty score. The mean is taken
  /// in double, nearest first. 0 for a lone point and for free slots.
  std::vector<float> mean_distances(std::size_t k, Workers& workers) const;

  /// The largest squared distance between two points; 0 if there are fewer than two.
  float squared_diameter(Workers& workers) const;

 private:
  /// One coordinate of the points of a bucket (or of the corners of 64 boxes).
  struct alignas(64) Row {
    std::array<float, kBucketSize> lane;
  };
  struct Access;  // what the vector code sees
  struct Question;

  std::span<const Neighbour> answer(const Question& question, Workspace& workspace) const;
  Access access() const;
  void insert_into(std::uint32_t bucket, std::size_t slot, std::span<const float> point,
                   std::uint64_t id);
  std::uint32_t new_bucket();
  std::uint32_t split(std::uint32_t bucket, std::span<const float> point);
  void place(std::uint32_t position, std::uint32_t from);
  void vacate(std::uint32_t position);
  void fit_box(std::uint32_t bucket);
  void copy_box(std::uint32_t bucket, std::span<float> low, std::span<float> high) const;
  void empty_box(std::uint32_t bucket);

  float& coordinate(std::uint32_t position, std::size_t axis) {
    return points_[position / kBucketSize * dimension_ + axis].lane[position % kBucketSize];
  }
  float& lower(std::uint32_t bucket, std::size_t axis) {
    return lower_[bucket / kBucketSize * dimension_ + axis].lane[bucket % kBucketSize];
  }
  float& upper(std::uint32_t bucket, std::size_t axis) {
    return upper_[bucket / kBucketSize * dimension_ + axis].lane[bucket % kBucketSize];
  }

  std::size_t dimension_;
  std::size_t size_ = 0;
  std::uint64_t newest_ = 0;  // no id is above it
  // A position is bucket * kBucketSize + lane. The points of a bucket fill its first lanes; the
  // coordinates in the other lanes are NaN, so that no comparison with them holds.
  std::vector<Row> points_;            // [bucket][axis]
  std::vector<std::uint32_t> counts_;  // [bucket]
  std::vector<std::uint32_t> slots_;   // [position]
  std::vector<std::uint64_t> ids_;     // [position]
  // The boxes, 64 to a row. A box without a point is inside out: infinitely far from everything.
  std::vector<Row> lower_;                // [bucket / 64][axis]
  std::vector<Row> upper_;                // [bucket / 64][axis]
  std::vector<std::uint32_t> positions_;  // [slot]; kNoSlot where the slot is free
  std::vector<std::uint32_t> empty_;      // buckets that lost their last point
  std::vector<float> scratch_;            // distances to boxes, for insert()
};

/// Calls visit(neighbour) for the points within the squared distance whose id is below
/// `older_than`, nearest first, as long as it says true: for who cannot know how many he needs. So
/// many are asked for at first, then four times as many, and so on.
template <class Visit>
void visit_nearest(const NeighbourIndex& index, std::span<const float> query, std::size_t at_first,
                   NeighbourIndex::Workspace& workspace, float max_squared_distance,
                   std::uint64_t older_than, const Visit& visit) {
  for (std::size_t k = at_first, seen = 0;; k *= 4) {
    const auto close = index.nearest(query, k, workspace, max_squared_distance,
                                     NeighbourIndex::kNoSlot, older_than);
    for (; seen < close.size(); ++seen) {
      if (!visit(close[seen])) return;
    }
    if (close.size() < k) return;
  }
}

}  // namespace aurora
