#include "aurora/tasks/maze/maze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numbers>
#include <thread>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kSeed = 4;

Matrix<float> random_genotypes(std::size_t count) {
  Matrix<float> genotypes(count, maze::kGenes);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(kSeed, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
    for (float& gene : genotypes.row(n)) gene = static_cast<float>(stream.uniform());
  }
  return genotypes;
}

Evaluation evaluate(const Maze& task, const Matrix<float>& genotypes) {
  Evaluation evaluation(task.spec(), genotypes.rows());
  task.evaluate(genotypes, evaluation.view());
  return evaluation;
}

/// Are row i of one and row j of the other the same, bit by bit?
bool same_bits(const Evaluation& one, std::size_t i, const Evaluation& other, std::size_t j) {
  const auto equal = [](const auto& a, const auto& b) {
    return a.size_bytes() == b.size_bytes() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  };
  return equal(std::span(&one.fitness[i], 1), std::span(&other.fitness[j], 1)) &&
         equal(one.ground_truth.row(i), other.ground_truth.row(j)) &&
         equal(one.sensory.view().bytes(i), other.sensory.view().bytes(j));
}

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
  EXPECT_EQ(spec.defaults.iterations, 10000U);
  EXPECT_EQ(spec.defaults.target_size, 10000U);
  EXPECT_EQ(spec.defaults.mutation_rate, 0.05);
  EXPECT_EQ(spec.defaults.vat_constant, 25);
}

TEST(Maze, EvaluationIsTheEndOfTheTraceAndItsPicture) {
  const Maze task;
  const maze::Picture picture(task.map());
  const Matrix<float> genotypes = random_genotypes(20);
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
  const Matrix<float> genotypes = random_genotypes(300);
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

TEST(Maze, TheSameGenotypeGivesTheSameBitsAnywhereInAnyBatch) {
  const Maze task;
  const Matrix<float> genotypes = random_genotypes(64);
  const Evaluation whole = evaluate(task, genotypes);

  const std::vector<std::uint32_t> order = Stream(kSeed, Purpose::user).permutation(64);
  Matrix<float> shuffled(64, maze::kGenes);
  for (std::size_t n = 0; n < 64; ++n) {
    std::ranges::copy(genotypes.row(order[n]), shuffled.row(n).begin());
  }
  const Evaluation mixed = evaluate(task, shuffled);
  for (std::size_t n = 0; n < 64; ++n) EXPECT_TRUE(same_bits(mixed, n, whole, order[n])) << n;

  // Batches of one and of seven, with another instance of the task.
  const Maze other;
  for (const std::size_t size : {1U, 7U}) {
    Evaluation pieces(other.spec(), 64);
    for (std::size_t begin = 0; begin < 64; begin += size) {
      const std::size_t count = std::min<std::size_t>(size, 64 - begin);
      other.evaluate(genotypes.view().slice(begin, count), pieces.view().slice(begin, count));
    }
    for (std::size_t n = 0; n < 64; ++n) EXPECT_TRUE(same_bits(pieces, n, whole, n)) << n;
  }
}

TEST(Maze, ThreadsThatShareATaskDoNotDisturbEachOther) {
  const Maze task;
  const Matrix<float> genotypes = random_genotypes(64);
  const Evaluation alone = evaluate(task, genotypes);

  // Every thread evaluates everything, so that the same individuals run at the same time.
  std::vector<Evaluation> results(4, Evaluation(task.spec(), 64));
  std::vector<std::thread> threads;
  for (Evaluation& result : results) {
    threads.emplace_back([&] { task.evaluate(genotypes, result.view()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Evaluation& result : results) {
    for (std::size_t n = 0; n < 64; ++n) ASSERT_TRUE(same_bits(result, n, alone, n)) << n;
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
