#include "aurora/tasks/hexapod/episodes.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "aurora/core/parallel.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"
#include "tests/tasks/hexapod_robots.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr Kind kKinds[] = {Kind::random, Kind::strong,  Kind::tripod,
                           Kind::lying,  Kind::leaning, Kind::mixed};

std::vector<Controller> controllers_of(const Matrix<float>& genotypes) {
  std::vector<Controller> controllers;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) controllers.emplace_back(genotypes.row(n));
  return controllers;
}

Bodies alone(const Controller& controller) {
  return make_simulator(Engine::lanes, Actuators::servo)->trace(controller).back();
}

std::vector<Bodies> one_by_one(std::span<const Controller> controllers) {
  std::vector<Bodies> ends;
  for (const Controller& controller : controllers) ends.push_back(alone(controller));
  return ends;
}

std::vector<Bodies> at_once(std::span<const Controller> controllers) {
  std::vector<Bodies> ends(controllers.size());
  run_episodes(controllers, ends);
  return ends;
}

bool same_bits(const Bodies& a, const Bodies& b) {
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

void expect_same_bits(const std::vector<Bodies>& a, const std::vector<Bodies>& b) {
  ASSERT_EQ(a.size(), b.size());
  std::size_t different = 0;
  for (std::size_t n = 0; n < a.size(); ++n) different += same_bits(a[n], b[n]) ? 0U : 1U;
  EXPECT_EQ(different, 0U) << "of " << a.size() << ", seed " << kSeed;
}

class HexapodEpisodes : public testing::Test {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(targets_); }

 private:
  std::int64_t targets_ = hwy::SupportedTargets();  // one, where AURORA_INSTRUCTIONS says so
};

// AURORA_ROBOTS=10000 makes it that many.
TEST_F(HexapodEpisodes, AreTheSameBitsAsOneRobotAtATime) {
  const char* wanted = std::getenv("AURORA_ROBOTS");
  const std::size_t count = wanted ? std::strtoul(wanted, nullptr, 10) : 200;
  constexpr std::size_t kChunk = 40;
  std::vector<char> good((count + kChunk - 1) / kChunk);
  const Matrix<float> genotypes = robots(Kind::random, count, kSeed);
  Workers workers(std::max(1U, std::thread::hardware_concurrency()));
  workers.parallel_for(count, kChunk, [&](std::size_t begin, std::size_t end) {
    std::vector<Controller> controllers;
    for (std::size_t n = begin; n < end; ++n) controllers.emplace_back(genotypes.row(n));
    const std::vector<Bodies> batch = at_once(controllers);
    bool equal = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      equal = equal && same_bits(batch[i], alone(controllers[i]));
    }
    good[begin / kChunk] = equal ? 1 : 0;
  });
  EXPECT_EQ(std::ranges::count(good, 1), static_cast<std::ptrdiff_t>(good.size()))
      << "seed " << kSeed;
}

TEST_F(HexapodEpisodes, OfWalkersAndOnesThatFallAreTheSameBits) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::vector<Controller> controllers = controllers_of(robots(kind, 16, kSeed));
    expect_same_bits(at_once(controllers), one_by_one(controllers));
  }
}

TEST_F(HexapodEpisodes, AreTheSameBitsOnEveryInstructionSet) {
  const std::vector<Controller> controllers = controllers_of(robots(Kind::random, 20, kSeed));
  const std::vector<Bodies> expected = one_by_one(controllers);
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    expect_same_bits(at_once(controllers), expected);
    expect_same_bits(one_by_one(controllers), expected);
    ++targets;
  }
  EXPECT_GE(targets, 1);
}

TEST_F(HexapodEpisodes, DoNotDependOnTheBatch) {
  // Of all kinds, so that robots are in company that has less or more to do.
  std::vector<Controller> controllers;
  for (const Kind kind : kKinds) {
    for (const Controller& controller : controllers_of(robots(kind, 3, kSeed))) {
      controllers.push_back(controller);
    }
  }
  const std::vector<Bodies> expected = at_once(controllers);
  for (std::size_t count = 1; count < controllers.size(); count += count < 9 ? 1 : 4) {
    const std::size_t begin = controllers.size() - count;
    const std::vector<Bodies> ends = at_once(std::span(controllers).subspan(begin));
    for (std::size_t n = 0; n < count; ++n) {
      ASSERT_TRUE(same_bits(ends[n], expected[begin + n])) << count;
    }
  }
  EXPECT_TRUE(at_once({}).empty());
}

Walk walk_alone(const Controller& controller) {
  const auto robot = make_walker();
  Walk walk;
  double time = 0;
  for (Moment& moment : walk) {
    robot->step(controller.targets(time));
    time += kTimeStep;
    moment = robot->moment();
    EXPECT_EQ(moment.angles, robot->motion().angles);
  }
  return walk;
}

