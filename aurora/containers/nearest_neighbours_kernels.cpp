// Vectors of fixed size only: groups of them are kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aurora/containers/nearest_neighbours_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
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
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(Tag(), mask, bytes);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < (hn::MaxLanes(Tag()) + 7) / 8; ++i) {
    bits |= std::uint64_t{bytes[i]} << (8 * i);
  }
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

/// Offers the points of a bucket to the list of one query, if any of them may belong there. Takes
/// the lanes without a point along and asks once for many points: a branch that is guessed wrong
/// costs more than the distances of a vector.
HWY_INLINE void look_through(const View& view, std::size_t bucket, const float* query,
                             NearestList& list) {
  constexpr std::size_t kGroup = 4;
  const Tag d;
  const float* const queries[1] = {query};
  const Vec bound = hn::Set(d, list.bound);
  for (std::size_t first = 0; first < kBucketSize; first += kGroup * hn::Lanes(d)) {
    Vec sums[1][kGroup];
    squared_distances<1, kGroup>(view.bucket(bucket) + first, view.dimension, queries, 1, sums);
    auto close = hn::Le(sums[0][0], bound);
    for (std::size_t v = 1; v < kGroup; ++v) close = hn::Or(close, hn::Le(sums[0][v], bound));
    if (hn::AllFalse(d, close)) continue;
    offer_close(view, bucket * kBucketSize + first, sums[0], list);
  }
}

/// Writes the lanes of `values` that the mask names, side by side, and something behind them: a
/// whole vector at most. (Storing them alone is very slow on some processors; without AVX-512,
/// Highway's Compress copies a table of 1 KiB for every call.)
template <class Values, class Mask, class T>
HWY_INLINE void keep(Values values, Mask mask, T* out) {
  const hn::Repartition<T, Tag> d;
#if HWY_TARGET <= HWY_AVX3
  hn::StoreU(hn::Compress(values, hn::RebindMask(d, mask)), d, out);
#else
  alignas(64) T lanes[16];
  hn::Store(values, d, lanes);
  const std::uint64_t bits = bits_of(mask);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    *out = lanes[i];
    out += bits >> i & 1;
  }
#endif
}

/// The squared distances of a bucket's points to a query; NaN in lanes without a point.
struct BucketDistances {
  alignas(64) float lane[kBucketSize];

  std::size_t count_within(float bound) const {
    const Tag d;
    std::size_t count = 0;
    for (std::size_t first = 0; first < kBucketSize; first += hn::Lanes(d)) {
      count += hn::CountTrue(d, hn::Le(hn::Load(d, lane + first), hn::Set(d, bound)));
    }
    return count;
  }

  /// At most `bound`, by halving, such that `wanted` points or a few more are within it, or all are
  /// that are within `bound`.
  float bound_for(std::size_t wanted, float bound) const {
    constexpr std::size_t kMore = 2;
    constexpr int kHalvings = 10;
    const Tag d;
    Vec largest = hn::Zero(d);
    for (std::size_t first = 0; first < kBucketSize; first += hn::Lanes(d)) {
      const Vec distances = hn::Load(d, lane + first);
      largest = hn::IfThenElse(hn::Gt(distances, largest), distances, largest);
    }
    float high = std::min(bound, hn::GetLane(hn::MaxOfLanes(d, largest)));
    float low = 0;
    std::size_t within = count_within(high);
    for (int i = 0; i < kHalvings && within > wanted + kMore; ++i) {
      const float middle = low + 0.5F * (high - low);  // never above `high`
      const std::size_t count = count_within(middle);
      const bool enough = count >= wanted;
      within = enough ? count : within;
      high = enough ? middle : high;
      low = enough ? low : middle;
    }
    return high;
  }
};

