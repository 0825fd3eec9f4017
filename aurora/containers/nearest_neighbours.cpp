#include "aurora/containers/nearest_neighbours.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "aurora/containers/nearest_neighbours_kernels.hpp"

namespace aurora {
namespace {

using nearest_neighbours::NearestList;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kBucketsPerChunk = 4;

std::size_t rounded_up(std::size_t n) {
  return (n + NeighbourIndex::kBucketSize - 1) / NeighbourIndex::kBucketSize *
         NeighbourIndex::kBucketSize;
}

}  // namespace

double mean_distance(std::span<const float> squares) {
  double sum = 0;
  for (const float square : squares) sum += std::sqrt(static_cast<double>(square));
  return squares.empty() ? 0 : sum / static_cast<double>(squares.size());
}

double mean_distance(std::span<const Neighbour> neighbours) {
  double sum = 0;
  for (const Neighbour& n : neighbours) sum += std::sqrt(static_cast<double>(n.squared_distance));
  return neighbours.empty() ? 0 : sum / static_cast<double>(neighbours.size());
}

float squared_radius(double radius) {
  if (!(radius >= 0)) return -1;
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (radius >= std::sqrt(static_cast<double>(kLargest))) {
    return std::isinf(radius) ? kInfinity : kLargest;
  }
  const auto inside = [&](float square) {
    return std::sqrt(static_cast<double>(square)) <= radius;
  };
  // The square rounded to float is at most a few floats off.
  auto square = static_cast<float>(radius * radius);
  while (!inside(square)) square = std::nextafter(square, 0.0F);
  for (float next = 0; inside(next = std::nextafter(square, kInfinity));) square = next;
  return square;
}

struct NeighbourIndex::Access : nearest_neighbours::View {};
struct NeighbourIndex::Question : nearest_neighbours::Question {};

NeighbourIndex::NeighbourIndex(std::size_t dimension) : dimension_(dimension) {
  assert(dimension > 0);
}

NeighbourIndex::Access NeighbourIndex::access() const {
  const auto floats = [](const std::vector<Row>& rows) {
    return rows.empty() ? nullptr : rows.front().lane.data();
  };
  return {{.points = floats(points_),
           .lower = floats(lower_),
           .upper = floats(upper_),
           .counts = counts_.data(),
           .slots = slots_.data(),
           .ids = ids_.data(),
           .buckets = counts_.size(),
           .dimension = dimension_}};
}

void NeighbourIndex::insert(std::size_t slot, std::span<const float> point, std::uint64_t id) {
  std::uint32_t bucket = 0;
  if (!counts_.empty()) {
    scratch_.resize(rounded_up(counts_.size()));
    bucket =
        nearest_neighbours::box_distances(access(), point.data(), point.data(), scratch_.data());
  }
  insert_into(bucket, slot, point, id);
}

void NeighbourIndex::insert(std::size_t slot, std::span<const float> point, std::uint64_t id,
                            const Workspace& workspace) {
  insert_into(workspace.nearest_bucket_, slot, point, id);
}

void NeighbourIndex::insert_into(std::uint32_t bucket, std::size_t slot,
                                 std::span<const float> point, std::uint64_t id) {
  assert(point.size() == dimension_ && !contains(slot) && slot < kNoSlot);
  if (counts_.empty()) new_bucket();
  assert(bucket < counts_.size());
  if (counts_[bucket] == kBucketSize) bucket = split(bucket, point);
  if (slot >= positions_.size()) positions_.resize(slot + 1, kNoSlot);
  const auto position = static_cast<std::uint32_t>(bucket * kBucketSize + counts_[bucket]++);
  positions_[slot] = position;
  slots_[position] = static_cast<std::uint32_t>(slot);
  ids_[position] = id;
  newest_ = std::max(newest_, id);
  for (std::size_t a = 0; a < dimension_; ++a) {
    coordinate(position, a) = point[a];
    lower(bucket, a) = std::min(lower(bucket, a), point[a]);
    upper(bucket, a) = std::max(upper(bucket, a), point[a]);
  }
  ++size_;
}

std::uint32_t NeighbourIndex::new_bucket() {
  while (!empty_.empty()) {
    const std::uint32_t bucket = empty_.back();
    empty_.pop_back();
    if (counts_[bucket] == 0) return bucket;  // it may have been filled again
  }
  const auto bucket = static_cast<std::uint32_t>(counts_.size());
  counts_.push_back(0);
  slots_.resize(slots_.size() + kBucketSize);
  ids_.resize(ids_.size() + kBucketSize);
  Row row;
  row.lane.fill(kNaN);
  points_.resize(points_.size() + dimension_, row);
  if (bucket % kBucketSize == 0) {
    row.lane.fill(kInfinity);
    lower_.resize(lower_.size() + dimension_, row);
    row.lane.fill(-kInfinity);
    upper_.resize(upper_.size() + dimension_, row);
  }
  return bucket;
}

/// Moves half of a full bucket to another one; returns which of the two is for `point`.
std::uint32_t NeighbourIndex::split(std::uint32_t bucket, std::span<const float> point) {
  fit_box(bucket);
  std::size_t axis = 0;
  for (std::size_t a = 1; a < dimension_; ++a) {
    if (upper(bucket, a) - lower(bucket, a) > upper(bucket, axis) - lower(bucket, axis)) axis = a;
  }
  std::array<std::uint32_t, kBucketSize> order;
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(bucket * kBucketSize));
  const auto middle = order.begin() + kBucketSize / 2;
  std::nth_element(order.begin(), middle, order.end(), [&](std::uint32_t i, std::uint32_t j) {
    return coordinate(i, axis) < coordinate(j, axis);
  });
  const float median = coordinate(*middle, axis);
  // The upper half goes; the holes are filled from the end, so take the last lanes first.
  const std::uint32_t other = new_bucket();
  std::sort(middle, order.end(), std::greater<>());
  for (auto from = middle; from != order.end(); ++from) {
    place(static_cast<std::uint32_t>(other * kBucketSize + counts_[other]++), *from);
    vacate(*from);
  }
  fit_box(bucket);
  fit_box(other);
  return point[axis] < median ? bucket : other;
}

