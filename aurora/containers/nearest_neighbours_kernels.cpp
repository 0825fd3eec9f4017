// Vectors of fixed size only: groups of them are kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/containers/nearest_neighbours_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "aurora/containers/nearest_neighbours_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::nearest_neighbours {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
using Vec = hn::Vec<Tag>;

/// Vectors that one pass over the dimensions takes from a bucket: four queries at once then stay in
/// registers.
constexpr std::size_t kVectors = 2;

template <class Mask>
HWY_INLINE std::uint64_t bits_of(Mask mask) {
  // Whole, not byte by byte: the bits then go from one register to the other.
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits = 0;
  hn::StoreMaskBits(Tag(), mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

/// Squared distance between [lower, upper] and [other_lower, other_upper] along one axis.
HWY_INLINE Vec squared_gap(Vec lower, Vec upper, Vec other_lower, Vec other_upper) {
  const Vec below = hn::Sub(other_lower, upper);
  const Vec above = hn::Sub(lower, other_upper);
  const Vec gap = hn::Max(hn::Max(below, above), hn::Zero(Tag()));
  return hn::Mul(gap, gap);
}

/// Squared distances of V vectors of points, from `points` on (a lane of a bucket's first row), to
/// Q queries. Coordinate a of a query is queries[q][a * stride].
template <std::size_t Q, std::size_t V>
HWY_INLINE void squared_distances(const float* points, std::size_t dimension,
                                  const float* const (&queries)[Q], std::size_t stride,
                                  Vec (&sums)[Q][V]) {
  const Tag d;
  for (std::size_t q = 0; q < Q; ++q) {
    for (std::size_t v = 0; v < V; ++v) sums[q][v] = hn::Zero(d);
  }
  for (std::size_t a = 0; a < dimension; ++a, points += kBucketSize) {
    Vec row[V];
    for (std::size_t v = 0; v < V; ++v) row[v] = hn::Load(d, points + v * hn::Lanes(d));
    for (std::size_t q = 0; q < Q; ++q) {
      const Vec query = hn::Set(d, queries[q][a * stride]);
      for (std::size_t v = 0; v < V; ++v) {
        const Vec difference = hn::Sub(row[v], query);
        sums[q][v] = hn::Add(sums[q][v], hn::Mul(difference, difference));
      }
    }
  }
}

/// Offers V vectors of points, from `position` on, to a list; `sums` are their squared distances.
template <std::size_t V>
HWY_INLINE void offer_close(const View& view, std::size_t position, const Vec (&sums)[V],
                            NearestList& list) {
  const Tag d;
  const Vec bound = hn::Set(d, list.bound);
  for (std::size_t v = 0; v < V; ++v) {
    const auto close = hn::Le(sums[v], bound);
    if (hn::AllFalse(d, close)) continue;
    alignas(64) float distances[16];
    hn::Store(sums[v], d, distances);
    const std::size_t first = position + v * hn::Lanes(d);
    for (std::uint64_t bits = bits_of(close); bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(bits));
      if (distances[lane] > list.bound) continue;
      list.offer({distances[lane], view.slots[first + lane], view.ids[first + lane]});
    }
  }
}

/// Offers V vectors of points, from `position` on, to the lists of Q queries.
template <std::size_t V, std::size_t Q>
HWY_INLINE void offer_points(const View& view, std::size_t position,
                             const float* const (&queries)[Q], std::size_t stride,
                             NearestList* const (&lists)[Q]) {
  Vec sums[Q][V];
  squared_distances<Q, V>(view.bucket(position / kBucketSize) + position % kBucketSize,
                          view.dimension, queries, stride, sums);
  for (std::size_t q = 0; q < Q; ++q) offer_close(view, position, sums[q], *lists[q]);
}

/// The squared distances of a bucket's points to a query; NaN in lanes without a point. Takes those
/// lanes along: a branch that is guessed wrong costs more than the distances of a vector. Sums with
/// names, for an array of them would go through memory.
HWY_INLINE void bucket_distances(const View& view, std::size_t bucket, const float* query,
                                 float* out) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t first = 0; first < kBucketSize; first += 4 * lanes) {
    const float* points = view.bucket(bucket) + first;
    Vec sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    for (std::size_t a = 0; a < view.dimension; ++a, points += kBucketSize) {
      const Vec q = hn::Set(d, query[a]);
      const Vec d0 = hn::Sub(hn::Load(d, points), q);
      const Vec d1 = hn::Sub(hn::Load(d, points + lanes), q);
      const Vec d2 = hn::Sub(hn::Load(d, points + 2 * lanes), q);
      const Vec d3 = hn::Sub(hn::Load(d, points + 3 * lanes), q);
      sum0 = hn::Add(sum0, hn::Mul(d0, d0));
      sum1 = hn::Add(sum1, hn::Mul(d1, d1));
      sum2 = hn::Add(sum2, hn::Mul(d2, d2));
      sum3 = hn::Add(sum3, hn::Mul(d3, d3));
    }
    hn::Store(sum0, d, out + first);
    hn::Store(sum1, d, out + first + lanes);
    hn::Store(sum2, d, out + first + 2 * lanes);
    hn::Store(sum3, d, out + first + 3 * lanes);
  }
}

