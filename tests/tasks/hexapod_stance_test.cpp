#include "aurora/tasks/hexapod/stance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "aurora/core/random.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::uint64_t kSeed = 5;

std::vector<Stance> random_stances(std::size_t count) {
  std::vector<Stance> robots(count);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(kSeed, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
    for (std::size_t& contacts : robots[n].touches.counts) {
      const double draw = stream.uniform();
      contacts = draw < 0.5 ? 0 : draw < 0.95 ? 1 : static_cast<std::size_t>(17 * stream.uniform());
    }
    if (n % 7 == 0) robots[n].touches.counts.fill(Touches::kMost);
    robots[n].arrange();
    robots[n].arrange();  // of the step before: forgotten
  }
  return robots;
}

std::vector<std::size_t> contacts_in_order(const Stance& stance) {
  std::vector<std::size_t> contacts;
  for (const std::size_t leg : stance.legs) contacts.push_back(stance.touches.counts[leg]);
  return contacts;
}

/// Contacts that registers have room for, all together.
std::size_t room(const std::vector<Stance>& robots, std::size_t width) {
  std::size_t sum = 0;
  for (std::size_t begin = 0; begin < robots.size(); begin += width) {
    for (std::size_t leg = 0; leg <= kLegs; ++leg) {
      std::size_t most = 0;
      for (std::size_t i = begin; i < std::min(begin + width, robots.size()); ++i) {
        most = std::max(most, contacts_in_order(robots[i])[leg]);
      }
      sum += most;
    }
  }
  return sum;
}

void sort_by_key(std::vector<Stance>& robots) {
  std::ranges::sort(robots, {}, [](const Stance& robot) { return robot.key(); });
}

TEST(HexapodStance, HasTheBusiestLegsFirstAndTheBaseLast) {
  for (const Stance& robot : random_stances(500)) {
    LegOrder expected;
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    std::stable_sort(expected.begin(), expected.end() - 1, [&](std::size_t a, std::size_t b) {
      return robot.touches.counts[a] > robot.touches.counts[b];
    });
    EXPECT_EQ(robot.legs, expected);
  }
}

TEST(HexapodStance, IsInTheOrderOfTheRobotBeforeAnythingTouches) {
  Stance robot;
  const LegOrder legs = robot.legs;
  robot.arrange();
  EXPECT_EQ(robot.legs, legs);
  EXPECT_EQ(robot.key(), 0U);
}

TEST(HexapodStance, HasAKeyThatComparesContactsLegByLeg) {
  const std::vector<Stance> robots = random_stances(60);
  for (const Stance& a : robots) {
    for (const Stance& b : robots) {
      EXPECT_EQ(a.key() <=> b.key(), contacts_in_order(a) <=> contacts_in_order(b));
    }
  }
}

TEST(HexapodStance, PutsThoseThatStandOnAsManyLegsTogetherWhicheverTheyAre) {
  // By turns on even legs, odd ones, and two.
  std::vector<Stance> robots(24);
  for (std::size_t n = 0; n < robots.size(); ++n) {
    auto& counts = robots[n].touches.counts;
    if (n % 3 == 2) counts[n % kLegs] = counts[(n + 2) % kLegs] = 1;
    for (std::size_t leg = n % 3; n % 3 < 2 && leg < kLegs; leg += 2) counts[leg] = 1;
    robots[n].arrange();
  }
  sort_by_key(robots);
  EXPECT_EQ(room(robots, 8), 2U + 3U + 3U);
}

TEST(HexapodStance, LeavesLessRoomUnusedThanAnyOrder) {
  std::vector<Stance> robots = random_stances(64);
  for (const std::size_t width : {4U, 8U}) {
    std::vector<Stance> sorted = robots;
    sort_by_key(sorted);
    EXPECT_LT(2 * room(sorted, width), room(robots, width) * 3 / 2) << width;
  }
}

}  // namespace
}  // namespace aurora::hexapod
