#include "aurora/tasks/air_hockey/episodes.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "aurora/core/parallel.hpp"
#include "tests/tasks/air_hockey_robots.hpp"

namespace aurora::air_hockey {
namespace {

constexpr std::uint64_t kSeed = 3;

Episode alone(std::span<const float> genes) {
  std::vector<Moment> trace;
  return trace_episode(genes, trace);
}

std::vector<Episode> one_by_one(MatrixView<const float> genotypes) {
  std::vector<Episode> episodes;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) episodes.push_back(alone(genotypes.row(n)));
  return episodes;
}

std::vector<Episode> at_once(MatrixView<const float> genotypes) {
  std::vector<Episode> episodes(genotypes.rows());
  run_episodes(genotypes, episodes);
  return episodes;
}

bool same_bits(const Episode& a, const Episode& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_same_bits(const std::vector<Episode>& a, const std::vector<Episode>& b) {
  ASSERT_EQ(a.size(), b.size());
  std::size_t different = 0;
  for (std::size_t n = 0; n < a.size(); ++n) different += same_bits(a[n], b[n]) ? 0U : 1U;
  EXPECT_EQ(different, 0U) << "of " << a.size() << ", seed " << kSeed;
}

/// So many robots of each kind, one after the other: each is in company that has less or more to
/// do.
Matrix<float> of_all_kinds(std::size_t each) {
  Matrix<float> all(std::size(kKinds) * each, kGenes);
  std::size_t row = 0;
  std::vector<Matrix<float>> kinds;
  for (const Kind kind : kKinds) kinds.push_back(robots(kind, each, kSeed));
  for (std::size_t n = 0; n < each; ++n) {
    for (const Matrix<float>& some : kinds) {
      std::ranges::copy(some.row(n), all.row(row++).begin());
    }
  }
  return all;
}

class AirHockeyEpisodes : public testing::Test {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(targets_); }

 private:
  std::int64_t targets_ = hwy::SupportedTargets();  // one, where AURORA_INSTRUCTIONS says so
};

// AURORA_ROBOTS=10000 makes it that many.
TEST_F(AirHockeyEpisodes, AreTheSameBitsAsOneRobotAtATime) {
  const char* wanted = std::getenv("AURORA_ROBOTS");
  const std::size_t count = wanted ? std::strtoul(wanted, nullptr, 10) : 400;
  constexpr std::size_t kChunk = 40;
  std::vector<char> good((count + kChunk - 1) / kChunk);
  const Matrix<float> genotypes = robots(Kind::random, count, kSeed);
  Workers workers(std::max(1U, std::thread::hardware_concurrency()));
  workers.parallel_for(count, kChunk, [&](std::size_t begin, std::size_t end) {
    const std::vector<Episode> batch = at_once(genotypes.view().slice(begin, end - begin));
    bool equal = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      equal = equal && same_bits(batch[i], alone(genotypes.row(begin + i)));
    }
    good[begin / kChunk] = equal ? 1 : 0;
  });
  EXPECT_EQ(std::ranges::count(good, 1), static_cast<std::ptrdiff_t>(good.size()))
      << "seed " << kSeed;
}

TEST_F(AirHockeyEpisodes, OfArmsThatHitAndArmsThatFoldAreTheSameBits) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Matrix<float> genotypes = robots(kind, 48, kSeed);
    expect_same_bits(at_once(genotypes), one_by_one(genotypes));
  }
}

TEST_F(AirHockeyEpisodes, AreTheSameBitsOnEveryInstructionSet) {
  const Matrix<float> genotypes = of_all_kinds(12);
  const std::vector<Episode> expected = one_by_one(genotypes);
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    expect_same_bits(at_once(genotypes), expected);
    expect_same_bits(one_by_one(genotypes), expected);
    ++targets;
  }
  EXPECT_GE(targets, 1);
}

