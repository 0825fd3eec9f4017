// Our own engine against DART. A robot's walk is chaotic: DART itself ends 2.6 cm away if it starts
// a nanometre higher. So single steps are compared along DART's walks, and whole episodes by their
// distributions, in the long version (fidelity.hpp) beside those of DART against itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <vector>

#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/outcome.hpp"
#include "tests/tasks/fidelity.hpp"
#include "tests/tasks/hexapod_oracle.hpp"
#include "tests/tasks/hexapod_robots.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::uint64_t kSeed = 8;

// Single steps ----------------------------------------------------------------------------------

double largest(const Vector& a, const Vector& b) {
  const Vector d = a - b;
  return std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)});
}

/// The largest difference of a velocity (m/s, rad/s) after each step of DART's walks, from the same
/// state and with the same contacts.
std::vector<double> step_errors(Kind kind, std::size_t count, double lift) {
  const Matrix<float> genotypes = robots(kind, count, kSeed);
  std::vector<std::vector<double>> errors(count);
  for_each(count, [&](std::size_t n) {
    const auto robot = make_walker();
    oracle_episode(genotypes.row(n), Actuators::servo, lift, [&](const OracleStep& step) {
      robot->set(step.before);
      robot->step(step.targets, step.touches);
      const Motion motion = robot->motion();
      double error = std::max(largest(motion.angular, step.after.angular),
                              largest(motion.linear, step.after.linear));
      for (std::size_t j = 0; j < kJoints; ++j) {
        error = std::max(error, std::abs(motion.speeds[j] - step.after.speeds[j]));
      }
      errors[n].push_back(error);
    });
  });
  std::vector<double> all;
  for (const auto& some : errors) all.insert(all.end(), some.begin(), some.end());
  std::cout << all.size() << " steps: median " << quantile(all, 0.5) << ", 90 % "
            << quantile(all, 0.9) << ", 99 % " << quantile(all, 0.99) << ", 99.9 % "
            << quantile(all, 0.999) << ", largest " << quantile(all, 1) << '\n';
  return all;
}

TEST(HexapodFidelity, AStepInTheAirIsDarts) {
  EXPECT_LT(quantile(step_errors(Kind::random, 20, 100), 1), 1e-6);
  EXPECT_LT(quantile(step_errors(Kind::strong, 10, 100), 1), 1e-6);
}

// The rest is the slope of Bullet's normals, 1e-5, up to 1e-3 for a sphere that is 29 mm deep, and
// there it puts points up to 25 mm above the floor: one step in a thousand, or less.
TEST(HexapodFidelity, AStepOnTheFloorIsDarts) {
  for (const Kind kind : {Kind::random, Kind::strong, Kind::tripod, Kind::lying, Kind::leaning}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::vector<double> errors = step_errors(kind, 20, 0);
    EXPECT_LT(quantile(errors, 0.5), 1e-4);
    EXPECT_LT(quantile(errors, 0.9), 1e-3);
    EXPECT_LT(quantile(errors, 0.99), 1e-2);
  }
}

// Whole episodes --------------------------------------------------------------------------------

constexpr const char* kNames[] = {"x", "y", "z", "pitch", "roll", "yaw", "fitness", "distance"};
constexpr std::size_t kColumns = std::size(kNames);
using Columns = std::array<std::vector<double>, kColumns>;

Columns columns_of(const std::vector<Transform>& ends) {
  Columns columns;
  for (const Transform& end : ends) {
    const std::array<double, 6> truth = ground_truth(end);
    for (std::size_t i = 0; i < truth.size(); ++i) columns[i].push_back(truth[i]);
    columns[6].push_back(fitness(end));
    columns[7].push_back(std::hypot(truth[0], truth[1]));
  }
  return columns;
}

struct Ends {
  std::vector<Transform> lanes, dart, perturbed;  // the last of the long version alone
};

Ends ends_of(Kind kind, std::size_t count) {
  const Matrix<float> genotypes = robots(kind, count, kSeed);
  std::vector<Controller> controllers;
  for (std::size_t n = 0; n < count; ++n) controllers.emplace_back(genotypes.row(n));
  std::vector<Bodies> bodies(count);
  run_episodes(controllers, bodies);
  Ends ends{{}, std::vector<Transform>(count), {}};
  if (beside_itself()) ends.perturbed.resize(count);
  for (const Bodies& each : bodies) ends.lanes.push_back(each[0]);
  for_each(count, [&](std::size_t n) {
    ends.dart[n] = oracle_episode(genotypes.row(n), Actuators::servo);
    if (beside_itself()) {
      ends.perturbed[n] = oracle_episode(genotypes.row(n), Actuators::servo, 1e-9);
    }
  });
  return ends;
}

/// No column may be less likely than one in a thousand: 40 are looked at.
Ends expect_same_distributions(Kind kind, std::size_t count) {
  const Ends ends = ends_of(kind, times() * count);
  const Columns lanes = columns_of(ends.lanes);
  const Columns dart = columns_of(ends.dart);
  const Columns perturbed = columns_of(ends.perturbed);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double p = same_distribution(lanes[i], dart[i]);
    std::cout << kNames[i] << ": median " << quantile(lanes[i], 0.5) << ", DART "
              << quantile(dart[i], 0.5) << ", p " << p;
    if (beside_itself()) {
      std::cout << ", DART with itself " << same_distribution(perturbed[i], dart[i]);
    }
    std::cout << '\n';
    EXPECT_GT(p, 1e-3) << kNames[i] << ", seed " << kSeed;
  }
  return ends;
}

TEST(HexapodFidelity, RandomRobotsEndWhereDartsDo) {
  expect_same_distributions(Kind::random, 300);
}

TEST(HexapodFidelity, StrongRobotsEndWhereDartsDo) {
  expect_same_distributions(Kind::strong, 200);
}

TEST(HexapodFidelity, RobotsThatFallOnTheirBaseEndWhereDartsDo) {
  const Ends ends = expect_same_distributions(Kind::lying, 200);
  EXPECT_LT(quantile(columns_of(ends.dart)[2], 0.5), 0.1);
}

TEST(HexapodFidelity, RobotsThatLeanEndWhereDartsDo) {
  expect_same_distributions(Kind::leaning, 200);
}

TEST(HexapodFidelity, WalkersWalkAsFarAsDarts) {
  const Ends ends = expect_same_distributions(Kind::tripod, 200);
  const Columns lanes = columns_of(ends.lanes);
  const Columns dart = columns_of(ends.dart);
  // Of the best half: within 2 %.
  EXPECT_NEAR(quantile(lanes[7], 0.75) / quantile(dart[7], 0.75), 1, 0.02);
  EXPECT_NEAR(quantile(lanes[7], 0.5) / quantile(dart[7], 0.5), 1, 0.02);
}

}  // namespace
}  // namespace aurora::hexapod
