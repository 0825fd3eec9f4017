#include "aurora/evaluation/thread_evaluator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "toy.hpp"

namespace aurora {
namespace {

TEST(ThreadEvaluator, GivesTheSameForAnyNumberOfThreads) {
  const Toy toy;
  const Matrix<float> genotypes = numbered_genotypes(101);
  for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
    Workers workers(threads);
    ThreadEvaluator evaluator(toy, workers);
    Evaluation evaluation(toy.spec(), 101);
    evaluator.evaluate(genotypes, evaluation.view());
    for (std::size_t i = 0; i < 101; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
  }
}

/// Writes down the pieces that it is handed.
class Pieces : public Task {
 public:
  explicit Pieces(std::size_t preferred_batch) : toy_({}, preferred_batch) {}
  const TaskSpec& spec() const override { return toy_.spec(); }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    const std::scoped_lock lock(mutex_);
    sizes.push_back(genotypes.rows());
    toy_.evaluate(genotypes, out);
  }
  mutable std::vector<std::size_t> sizes;

 private:
  Toy toy_;
  mutable std::mutex mutex_;
};

TEST(ThreadEvaluator, HandsOutWhatTheTaskPrefers) {
  for (const std::size_t preferred : {0U, 1U, 4U, 7U}) {
    const Pieces task(preferred);
    Workers workers(3);
    ThreadEvaluator evaluator(task, workers);
    Evaluation evaluation(task.spec(), 30);
    evaluator.evaluate(numbered_genotypes(30), evaluation.view());
    const std::size_t piece = std::max<std::size_t>(preferred, 1);
    std::size_t sum = 0, odd = 0;
    for (const std::size_t size : task.sizes) {
      sum += size;
      if (size % piece != 0) ++odd;
    }
    EXPECT_EQ(sum, 30U);
    EXPECT_LE(odd, 1U) << "only the last piece may be smaller, of " << preferred;
    for (std::size_t i = 0; i < 30; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
  }
}

TEST(ThreadEvaluator, HandsOutLargerPiecesWhileEveryThreadHasTwo) {
  const auto largest = [](std::size_t preferred, std::size_t rows, std::size_t threads) {
    const Pieces task(preferred);
    Workers workers(threads);
    Evaluation evaluation(task.spec(), rows);
    ThreadEvaluator(task, workers).evaluate(numbered_genotypes(rows), evaluation.view());
    for (std::size_t i = 0; i < rows; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
    return std::ranges::max(task.sizes);
  };
  EXPECT_EQ(largest(8, 128, 1), 64U);
  EXPECT_EQ(largest(8, 128, 2), 32U);
  EXPECT_EQ(largest(8, 128, 4), 16U);
  EXPECT_EQ(largest(8, 128, 7), 8U);
  EXPECT_EQ(largest(8, 128, 16), 8U);
  EXPECT_EQ(largest(8, 5, 1), 5U);
  EXPECT_EQ(largest(8, 1000, 1), 64U);  // no more than eight times what it prefers
  EXPECT_EQ(largest(1, 1000, 1), 1U);
}

TEST(ThreadEvaluator, LeavesWhatTheTaskThrowsToTheCaller) {
  const Toy toy([](std::span<const float> genes) {
    if (genes[0] == 5) throw std::runtime_error("no 5");
    return true;
  });
  for (const std::size_t threads : {1U, 3U}) {
    Workers workers(threads);
    ThreadEvaluator evaluator(toy, workers);
    Evaluation evaluation(toy.spec(), 12);
    EXPECT_THROW(evaluator.evaluate(numbered_genotypes(12), evaluation.view()), std::runtime_error);
    EXPECT_TRUE(evaluator.busy()->empty());
    evaluator.evaluate(numbered_genotypes(5), evaluation.view().slice(0, 5));
    EXPECT_TRUE(is_right(evaluation, 4));
  }
}

TEST(ThreadEvaluator, KnowsWhatItIsAt) {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false, over = false;
  const Toy toy([&](std::span<const float> genes) {
    if (genes[0] != 9) return true;
    std::unique_lock lock(mutex);
    inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return over; });
    return true;
  });
  Workers workers(1);
  ThreadEvaluator evaluator(toy, workers);
  EXPECT_TRUE(evaluator.busy()->empty());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Piece> busy;
  std::thread asking([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside; });
    busy = *evaluator.busy();
    over = true;
    changed.notify_all();
  });
  Evaluation evaluation(toy.spec(), 12);
  evaluator.evaluate(numbered_genotypes(12), evaluation.view());
  asking.join();
  ASSERT_EQ(busy.size(), 1U);
  EXPECT_LE(busy[0].begin, 9U);
  EXPECT_GT(busy[0].begin + busy[0].count, 9U);
  EXPECT_LE(busy[0].count, 4U);
  EXPECT_GE(busy[0].since, begin);
  EXPECT_LE(busy[0].since, std::chrono::steady_clock::now());
  EXPECT_TRUE(evaluator.busy()->empty());
}

TEST(ThreadEvaluator, IsAPartOfItsOwn) {
  const EvaluatorEntry entry = thread_evaluator();
  EXPECT_EQ(entry.name, "threads");
  const Toy toy;
  Workers workers(2);
  EvaluatorContext context{toy, workers};
  Evaluation evaluation(toy.spec(), 3);
  entry.make({}, context)->evaluate(numbered_genotypes(3), evaluation.view());
  EXPECT_TRUE(is_right(evaluation, 2));
}

}  // namespace
}  // namespace aurora
