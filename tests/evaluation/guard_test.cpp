#include "aurora/evaluation/guard.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "toy.hpp"

namespace aurora {
namespace {

using Genes = std::vector<float>;
constexpr double kPatient = 1000;

/// Writes down what it is told.
class Log : public FailureLog {
 public:
  void failed(std::span<const float> genotype, const std::string& reason) override {
    failures.emplace_back(static_cast<int>(genotype[0]), reason);
    if (failures.size() == throw_at) throw Error("that is enough");
  }
  void hangs(MatrixView<const float> genotypes, double seconds) override {
    const std::scoped_lock lock(mutex_);
    std::vector<int> rows;
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      rows.push_back(static_cast<int>(genotypes(i, 0)));
    }
    hanging_.emplace_back(std::move(rows), seconds);
  }
  /// Genotypes and seconds of each report.
  std::vector<std::pair<std::vector<int>, double>> hanging() {
    const std::scoped_lock lock(mutex_);
    return hanging_;
  }

  std::vector<std::pair<int, std::string>> failures;
  std::size_t throw_at = 0;

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::vector<int>, double>> hanging_;
};

/// Evaluates with a toy in one go, and writes down how many genotypes each call had.
class Counting : public Evaluator {
 public:
  explicit Counting(Toy::Wild wild) : toy_(std::move(wild)) {}
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    calls.push_back(genotypes.rows());
    toy_.evaluate(genotypes, out);
  }
  std::vector<std::size_t> calls;

 private:
  Toy toy_;
};

/// Throws for some.
Toy::Wild throwing_for(std::set<int> who) {
  return [who = std::move(who)](std::span<const float> genes) {
    const int i = static_cast<int>(genes[0]);
    if (who.contains(i)) throw std::runtime_error("no " + std::to_string(i));
    return true;
  };
}