/// Offers the points of a bucket to an empty list. No point is put in that falls out again, and
/// each goes to its place by the number of those before it: branches that are guessed wrong cost
/// more than distances.
HWY_INLINE void look_first(const View& view, std::size_t bucket, const float* query,
                           NearestList& list) {
  constexpr std::size_t kGroup = 4;
  const Tag d;
  const hn::Repartition<std::uint32_t, Tag> du;
  const std::size_t lanes = hn::Lanes(d);
  const float* const queries[1] = {query};
  BucketDistances all;
  for (std::size_t first = 0; first < kBucketSize; first += kGroup * lanes) {
    Vec sums[1][kGroup];
    squared_distances<1, kGroup>(view.bucket(bucket) + first, view.dimension, queries, 1, sums);
    for (std::size_t v = 0; v < kGroup; ++v) hn::Store(sums[0][v], d, all.lane + first + v * lanes);
  }
  const std::size_t position = bucket * kBucketSize;
  const bool anybody = list.takes_anybody();
  // Whoever is excluded takes no place.
  const std::size_t wanted = list.capacity + (list.excluded == NeighbourIndex::kNoSlot ? 0 : 1);
  const float bound = anybody ? all.bound_for(wanted, list.bound) : list.bound;
  float near[kBucketSize + 16];
  std::uint32_t lane[kBucketSize + 16];
  std::size_t count = 0;
  for (std::size_t first = 0; first < kBucketSize; first += lanes) {
    const Vec distances = hn::Load(d, all.lane + first);
    const auto close = hn::Le(distances, hn::Set(d, bound));
    keep(distances, close, near + count);
    keep(hn::Iota(du, static_cast<std::uint32_t>(first)), close, lane + count);
    count += hn::CountTrue(d, close);
  }
  hn::StoreU(hn::Set(d, std::numeric_limits<float>::quiet_NaN()), d, near + count);
  bool ties = !anybody;
  std::uint8_t before[kBucketSize];
  for (std::size_t i = 0; i < count && anybody; ++i) {
    std::size_t below = 0;
    std::size_t not_above = 0;
    for (std::size_t first = 0; first < count; first += lanes) {
      const Vec others = hn::LoadU(d, near + first);
      below += hn::CountTrue(d, hn::Lt(others, hn::Set(d, near[i])));
      not_above += hn::CountTrue(d, hn::Le(others, hn::Set(d, near[i])));
    }
    before[i] = static_cast<std::uint8_t>(below);
    ties |= not_above != below + 1;
  }
  if (ties) {
    for (std::size_t i = 0; i < count; ++i) {
      if (near[i] > list.bound) continue;
      list.offer({near[i], view.slots[position + lane[i]], view.ids[position + lane[i]]});
    }
    return;
  }
  std::size_t excluded = kBucketSize;
  for (std::size_t i = 0; i < count; ++i) {
    if (view.slots[position + lane[i]] == list.excluded) excluded = before[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = before[i] - (before[i] > excluded ? 1U : 0U);
    if (before[i] == excluded || place >= list.capacity) continue;
    list.items[place] = {near[i], view.slots[position + lane[i]], view.ids[position + lane[i]]};
  }
  list.count = std::min(list.capacity, count - (excluded < kBucketSize ? 1U : 0U));
  if (list.count == list.capacity) list.bound = list.items[list.count - 1].squared_distance;
}

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
  Vec smallest = hn::Set(d, std::numeric_limits<float>::infinity());
  for (std::size_t b = 0; b < view.buckets; b += lanes) {
    const std::size_t row = b / kBucketSize * view.dimension * kBucketSize + b % kBucketSize;
    Vec sum = hn::Zero(d);
    for (std::size_t a = 0; a < view.dimension; ++a) {
      sum = hn::Add(sum, squared_gap(hn::Set(d, lower[a]), hn::Set(d, upper[a]),
                                     hn::Load(d, view.lower + row + a * kBucketSize),
                                     hn::Load(d, view.upper + row + a * kBucketSize)));
    }
    hn::StoreU(sum, d, out + b);
    smallest = hn::Min(smallest, sum);
  }
  const Vec minimum = hn::MinOfLanes(d, smallest);
  for (std::size_t b = 0; b < view.buckets; b += lanes) {
    const std::uint64_t bits = bits_of(hn::Eq(hn::LoadU(d, out + b), minimum));
    if (bits != 0) return static_cast<std::uint32_t>(b + std::countr_zero(bits));
  }
  return 0;
}

void nearest_to_point(const View& view, const float* query, std::uint32_t nearest,
                      const float* box_distances, const NearBoxes& boxes, NearestList& list) {
  const Tag d;
  const hn::Repartition<std::uint32_t, Tag> du;
  const std::size_t lanes = hn::Lanes(d);
  // The nearest bucket first: it gives a bound that leaves some of the others.
  if (!(box_distances[nearest] <= list.bound)) return;
  look_first(view, nearest, query, list);
  std::size_t left = 0;
  const Vec bound = hn::Set(d, list.bound);
  for (std::size_t b = 0; b < view.buckets; b += lanes) {
    const Vec distance = hn::LoadU(d, box_distances + b);
    const auto close = hn::And(hn::Le(distance, bound), hn::FirstN(d, view.buckets - b));
    if (hn::AllFalse(d, close)) continue;
    keep(hn::Iota(du, static_cast<std::uint32_t>(b)), close, boxes.buckets + left);
    keep(distance, close, boxes.distances + left);
    left += hn::CountTrue(d, close);
  }
  // In a few rounds instead of a sort: those that are near in comparison with the bound lower it
  // before it comes to the others.
  for (const float part : {0.25F, 0.5F, 1.0F}) {
    if (left == 0) break;
    const Vec reach = hn::Set(d, part * list.bound);
    std::size_t now = 0;
    std::size_t later = 0;
    for (std::size_t i = 0; i < left; i += lanes) {
      const Vec distance = hn::LoadU(d, boxes.distances + i);
      const auto buckets = hn::LoadU(du, boxes.buckets + i);
      const auto used = hn::FirstN(d, left - i);
      const auto close = hn::And(hn::Le(distance, reach), used);
      const auto far = hn::AndNot(close, used);
      keep(buckets, close, boxes.round + now);
      keep(buckets, far, boxes.buckets + later);
      keep(distance, far, boxes.distances + later);
      now += hn::CountTrue(d, close);
      later += hn::CountTrue(d, far);
    }
    for (const std::uint32_t bucket : std::span(boxes.round, now)) {
      if (bucket == nearest || box_distances[bucket] > list.bound) continue;
      look_through(view, bucket, query, list);
    }
    left = later;
  }
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

void nearest_to_point(const View& view, const float* query, std::uint32_t nearest,
                      const float* box_distances, const NearBoxes& boxes, NearestList& list) {
  HWY_DYNAMIC_DISPATCH(nearest_to_point)(view, query, nearest, box_distances, boxes, list);
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
