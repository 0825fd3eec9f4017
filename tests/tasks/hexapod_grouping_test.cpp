#include "aurora/tasks/hexapod/grouping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "aurora/core/random.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::uint64_t kSeed = 5;

std::vector<Touches> random_touches(std::size_t count) {
  std::vector<Touches> robots(count);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(kSeed, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
    for (std::size_t& contacts : robots[n].counts) {
      const double draw = stream.uniform();
      contacts = draw < 0.5 ? 0 : draw < 0.95 ? 1 : static_cast<std::size_t>(16 * stream.uniform());
    }
    if (n % 7 == 0) robots[n].counts.fill(Touches::kMost);
  }
  return robots;
}

std::vector<std::size_t> order_of(const std::vector<Touches>& robots, std::size_t width) {
  Grouping grouping;
  grouping.order(random_touches(3), 2);  // of the step before
  const std::span<const std::size_t> order = grouping.order(robots, width);
  return {order.begin(), order.end()};
}

/// Contacts that registers have room for, all together.
std::size_t room(const std::vector<Touches>& robots, const std::vector<std::size_t>& order,
                 std::size_t width) {
  std::size_t sum = 0;
  for (std::size_t begin = 0; begin < order.size(); begin += width) {
    for (std::size_t leg = 0; leg <= kLegs; ++leg) {
      std::size_t most = 0;
      for (std::size_t i = begin; i < std::min(begin + width, order.size()); ++i) {
        most = std::max(most, robots[order[i]].counts[leg]);
      }
      sum += most;
    }
  }
  return sum;
}

TEST(HexapodGrouping, HasEveryRobotOnce) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 64U}) {
    for (const std::size_t width : {1U, 2U, 4U, 8U}) {
      std::vector<std::size_t> order = order_of(random_touches(count), width);
      std::vector<std::size_t> all(count);
      std::iota(all.begin(), all.end(), std::size_t{0});
      std::ranges::sort(order);
      EXPECT_EQ(order, all) << width;
    }
  }
}

TEST(HexapodGrouping, PutsThoseThatStandOnTheSameLegsTogether) {
  // Every other robot stands on even legs, the rest on odd ones.
  std::vector<Touches> robots(16);
  for (std::size_t n = 0; n < robots.size(); ++n) {
    for (std::size_t leg = n % 2; leg < kLegs; leg += 2) robots[n].counts[leg] = 1;
  }
  const std::vector<std::size_t> order = order_of(robots, 8);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i] % 2, order[i / 8 * 8] % 2) << i;
  }
  EXPECT_EQ(room(robots, order, 8), 6U);
}

TEST(HexapodGrouping, LeavesLessRoomUnusedThanAnyOrder) {
  const std::vector<Touches> robots = random_touches(64);
  std::vector<std::size_t> any(robots.size());
  std::iota(any.begin(), any.end(), std::size_t{0});
  for (const std::size_t width : {4U, 8U}) {
    EXPECT_LT(room(robots, order_of(robots, width), width), room(robots, any, width)) << width;
  }
}

}  // namespace
}  // namespace aurora::hexapod
