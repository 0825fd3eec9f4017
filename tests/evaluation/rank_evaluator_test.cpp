#include "aurora/evaluation/rank_evaluator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "aurora/core/parallel.hpp"
#include "aurora/evaluation/guard.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "local_transport.hpp"
#include "toy.hpp"

namespace aurora {
namespace {

using namespace std::chrono_literals;

bool wait_for(const std::function<bool()>& happened) {
  for (int i = 0; i < 2000 && !happened(); ++i) std::this_thread::sleep_for(5ms);
  return happened();
}

/// Ranks that serve, each a thread; rank 0 is made by the test.
class Ranks {
 public:
  using TaskOf = std::function<const Task&(int)>;

  Ranks(int size, TaskOf task, RankConfig config = {}, std::size_t threads = 1,
        std::chrono::microseconds latency = {})
      : network_(size, latency), task_(std::move(task)), config_(config) {
    for (int rank = 1; rank < size; ++rank) {
      servers_.emplace_back([this, rank, threads] {
        Workers workers(threads);
        try {
          RankEvaluator evaluator({task_(rank), workers}, config_,
                                  [&] { return network_.connect(rank); });
          served_ += evaluator.serve() ? 1 : 0;
        } catch (const Lost& error) {
          const std::scoped_lock lock(mutex_);
          lost_.emplace_back(error.what());
        }
      });
    }
  }
  ~Ranks() {
    for (std::thread& server : servers_) server.join();
  }

  std::unique_ptr<RankEvaluator> lead() {
    const auto warn = [&](const std::string& warning) {
      const std::scoped_lock lock(mutex_);
      warnings_.push_back(warning);
    };
    return std::make_unique<RankEvaluator>(EvaluatorContext{task_(0), workers_, warn}, config_,
                                           [&] { return network_.connect(0); });
  }
  LocalNetwork& network() { return network_; }
  int served() const { return served_; }
  std::vector<std::string> lost() {
    const std::scoped_lock lock(mutex_);
    return lost_;
  }
  std::vector<std::string> warnings() {
    const std::scoped_lock lock(mutex_);
    return warnings_;
  }

