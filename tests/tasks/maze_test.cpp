#include "aurora/tasks/maze/maze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "tests/tasks/maze_reachable.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kSeed = 4;

TEST(Maze, SpecSaysWhatTheSpecificationDoes) {
  const Maze task;
  const TaskSpec& spec = task.spec();
  EXPECT_EQ(spec.name, "maze");
  EXPECT_EQ(spec.genotype_size, 42U);
  EXPECT_EQ(spec.sensory, (SensoryShape{{64, 64, 3}, ElementType::uint8}));
  EXPECT_TRUE(spec.sensory.is_picture());
  ASSERT_EQ(spec.ground_truth.size(), 3U);
  EXPECT_EQ(spec.ground_truth[0].name, "x");
  EXPECT_EQ(spec.ground_truth[1].name, "y");
  EXPECT_EQ(spec.ground_truth[2].name, "heading");
  for (const std::size_t axis : {0U, 1U}) {
    EXPECT_EQ(spec.ground_truth[axis].min, 0);
    EXPECT_EQ(spec.ground_truth[axis].max, 600);
  }
  EXPECT_DOUBLE_EQ(spec.ground_truth[2].min, -std::numbers::pi);
  EXPECT_DOUBLE_EQ(spec.ground_truth[2].max, std::numbers::pi);
  EXPECT_EQ(spec.worst_fitness, -4000);
  EXPECT_EQ(spec.ground_truth[0].direction, Direction::up);
  EXPECT_EQ(spec.ground_truth[1].direction, Direction::down);
  EXPECT_EQ(spec.ground_truth[2].unit, "rad");
  EXPECT_EQ(spec.title, "Maze");
  EXPECT_TRUE(spec.metrics.empty());
  // The mutation rate, 0.05, is the variation's own default.
  EXPECT_EQ(spec.defaults, (std::vector<std::string>{
                               "run.iterations=10000", "container.target_size=10000",
                               "threshold.vat_constant=25", "variation.at_least_one=false"}));
}

TEST(Maze, EvaluationIsTheEndOfTheTraceAndItsPicture) {
  const Maze task;
  const maze::Picture picture(task.map());
  const Matrix<float> genotypes = random_genotypes(task.spec(), 20, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", individual " << n);
    const std::vector<maze::Moment> trace = task.trace(genotypes.row(n));
    ASSERT_EQ(trace.size(), 2000U);
    const maze::Pose& end = trace.back().pose;
    EXPECT_EQ(evaluation.ground_truth(n, 0), end.x);
    EXPECT_EQ(evaluation.ground_truth(n, 1), end.y);
    EXPECT_EQ(evaluation.ground_truth(n, 2), end.heading);
    float fitness = 0;
    for (const maze::Moment& moment : trace) {
      fitness -= moment.outputs[0] * moment.outputs[0] + moment.outputs[1] * moment.outputs[1];
    }
    EXPECT_EQ(evaluation.fitness[n], fitness);
    std::array<std::uint8_t, maze::kPictureBytes> image;
    picture.draw(end.x, end.y, image);
    const auto sensed = evaluation.sensory.view().row<std::uint8_t>(n);
    EXPECT_TRUE(std::equal(sensed.begin(), sensed.end(), image.begin(), image.end()));
  }
}

TEST(Maze, ResultsStayWithinTheBoundsOfTheSpec) {
  const Maze task;
  const std::vector<std::uint8_t> reachable = maze::reachable_pixels(task.map());
  const Matrix<float> genotypes = random_genotypes(task.spec(), 300, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", individual " << n);
    EXPECT_LE(evaluation.fitness[n], 0);
    EXPECT_GE(evaluation.fitness[n], task.spec().worst_fitness);
    EXPECT_LE(std::abs(evaluation.ground_truth(n, 2)), maze::kPi);
    const int i = maze::pixel_index(evaluation.ground_truth(n, 0));
    const int j = maze::pixel_index(evaluation.ground_truth(n, 1));
    EXPECT_EQ(reachable[static_cast<std::size_t>(j * maze::kMapSize + i)], 1);
  }
}

TEST(Maze, IsAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<Maze>(); }, 64, kSeed);
}

TEST(Maze, RefusesGenesThatAreNoNumbersAndRowsOfTheWrongLength) {
  const Maze task;
  Evaluation evaluation(task.spec(), 1);
  Matrix<float> genotypes(1, maze::kGenes);
  genotypes(0, 41) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.trace(genotypes.row(0)), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 41), evaluation.view()), DataError);
}

}  // namespace
}  // namespace aurora