TEST_F(HexapodEpisodes, KeepTheStepsOfARobotAloneOnEveryInstructionSet) {
  std::vector<Controller> controllers;
  for (const Kind kind : kKinds) {
    for (const Controller& controller : controllers_of(robots(kind, 3, kSeed))) {
      controllers.push_back(controller);
    }
  }
  std::vector<Walk> expected;
  for (const Controller& controller : controllers) expected.push_back(walk_alone(controller));
  const std::vector<Bodies> without = at_once(controllers);
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    std::vector<Walk> walks(controllers.size());
    std::vector<Bodies> ends(controllers.size());
    run_episodes(controllers, ends, walks);
    EXPECT_TRUE(walks == expected);
    expect_same_bits(ends, without);
  }
}

TEST_F(HexapodEpisodes, DoNotDependOnTheThread) {
  const std::vector<Controller> controllers = controllers_of(robots(Kind::mixed, 16, kSeed));
  const std::vector<Bodies> expected = at_once(controllers);
  std::vector<std::vector<Bodies>> ends(3);
  std::vector<std::thread> threads;
  for (auto& each : ends) threads.emplace_back([&] { each = at_once(controllers); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : ends) expect_same_bits(each, expected);
}

// Laws that hold whatever the solver does ------------------------------------------------------

/// Far above the floor nothing holds a robot: its centre of mass falls by g t^2 / 2, as steps of
/// t make it.
TEST(HexapodWalker, FallsFreelyWhereThereIsNoFloor) {
  const auto robot = make_walker();
  Motion motion = robot->motion();
  motion.base.position.z = 100;
  robot->set(motion);
  const Controller controller(robots(Kind::strong, 1, kSeed).row(0));
  const auto centre = [&] {
    const Bodies bodies = robot->bodies();
    double mass = kBaseMass.mass;
    Vector sum = kBaseMass.mass * bodies[0].position;
    for (std::size_t b = 1; b < kBodies; ++b) {
      const Mass part = mass_of((b - 1) / kLegJoints, (b - 1) % kLegJoints);
      sum = sum + part.mass * (bodies[b] * part.centre);
      mass += part.mass;
    }
    return (1 / mass) * sum;
  };
  double time = 0;
  const Vector begin = centre();
  for (std::size_t step = 1; step <= kSteps; ++step) {
    robot->step(controller.targets(time));
    time += kTimeStep;
    const double expected =
        -kGravity * kTimeStep * kTimeStep * static_cast<double>(step * (step + 1)) / 2;
    const Vector fall = centre() - begin;
    // Joints turn by up to 0.15 rad in a step, which moves the centre by what is left of the order.
    EXPECT_NEAR(fall.z, expected, 0.05) << step;
    EXPECT_NEAR(fall.x, 0, 0.05) << step;
    EXPECT_NEAR(fall.y, 0, 0.05) << step;
  }
}

TEST(HexapodWalker, StandsStillOnceItStands) {
  const auto robot = make_walker();
  const Controller controller(std::vector<float>(kGenes, 0.0F));
  for (std::size_t step = 0; step < kSteps; ++step) robot->step(controller.targets(0));
  const Motion motion = robot->motion();
  EXPECT_NEAR(motion.base.position.z, 0.1264, 2e-4);
  // It may come out of the floor with 1 mm/s.
  EXPECT_LT(dot(motion.linear, motion.linear), 1.1e-6);
  EXPECT_LT(dot(motion.angular, motion.angular), 1e-6);
}

TEST(HexapodWalker, LiesOnItsBaseWithItsLegsUp) {
  const auto robot = make_walker();
  std::vector<float> genes(kGenes, 0.0F);
  for (std::size_t leg = 0; leg < kLegs; ++leg)
    genes[6 * leg + 3] = 1;  // -45 degrees, all the time
  const Controller controller(genes);
  for (std::size_t step = 0; step < kSteps; ++step) robot->step(controller.targets(0));
  const Motion motion = robot->motion();
  EXPECT_GT(motion.base.axes[2].z, 0.9);
  EXPECT_LT(motion.base.position.z, 0.1);
  EXPECT_GT(motion.base.position.z, kBaseBox.z / 2 - 0.002);
  EXPECT_LT(dot(motion.linear, motion.linear), 1e-6);
}

TEST(HexapodWalker, ComesOutOfTheFloorSlowly) {
  for (const double depth : {0.01, 0.03, 0.06, 0.12}) {
    const auto robot = make_walker();
    Motion motion = robot->motion();
    motion.base.position.z = 0.1264 - depth;
    robot->set(motion);
    const Controller controller(std::vector<float>(kGenes, 0.0F));
    for (std::size_t step = 0; step < kSteps; ++step) {
      robot->step(controller.targets(0));
      motion = robot->motion();
      ASSERT_TRUE(std::isfinite(motion.base.position.z)) << depth;
      ASSERT_LT(dot(motion.linear, motion.linear), 0.01) << depth << " step " << step;
    }
    EXPECT_LT(motion.base.position.z, 0.13) << depth;
    EXPECT_GT(motion.base.position.z, 0.1264 - depth - 0.001) << depth;
  }
}

}  // namespace
}  // namespace aurora::hexapod
