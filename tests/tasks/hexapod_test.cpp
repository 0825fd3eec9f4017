#include "aurora/tasks/hexapod/hexapod.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/tasks/hexapod/camera.hpp"
#include "aurora/tasks/hexapod/outcome.hpp"
#include "tests/core/values.hpp"
#include "tests/tasks/hexapod_robots.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

using hexapod::kGenes;

constexpr std::uint64_t kSeed = 4;

TEST(Hexapod, SpecSaysWhatTheSpecificationDoes) {
  const Hexapod task;
  const TaskSpec& spec = task.spec();
  EXPECT_EQ(spec.name, "hexapod");
  EXPECT_EQ(spec.genotype_size, 36U);
  EXPECT_EQ(spec.sensory, (SensoryShape{{64, 64, 3}, ElementType::uint8}));
  std::vector<std::string> axes;
  for (const Axis& axis : spec.ground_truth) axes.push_back(axis.name);
  EXPECT_EQ(axes, (std::vector<std::string>{"x", "y", "z", "pitch", "roll", "yaw"}));
  EXPECT_EQ(spec.ground_truth[0].min, -1.2);
  EXPECT_EQ(spec.ground_truth[0].max, 1.2);
  EXPECT_EQ(spec.ground_truth[1].min, -1);
  EXPECT_EQ(spec.ground_truth[1].max, 1);
  std::vector<std::string> units;
  for (const Axis& axis : spec.ground_truth) units.push_back(axis.unit);
  EXPECT_EQ(units, (std::vector<std::string>{"m", "m", "m", "rad", "rad", "rad"}));
  EXPECT_EQ(spec.title, "Hexapod");
  EXPECT_EQ(spec.preferred_batch, 8U);
  EXPECT_EQ(spec.metrics, (std::vector<std::string>{"orientation_coverage"}));
  // The mutation rate, 0.05, and K_VAT, 18, are the parts' own defaults.
  EXPECT_EQ(spec.defaults,
            (std::vector<std::string>{"run.iterations=15000", "container.target_size=5000",
                                      "threshold.gain=5e-6", "variation.at_least_one=false"}));
}

TEST(Hexapod, StandsAndWalksAsTheSpecificationSays) {
  Matrix<float> genotypes(2, kGenes);  // zeros, the tripod walk
  for (std::size_t i = 0; i < kGenes; ++i) genotypes(1, i) = hexapod::kTripod[i / 6][i % 6];
  const Evaluation evaluation = evaluate(Hexapod(), genotypes);
  EXPECT_NEAR(evaluation.ground_truth(0, 0), 0, 1e-3);
  EXPECT_NEAR(evaluation.ground_truth(0, 1), 0, 1e-3);
  EXPECT_NEAR(evaluation.ground_truth(0, 2), 0.1264, 2e-4);
  EXPECT_NEAR(evaluation.ground_truth(0, 5), 0, 1e-3);
  // One walk is chaotic; how far walkers come is not (hexapod_fidelity_test).
  EXPECT_NEAR(evaluation.ground_truth(1, 0), 0.6194, 0.1);
  EXPECT_NEAR(evaluation.ground_truth(1, 2), 0.1422, 0.01);
}

TEST(Hexapod, RandomControllersMoveAsFarAsTheSpecificationSays) {
  const Hexapod task;
  constexpr std::size_t kRobots = 200;
  const Evaluation evaluation = evaluate(task, random_genotypes(task.spec(), kRobots, kSeed));
  std::vector<double> distance;
  for (std::size_t n = 0; n < kRobots; ++n) {
    const auto truth = evaluation.ground_truth.row(n);
    distance.push_back(std::hypot(truth[0], truth[1]));
    EXPECT_LE(evaluation.fitness[n], 0);
    EXPECT_GE(evaluation.fitness[n], -3.1416F);
    EXPECT_GT(truth[2], 0.02);
    EXPECT_LT(truth[2], 0.3);
  }
  std::ranges::sort(distance);
  EXPECT_NEAR(distance[kRobots / 2], 0.074, 0.015);
  EXPECT_LT(distance.back(), 0.45);
  EXPECT_GT(distance.back(), 0.2);
}

TEST(Hexapod, EvaluationIsTheEndOfTheTraceAndItsPicture) {
  const Hexapod task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 5, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const std::vector<hexapod::Bodies> trace = task.trace(genotypes.row(n));
    ASSERT_EQ(trace.size(), 100U);
    const hexapod::Bodies& end = trace.back();
    EXPECT_EQ(evaluation.fitness[n], static_cast<float>(hexapod::fitness(end[0])));
    EXPECT_EQ(evaluation.ground_truth(n, 0), static_cast<float>(end[0].position.x));
    std::array<std::uint8_t, hexapod::kPictureBytes> picture;
    hexapod::draw(end, picture);
    EXPECT_TRUE(std::ranges::equal(evaluation.sensory.view().row<std::uint8_t>(n), picture));
  }
}

TEST(Hexapod, LegsStayAttached) {
  const Hexapod task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 5, kSeed);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    for (const hexapod::Bodies& bodies : task.trace(genotypes.row(n))) {
      for (std::size_t leg = 0; leg < hexapod::kLegs; ++leg) {
        for (std::size_t link = 0; link < hexapod::kLegJoints; ++link) {
          const std::size_t body = 1 + leg * hexapod::kLegJoints + link;
          const hexapod::Transform& parent = bodies[link == 0 ? 0 : body - 1];
          const hexapod::Vector joint =
              parent * (link == 0 ? hexapod::kHips[leg].position : hexapod::kLinks[link].origin);
          const hexapod::Vector gap = joint - bodies[body].position;
          ASSERT_LT(hexapod::dot(gap, gap), 1e-20);
        }
      }
    }
  }
}

TEST(Hexapod, PartHasEngineAndActuatorsAsOptions) {
  const TaskEntry entry = hexapod_task();
  EXPECT_TRUE(entry.missing.empty());
  ASSERT_EQ(entry.options.size(), 2U);
  EXPECT_EQ(entry.options[0].name, "engine");
  EXPECT_EQ(entry.options[0].fallback.toml(), "\"lanes\"");
  EXPECT_EQ(entry.options[1].name, "actuators");
  EXPECT_EQ(entry.options[1].fallback.toml(), "\"servo\"");
  EXPECT_FALSE(read_option(entry, "engine=steam"));
  EXPECT_FALSE(read_option(entry, "actuators=muscles"));
  const Matrix<float> genotypes = random_genotypes(Hexapod().spec(), 1, kSeed);
  EXPECT_TRUE(same_bits(evaluate(*make_part(entry, {}, {}), genotypes), 0,
                        evaluate(Hexapod(), genotypes), 0));
  EXPECT_THROW(make_part(entry, {}, {"actuators=velocity"}), UsageError);
}

TEST(Hexapod, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<Hexapod>(); }, 20, kSeed);
}

TEST(Hexapod, RefusesGenesThatAreNoNumbersAndRowsOfTheWrongLength) {
  const Hexapod task;
  Evaluation evaluation(task.spec(), 1);
  Matrix<float> genotypes(1, kGenes);
  genotypes(0, 35) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.trace(genotypes.row(0)), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 35), evaluation.view()), DataError);
}

}  // namespace
}  // namespace aurora
