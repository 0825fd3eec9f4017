#include "aurora/tasks/maze/maze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"
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

TEST(Maze, ByDefaultIsTheTaskThatRunsWereMadeOf) {
  constexpr const char* kFingerprint =
      "maze version 1: 42 genes, senses 64 x 64 x 3 bytes, worst fitness -4000, x from 0 to 600, "
      "y from 0 to 600, heading from -3.141592653589793 to 3.141592653589793";
  EXPECT_EQ(fingerprint(Maze().spec()), kFingerprint);
  EXPECT_EQ(fingerprint(make_part(maze_task(), {})->spec()), kFingerprint);
}

TEST(Maze, SensesWhatItsOptionSays) {
  const TaskEntry entry = maze_task();
  ASSERT_EQ(entry.options.size(), 1U);
  EXPECT_EQ(entry.options[0].fallback.toml(), "\"picture\"");
  EXPECT_FALSE(read_option(entry, "sensory=smell"));
  const auto shape = [&](const char* assignment) {
    return make_part(entry, {}, {assignment})->spec().sensory;
  };
  EXPECT_EQ(shape("sensory=picture"), (SensoryShape{{64, 64, 3}, ElementType::uint8}));
  EXPECT_EQ(shape("sensory=trajectory"), (SensoryShape{{50, 2}, ElementType::float32}));
  EXPECT_EQ(shape("sensory=lasers"), (SensoryShape{{50, 3}, ElementType::float32}));
}

TEST(Maze, WhatItSensesChangesNothingElseAndIsInTheTrace) {
  const Maze seen;
  const Maze placed(maze::Sensory::trajectory);
  const Maze ranging(maze::Sensory::lasers);
  const Matrix<float> genotypes = random_genotypes(seen.spec(), 20, kSeed);
  const Evaluation picture = evaluate(seen, genotypes);
  const Evaluation trajectory = evaluate(placed, genotypes);
  const Evaluation lasers = evaluate(ranging, genotypes);
  EXPECT_EQ(trajectory.fitness, picture.fitness);
  EXPECT_EQ(lasers.fitness, picture.fitness);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", individual " << n);
    EXPECT_TRUE(std::ranges::equal(trajectory.ground_truth.row(n), picture.ground_truth.row(n)));
    EXPECT_TRUE(std::ranges::equal(lasers.ground_truth.row(n), picture.ground_truth.row(n)));
    const std::vector<maze::Moment> trace = seen.trace(genotypes.row(n));
    const auto places = trajectory.sensory.view().row<float>(n);
    const auto readings = lasers.sensory.view().row<float>(n);
    for (std::size_t s = 0; s < 50; ++s) {
      const maze::Moment& moment = trace[40 * s + 39];
      ASSERT_EQ(places[2 * s], moment.pose.x) << s;
      ASSERT_EQ(places[2 * s + 1], moment.pose.y) << s;
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(readings[3 * s + i], moment.senses.lasers[i]) << s;
      }
    }
  }
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
  using maze::Sensory;
  for (const Sensory sensory : {Sensory::picture, Sensory::trajectory, Sensory::lasers}) {
    expect_pure([=] { return std::make_unique<Maze>(sensory); }, 64, kSeed);
  }
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