/// Copies the point at position `from` to a free position.
void NeighbourIndex::place(std::uint32_t position, std::uint32_t from) {
  for (std::size_t a = 0; a < dimension_; ++a) coordinate(position, a) = coordinate(from, a);
  slots_[position] = slots_[from];
  ids_[position] = ids_[from];
  positions_[slots_[from]] = position;
}

/// Forgets the point at `position`: the last of its bucket takes its place.
void NeighbourIndex::vacate(std::uint32_t position) {
  const std::size_t bucket = position / kBucketSize;
  const auto last = static_cast<std::uint32_t>(bucket * kBucketSize + --counts_[bucket]);
  if (position != last) place(position, last);
  for (std::size_t a = 0; a < dimension_; ++a) coordinate(last, a) = kNaN;
}

/// Makes the box of a bucket as tight as its points allow.
void NeighbourIndex::fit_box(std::uint32_t bucket) {
  for (std::size_t a = 0; a < dimension_; ++a) {
    const auto& row = points_[bucket * dimension_ + a].lane;
    float low = row[0];
    float high = row[0];
    for (std::size_t i = 1; i < counts_[bucket]; ++i) {
      low = std::min(low, row[i]);
      high = std::max(high, row[i]);
    }
    lower(bucket, a) = low;
    upper(bucket, a) = high;
  }
}

void NeighbourIndex::copy_box(std::uint32_t bucket, std::span<float> low,
                              std::span<float> high) const {
  for (std::size_t a = 0; a < dimension_; ++a) {
    const std::size_t row = bucket / kBucketSize * dimension_ + a;
    low[a] = lower_[row].lane[bucket % kBucketSize];
    high[a] = upper_[row].lane[bucket % kBucketSize];
  }
}

void NeighbourIndex::tighten() {
  for (std::uint32_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] > 0) fit_box(bucket);
  }
}

void NeighbourIndex::empty_box(std::uint32_t bucket) {
  for (std::size_t a = 0; a < dimension_; ++a) {
    lower(bucket, a) = kInfinity;
    upper(bucket, a) = -kInfinity;
  }
}