/// One bit for each of 64 values that is not above the bound.
HWY_INLINE std::uint64_t bits_within(const float* values, float bound) {
  const Tag d;
  std::uint64_t bits = 0;
  for (std::size_t first = 0; first < kBucketSize; first += hn::Lanes(d)) {
    bits |= bits_of(hn::Le(hn::LoadU(d, values + first), hn::Set(d, bound))) << first;
  }
  return bits;
}

HWY_INLINE std::size_t count_within(const float* values, std::size_t count, float bound) {
  const Tag d;
  std::size_t within = 0;
  for (std::size_t first = 0; first < count; first += hn::Lanes(d)) {
    within += hn::CountTrue(d, hn::Le(hn::LoadU(d, values + first), hn::Set(d, bound)));
  }
  return within;
}

/// At most `bound`, such that `wanted` of the values or a few more are within it, or all are that
/// are within `bound`. Behind the values there is NaN, for a vector. Seven bounds are tried at
/// once: which of them to go on with is no branch.
HWY_INLINE float bound_for(const float* values, std::size_t count, std::size_t wanted,
                           float bound) {
  constexpr std::size_t kParts = 8;
  constexpr int kRounds = 3;
  const Tag d;
  const std::size_t few = wanted / 8;
  std::size_t within = count_within(values, count, bound);
  if (within <= wanted + few) return bound;
  Vec largest = hn::Zero(d);
  for (std::size_t first = 0; first < count; first += hn::Lanes(d)) {
    const Vec some = hn::LoadU(d, values + first);
    largest = hn::IfThenElse(hn::Gt(some, largest), some, largest);
  }
  float high = std::min(bound, hn::GetLane(hn::MaxOfLanes(d, largest)));
  float low = 0;
  for (int i = 0; i < kRounds && within > wanted + few; ++i) {
    const float step = (high - low) / kParts;
    float bounds[kParts];
    std::size_t counts[kParts];
    std::size_t too_low = 0;
    for (std::size_t part = 0; part + 1 < kParts; ++part) {
      bounds[part] = low + step * static_cast<float>(part + 1);
      counts[part] = count_within(values, count, bounds[part]);
      too_low += counts[part] < wanted ? 1 : 0;
    }
    bounds[kParts - 1] = high;
    counts[kParts - 1] = within;
    low = too_low == 0 ? low : bounds[too_low - 1];
    high = bounds[too_low];
    within = counts[too_low];
  }
  return high;
}

/// The points that may belong to the answer, as long as they are looked for. Nothing is sorted
/// until the end, and then by counting: branches that are guessed wrong cost more than distances.
class Search {
 public:
  Search(const View& view, const Question& question, const Scratch& scratch)
      : view_(view),
        question_(question),
        scratch_(scratch),
        bound_(question.bound),
        entry_(question.bound) {}

  /// Nobody above this squared distance has to be looked at any more.
  float bound() const { return entry_; }