TEST(Guard, IsNotSeenWhereNothingFails) {
  Counting evaluator({});
  Log log;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(13);
  Evaluation evaluation(Toy().spec(), 13);
  guard.evaluate(genotypes, evaluation.view());
  for (std::size_t i = 0; i < 13; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
  EXPECT_TRUE(log.failures.empty());
  EXPECT_EQ(evaluator.calls, std::vector<std::size_t>{13});
  guard.evaluate(genotypes.view().slice(0, 0), evaluation.view().slice(0, 0));
  EXPECT_EQ(evaluator.calls.size(), 1U) << "there was nobody to evaluate";
}

TEST(Guard, FindsExactlyThoseThatThrow) {
  const std::vector<std::set<int>> cases = {{0},       {12},           {5}, {0, 12}, {3, 4, 5},
                                            {2, 7, 8}, {0, 1, 2, 3, 9}};
  for (const std::set<int>& who : cases) {
    SCOPED_TRACE(testing::PrintToString(who));
    Counting evaluator(throwing_for(who));
    Log log;
    Guard guard(evaluator, log, kPatient);
    const Matrix<float> genotypes = numbered_genotypes(13);
    Evaluation evaluation(Toy().spec(), 13);
    guard.evaluate(genotypes, evaluation.view());
    std::vector<std::pair<int, std::string>> expected;
    for (const int i : who) expected.emplace_back(i, "no " + std::to_string(i));
    EXPECT_EQ(log.failures, expected);
    for (std::size_t i = 0; i < 13; ++i) {
      if (!who.contains(static_cast<int>(i))) {
        EXPECT_TRUE(is_right(evaluation, i)) << i;
        continue;
      }
      // What no container takes, and nothing of anybody else.
      EXPECT_TRUE(std::isnan(evaluation.fitness[i]));
      EXPECT_EQ(evaluation.ground_truth(i, 0), 0);
      for (const float value : evaluation.sensory.view().row<float>(i)) EXPECT_EQ(value, 0);
    }
  }
}

TEST(Guard, LooksForTheOneByHalves) {
  Counting evaluator(throwing_for({37}));
  Log log;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(64);
  Evaluation evaluation(Toy().spec(), 64);
  guard.evaluate(genotypes, evaluation.view());
  EXPECT_EQ(log.failures.size(), 1U);
  // The whole, and at each of the six levels below it two halves.
  EXPECT_EQ(evaluator.calls.size(), 13U);
  for (const std::size_t rows : {64U, 32U, 16U, 8U, 4U, 2U, 1U}) {
    EXPECT_EQ(std::ranges::count(evaluator.calls, rows), rows == 64 ? 1 : 2) << rows;
  }
}

TEST(Guard, WhoGivesUpIsNotLookedInto) {
  Counting evaluator([](std::span<const float> genes) {
    if (genes[0] == 3) throw Interrupted("not now");
    return true;
  });
  Log log;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(8);
  Evaluation evaluation(Toy().spec(), 8);
  EXPECT_THROW(guard.evaluate(genotypes, evaluation.view()), Interrupted);
  EXPECT_EQ(evaluator.calls.size(), 1U);
  EXPECT_TRUE(log.failures.empty());
}

TEST(Guard, AllMayFail) {
  Counting evaluator([](std::span<const float>) -> bool { throw 42; });
  Log log;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(5);
  Evaluation evaluation(Toy().spec(), 5);
  guard.evaluate(genotypes, evaluation.view());
  ASSERT_EQ(log.failures.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(log.failures[static_cast<std::size_t>(i)].first, i);
    EXPECT_EQ(log.failures[static_cast<std::size_t>(i)].second,
              "an exception that is no std::exception");
  }
}

TEST(Guard, AnExceptionWithoutAMessageIsCalledThat) {
  Counting evaluator([](std::span<const float>) -> bool { throw std::runtime_error(""); });
  Log log;
  Guard guard(evaluator, log, kPatient);
  Evaluation evaluation(Toy().spec(), 1);
  guard.evaluate(numbered_genotypes(1), evaluation.view());
  ASSERT_EQ(log.failures.size(), 1U);
  EXPECT_EQ(log.failures[0].second, "an exception without a message");
}

/// Gives something that is not finite, or nothing, at one place of a row.
class Holed : public Evaluator {
 public:
  using Hole = std::function<void(std::size_t row, EvaluationView out)>;
  explicit Holed(Hole hole) : hole_(std::move(hole)) {}
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      // Whoever is not right now keeps what was in its place before.
      const EvaluationView before = out.slice(i, 1);
      const float fitness = before.fitness[0];
      const float y = before.ground_truth(0, 1);
      const float last = before.sensory.row<float>(0)[2];
      toy_.evaluate(genotypes.slice(i, 1), before);
      kept_ = {fitness, y, last};
      hole_(static_cast<std::size_t>(genotypes(i, 0)), before);
    }
  }
  /// What stood in fitness, the last of the ground truth and of the senses.
  std::vector<float> kept_;

 private:
  Toy toy_;
  Hole hole_;
};

TEST(Guard, NumbersThatAreNotFiniteOrNotWrittenAreFailuresInTheOrderOfTheRows) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Holed* self = nullptr;
  Holed evaluator([&](std::size_t row, EvaluationView out) {
    if (row == 1) out.sensory.row<float>(0)[2] = std::nanf("");
    if (row == 2) out.fitness[0] = kInfinity;
    if (row == 4) out.ground_truth(0, 1) = -kInfinity;
    if (row == 5) out.fitness[0] = self->kept_[0];
    if (row == 6) out.ground_truth(0, 1) = self->kept_[1];
    if (row == 7) out.sensory.row<float>(0)[2] = self->kept_[2];
    if (row == 8) throw std::runtime_error("no 8");
    if (row == 9) out.fitness[0] = out.ground_truth(0, 1) = std::nanf("");
  });
  self = &evaluator;
  Log log;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(11);
  Evaluation evaluation(Toy().spec(), 11);
  const std::string fitness = "the fitness is not finite, or not written";
  const std::string truth = "the ground truth is not finite, or not all of it is written";
  const std::string senses = "the sensory data is not finite, or not all of it is written";
  const std::vector<std::pair<int, std::string>> expected = {
      {1, senses}, {2, fitness}, {4, truth},  {5, fitness},
      {6, truth},  {7, senses},  {8, "no 8"}, {9, fitness}};
  // The second time there are good numbers of the first in all places.
  for (int time = 0; time < 2; ++time) {
    log.failures.clear();
    guard.evaluate(genotypes, evaluation.view());
    EXPECT_EQ(log.failures, expected) << time;
    for (const std::size_t good : {0U, 3U, 10U}) EXPECT_TRUE(is_right(evaluation, good));
    for (auto& value : evaluation.fitness) value = 7;
    for (std::size_t i = 0; i < 11; ++i) {
      evaluation.ground_truth(i, 1) = 7;
      evaluation.sensory.mutable_view().row<float>(i)[2] = 7;
    }
  }
}

