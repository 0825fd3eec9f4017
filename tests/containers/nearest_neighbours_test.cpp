#include "aurora/containers/nearest_neighbours.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "aurora/core/random.hpp"

namespace aurora {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Scatter { uniform, lattice, one_point, huge };

struct Point {
  std::vector<float> x;
  std::uint64_t id;
};

std::vector<float> random_point(Scatter scatter, std::size_t n, Stream& draw) {
  std::vector<float> x(n);
  for (float& value : x) {
    switch (scatter) {
      case Scatter::uniform:
        value = static_cast<float>(draw.normal());
        break;
      case Scatter::lattice:
        value = static_cast<float>(draw.below(4));
        break;
      case Scatter::one_point:
        value = 0.5F;
        break;
      case Scatter::huge:
        value = static_cast<float>(1e25 * draw.normal());
        break;
    }
  }
  return x;
}

/// The points of an index by slot, and what plain loops say of them.
struct Oracle {
  std::map<std::uint32_t, Point> points;

  static float squared_distance(const std::vector<float>& a, std::span<const float> b) {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float difference = a[i] - b[i];
      const float square = difference * difference;
      sum = sum + square;
    }
    return sum;
  }

  std::vector<Neighbour> nearest(std::span<const float> query, std::size_t k,
                                 float radius = kInfinity,
                                 std::uint32_t excluded = NeighbourIndex::kNoSlot,
                                 std::uint64_t older_than = NeighbourIndex::kAnyAge) const {
    std::vector<Neighbour> all;
    for (const auto& [slot, point] : points) {
      const float d = squared_distance(point.x, query);
      if (slot == excluded || point.id >= older_than || !(d <= radius)) continue;
      all.push_back({d, slot, point.id});
    }
    std::ranges::sort(all, {},
                      [](const Neighbour& n) { return std::pair(n.squared_distance, n.id); });
    all.resize(std::min(all.size(), k));
    return all;
  }
};

/// An index after random insertions, removals and renamings, and its oracle.
struct Pair {
  NeighbourIndex index;
  Oracle oracle;

  Pair(Scatter scatter, std::size_t n, std::size_t operations, Stream& draw) : index(n) {
    std::uint64_t next_id = 1000;
    std::uint32_t next_slot = 0;
    const auto random_slot = [&] {
      auto it = oracle.points.begin();
      std::advance(it, draw.below(oracle.points.size()));
      return it->first;
    };
    NeighbourIndex::Workspace workspace;
    for (std::size_t i = 0; i < operations; ++i) {
      const double what = oracle.points.empty() ? 0 : draw.uniform();
      if (what < 0.8) {
        // Ids neither dense nor in the order of insertion.
        const std::uint64_t id = (next_id++ * 7919) % 104729;
        const Point point{random_point(scatter, n, draw), id};
        if (what < 0.4) {
          index.insert(next_slot, point.x, id);
        } else {
          index.nearest(point.x, 2, workspace, 0.5F);
          index.insert(next_slot, point.x, id, workspace);
        }
        oracle.points[next_slot++] = point;
      } else if (what < 0.9) {
        const std::uint32_t slot = random_slot();
        index.erase(slot);
        oracle.points.erase(slot);
      } else {
        const std::uint32_t from = random_slot();
        index.rename(from, next_slot);
        oracle.points[next_slot++] = oracle.points[from];
        oracle.points.erase(from);
      }
    }
  }
};

class Nearest : public testing::TestWithParam<std::size_t> {};

TEST_P(Nearest, EqualsPlainLoops) {
  const std::size_t n = GetParam();
  Stream draw(1, Purpose::user);
  for (const Scatter scatter :
       {Scatter::uniform, Scatter::lattice, Scatter::one_point, Scatter::huge}) {
    for (const std::size_t operations : {0U, 1U, 5U, 60U, 100U, 1000U, 8000U}) {
      const Pair pair(scatter, n, operations, draw);
      ASSERT_EQ(pair.index.size(), pair.oracle.points.size());
      NeighbourIndex::Workspace workspace;
      for (int i = 0; i < 40; ++i) {
        const std::vector<float> query = random_point(scatter, n, draw);
        // Also more than the nearest bucket can hold.
        const std::size_t k = 1 + draw.below(draw.uniform() < 0.8 ? 20 : 300);
        const float radius =
            draw.uniform() < 0.5 ? kInfinity : static_cast<float>(draw.below(4) * n) / 2;
        std::uint32_t excluded = NeighbourIndex::kNoSlot;
        if (!pair.oracle.points.empty() && draw.uniform() < 0.5) {
          excluded = pair.oracle.points.begin()->first;
        }
        const std::uint64_t older_than =
            draw.uniform() < 0.7 ? NeighbourIndex::kAnyAge : draw.below(104729);
        const auto found = pair.index.nearest(query, k, workspace, radius, excluded, older_than);
        const auto expected = pair.oracle.nearest(query, k, radius, excluded, older_than);
        ASSERT_EQ(std::vector(found.begin(), found.end()), expected)
            << "scatter " << static_cast<int>(scatter) << ", " << operations
            << " operations, query " << i;
      }
    }
  }
}