  void look_into(std::uint32_t bucket) {
    alignas(64) float distances[kBucketSize];
    bucket_distances(view_, bucket, question_.point, distances);
    if (question_.excluded / kBucketSize == bucket) {
      distances[question_.excluded % kBucketSize] = std::numeric_limits<float>::quiet_NaN();
    }
    const std::size_t before = count_;
    // The first bucket alone gives a bound.
    if (before == 0 && question_.anybody()) {
      bound_ = entry_ = bound_for(distances, kBucketSize, question_.capacity, bound_);
    }
    const auto first = static_cast<std::uint32_t>(bucket * kBucketSize);
    float* near = scratch_.distances + before;
    std::uint32_t* positions = scratch_.positions + before;
    for (std::uint64_t bits = bits_within(distances, entry_); bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(bits));
      *near++ = distances[lane];
      *positions++ = first + lane;
    }
    count_ = static_cast<std::size_t>(near - scratch_.distances);
    if (!question_.anybody()) drop_uncounted(before);
    if (count_ > question_.capacity + kSpare) drop_far();
  }

  /// Puts the answer in order.
  std::size_t finish() {
    pad();
    const Tag d;
    const hn::Repartition<std::uint32_t, Tag> du;
    const float* const distances = scratch_.distances;
    // Everybody's place is the number of those before him.
    std::size_t sum = 0;
    for (std::size_t first = 0; first < count_; first += hn::Lanes(d)) {
      const Vec these = hn::LoadU(d, distances + first);
      auto before = hn::Zero(du);
      for (std::size_t i = 0; i < count_; ++i) {
        const auto farther = hn::Lt(hn::Set(d, distances[i]), these);
        before = hn::Sub(before, hn::BitCast(du, hn::VecFromMask(d, farther)));
      }
      alignas(64) std::uint32_t place[16];
      hn::Store(before, du, place);
      for (std::size_t i = first; i < std::min(count_, first + hn::Lanes(d)); ++i) {
        scratch_.neighbours[place[i - first]] = neighbour(i);
        sum += place[i - first];
      }
    }
    if (sum != count_ * (count_ - 1) / 2) {  // two share a place: ids decide
      for (std::size_t i = 0; i < count_; ++i) scratch_.neighbours[i] = neighbour(i);
      std::sort(scratch_.neighbours, scratch_.neighbours + count_, nearer);
    }
    return std::min(count_, question_.capacity);
  }

 private:
  Neighbour neighbour(std::size_t i) const {
    const std::uint32_t position = scratch_.positions[i];
    return {scratch_.distances[i], view_.slots[position], view_.ids[position]};
  }

  void pad() const {
    const Tag d;
    hn::StoreU(hn::Set(d, std::numeric_limits<float>::quiet_NaN()), d, scratch_.distances + count_);
  }

  template <class Stays>
  void keep_if(std::size_t from, const Stays& stays) {
    float* const distances = scratch_.distances;
    std::uint32_t* const positions = scratch_.positions;
    std::size_t to = from;
    for (std::size_t i = from, end = count_; i < end; ++i) {
      const bool stay = stays(i);
      distances[to] = distances[i];
      positions[to] = positions[i];
      to += stay ? 1 : 0;
    }
    count_ = to;
  }

  void drop_uncounted(std::size_t from) {
    keep_if(from, [&](std::size_t i) {
      const std::uint32_t position = scratch_.positions[i];
      return question_.counts(view_.slots[position], view_.ids[position]);
    });
  }

  /// Lowers the bound, for there are more than enough.
  void drop_far() {
    pad();
    const float* const distances = scratch_.distances;
    const float bound = bound_for(distances, count_, question_.capacity, bound_);
    keep_if(0, [&](std::size_t i) { return distances[i] <= bound; });
    bound_ = bound;
    entry_ = std::min(entry_, bound);
    if (count_ > question_.capacity + kSpare) drop_young();
  }

  /// The same where many are equally far: ids decide.
  void drop_young() {
    Neighbour* const all = scratch_.neighbours;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t position = scratch_.positions[i];
      all[i] = {scratch_.distances[i], position, view_.ids[position]};
    }
    std::nth_element(all, all + question_.capacity - 1, all + count_, nearer);
    count_ = question_.capacity;
    bound_ = all[count_ - 1].squared_distance;
    // There are enough: somebody else who is as far as the last of them may be as well left out.
    entry_ = question_.any_of_equals ? std::nextafter(bound_, -1.0F) : bound_;
    for (std::size_t i = 0; i < count_; ++i) {
      scratch_.distances[i] = all[i].squared_distance;
      scratch_.positions[i] = all[i].slot;
    }
  }

  const View& view_;
  const Question& question_;
  const Scratch& scratch_;
  float bound_;  // enough of those found are within this squared distance
  float entry_;  // and who comes now has to be within this one
  std::size_t count_ = 0;
};

