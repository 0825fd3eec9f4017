#include "aurora/tasks/hexapod/walking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/tasks/hexapod/hexapod.hpp"
#include "tests/tasks/hexapod_robots.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

using hexapod::Bodies;
using hexapod::kGenes;
using hexapod::kLegs;
using hexapod::kSteps;
using hexapod::Moment;
using hexapod::Walk;

constexpr std::uint64_t kSeed = 4;

std::vector<float> tripod() {
  std::vector<float> genes;
  for (const auto& leg : hexapod::kTripod)
    genes.insert(genes.end(), std::begin(leg), std::end(leg));
  return genes;
}

/// How high the lowest point of a leg's foot and tibia is.
double height_of(std::size_t leg, const Bodies& bodies) {
  const hexapod::Transform& tibia = bodies[3 + 3 * leg];
  double lowest = (tibia * hexapod::kFoot).z - hexapod::kFootRadius;
  const hexapod::Link& link = hexapod::kLinks[2];
  for (int corner = 0; corner < 8; ++corner) {
    const hexapod::Vector offset = {(corner & 1 ? 0.5 : -0.5) * link.box.x,
                                    (corner & 2 ? 0.5 : -0.5) * link.box.y,
                                    (corner & 4 ? 0.5 : -0.5) * link.box.z};
    lowest = std::min(lowest, (tibia * (link.middle + offset)).z);
  }
  return lowest;
}

TEST(HexapodWalking, SpecHasALegForEachAxisAndAllOfThemAsDescriptor) {
  const HexapodWalking task;
  const TaskSpec& spec = task.spec();
  EXPECT_NO_THROW(check(spec));
  EXPECT_EQ(spec.name, "hexapod-walking");
  EXPECT_EQ(spec.genotype_size, 36U);
  EXPECT_EQ(spec.sensory, (SensoryShape{{50, 24}, ElementType::float32}));
  ASSERT_EQ(spec.ground_truth.size(), 6U);
  for (const Axis& axis : spec.ground_truth) {
    EXPECT_EQ(axis.min, 0);
    EXPECT_EQ(axis.max, 1);
  }
  // Names are where the hips are: x ahead, y to the left.
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const hexapod::Vector& hip = hexapod::kHips[leg].position;
    const std::string across = hip.y > 0 ? "left_" : "right_";
    const std::string along = hip.x > 0.01 ? "front" : hip.x < -0.01 ? "rear" : "middle";
    EXPECT_EQ(spec.ground_truth[leg].name, across + along);
  }
  EXPECT_EQ(spec.hand_coded_size, 6U);
  EXPECT_EQ(spec.preferred_batch, 8U);
}

TEST(HexapodWalking, ARobotThatStandsStillStandsOnAllLegsOnceItHasLanded) {
  const std::vector<float> genes(kGenes, 0.0F);
  const Walk walk = HexapodWalking().walk(genes);
  // It starts 14 mm above the floor, and falls that deep within 0.054 s: two steps in the air.
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      EXPECT_EQ(walk[step].stands_on[leg], step >= 2) << step << ' ' << leg;
    }
  }
}

TEST(HexapodWalking, ALegThatIsHeldUpIsNeverStoodOn) {
  std::vector<float> genes(kGenes, 0.0F);
  genes[6 * 4 + 3] = 1;  // the femur of leg 4: -45 degrees, all the time
  const Walk walk = HexapodWalking().walk(genes);
  for (std::size_t step = 10; step < kSteps; ++step) {
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      EXPECT_EQ(walk[step].stands_on[leg], leg != 4) << step << ' ' << leg;
    }
  }
}

TEST(HexapodWalking, ATripodStandsOnThreeLegsAndThenOnTheOthers) {
  const Walk walk = HexapodWalking().walk(tripod());
  // Femora of legs 0, 2, 4 are down for phases [0.75, 1.25), those of 1, 3, 5 for [0.25, 0.75);
  // legs are a little behind: look in the middle of each half. On three legs it rocks, so that one
  // of them may leave the floor for a moment, or one of the others touch it.
  int looks = 0, stance = 0, swing = 0;
  for (std::size_t step = 34; step < kSteps; ++step) {  // from the second period on
    const double time = 0.03 * static_cast<double>(step);
    const double phase = time - std::floor(time);
    const bool first = phase > 0.95 || phase < 0.15;
    const bool second = phase > 0.45 && phase < 0.65;
    if (!first && !second) continue;
    int down = 0, up = 0;
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      if (!walk[step].stands_on[leg]) continue;
      ((leg % 2 == 0) == first ? down : up) += 1;
    }
    EXPECT_GE(down, 2) << step;
    EXPECT_LE(up, 1) << step;
    ++looks;
    stance += down;
    swing += up;
  }
  EXPECT_GT(looks, 20);
  EXPECT_GT(stance, 0.75 * 3 * looks);
  EXPECT_LT(swing, 0.1 * 3 * looks);
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const auto stood =
        std::ranges::count_if(walk, [&](const Moment& moment) { return moment.stands_on[leg]; });
    EXPECT_GT(stood, 35);
    EXPECT_LT(stood, 70);
  }
}