TEST_P(Nearest, OfAllAndDiameterEqualPlainLoopsOnAnyNumberOfThreads) {
  const std::size_t n = GetParam();
  Stream draw(2, Purpose::user);
  for (const Scatter scatter :
       {Scatter::uniform, Scatter::lattice, Scatter::one_point, Scatter::huge}) {
    for (const std::size_t operations : {1U, 2U, 70U, 900U}) {
      const Pair pair(scatter, n, operations, draw);
      for (const std::size_t threads : {1U, 3U}) {
        Workers workers(threads);
        std::mutex mutex;
        std::map<std::uint32_t, std::vector<Neighbour>> found;
        pair.index.nearest_of_all(
            16, workers, [&](std::uint32_t slot, std::span<const Neighbour> neighbours) {
              const std::scoped_lock lock(mutex);
              EXPECT_TRUE(
                  found.emplace(slot, std::vector(neighbours.begin(), neighbours.end())).second);
            });
        float diameter = 0;
        for (const auto& [slot, point] : pair.oracle.points) {
          ASSERT_EQ(found[slot], pair.oracle.nearest(point.x, 16, kInfinity, slot));
          for (const auto& [other, other_point] : pair.oracle.points) {
            diameter = std::max(diameter, Oracle::squared_distance(point.x, other_point.x));
          }
        }
        EXPECT_EQ(found.size(), pair.oracle.points.size());
        EXPECT_EQ(pair.index.squared_diameter(workers), diameter);
      }
    }
  }
}

TEST_P(Nearest, FitterOnesEqualPlainLoops) {
  const std::size_t n = GetParam();
  Stream draw(8, Purpose::user);
  for (const Scatter scatter :
       {Scatter::uniform, Scatter::lattice, Scatter::one_point, Scatter::huge}) {
    for (const std::size_t operations : {0U, 1U, 60U, 1000U, 4000U}) {
      const Pair pair(scatter, n, operations, draw);
      std::vector<float> fitness(operations + 1);
      for (float& f : fitness) f = static_cast<float>(draw.below(6)) - 3;  // many are equal
      NeighbourIndex::Workspace workspace;
      for (int i = 0; i < 40; ++i) {
        const std::vector<float> query = random_point(scatter, n, draw);
        const std::size_t k = 1 + draw.below(draw.uniform() < 0.8 ? 20 : 300);
        const float than = static_cast<float>(draw.below(8)) - 4;
        const std::uint64_t id = draw.below(104729);
        Oracle fitter;
        for (const auto& [slot, point] : pair.oracle.points) {
          const bool better = fitness[slot] > than || (fitness[slot] == than && point.id < id);
          if (better) fitter.points[slot] = point;
        }
        const auto found = pair.index.nearest_fitter(query, k, workspace, fitness, than, id);
        // Of those who are equally far as the last of them any will do.
        const std::vector<Neighbour> all = fitter.nearest(query, fitter.points.size() + 1);
        const std::string where = "scatter " + std::to_string(static_cast<int>(scatter)) + ", " +
                                  std::to_string(operations) + " operations";
        ASSERT_EQ(found.size(), std::min(k, all.size())) << where;
        std::set<std::uint32_t> slots;
        for (std::size_t j = 0; j < found.size(); ++j) {
          ASSERT_EQ(found[j].squared_distance, all[j].squared_distance) << where;
          ASSERT_NE(std::ranges::find(all, found[j]), all.end()) << where;
          slots.insert(found[j].slot);
        }
        ASSERT_EQ(slots.size(), found.size()) << where;
      }
    }
  }
}

TEST_P(Nearest, ClosePairsEqualPlainLoopsOnAnyNumberOfThreads) {
  const std::size_t n = GetParam();
  Stream draw(6, Purpose::user);
  for (const Scatter scatter :
       {Scatter::uniform, Scatter::lattice, Scatter::one_point, Scatter::huge}) {
    for (const std::size_t operations : {0U, 1U, 70U, 500U}) {
      const Pair pair(scatter, n, operations, draw);
      const Pair others(scatter, n, 1 + operations / 3, draw);
      // Every pair, about half of them, and for some points none.
      std::vector<float> reach(operations + 1);
      for (float& r : reach) {
        r = static_cast<float>(draw.below(5) * n) / 2 - 1;
        if (draw.uniform() < 0.1) r = kInfinity;
      }
      using Found = std::pair<std::uint32_t, float>;  // who, and how far away
      std::map<std::uint32_t, std::vector<Found>> expected;
      for (const auto& [slot, point] : pair.oracle.points) {
        for (const auto& [other, place] : others.oracle.points) {
          const float d = Oracle::squared_distance(point.x, place.x);
          if (d <= reach[slot]) expected[slot].emplace_back(other, d);
        }
      }
      for (const std::size_t threads : {1U, 3U}) {
        Workers workers(threads);
        std::mutex mutex;
        std::map<std::uint32_t, std::vector<Found>> found;
        pair.index.close_pairs(others.index, reach, workers,
                               [&](std::uint32_t slot, std::uint32_t other, float d) {
                                 const std::scoped_lock lock(mutex);
                                 found[slot].emplace_back(other, d);
                               });
        for (auto& pairs : found) std::ranges::sort(pairs.second);
        ASSERT_EQ(found, expected) << "scatter " << static_cast<int>(scatter);
      }
    }
  }
}