void NeighbourIndex::erase(std::size_t slot) {
  assert(contains(slot));
  const std::uint32_t position = positions_[slot];
  const auto bucket = static_cast<std::uint32_t>(position / kBucketSize);
  vacate(position);
  positions_[slot] = kNoSlot;
  --size_;
  if (counts_[bucket] == 0) {
    empty_box(bucket);
    empty_.push_back(bucket);
  }
}

void NeighbourIndex::rename(std::size_t from, std::size_t to) {
  assert(contains(from) && !contains(to));
  if (to >= positions_.size()) positions_.resize(to + 1, kNoSlot);
  positions_[to] = positions_[from];
  slots_[positions_[to]] = static_cast<std::uint32_t>(to);
  positions_[from] = kNoSlot;
}

void NeighbourIndex::clear() {
  size_ = 0;
  newest_ = 0;
  points_.clear();
  counts_.clear();
  slots_.clear();
  ids_.clear();
  lower_.clear();
  upper_.clear();
  positions_.clear();
  empty_.clear();
}

std::span<const Neighbour> NeighbourIndex::nearest(std::span<const float> query, std::size_t k,
                                                   Workspace& workspace, float max_squared_distance,
                                                   std::uint32_t excluded,
                                                   std::uint64_t older_than) const {
  assert(query.size() == dimension_);
  const bool there = excluded != kNoSlot && contains(excluded);
  return answer({{.point = query.data(),
                  .capacity = k,
                  .bound = max_squared_distance,
                  .excluded = there ? positions_[excluded] : kNoSlot,
                  .older_than = older_than > newest_ ? kAnyAge : older_than}},
                workspace);
}

std::span<const Neighbour> NeighbourIndex::nearest_fitter(std::span<const float> query,
                                                          std::size_t k, Workspace& workspace,
                                                          std::span<const float> fitness,
                                                          float than, std::uint64_t id) const {
  assert(query.size() == dimension_);
  return answer({{.point = query.data(),
                  .capacity = k,
                  .bound = kInfinity,
                  .older_than = id,
                  .fitness = fitness.data(),
                  .fitter_than = than,
                  .any_of_equals = true}},
                workspace);
}

std::span<const Neighbour> NeighbourIndex::answer(const Question& question,
                                                  Workspace& workspace) const {
  assert(question.capacity > 0);
  if (counts_.empty()) {
    workspace.nearest_bucket_ = 0;
    return {};
  }
  const std::size_t boxes = rounded_up(counts_.size());
  workspace.box_distances_.resize(boxes);
  workspace.boxes_.resize(boxes);
  workspace.round_.resize(boxes);
  const std::size_t points = nearest_neighbours::room_for(question.capacity);
  if (workspace.neighbours_.size() < points) {
    workspace.distances_.resize(points);
    workspace.positions_.resize(points);
    workspace.neighbours_.resize(points);
  }
  const Access view = access();
  float* const distances = workspace.box_distances_.data();
  workspace.nearest_bucket_ =
      nearest_neighbours::box_distances(view, question.point, question.point, distances);
  const std::size_t found =
      nearest_neighbours::nearest_to_point(view, question, workspace.nearest_bucket_, distances,
                                           {.boxes = workspace.boxes_.data(),
                                            .round = workspace.round_.data(),
                                            .distances = workspace.distances_.data(),
                                            .positions = workspace.positions_.data(),
                                            .neighbours = workspace.neighbours_.data()});
  return {workspace.neighbours_.data(), found};
}