 private:
  LocalNetwork network_;
  TaskOf task_;
  RankConfig config_;
  Workers workers_{1};
  std::atomic<int> served_ = 0;
  std::mutex mutex_;
  std::vector<std::string> lost_;
  std::vector<std::string> warnings_;
  std::vector<std::thread> servers_;
};

TEST(RankEvaluator, GivesTheSameForAnyNumberOfRanksAndThreads) {
  const Toy toy;
  for (const int size : {1, 2, 3, 5, 8}) {
    for (const std::size_t threads : {1U, 3U}) {
      Ranks ranks(
          size, [&](int) -> const Task& { return toy; }, {}, threads, 100us);
      const auto evaluator = ranks.lead();
      EXPECT_FALSE(evaluator->serve()) << "rank 0 has the loop";
      for (const std::size_t rows : {101U, 1U, 0U, 1000U}) {
        Evaluation evaluation(toy.spec(), rows);
        evaluator->evaluate(numbered_genotypes(rows), evaluation.view());
        for (std::size_t i = 0; i < rows; ++i) ASSERT_TRUE(is_right(evaluation, i)) << i;
      }
      EXPECT_TRUE(evaluator->busy()->empty());
    }
  }
}

TEST(RankEvaluator, EndsInGoodOrder) {
  const Toy toy;
  Ranks ranks(4, [&](int) -> const Task& { return toy; });
  ranks.lead().reset();
  EXPECT_TRUE(wait_for([&] { return ranks.served() == 3; }));
  EXPECT_TRUE(wait_for([&] { return ranks.network().closed() == 4; }));
  EXPECT_TRUE(ranks.lost().empty());
}

TEST(RankEvaluator, SaysWhoAndWhere) {
  const Toy toy;
  Ranks ranks(5, [&](int) -> const Task& { return toy; });
  EXPECT_EQ(ranks.lead()->describe(), "5 ranks on host0 (2), host1 (2), host2 (1)");
}

TEST(RankEvaluator, AllRanksWorkAtOnce) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const Toy toy(
      [&](std::span<const float>) {
        std::this_thread::sleep_for(2ms);
        const std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        return true;
      },
      1);
  Ranks ranks(4, [&](int) -> const Task& { return toy; });
  const auto evaluator = ranks.lead();
  Evaluation evaluation(toy.spec(), 40);
  evaluator->evaluate(numbered_genotypes(40), evaluation.view());
  EXPECT_EQ(threads.size(), 4U);
}

TEST(RankEvaluator, WhatATaskThrowsElsewhereArrives) {
  const Toy good({}, 1);
  const Toy bad([](std::span<const float>) -> bool { throw std::runtime_error("no"); }, 1);
  Ranks ranks(2, [&](int rank) -> const Task& { return rank == 0 ? good : bad; });
  const auto evaluator = ranks.lead();
  Evaluation evaluation(good.spec(), 64);
  std::string message;
  // Rank 0 may be so quick that nobody else gets anything.
  for (int i = 0; i < 1000 && message.empty(); ++i) {
    try {
      evaluator->evaluate(numbered_genotypes(64), evaluation.view());
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(message, "no");
  EXPECT_TRUE(evaluator->busy()->empty());
}

/// Nothing is said of anything.
class Silent : public FailureLog {
 public:
  void failed(std::span<const float> genotype, const std::string& reason) override {
    failures.emplace_back(static_cast<int>(genotype[0]), reason);
  }
  void hangs(MatrixView<const float> genotypes, double) override {
    hanging = static_cast<int>(genotypes.rows());
  }
  std::vector<std::pair<int, std::string>> failures;
  std::atomic<int> hanging = 0;
};

TEST(RankEvaluator, TheGuardFindsWhoseFaultItWas) {
  const Toy toy([](std::span<const float> genes) {
    std::this_thread::sleep_for(100us);
    if (genes[0] == 17 || genes[0] == 40) {
      throw std::runtime_error("no " + std::to_string(static_cast<int>(genes[0])));
    }
    return genes[0] != 5;  // nothing is written
  });
  for (const int size : {1, 3}) {
    Ranks ranks(size, [&](int) -> const Task& { return toy; });
    const auto evaluator = ranks.lead();
    Silent log;
    Guard guard(*evaluator, log, 1000);
    Evaluation evaluation(toy.spec(), 41);
    guard.evaluate(numbered_genotypes(41), evaluation.view());
    const std::vector<std::pair<int, std::string>> expected = {
        {5, "the fitness is not finite, or not written"}, {17, "no 17"}, {40, "no 40"}};
    EXPECT_EQ(log.failures, expected) << size;
    for (const std::size_t good : {0U, 16U, 18U, 39U}) EXPECT_TRUE(is_right(evaluation, good));
  }
}

TEST(RankEvaluator, AnEvaluationThatHangsElsewhereIsSeen) {
  Silent log;
  std::atomic<bool> over = false;
  const Toy hanging([&](std::span<const float>) { return wait_for([&] { return over.load(); }); },
                    1);
  const Toy quick(
      [](std::span<const float>) {
        std::this_thread::sleep_for(1ms);
        return true;
      },
      1);
  Ranks ranks(2, [&](int rank) -> const Task& { return rank == 0 ? quick : hanging; });
  const auto evaluator = ranks.lead();
  Guard guard(*evaluator, log, 0.1);
  Evaluation evaluation(quick.spec(), 64);
  std::thread waiting([&] {
    EXPECT_TRUE(wait_for([&] { return log.hanging > 0; }));
    // Rank 0 may have some of its own left to do; the one elsewhere stays.
    EXPECT_TRUE(wait_for([&] { return evaluator->busy()->size() == 1; }));
    over = true;
  });
  guard.evaluate(numbered_genotypes(64), evaluation.view());
  waiting.join();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_TRUE(is_right(evaluation, i)) << i;
}

TEST(RankEvaluator, ARankThatIsNotHeardOfIsLost) {
  const Toy toy(
      [](std::span<const float>) {
        std::this_thread::sleep_for(1ms);
        return true;
      },
      1);
  Ranks ranks(4, [&](int) -> const Task& { return toy; }, {.silence = 1});
  auto evaluator = ranks.lead();
  Evaluation evaluation(toy.spec(), 100);
  evaluator->evaluate(numbered_genotypes(100), evaluation.view());
  ranks.network().cut(3);
  Silent log;
  std::optional<Guard> guard(std::in_place, *evaluator, log, 1000);
  const auto begin = std::chrono::steady_clock::now();
  std::string message;
  try {
    for (int i = 0; i < 1000; ++i) guard->evaluate(numbered_genotypes(100), evaluation.view());
  } catch (const Lost& error) {
    message = error.what();
  }
  EXPECT_EQ(message.find("rank 3 on host1 was not heard of for 1 seconds"), 0U) << message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_TRUE(log.failures.empty()) << "no evaluation is to blame";
  // The one that is cut off ends by itself. The others wait while rank 0 saves, but not for ever.
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(ranks.lost().size(), 1U);
  EXPECT_THROW(evaluator->evaluate(numbered_genotypes(100), evaluation.view()), Lost);
  guard.reset();
  evaluator.reset();
  EXPECT_TRUE(wait_for([&] { return ranks.lost().size() == 3; }));
  EXPECT_EQ(ranks.lost()[0].find("rank 0 was not heard of"), 0U) << ranks.lost()[0];
}

TEST(RankEvaluator, WhereTheNetworkKnowsItGoesOnWithoutThoseWhoAreGone) {
  const Toy toy(
      [](std::span<const float>) {
        std::this_thread::sleep_for(1ms);
        return true;
      },
      1);
  // One after the other in the middle of batches, until rank 0 is alone.
  Ranks ranks(4, [&](int) -> const Task& { return toy; }, {.silence = 2});
  auto evaluator = ranks.lead();
  for (const int rank : {3, 1, 2}) {
    std::thread ends([&] {
      std::this_thread::sleep_for(10ms);
      ranks.network().end(rank);
    });
    for (int i = 0; i < 3; ++i) {
      Evaluation evaluation(toy.spec(), 200);
      evaluator->evaluate(numbered_genotypes(200), evaluation.view());
      for (std::size_t row = 0; row < 200; ++row) EXPECT_TRUE(is_right(evaluation, row)) << row;
    }
    ends.join();
  }
  EXPECT_TRUE(wait_for([&] { return ranks.warnings().size() == 3; }));
  EXPECT_EQ(ranks.warnings()[0], "rank 3 on host1 is gone: the run goes on with 3 rank(s)");
  EXPECT_EQ(ranks.warnings()[2], "rank 2 on host1 is gone: the run goes on with 1 rank(s)");
  evaluator.reset();
  EXPECT_EQ(ranks.network().closed(), 1) << "rank 0 ends in good order";
  EXPECT_TRUE(wait_for([&] { return ranks.lost().size() == 3; }))
      << "the others hear no more of it";
}

TEST(RankEvaluator, RankZeroIsMissedAtOnceWhereTheNetworkKnows) {
  const Toy toy;
  Ranks ranks(3, [&](int) -> const Task& { return toy; }, {.silence = 1000});
  auto evaluator = ranks.lead();
  ranks.network().end(0);
  EXPECT_TRUE(wait_for([&] { return ranks.lost().size() == 2; }));
  EXPECT_EQ(ranks.lost()[0], "rank 0 is gone: its process has ended");
}

TEST(RankEvaluator, LongEvaluationsAreNoSilence) {
  const Toy toy(
      [](std::span<const float> genes) {
        if (genes[0] == 0 || genes[0] == 1) std::this_thread::sleep_for(2500ms);
        return true;
      },
      1);
  Ranks ranks(2, [&](int) -> const Task& { return toy; }, {.silence = 1});
  const auto evaluator = ranks.lead();
  std::this_thread::sleep_for(1500ms);  // rank 0 is busy with something else
  Evaluation evaluation(toy.spec(), 2);
  evaluator->evaluate(numbered_genotypes(2), evaluation.view());
  EXPECT_TRUE(is_right(evaluation, 0));
  EXPECT_TRUE(is_right(evaluation, 1));
}

TEST(RankEvaluator, AnotherTaskElsewhereIsRefused) {
  class Other : public Task {
   public:
    Other() : spec_(Toy().spec()) { spec_.version = 7; }
    const TaskSpec& spec() const override { return spec_; }
    void evaluate(MatrixView<const float>, EvaluationView) const override {}

   private:
    TaskSpec spec_;
  };
  const Toy toy;
  const Other other;
  Ranks ranks(3, [&](int rank) -> const Task& {
    return rank == 2 ? static_cast<const Task&>(other) : toy;
  });
  try {
    ranks.lead();
    FAIL() << "bits could differ";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 2 on host1 is not the same program"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(wait_for([&] { return ranks.served() == 2; })) << "they are sent home";
}

TEST(RankEvaluator, WhatRefusesTheConnectionIsSaid) {
  const Toy toy;
  Workers workers(1);
  const auto refuse = []() -> std::unique_ptr<Transport> { throw UsageError("no MPI here"); };
  EXPECT_THROW(RankEvaluator({toy, workers}, {}, refuse), UsageError);
  const auto fail = []() -> std::unique_ptr<Transport> { throw Error("the cable is gone"); };
  EXPECT_THROW(RankEvaluator({toy, workers}, {}, fail), Lost);
}

TEST(RankEvaluator, OnlyRankZeroEvaluatesBatches) {
  const Toy toy;
  LocalNetwork network(2);
  Workers workers(1);
  RankEvaluator other({toy, workers}, {}, [&] { return network.connect(1); });
  Evaluation evaluation(toy.spec(), 1);
  EXPECT_THROW(other.evaluate(numbered_genotypes(1), evaluation.view()), UsageError);
}

TEST(RankEvaluator, WithoutMpirunItsPartIsThreads) {
  forget_mpi_launch();
  const EvaluatorEntry entry = mpi_evaluator();
  EXPECT_EQ(entry.name, "mpi");
  const Toy toy;
  Workers workers(2);
  EvaluatorContext context{toy, workers};
  Values values;
  for (const Option& option : entry.options) values[option.name] = option.fallback;
  const auto evaluator = entry.make(values, context);
  EXPECT_FALSE(evaluator->serve());
  Evaluation evaluation(toy.spec(), 3);
  evaluator->evaluate(numbered_genotypes(3), evaluation.view());
  EXPECT_TRUE(is_right(evaluation, 2));
}

}  // namespace
}  // namespace aurora
