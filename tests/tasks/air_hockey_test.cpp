#include "aurora/tasks/air_hockey/air_hockey.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

using air_hockey::kGenes;
using air_hockey::Moment;

constexpr std::uint64_t kSeed = 4;

Matrix<float> genotype_of(const std::array<float, kGenes>& angles) {
  Matrix<float> genotype(1, kGenes);
  for (std::size_t i = 0; i < kGenes; ++i) {
    genotype(0, i) = static_cast<float>((angles[i] / std::numbers::pi + 1) / 2);
  }
  return genotype;
}

TEST(AirHockey, SpecSaysWhatTheSpecificationDoes) {
  const AirHockey task;
  const TaskSpec& spec = task.spec();
  EXPECT_EQ(spec.name, "air-hockey");
  EXPECT_EQ(spec.version, 2U);  // 1 was on Box2D
  EXPECT_EQ(spec.preferred_batch, 16U);
  EXPECT_EQ(spec.genotype_size, 8U);
  EXPECT_EQ(spec.sensory, (SensoryShape{{50, 2}, ElementType::float32}));
  ASSERT_EQ(spec.ground_truth.size(), 2U);
  EXPECT_EQ(spec.ground_truth[0].name, "x");
  EXPECT_EQ(spec.ground_truth[1].name, "y");
  for (const Axis& axis : spec.ground_truth) {
    EXPECT_EQ(axis.min, -1);
    EXPECT_EQ(axis.max, 1);
  }
  for (const Axis& axis : spec.ground_truth) EXPECT_EQ(axis.unit, "m");
  EXPECT_EQ(spec.title, "Air-Hockey");
  EXPECT_EQ(spec.metrics, (std::vector<std::string>{"trajectory_diversity"}));
  // K_VAT, 18, is the threshold's own default.
  EXPECT_EQ(spec.defaults,
            (std::vector<std::string>{"run.iterations=1000", "container.target_size=10000",
                                      "variation.rate=0.15", "variation.at_least_one=false"}));
}

TEST(AirHockey, AStillArmLeavesThePuckWhereItIs) {
  const Evaluation evaluation = evaluate(AirHockey(), genotype_of({}));
  EXPECT_NEAR(evaluation.fitness[0], 0, 1e-6);
  const auto points = evaluation.sensory.view().row<float>(0);
  for (std::size_t p = 0; p < points.size(); p += 2) {
    EXPECT_EQ(points[p], 0.55F);
    EXPECT_EQ(points[p + 1], 0.5F);
  }
}

TEST(AirHockey, GoldenValuesOfTheSpecification) {
  const Evaluation evaluation =
      evaluate(AirHockey(), genotype_of({0.3F, 0.2F, 0.1F, 0, 1.2F, 0.4F, -0.2F, 0.1F}));
  EXPECT_NEAR(evaluation.ground_truth(0, 0), 0.07600, 1e-4);
  EXPECT_NEAR(evaluation.ground_truth(0, 1), 0.78131, 1e-4);
  EXPECT_NEAR(evaluation.fitness[0], -17.44011, 1e-4);
}

TEST(AirHockey, RandomArmsMoveThePuckAsOftenAsTheSpecificationSays) {
  const AirHockey task;
  constexpr std::size_t kArms = 1000;
  const Evaluation evaluation = evaluate(task, random_genotypes(task.spec(), kArms, kSeed));
  double fitness = 0;
  int moved = 0;
  for (std::size_t n = 0; n < kArms; ++n) {
    const auto end = evaluation.ground_truth.row(n);
    fitness += evaluation.fitness[n] / kArms;
    moved += std::hypot(end[0] - 0.55F, end[1] - 0.5F) > 1e-3 ? 1 : 0;
    EXPECT_LE(evaluation.fitness[n], 0) << n;
    EXPECT_GE(evaluation.fitness[n], task.spec().worst_fitness) << n;
    EXPECT_LE(std::max(std::abs(end[0]), std::abs(end[1])), 0.99 - 0.05 + 0.01) << n;
  }
  EXPECT_NEAR(fitness, -489, 20);
  EXPECT_NEAR(moved, 0.2 * kArms, 40);
}