/// Offers the points of a bucket to the lists of Q queries.
template <std::size_t Q>
HWY_INLINE void look_into(const View& view, std::size_t bucket, const float* const (&queries)[Q],
                          std::size_t stride, NearestList* const (&lists)[Q]) {
  const std::size_t lanes = hn::Lanes(Tag());
  const std::size_t end = bucket * kBucketSize + view.counts[bucket];
  std::size_t position = bucket * kBucketSize;
  for (; position + lanes < end; position += kVectors * lanes) {
    offer_points<kVectors>(view, position, queries, stride, lists);
  }
  if (position < end) offer_points<1>(view, position, queries, stride, lists);
}

std::uint32_t box_distances(const View& view, const float* lower, const float* upper, float* out) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const hn::Repartition<std::uint32_t, Tag> du;
  Vec smallest = hn::Set(d, std::numeric_limits<float>::infinity());
  auto where = hn::Zero(du);
  auto these = hn::Iota(du, 0);
  for (std::size_t b = 0; b < view.buckets; b += lanes) {
    const std::size_t row = b / kBucketSize * view.dimension * kBucketSize + b % kBucketSize;
    Vec sum = hn::Zero(d);
    for (std::size_t a = 0; a < view.dimension; ++a) {
      sum = hn::Add(sum, squared_gap(hn::Set(d, lower[a]), hn::Set(d, upper[a]),
                                     hn::Load(d, view.lower + row + a * kBucketSize),
                                     hn::Load(d, view.upper + row + a * kBucketSize)));
    }
    hn::StoreU(sum, d, out + b);
    where = hn::IfThenElse(hn::RebindMask(du, hn::Lt(sum, smallest)), these, where);
    these = hn::Add(these, hn::Set(du, static_cast<std::uint32_t>(lanes)));
    smallest = hn::Min(smallest, sum);
  }
  const std::uint64_t bits = bits_of(hn::Eq(smallest, hn::MinOfLanes(d, smallest)));
  alignas(64) std::uint32_t buckets[16];
  hn::Store(where, du, buckets);
  return buckets[std::countr_zero(bits)];
}

std::size_t nearest_to_point(const View& view, const Question& question, std::uint32_t nearest,
                             const float* box_distances, const Scratch& scratch) {
  Search search(view, question, scratch);
  // The nearest bucket first: it gives a bound that leaves some of the others.
  if (!(box_distances[nearest] <= search.bound())) return 0;
  search.look_into(nearest);
  std::size_t left = 0;
  for (std::uint32_t b = 0; b < view.buckets; b += kBucketSize) {
    std::uint64_t bits = bits_within(box_distances + b, search.bound());
    if (view.buckets - b < kBucketSize) bits &= (std::uint64_t{1} << (view.buckets - b)) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const auto bucket = b + static_cast<std::uint32_t>(std::countr_zero(bits));
      scratch.boxes[left] = bucket;
      left += bucket == nearest ? 0 : 1;
    }
  }
  // In a few rounds instead of a sort: those that are near in comparison with the bound lower it
  // before it comes to the others.
  for (const float part : {0.25F, 0.5F, 1.0F}) {
    const float reach = part * search.bound();
    std::size_t now = 0;
    std::size_t later = 0;
    for (std::size_t i = 0; i < left; ++i) {
      const std::uint32_t bucket = scratch.boxes[i];
      const bool close = box_distances[bucket] <= reach;
      scratch.round[now] = bucket;
      scratch.boxes[later] = bucket;
      now += close ? 1 : 0;
      later += close ? 0 : 1;
    }
    for (const std::uint32_t bucket : std::span(scratch.round, now)) {
      if (box_distances[bucket] <= search.bound()) search.look_into(bucket);
    }
    left = later;
  }
  return search.finish();
}

