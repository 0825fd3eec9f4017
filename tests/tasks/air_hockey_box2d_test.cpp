// The Air-Hockey task on Box2D.
#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "aurora/tasks/air_hockey/air_hockey.hpp"
#include "tests/tasks/air_hockey_oracle.hpp"
#include "tests/tasks/air_hockey_robots.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

using air_hockey::Engine;
using air_hockey::kGenes;
using air_hockey::Moment;

constexpr std::uint64_t kSeed = 4;

TEST(AirHockeyOnBox2d, IsTheFirstVersionOfTheTask) {
  ASSERT_TRUE(air_hockey::has_engine(Engine::box2d));
  EXPECT_EQ(AirHockey(Engine::box2d).spec().version, 1U);
  EXPECT_EQ(AirHockey().spec().version, 2U);
}

TEST(AirHockeyOnBox2d, GoldenValuesOfTheSpecification) {
  constexpr float kAngles[kGenes] = {0.3F, 0.2F, 0.1F, 0, 1.2F, 0.4F, -0.2F, 0.1F};
  Matrix<float> genotype(1, kGenes);
  for (std::size_t i = 0; i < kGenes; ++i) genotype(0, i) = air_hockey::gene_of(kAngles[i]);
  const Evaluation evaluation = evaluate(AirHockey(Engine::box2d), genotype);
  EXPECT_NEAR(evaluation.ground_truth(0, 0), 0.07600, 1e-4);
  EXPECT_NEAR(evaluation.ground_truth(0, 1), 0.78131, 1e-4);
  EXPECT_NEAR(evaluation.fitness[0], -17.44011, 1e-4);
}

TEST(AirHockeyOnBox2d, ShortCutsChangeNoBits) {
  const AirHockey task(Engine::box2d);
  // Random genotypes, and the corners of the cube: the fastest arms, those that hit the base.
  constexpr std::size_t kRandom = 200;
  Matrix<float> genotypes = random_genotypes(task.spec(), kRandom, kSeed);
  genotypes.resize_rows(kRandom + 256);
  for (std::size_t corner = 0; corner < 256; ++corner) {
    for (std::size_t i = 0; i < kGenes; ++i) {
      genotypes(kRandom + corner, i) = static_cast<float>(corner >> i & 1);
    }
  }
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const auto oracle = air_hockey::oracle_episode(genotypes.row(n));
    const auto points = evaluation.sensory.view().row<float>(n);
    ASSERT_TRUE(std::ranges::equal(points, oracle.puck)) << "seed " << kSeed << ", row " << n;
    ASSERT_NEAR(evaluation.fitness[n], oracle.fitness, 1e-6 * std::abs(oracle.fitness)) << n;
  }
}

TEST(AirHockeyOnBox2d, EvaluationIsWhatTheTraceSays) {
  const AirHockey task(Engine::box2d);
  const Matrix<float> genotypes = random_genotypes(task.spec(), 20, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const std::vector<Moment> trace = task.trace(genotypes.row(n));
    ASSERT_EQ(trace.size(), air_hockey::kSteps);
    EXPECT_EQ(evaluation.ground_truth(n, 0), trace.back().puck.x);
    EXPECT_EQ(evaluation.ground_truth(n, 1), trace.back().puck.y);
    double effort = 0;
    for (const air_hockey::Moment& moment : trace) {
      for (const double command : moment.commands) effort += command * command;
    }
    EXPECT_NEAR(evaluation.fitness[n], -effort, 1e-5 * effort);
  }
}

TEST(AirHockeyOnBox2d, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<AirHockey>(Engine::box2d); }, 48, kSeed);
}

}  // namespace
}  // namespace aurora