void NeighbourIndex::nearest_of_all(
    std::size_t k, Workers& workers,
    const std::function<void(std::uint32_t, std::span<const Neighbour>)>& visit) const {
  assert(k > 0);
  const Access view = access();
  workers.parallel_for(counts_.size(), kBucketsPerChunk, [&](std::size_t begin, std::size_t end) {
    std::vector<Neighbour> items(kBucketSize * k);
    std::vector<float> distances(rounded_up(counts_.size()));
    std::vector<float> low(dimension_);
    std::vector<float> high(dimension_);
    std::vector<float> middle(dimension_);
    std::vector<std::uint32_t> others;
    std::array<NearestList, kBucketSize> lists;
    for (auto bucket = static_cast<std::uint32_t>(begin); bucket < end; ++bucket) {
      if (counts_[bucket] == 0) continue;
      const std::span used(lists.data(), counts_[bucket]);
      for (std::size_t i = 0; i < used.size(); ++i) {
        used[i] = {.items = items.data() + i * k,
                   .capacity = k,
                   .excluded = slots_[bucket * kBucketSize + i],
                   .bound = kInfinity};
      }
      // The bucket itself gives the first bounds. Of the others, those whose box is near enough to
      // its box, in the order of their distance from its middle.
      nearest_neighbours::nearest_to_bucket(view, bucket, {&bucket, 1}, lists.data());
      const float bound = std::ranges::max(used, {}, &NearestList::bound).bound;
      copy_box(bucket, low, high);
      std::ranges::transform(low, high, middle.begin(),
                             [](float l, float h) { return std::midpoint(l, h); });
      nearest_neighbours::box_distances(view, low.data(), high.data(), distances.data());
      others.clear();
      for (std::uint32_t b = 0; b < counts_.size(); ++b) {
        if (b != bucket && distances[b] <= bound) others.push_back(b);
      }
      nearest_neighbours::box_distances(view, middle.data(), middle.data(), distances.data());
      std::ranges::sort(others, {}, [&](std::uint32_t b) { return distances[b]; });
      nearest_neighbours::nearest_to_bucket(view, bucket, others, lists.data());
      for (const NearestList& list : used) visit(list.excluded, {list.items, list.count});
    }
  });
}

void NeighbourIndex::close_pairs(
    const NeighbourIndex& others, std::span<const float> reach, Workers& workers,
    const std::function<void(std::uint32_t, std::uint32_t, float)>& visit) const {
  assert(others.dimension_ == dimension_);
  using nearest_neighbours::ClosePair;
  const Access view = access();
  const Access other_view = others.access();
  if (others.counts_.empty()) return;
  workers.parallel_for(counts_.size(), kBucketsPerChunk, [&](std::size_t begin, std::size_t end) {
    std::vector<ClosePair> pairs(kBucketSize * kBucketSize);
    std::vector<float> distances(rounded_up(others.counts_.size()));
    std::vector<float> low(dimension_);
    std::vector<float> high(dimension_);
    Row reach_of_lanes;
    for (auto bucket = static_cast<std::uint32_t>(begin); bucket < end; ++bucket) {
      if (counts_[bucket] == 0) continue;
      const std::uint32_t* const slots = slots_.data() + bucket * kBucketSize;
      reach_of_lanes.lane.fill(-1);
      for (std::size_t i = 0; i < counts_[bucket]; ++i) reach_of_lanes.lane[i] = reach[slots[i]];
      copy_box(bucket, low, high);
      nearest_neighbours::box_distances(other_view, low.data(), high.data(), distances.data());
      const float farthest = std::ranges::max(reach_of_lanes.lane);
      for (std::uint32_t other = 0; other < others.counts_.size(); ++other) {
        if (!(distances[other] <= farthest)) continue;
        const std::uint32_t* const other_slots = others.slots_.data() + other * kBucketSize;
        const std::size_t found = nearest_neighbours::close_pairs(
            view, bucket, reach_of_lanes.lane.data(), other_view, other, pairs.data());
        for (const ClosePair& pair : std::span(pairs.data(), found)) {
          visit(slots[pair.lane], other_slots[pair.other], pair.squared_distance);
        }
      }
    }
  });
}

std::vector<float> NeighbourIndex::mean_distances(std::size_t k, Workers& workers) const {
  std::vector<float> means(positions_.size());
  nearest_of_all(k, workers, [&](std::uint32_t slot, std::span<const Neighbour> neighbours) {
    means[slot] = static_cast<float>(mean_distance(neighbours));
  });
  return means;
}

float NeighbourIndex::squared_diameter(Workers& workers) const {
  const Access view = access();
  std::vector<float> farthest(counts_.size());
  if (counts_.empty()) return 0;
  // Every chunk starts from what the first bucket found: enough for its boxes to prune.
  const float start = nearest_neighbours::farthest_from_bucket(view, 0, 0);
  workers.parallel_for(counts_.size(), kBucketsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      farthest[b] = nearest_neighbours::farthest_from_bucket(view, static_cast<std::uint32_t>(b),
                                                             b == begin ? start : farthest[b - 1]);
    }
  });
  return std::ranges::max(farthest);
}

}  // namespace aurora
