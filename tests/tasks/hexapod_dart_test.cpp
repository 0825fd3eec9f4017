// The hexapod on DART: what it was at first, and what our own engine is held against.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "aurora/tasks/hexapod/hexapod.hpp"
#include "aurora/tasks/hexapod/outcome.hpp"
#include "tests/core/values.hpp"
#include "tests/tasks/hexapod_oracle.hpp"
#include "tests/tasks/hexapod_robots.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

using hexapod::Actuators;
using hexapod::Engine;
using hexapod::kGenes;

constexpr std::uint64_t kSeed = 4;

TEST(HexapodDart, GoldenValuesOfTheSpecification) {
  Matrix<float> genotypes(3, kGenes);  // zeros, halves, the tripod walk
  for (std::size_t i = 0; i < kGenes; ++i) {
    genotypes(1, i) = 0.5F;
    genotypes(2, i) = hexapod::kTripod[i / 6][i % 6];
  }
  const Evaluation evaluation = evaluate(Hexapod(Engine::dart), genotypes);
  constexpr double golden[3][4] = {
      {0, 0, 0.1264, 0}, {-0.0078, 0.0018, 0.1619, 0.1123}, {0.6194, 0.1090, 0.1422, 0.1884}};
  for (std::size_t n = 0; n < 3; ++n) {
    SCOPED_TRACE(n);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(evaluation.ground_truth(n, i), golden[n][i], 0.02);
    EXPECT_NEAR(evaluation.ground_truth(n, 5), golden[n][3], 0.05);
  }
  // All halves is a hop of six legs at once and hangs on roundings; the others do not.
  EXPECT_NEAR(evaluation.ground_truth(0, 2), 0.1264, 1e-4);
  EXPECT_NEAR(evaluation.ground_truth(2, 0), 0.6194, 1e-4);
  EXPECT_NEAR(evaluation.ground_truth(2, 1), 0.1090, 1e-4);
  EXPECT_NEAR(evaluation.ground_truth(2, 5), 0.1884, 1e-4);
}

/// Ends where DART's own world and solver do, but for the few in a hundred whose contacts hang on
/// roundings.
void expect_near_oracle(Actuators actuators, std::size_t count) {
  const Hexapod task(Engine::dart, actuators);
  const Matrix<float> genotypes = random_genotypes(task.spec(), count, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  std::size_t equal = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const auto truth = hexapod::ground_truth(hexapod::oracle_episode(genotypes.row(n), actuators));
    bool near = true;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      near &= std::abs(evaluation.ground_truth(n, i) - truth[i]) < 1e-4;
    }
    equal += near ? 1 : 0;
  }
  EXPECT_GE(equal, count - count / 10) << "seed " << kSeed;
}

TEST(HexapodDart, ShortCutsLeadToTheSamePlaceWithServos) {
  expect_near_oracle(Actuators::servo, 40);
}

TEST(HexapodDart, ShortCutsLeadToTheSamePlaceWithVelocityActuators) {
  expect_near_oracle(Actuators::velocity, 40);
}

TEST(HexapodDart, ActuatorsDifferAndAgreeRoughly) {
  const Hexapod servo(Engine::dart);
  const Hexapod velocity(Engine::dart, Actuators::velocity);
  const Matrix<float> genotypes = random_genotypes(servo.spec(), 60, kSeed);
  const Evaluation one = evaluate(servo, genotypes);
  const Evaluation other = evaluate(velocity, genotypes);
  // Correlation of final positions; the specification says about 0.88.
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    for (const std::size_t i : {0U, 1U}) {
      const double a = one.ground_truth(n, i), b = other.ground_truth(n, i);
      ab += a * b;
      aa += a * a;
      bb += b * b;
    }
  }
  EXPECT_GT(ab / std::sqrt(aa * bb), 0.75);
  EXPECT_LT(ab / std::sqrt(aa * bb), 0.9999);
}

TEST(HexapodDart, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<Hexapod>(Engine::dart); }, 10, kSeed);
  expect_pure([] { return std::make_unique<Hexapod>(Engine::dart, Actuators::velocity); }, 10,
              kSeed);
}

TEST(HexapodDart, EvaluationIsTheEndOfTheTrace) {
  const Hexapod task(Engine::dart);
  const Matrix<float> genotypes = random_genotypes(task.spec(), 3, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const std::vector<hexapod::Bodies> trace = task.trace(genotypes.row(n));
    ASSERT_EQ(trace.size(), 100U);
    EXPECT_EQ(evaluation.fitness[n], static_cast<float>(hexapod::fitness(trace.back()[0])));
  }
}

TEST(HexapodDart, PartMakesWhatItsOptionsSay) {
  const TaskEntry entry = hexapod_task();
  const Matrix<float> genotypes = random_genotypes(Hexapod().spec(), 1, kSeed);
  const auto made_like = [&](const std::vector<std::string>& options, const Hexapod& task) {
    return same_bits(evaluate(*make_part(entry, {}, options), genotypes), 0,
                     evaluate(task, genotypes), 0);
  };
  EXPECT_TRUE(made_like({"engine=dart"}, Hexapod(Engine::dart)));
  EXPECT_FALSE(made_like({"engine=dart"}, Hexapod()));
  EXPECT_TRUE(
      made_like({"engine=dart", "actuators=velocity"}, Hexapod(Engine::dart, Actuators::velocity)));
}

// A run that was made before there was another engine is one of DART's.
TEST(HexapodDart, IsTheFirstVersionOfTheTask) {
  EXPECT_EQ(Hexapod(Engine::dart).spec().version, 1U);
  EXPECT_EQ(Hexapod().spec().version, 3U);
}

}  // namespace
}  // namespace aurora