TEST_F(AirHockeyEpisodes, DoNotDependOnTheBatch) {
  const Matrix<float> genotypes = of_all_kinds(8);
  const std::size_t all = genotypes.rows();
  const std::vector<Episode> expected = at_once(genotypes);
  for (std::size_t count = 1; count < all; count += count < 18 ? 1 : 7) {
    const std::size_t begin = all - count;
    const std::vector<Episode> episodes = at_once(genotypes.view().slice(begin, count));
    for (std::size_t n = 0; n < count; ++n) {
      ASSERT_TRUE(same_bits(episodes[n], expected[begin + n])) << count;
    }
  }
  EXPECT_TRUE(at_once(Matrix<float>(0, kGenes)).empty());
}

TEST_F(AirHockeyEpisodes, DoNotDependOnTheThread) {
  const Matrix<float> genotypes = of_all_kinds(10);
  const std::vector<Episode> expected = at_once(genotypes);
  std::vector<std::vector<Episode>> episodes(3);
  std::vector<std::thread> threads;
  for (auto& each : episodes) threads.emplace_back([&] { each = at_once(genotypes); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : episodes) expect_same_bits(each, expected);
}

TEST_F(AirHockeyEpisodes, AreWhatTheTraceSays) {
  const Matrix<float> genotypes = of_all_kinds(4);
  const std::vector<Episode> episodes = at_once(genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    std::vector<Moment> trace;
    trace_episode(genotypes.row(n), trace);
    ASSERT_EQ(trace.size(), kSteps);
    for (std::size_t i = 0; i < kSamples; ++i) {
      const Point puck = trace[kPhaseSteps + kSampleEvery * (i + 1) - 1].puck;
      EXPECT_EQ(puck, (Point{episodes[n].puck[2 * i], episodes[n].puck[2 * i + 1]}));
    }
  }
}

// Laws that hold whatever the solver does ------------------------------------------------------

struct Flight {
  Point before, after;  // velocities around a step, m per step
  Point at;
};

/// From the puck's centre to the middle line of the nearest link.
float distance_to_arm(const Moment& moment) {
  float nearest = 10;
  for (std::size_t i = 0; i < kJoints; ++i) {
    const Point a = moment.arm[i];
    const Point b = moment.arm[i + 1];
    const Point p = moment.puck;
    const float share =
        ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / (kLinkLength * kLinkLength);
    const float t = std::clamp(share, 0.0F, 1.0F);
    nearest =
        std::min(nearest, std::hypot(a.x + t * (b.x - a.x) - p.x, a.y + t * (b.y - a.y) - p.y));
  }
  return nearest;
}

/// Of every three steps of the puck's in which neither arm nor base is near it.
std::vector<Flight> free_flights(Kind kind, std::size_t count) {
  const Matrix<float> genotypes = robots(kind, count, kSeed);
  std::vector<Flight> flights;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<Moment> trace;
    trace_episode(genotypes.row(n), trace);
    for (std::size_t i = kPhaseSteps + 2; i + 1 < kSteps; ++i) {
      if (distance_to_arm(trace[i]) < 0.15F) continue;
      const Point a = trace[i - 1].puck;
      const Point b = trace[i].puck;
      const Point c = trace[i + 1].puck;
      flights.push_back({{b.x - a.x, b.y - a.y}, {c.x - b.x, c.y - b.y}, b});
    }
  }
  return flights;
}

TEST(AirHockeyLaws, APuckSlidesStraightAheadUntilItHitsAWall) {
  std::size_t straight = 0;
  for (const Flight& flight : free_flights(Kind::hitting, 300)) {
    const float wall = std::max(std::abs(flight.at.x), std::abs(flight.at.y));
    if (wall > 0.9F) continue;
    if (std::hypot(flight.before.x, flight.before.y) < 1.1e-4F) continue;  // slow ones may stop
    ASSERT_NEAR(flight.before.x, flight.after.x, 1e-6);
    ASSERT_NEAR(flight.before.y, flight.after.y, 1e-6);
    ++straight;
  }
  EXPECT_GT(straight, 1000U);
}