/// One bit for each lane of `bucket` whose point may have a neighbour in the bucket `other` of
/// `boxes`: its distance to the box is not above its bound.
HWY_INLINE std::uint64_t lanes_near_box(const View& view, std::size_t bucket, const View& boxes,
                                        std::size_t other, const float* bounds) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t box = other / kBucketSize * view.dimension * kBucketSize + other % kBucketSize;
  std::uint64_t bits = 0;
  for (std::size_t first = 0; first < view.counts[bucket]; first += lanes) {
    Vec sum = hn::Zero(d);
    for (std::size_t a = 0; a < view.dimension; ++a) {
      const Vec points = hn::Load(d, view.bucket(bucket) + a * kBucketSize + first);
      sum = hn::Add(sum, squared_gap(points, points, hn::Set(d, boxes.lower[box + a * kBucketSize]),
                                     hn::Set(d, boxes.upper[box + a * kBucketSize])));
    }
    bits |= bits_of(hn::Le(sum, hn::Load(d, bounds + first))) << first;
  }
  return bits;
}

void nearest_to_bucket(const View& view, std::uint32_t bucket,
                       std::span<const std::uint32_t> others, NearestList* lists) {
  constexpr std::size_t kTile = 4;
  const float* points = view.bucket(bucket);
  // Lanes without a point are never near anything.
  alignas(64) float bounds[kBucketSize];
  std::fill(bounds, bounds + kBucketSize, -1.0F);
  for (std::size_t i = 0; i < view.counts[bucket]; ++i) bounds[i] = lists[i].bound;
  NearestList nobody;
  nobody.bound = -1.0F;
  for (const std::uint32_t other : others) {
    std::uint64_t bits = lanes_near_box(view, bucket, view, other, bounds);
    while (bits != 0) {
      const float* queries[kTile] = {points, points, points, points};
      NearestList* tile[kTile] = {&nobody, &nobody, &nobody, &nobody};
      std::size_t lane[kTile];
      std::size_t used = 0;
      for (; used < kTile && bits != 0; ++used, bits &= bits - 1) {
        lane[used] = static_cast<std::size_t>(std::countr_zero(bits));
        queries[used] = points + lane[used];
        tile[used] = lists + lane[used];
      }
      look_into<kTile>(view, other, queries, kBucketSize, tile);
      for (std::size_t i = 0; i < used; ++i) bounds[lane[i]] = tile[i]->bound;
    }
  }
}

std::size_t close_pairs(const View& view, std::uint32_t bucket, const float* reach,
                        const View& others, std::uint32_t other, ClosePair* out) {
  constexpr std::size_t kTile = 4;
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t count = view.counts[bucket];
  alignas(64) float bounds[kBucketSize];
  std::fill(bounds, bounds + kBucketSize, -1.0F);
  std::fill(bounds, bounds + others.counts[other], *std::max_element(reach, reach + count));
  std::size_t found = 0;
  std::uint64_t bits = lanes_near_box(others, other, view, bucket, bounds);
  while (bits != 0) {
    const float* queries[kTile];
    std::uint32_t lanes_of[kTile];
    std::size_t used = 0;
    for (; used < kTile && bits != 0; ++used, bits &= bits - 1) {
      lanes_of[used] = static_cast<std::uint32_t>(std::countr_zero(bits));
      queries[used] = others.bucket(other) + lanes_of[used];
    }
    std::fill(queries + used, queries + kTile, queries[0]);
    for (std::size_t first = 0; first < count; first += kVectors * lanes) {
      Vec sums[kTile][kVectors];
      squared_distances<kTile, kVectors>(view.bucket(bucket) + first, view.dimension, queries,
                                         kBucketSize, sums);
      for (std::size_t q = 0; q < kTile; ++q) {
        for (std::size_t v = 0; v < kVectors; ++v) {
          const std::size_t lane = first + v * lanes;
          const auto close = hn::Le(sums[q][v], hn::Load(d, reach + lane));
          if (q >= used || hn::AllFalse(d, close)) continue;
          alignas(64) float distances[16];
          hn::Store(sums[q][v], d, distances);
          for (std::uint64_t hits = bits_of(close); hits != 0; hits &= hits - 1) {
            const auto hit = static_cast<std::size_t>(std::countr_zero(hits));
            out[found++] = {static_cast<std::uint32_t>(lane + hit), lanes_of[q], distances[hit]};
          }
        }
      }
    }
  }
  return found;
}