TEST(Guard, BytesHaveNoMarkForWhatIsNotWritten) {
  TaskSpec spec = Toy().spec();
  spec.sensory = {{2}, ElementType::uint8};
  class Bytes : public Evaluator {
   public:
    void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
      for (std::size_t i = 0; i < genotypes.rows(); ++i) {
        out.fitness[i] = out.ground_truth(i, 0) = out.ground_truth(i, 1) = 1;
        if (genotypes(i, 0) == 1) throw std::runtime_error("no 1");
        std::ranges::fill(out.sensory.row<std::uint8_t>(i), std::uint8_t{255});
      }
    }
  } evaluator;
  Log log;
  Guard guard(evaluator, log, kPatient);
  Evaluation evaluation(spec, 3);
  guard.evaluate(numbered_genotypes(3), evaluation.view());
  EXPECT_EQ(log.failures, (std::vector<std::pair<int, std::string>>{{1, "no 1"}}));
  EXPECT_EQ(evaluation.sensory.view().row<std::uint8_t>(0)[1], 255);
  EXPECT_EQ(evaluation.sensory.view().row<std::uint8_t>(1)[1], 0);
}

TEST(Guard, WhatTheLogThrowsGoesThroughAndTheNextBatchIsAsGoodAsAny) {
  Counting evaluator(throwing_for({1, 3, 5}));
  Log log;
  log.throw_at = 2;
  Guard guard(evaluator, log, kPatient);
  const Matrix<float> genotypes = numbered_genotypes(8);
  Evaluation evaluation(Toy().spec(), 8);
  try {
    guard.evaluate(genotypes, evaluation.view());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "that is enough");
  }
  EXPECT_EQ(log.failures.size(), 2U);
  log.failures.clear();
  log.throw_at = 0;
  guard.evaluate(genotypes, evaluation.view());
  EXPECT_EQ(log.failures.size(), 3U);
  EXPECT_TRUE(is_right(evaluation, 7));
}