/// Everything an index of these points can say, bit by bit.
std::vector<std::uint32_t> answers(std::size_t n) {
  Stream draw(3, Purpose::user);
  NeighbourIndex index(n);
  std::vector<std::vector<float>> points;
  for (std::size_t i = 0; i < 500; ++i) {
    points.push_back(random_point(Scatter::uniform, n, draw));
    index.insert(i, points.back(), i);
  }
  std::vector<std::uint32_t> bits;
  NeighbourIndex::Workspace workspace;
  for (const auto& query : points) {
    for (const Neighbour& found : index.nearest(query, 16, workspace)) {
      bits.push_back(std::bit_cast<std::uint32_t>(found.squared_distance));
      bits.push_back(found.slot);
    }
  }
  Workers one(1);
  for (const float mean : index.mean_distances(15, one)) {
    bits.push_back(std::bit_cast<std::uint32_t>(mean));
  }
  std::vector<std::pair<std::uint32_t, float>> pairs;  // they come in no special order
  index.close_pairs(
      index, std::vector<float>(500, static_cast<float>(n) / 2), one,
      [&](std::uint32_t slot, std::uint32_t, float d) { pairs.emplace_back(slot, d); });
  std::ranges::sort(pairs);
  for (const auto& [slot, d] : pairs) bits.push_back(std::bit_cast<std::uint32_t>(d) + slot);
  bits.push_back(std::bit_cast<std::uint32_t>(index.squared_diameter(one)));
  return bits;
}

TEST_P(Nearest, SameBitsOnEveryInstructionSet) {
  const std::vector<std::uint32_t> expected = answers(GetParam());
  std::size_t targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1, ++targets) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(answers(GetParam()), expected) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GE(targets, 1U);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Nearest, testing::Values(1, 2, 3, 5, 10, 20));

TEST(NeighbourIndex, OfEqualDistancesTheSmallerIdIsNearer) {
  NeighbourIndex index(1);
  const float zero = 0;
  const float left = -1;
  const float right = 1;
  index.insert(0, {&right, 1}, 30);
  index.insert(1, {&left, 1}, 10);
  index.insert(2, {&right, 1}, 20);
  NeighbourIndex::Workspace workspace;
  const auto found = index.nearest({&zero, 1}, 2, workspace);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (Neighbour{1, 1, 10}));
  EXPECT_EQ(found[1], (Neighbour{1, 2, 20}));
}

TEST(NeighbourIndex, StartsAfreshAfterClearAndAfterLosingAll) {
  Stream draw(4, Purpose::user);
  NeighbourIndex index(2);
  for (int round = 0; round < 4; ++round) {
    Oracle oracle;
    for (std::uint32_t i = 0; i < 300; ++i) {
      oracle.points[i] = {random_point(Scatter::uniform, 2, draw), i};
      index.insert(i, oracle.points[i].x, i);
    }
    NeighbourIndex::Workspace workspace;
    const auto found = index.nearest(std::vector<float>{0, 0}, 5, workspace);
    EXPECT_EQ(std::vector(found.begin(), found.end()), oracle.nearest(std::vector<float>{0, 0}, 5));
    if (round % 2 == 0) {
      index.clear();
    } else {
      for (std::uint32_t i = 0; i < 300; ++i) index.erase(i);
    }
    EXPECT_EQ(index.size(), 0U);
    EXPECT_FALSE(index.contains(0));
    EXPECT_TRUE(index.nearest(std::vector<float>{0, 0}, 5, workspace).empty());
  }
}

TEST(SquaredRadius, IsTheLargestFloatInside) {
  Stream draw(5, Purpose::user);
  for (int i = 0; i < 100'000; ++i) {
    const double radius = std::pow(10.0, 60 * draw.uniform() - 40);
    const float square = squared_radius(radius);
    ASSERT_LE(std::sqrt(double{square}), radius);
    ASSERT_GT(std::sqrt(double{std::nextafter(square, kInfinity)}), radius);
  }
  EXPECT_EQ(squared_radius(0), 0);
  EXPECT_LT(squared_radius(-1), 0);
  EXPECT_LT(squared_radius(std::nan("")), 0);
  EXPECT_EQ(squared_radius(kInfinity), kInfinity);
  EXPECT_EQ(squared_radius(1e30), std::numeric_limits<float>::max());
  EXPECT_EQ(squared_radius(2), 4);
}

}  // namespace
}  // namespace aurora