TEST(AirHockeyLaws, AWallGivesBackFourFifthsOfTheSpeed) {
  std::size_t bounces = 0;
  for (const Flight& flight : free_flights(Kind::hitting, 300)) {
    // One wall, hit head-on or not, and no other.
    const bool x = flight.before.x * flight.after.x < 0;
    if (x == (flight.before.y * flight.after.y < 0)) continue;
    const float before = x ? flight.before.x : flight.before.y;
    const float after = x ? flight.after.x : flight.after.y;
    if (std::abs(before) < 5e-4F) continue;
    // Corrections of the position move it by up to a fifth of what it went in.
    EXPECT_NEAR(after / before, -0.8F, 0.1F) << before;
    ++bounces;
  }
  EXPECT_GT(bounces, 20U);
}

TEST(AirHockeyLaws, APuckUnderWhichTheArmLiesComesOutOfItSlowly) {
  const Matrix<float> genotypes = robots(Kind::under_puck, 50, kSeed);
  std::size_t moved = 0;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    std::vector<Moment> trace;
    trace_episode(genotypes.row(n), trace);
    Point last = kPuckStart;
    for (std::size_t i = kPhaseSteps; i < kPhaseSteps + 20; ++i) {
      const Point puck = trace[i].puck;
      ASSERT_LT(std::hypot(puck.x - last.x, puck.y - last.y), 0.03F) << n << " step " << i;
      last = puck;
    }
    moved += last == kPuckStart ? 0U : 1U;
  }
  EXPECT_GT(moved, 40U);
}

// One of 3,000 is pushed that gently.
TEST(AirHockeyLaws, APuckThatHasBeenSlowForHalfASecondStops) {
  const Matrix<float> genotypes = robots(Kind::hitting, 1647, kSeed);
  std::vector<Moment> trace;
  trace_episode(genotypes.row(1646), trace);
  EXPECT_NE(trace[548].puck, trace[547].puck);
  EXPECT_LT(
      std::hypot(trace[548].puck.x - trace[547].puck.x, trace[548].puck.y - trace[547].puck.y),
      1e-4F);
  for (std::size_t i = 552; i < kSteps; ++i) ASSERT_EQ(trace[i].puck, trace[551].puck) << i;
}

TEST(AirHockeyLaws, NothingLeavesTheTable) {
  for (const Kind kind : kKinds) {
    const Matrix<float> genotypes = robots(kind, 100, kSeed);
    for (const Episode& episode : at_once(genotypes)) {
      ASSERT_TRUE(std::isfinite(episode.fitness));
      for (const float place : episode.puck) ASSERT_LT(std::abs(place), 0.95F);
    }
  }
}

// A link that motors push against the base may be torn off its joint for a moment.
TEST(AirHockeyLaws, JointsHoldTogetherAndStayWithinHalfATurn) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Matrix<float> genotypes = robots(kind, 20, kSeed);
    std::size_t torn = 0;
    for (std::size_t n = 0; n < genotypes.rows(); ++n) {
      std::vector<Moment> trace;
      trace_episode(genotypes.row(n), trace);
      for (const Moment& moment : trace) {
        for (std::size_t i = 0; i < kJoints; ++i) {
          const float x = moment.arm[i + 1].x - moment.arm[i].x;
          const float y = moment.arm[i + 1].y - moment.arm[i].y;
          const float error = std::abs(std::hypot(x, y) - kLinkLength);
          ASSERT_LT(error, 0.1F) << n;
          torn += error > 0.01F ? 1U : 0U;
          // Speeds are the distance to the target, which is within half a turn, as is the joint.
          ASSERT_LT(std::abs(moment.commands[i]), kGain * (2 * std::numbers::pi_v<float> + 0.05F));
        }
      }
    }
    EXPECT_LE(torn, kind == Kind::corners || kind == Kind::folded ? 100U : 0U);  // of 80,000
  }
}

}  // namespace
}  // namespace aurora::air_hockey