/// Waits until something is so; false if that takes more than ten seconds.
bool wait_for(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Guard, AHangingPieceIsReportedOnceWithItsGenotypesAlone) {
  constexpr double kPatience = 0.1;
  Log log;
  // Number 6 waits until it has been reported, and then as long again as it could be reported anew.
  const Toy toy([&](std::span<const float> genes) {
    if (genes[0] != 6) return true;
    EXPECT_TRUE(wait_for([&] { return !log.hanging().empty(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return true;
  });
  Workers workers(2);
  ThreadEvaluator evaluator(toy, workers);
  Guard guard(evaluator, log, kPatience);
  const Matrix<float> genotypes = numbered_genotypes(14);
  Evaluation evaluation(toy.spec(), 14);
  guard.evaluate(genotypes, evaluation.view());
  const auto reports = log.hanging();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].first, (std::vector<int>{4, 5, 6, 7})) << "a piece of four";
  EXPECT_GE(reports[0].second, kPatience);
  EXPECT_LT(reports[0].second, 8);
  EXPECT_TRUE(log.failures.empty()) << "it came back after all";
  for (std::size_t i = 0; i < 14; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
}

TEST(Guard, TwoHangingPiecesAreTwoReports) {
  Log log;
  const Toy toy([&](std::span<const float> genes) {
    if (genes[0] != 1 && genes[0] != 9) return true;
    EXPECT_TRUE(wait_for([&] { return log.hanging().size() >= 2; }));
    return true;
  });
  Workers workers(2);
  ThreadEvaluator evaluator(toy, workers);
  Guard guard(evaluator, log, 0.1);
  Evaluation evaluation(toy.spec(), 12);
  guard.evaluate(numbered_genotypes(12), evaluation.view());
  std::set<std::vector<int>> pieces;
  for (const auto& [rows, seconds] : log.hanging()) pieces.insert(rows);
  EXPECT_EQ(pieces, (std::set<std::vector<int>>{{0, 1, 2, 3}, {8, 9, 10, 11}}));
  EXPECT_EQ(log.hanging().size(), 2U);
}

TEST(Guard, PiecesThatBeganTogetherAreAllReported) {
  /// Knows its pieces, all of which begin at once.
  class Remote : public Evaluator {
   public:
    explicit Remote(Log& log) : log_(log) {}
    void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
      {
        const std::scoped_lock lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        pieces_ = {{0, 2, now}, {3, 1, now}};
      }
      EXPECT_TRUE(wait_for([&] { return log_.hanging().size() >= 2; }));
      toy_.evaluate(genotypes, out);
    }
    std::optional<std::vector<Piece>> busy() const override {
      const std::scoped_lock lock(mutex_);
      return pieces_;
    }

   private:
    Log& log_;
    Toy toy_;
    mutable std::mutex mutex_;
    std::vector<Piece> pieces_;
  };
  Log log;
  Remote evaluator(log);
  Guard guard(evaluator, log, 0.1);
  Evaluation evaluation(Toy().spec(), 4);
  guard.evaluate(numbered_genotypes(4), evaluation.view());
  std::set<std::vector<int>> pieces;
  for (const auto& [rows, seconds] : log.hanging()) pieces.insert(rows);
  EXPECT_EQ(pieces, (std::set<std::vector<int>>{{0, 1}, {3}}));
}

TEST(Guard, TheWholeCallIsReportedIfTheEvaluatorKnowsNoPieces) {
  Log log;
  std::atomic<int> calls = 0;
  Counting evaluator([&](std::span<const float> genes) {
    if (genes[0] == 0 && ++calls <= 2) {
      const auto before = static_cast<std::size_t>(calls);
      EXPECT_TRUE(wait_for([&] { return log.hanging().size() >= before; }));
    }
    return true;
  });
  Guard guard(evaluator, log, 0.1);
  const Matrix<float> genotypes = numbered_genotypes(3);
  Evaluation evaluation(Toy().spec(), 3);
  for (int i = 0; i < 3; ++i) guard.evaluate(genotypes, evaluation.view());
  const auto reports = log.hanging();
  ASSERT_EQ(reports.size(), 2U) << "one for each call that hung";
  for (const auto& [rows, seconds] : reports) EXPECT_EQ(rows, (std::vector<int>{0, 1, 2}));
}

TEST(Guard, GoesWithThreadsAndFindsTheSame) {
  for (const std::size_t threads : {1U, 3U}) {
    const Toy toy(throwing_for({0, 17, 18, 40}));
    Workers workers(threads);
    ThreadEvaluator evaluator(toy, workers);
    Log log;
    Guard guard(evaluator, log, kPatient);
    Evaluation evaluation(toy.spec(), 41);
    guard.evaluate(numbered_genotypes(41), evaluation.view());
    const std::vector<std::pair<int, std::string>> expected = {
        {0, "no 0"}, {17, "no 17"}, {18, "no 18"}, {40, "no 40"}};
    EXPECT_EQ(log.failures, expected);
    for (const std::size_t good : {1U, 16U, 19U, 39U}) EXPECT_TRUE(is_right(evaluation, good));
  }
}

}  // namespace
}  // namespace aurora