TEST(AirHockey, EvaluationIsWhatTheTraceSays) {
  const AirHockey task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 30, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const std::vector<Moment> trace = task.trace(genotypes.row(n));
    ASSERT_EQ(trace.size(), 1000U);
    double fitness = 0;
    for (const Moment& moment : trace) {
      for (const float speed : moment.commands) fitness -= static_cast<double>(speed) * speed;
    }
    EXPECT_NEAR(evaluation.fitness[n], fitness, 1e-4 * std::abs(fitness));
    const auto points = evaluation.sensory.view().row<float>(n);
    for (std::size_t sample = 0; sample < 50; ++sample) {
      const Moment& moment = trace[500 + 10 * sample + 9];
      EXPECT_EQ(points[2 * sample], moment.puck.x);
      EXPECT_EQ(points[2 * sample + 1], moment.puck.y);
    }
    EXPECT_EQ(evaluation.ground_truth(n, 0), points[98]);
    EXPECT_EQ(evaluation.ground_truth(n, 1), points[99]);
    EXPECT_FALSE(trace[499].puck_exists);
    EXPECT_TRUE(trace[500].puck_exists);
  }
}

TEST(AirHockey, TargetsComeWithTheEvenSteps) {
  const Matrix<float> genotype = genotype_of({0.3F, 0, 0, 0, -1, 0, 0, 0});
  const std::vector<Moment> trace = AirHockey().trace(genotype.row(0));
  EXPECT_EQ(trace[0].commands[0], 0);                  // step 1: target 0
  EXPECT_NEAR(trace[1].commands[0], 0.3 * 0.3, 1e-6);  // step 2
  EXPECT_GT(trace[500].commands[0], 0);                // step 501: still the first phase's
  EXPECT_LT(trace[501].commands[0], -0.3);
}

TEST(AirHockey, LinksKeepTheirLength) {
  const AirHockey task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 10, kSeed);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    for (const Moment& moment : task.trace(genotypes.row(n))) {
      EXPECT_NEAR(std::hypot(moment.arm[0].x, moment.arm[0].y), 0, 1e-3);
      for (std::size_t i = 0; i < 4; ++i) {
        const float dx = moment.arm[i + 1].x - moment.arm[i].x;
        const float dy = moment.arm[i + 1].y - moment.arm[i].y;
        ASSERT_NEAR(std::hypot(dx, dy), 0.225, 0.01) << n;
      }
    }
  }
}

TEST(AirHockey, PartHasTheEngineAsAnOption) {
  const TaskEntry entry = air_hockey_task();
  EXPECT_TRUE(entry.missing.empty());
  ASSERT_EQ(entry.options.size(), 1U);
  EXPECT_EQ(entry.options[0].name, "engine");
  EXPECT_EQ(entry.options[0].fallback.toml(), "\"lanes\"");
  EXPECT_FALSE(read_option(entry, "engine=steam"));
  const Matrix<float> genotypes = random_genotypes(AirHockey().spec(), 1, kSeed);
  EXPECT_TRUE(same_bits(evaluate(*make_part(entry, {}, {}), genotypes), 0,
                        evaluate(AirHockey(), genotypes), 0));
}

TEST(AirHockey, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<AirHockey>(); }, 48, kSeed);
}

TEST(AirHockey, RefusesGenesThatAreNoNumbersAndRowsOfTheWrongLength) {
  const AirHockey task;
  Evaluation evaluation(task.spec(), 1);
  Matrix<float> genotypes(1, kGenes);
  genotypes(0, 7) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.trace(genotypes.row(0)), DataError);
  genotypes(0, 7) = 1.001F;
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 7), evaluation.view()), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 9), evaluation.view()), DataError);
}

}  // namespace
}  // namespace aurora