/// Upper bound of the squared distances between the points of two buckets.
HWY_INLINE float squared_reach(const View& view, std::size_t bucket, std::size_t other) {
  const auto box = [&](std::size_t b) {
    return b / kBucketSize * view.dimension * kBucketSize + b % kBucketSize;
  };
  float sum = 0;
  for (std::size_t a = 0; a < view.dimension; ++a) {
    const std::size_t i = box(bucket) + a * kBucketSize;
    const std::size_t j = box(other) + a * kBucketSize;
    const float reach = std::max(view.upper[i] - view.lower[j], view.upper[j] - view.lower[i]);
    sum += reach * reach;
  }
  return sum;
}

float farthest_from_bucket(const View& view, std::uint32_t bucket, float at_least) {
  const Tag d;
  float farthest = at_least;
  for (std::size_t other = bucket; other < view.buckets; ++other) {
    if (view.counts[other] == 0 || !(squared_reach(view, bucket, other) > farthest)) continue;
    Vec largest = hn::Set(d, farthest);
    for (std::size_t i = 0; i < view.counts[bucket]; ++i) {
      const float* const queries[1] = {view.bucket(bucket) + i};
      for (std::size_t first = 0; first < view.counts[other]; first += kVectors * hn::Lanes(d)) {
        Vec sums[1][kVectors];
        squared_distances<1, kVectors>(view.bucket(other) + first, view.dimension, queries,
                                       kBucketSize, sums);
        // A comparison instead of Max: lanes without a point are NaN.
        for (const Vec sum : sums[0]) {
          largest = hn::IfThenElse(hn::Gt(sum, largest), sum, largest);
        }
      }
    }
    farthest = hn::GetLane(hn::MaxOfLanes(d, largest));
  }
  return farthest;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace aurora::nearest_neighbours
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aurora::nearest_neighbours {

HWY_EXPORT(box_distances);
HWY_EXPORT(nearest_to_point);
HWY_EXPORT(nearest_to_bucket);
HWY_EXPORT(close_pairs);
HWY_EXPORT(farthest_from_bucket);

std::uint32_t box_distances(const View& view, const float* lower, const float* upper, float* out) {
  return HWY_DYNAMIC_DISPATCH(box_distances)(view, lower, upper, out);
}

std::size_t nearest_to_point(const View& view, const Question& question, std::uint32_t nearest,
                             const float* box_distances, const Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(nearest_to_point)(view, question, nearest, box_distances, scratch);
}

void nearest_to_bucket(const View& view, std::uint32_t bucket,
                       std::span<const std::uint32_t> others, NearestList* lists) {
  HWY_DYNAMIC_DISPATCH(nearest_to_bucket)(view, bucket, others, lists);
}

std::size_t close_pairs(const View& view, std::uint32_t bucket, const float* reach,
                        const View& others, std::uint32_t other, ClosePair* out) {
  return HWY_DYNAMIC_DISPATCH(close_pairs)(view, bucket, reach, others, other, out);
}

float farthest_from_bucket(const View& view, std::uint32_t bucket, float at_least) {
  return HWY_DYNAMIC_DISPATCH(farthest_from_bucket)(view, bucket, at_least);
}

}  // namespace aurora::nearest_neighbours
#endif