TEST(HexapodWalking, ALegIsStoodOnIfItsFootOrTibiaIsBelowTheFloor) {
  const HexapodWalking task;
  const Hexapod hexapod;
  for (const hexapod::Kind kind : {hexapod::Kind::random, hexapod::Kind::strong,
                                   hexapod::Kind::tripod, hexapod::Kind::leaning}) {
    const Matrix<float> genotypes = hexapod::robots(kind, 3, kSeed);
    for (std::size_t n = 0; n < genotypes.rows(); ++n) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", robot " << n);
      const std::vector<Bodies> trace = hexapod.trace(genotypes.row(n));
      const Walk walk = task.walk(genotypes.row(n));
      for (std::size_t step = 1; step < kSteps; ++step) {
        for (std::size_t leg = 0; leg < kLegs; ++leg) {
          const double height = height_of(leg, trace[step - 1]);
          if (std::abs(height) < 1e-12) continue;
          ASSERT_EQ(walk[step].stands_on[leg], height < 0) << step << ' ' << leg;
        }
      }
    }
  }
}

TEST(HexapodWalking, EvaluationIsWhatTheWalkAndItsEndSay) {
  const HexapodWalking task;
  const Hexapod hexapod;
  Matrix<float> genotypes = random_genotypes(task.spec(), 9, kSeed);
  std::ranges::copy(tripod(), genotypes.row(3).begin());
  const Evaluation evaluation = evaluate(task, genotypes);
  const Evaluation pictures = evaluate(hexapod, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    SCOPED_TRACE(n);
    const hexapod::Vector end = hexapod.trace(genotypes.row(n)).back()[0].position;
    EXPECT_EQ(static_cast<float>(end.x), pictures.ground_truth(n, 0)) << "the Hexapod's episode";
    EXPECT_EQ(evaluation.fitness[n], static_cast<float>(end.x - std::abs(end.y)));
    const Walk walk = task.walk(genotypes.row(n));
    const auto sensed = evaluation.sensory.view().row<float>(n);
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      int stood = 0;
      for (const Moment& moment : walk) stood += moment.stands_on[leg] ? 1 : 0;
      EXPECT_EQ(evaluation.ground_truth(n, leg), static_cast<float>(stood) / 100);
    }
    for (std::size_t s = 0; s < 50; ++s) {
      const Moment& moment = walk[2 * s + 1];
      for (std::size_t j = 0; j < 18; ++j) {
        ASSERT_EQ(sensed[24 * s + j], static_cast<float>(moment.angles[j]));
      }
      for (std::size_t leg = 0; leg < kLegs; ++leg) {
        ASSERT_EQ(sensed[24 * s + 18 + leg], moment.stands_on[leg] ? 1.0F : 0.0F);
      }
    }
  }
  // A tripod comes far ahead, and hardly to the side.
  EXPECT_GT(evaluation.fitness[3], 0.3F);
}

TEST(HexapodWalking, DrawsTheRobotAndItsGaitBelow) {
  const Drawing alone = Hexapod().draw(tripod());
  const Drawing drawing = HexapodWalking().draw(tripod());
  EXPECT_EQ(drawing.film.size(), alone.film.size());
  EXPECT_EQ(drawing.picture.width, alone.picture.width);
  EXPECT_GT(drawing.picture.height, alone.picture.height + 100);
  EXPECT_EQ(drawing.picture.at(100, 100), alone.picture.at(100, 100));
}

TEST(HexapodWalking, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<HexapodWalking>(); }, 20, kSeed);
}

TEST(HexapodWalking, RefusesGenesThatAreNoNumbersAndRowsOfTheWrongLength) {
  const HexapodWalking task;
  Evaluation evaluation(task.spec(), 1);
  Matrix<float> genotypes(1, kGenes);
  genotypes(0, 35) = std::nanf("");
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.walk(genotypes.row(0)), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 35), evaluation.view()), DataError);
}

}  // namespace
}  // namespace aurora
