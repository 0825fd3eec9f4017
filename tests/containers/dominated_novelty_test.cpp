// Against a full recomputation in the plainest words; the variants of it with golden hashes.
#include "aurora/containers/dominated_novelty.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/runs/verify.hpp"
#include "aurora/tasks/air_hockey/simulation.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"
#include "tests/runs/run_fixture.hpp"

namespace aurora {
namespace {

struct Member {
  std::uint64_t id;
  float fitness;
  std::vector<float> descriptor;
};

/// The score by its definition.
double score(const std::vector<Member>& members, const Member& one, std::size_t k) {
  std::vector<float> squares;
  for (const Member& other : members) {
    const bool fitter =
        other.fitness > one.fitness || (other.fitness == one.fitness && other.id < one.id);
    if (!fitter) continue;
    float sum = 0;
    for (std::size_t i = 0; i < one.descriptor.size(); ++i) {
      const float d = one.descriptor[i] - other.descriptor[i];
      sum += d * d;
    }
    squares.push_back(sum);
  }
  if (squares.empty()) return std::numeric_limits<double>::infinity();
  std::ranges::sort(squares);
  squares.resize(std::min(squares.size(), k));
  double sum = 0;
  for (const float square : squares) sum += std::sqrt(double{square});
  return sum / static_cast<double>(squares.size());
}

/// Takes everybody, computes all scores, keeps the n best.
void keep_best(std::vector<Member>& members, std::size_t k, std::size_t n) {
  std::vector<std::pair<double, std::uint64_t>> order;  // best first
  for (const Member& member : members) order.emplace_back(-score(members, member, k), member.id);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), n));
  std::erase_if(members, [&](const Member& member) {
    return std::ranges::find(order, member.id, &std::pair<double, std::uint64_t>::second) ==
           order.end();
  });
}

std::vector<Member> members_of(const Individuals& individuals) {
  std::vector<Member> members;
  for (const std::uint32_t row : rows_by_age(individuals)) {
    const auto descriptor = individuals.descriptors.row(row);
    members.push_back(
        {individuals.ids[row], individuals.fitness[row], {descriptor.begin(), descriptor.end()}});
  }
  return members;
}

bool same(const std::vector<Member>& a, const std::vector<Member>& b) {
  return std::ranges::equal(a, b, [](const Member& x, const Member& y) {
    return x.id == y.id && x.fitness == y.fitness && x.descriptor == y.descriptor;
  });
}

/// A batch with many ties: coarse descriptors, few different fitnesses, now and then NaN. Or one
/// with hardly any.
Individuals random_batch(std::size_t n, std::uint64_t first_id, Stream& draw, bool ties = true) {
  Individuals batch(small_layout(n), 16);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    for (float& x : batch.descriptors.row(row)) {
      x = static_cast<float>(ties ? static_cast<double>(draw.below(20)) / 20 : draw.normal());
    }
    batch.fitness[row] =
        static_cast<float>(ties ? static_cast<double>(draw.below(8)) : draw.uniform());
    if (draw.uniform() < 0.03) batch.fitness[row] = std::numeric_limits<float>::quiet_NaN();
    batch.ids[row] = first_id + row;
  }
  return batch;
}

class AgainstDefinition : public testing::TestWithParam<std::size_t> {};

TEST_P(AgainstDefinition, SameMembersScoresAndOutcomesBatchByBatch) {
  const std::size_t n = GetParam();
  constexpr std::size_t kMost = 150;  // in more than one bucket of the index
  for (const bool ties : {true, false}) {
    for (const std::size_t k : {1U, 3U, 5U}) {
      const bool grows = k == 5;  // from 30 to 150 in 60 iterations
      const DominatedNoveltyConfig config{
          .k = k, .novelty_k = 4, .start = grows ? 0.2 : 1, .iterations = 60};
      Stream draw(static_cast<std::uint64_t>(10 * n + k), Purpose::user);
      DominatedNovelty container(small_layout(n), config, kMost);
      std::vector<Member> oracle;
      Workers workers(2);
      for (std::uint64_t iteration = 0; iteration < 90; ++iteration) {
        const Individuals batch = random_batch(n, 16 * iteration, draw, ties);
        std::vector<std::uint32_t> rows(batch.size());
        for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
        std::vector<Outcome> outcomes(rows.size());
        const std::size_t before = oracle.size();
        container.add_all(batch, rows, workers, outcomes);
        for (const std::uint32_t row : rows) {
          if (!std::isfinite(batch.fitness[row])) continue;
          const auto descriptor = batch.descriptors.row(row);
          oracle.push_back(
              {batch.ids[row], batch.fitness[row], {descriptor.begin(), descriptor.end()}});
        }
        keep_best(oracle, k, grows ? std::min<std::size_t>(30 + 2 * iteration, kMost) : kMost);
        ASSERT_TRUE(same(members_of(container.individuals()), oracle)) << iteration;
        container.after_iteration({.iteration = iteration + 1}, workers);

        // Who asks for scores in between changes nothing.
        if (iteration % 3 == 0) {
          const std::vector<double> scores = container.scores(workers);
          for (std::size_t row = 0; row < container.size(); ++row) {
            const auto& ids = container.individuals().ids;
            const auto member = std::ranges::find(oracle, ids[row], &Member::id);
            ASSERT_EQ(scores[row], score(oracle, *member, k));
          }
        }
        std::map<Outcome, std::size_t> counts;
        for (const std::uint32_t row : rows) {
          ++counts[outcomes[row]];
          const bool kept = std::ranges::find(oracle, batch.ids[row], &Member::id) != oracle.end();
          EXPECT_EQ(kept, outcomes[row] == Outcome::added || outcomes[row] == Outcome::replaced);
          EXPECT_EQ(outcomes[row] == Outcome::invalid, !std::isfinite(batch.fitness[row]));
        }
        EXPECT_EQ(counts[Outcome::added], oracle.size() - before);

        if (iteration % 20 == 19) {  // the encoder changes, and somebody has no descriptor any more
          Matrix<float> descriptors = container.individuals().descriptors;
          for (std::size_t i = 0; i < descriptors.rows() * n; ++i) {
            descriptors.data()[i] = static_cast<float>(draw.below(20)) / 20;
          }
          descriptors(3, 0) = std::numeric_limits<float>::quiet_NaN();
          EXPECT_EQ(container.set_descriptors(descriptors, {}), 1U);
          oracle = members_of(container.individuals());
        }
        if (iteration % 25 == 13) {  // killed, and restored
          const Individuals saved = container.individuals();
          const PartState state = container.state();
          EXPECT_EQ(state.numbers.empty(), !grows);
          container = DominatedNovelty(small_layout(n), config, kMost);
          container.restore(saved, state);
        }
        if (iteration % 45 == 31) {  // few survive
          std::vector<std::uint32_t> order = draw.permutation(container.size());
          order.resize(12);
          std::vector<std::uint64_t> ids;
          for (const std::uint32_t row : order) ids.push_back(container.individuals().ids[row]);
          container.retain(order);
          std::erase_if(oracle, [&](const Member& member) {
            return std::ranges::find(ids, member.id) == ids.end();
          });
          ASSERT_TRUE(same(members_of(container.individuals()), oracle)) << iteration;
        }
        EXPECT_NE(container.check(workers), "");
      }
    }
  }
}

/// Distances may be larger than a float.
TEST(DominatedNovelty, ScoresOfThoseInfinitelyFarApartAreRight) {
  Stream draw(9, Purpose::user);
  DominatedNovelty container(small_layout(1), {.k = 2, .novelty_k = 4}, 30);
  std::vector<Member> oracle;
  Workers workers(1);
  std::vector<std::uint32_t> rows(16);
  for (std::uint32_t i = 0; i < 16; ++i) rows[i] = i;
  std::vector<Outcome> outcomes(16);
  for (std::uint64_t iteration = 0; iteration < 40; ++iteration) {
    Individuals batch = random_batch(1, 16 * iteration, draw);
    for (std::size_t row = 0; row < 16; ++row) {
      batch.fitness[row] = static_cast<float>(draw.below(100));
      batch.descriptors(row, 0) = static_cast<float>(draw.normal() * 3e19);
      oracle.push_back({batch.ids[row], batch.fitness[row], {batch.descriptors(row, 0)}});
    }
    container.add_all(batch, rows, workers, outcomes);
    keep_best(oracle, 2, 30);
    ASSERT_TRUE(same(members_of(container.individuals()), oracle)) << iteration;
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, AgainstDefinition, testing::Values(1, 2, 10));

TEST(DominatedNovelty, RestoredItGoesOnAsTheOldOne) {
  Stream draw(5, Purpose::user);
  Workers workers(1);
  DominatedNovelty container(small_layout(2), {}, 40);
  DominatedNovelty restored(small_layout(2), {}, 40);
  std::vector<std::uint32_t> rows(16);
  for (std::uint32_t i = 0; i < 16; ++i) rows[i] = i;
  std::vector<Outcome> outcomes(16);
  for (std::uint64_t iteration = 0; iteration < 30; ++iteration) {
    const Individuals batch = random_batch(2, 16 * iteration, draw);
    container.add_all(batch, rows, workers, outcomes);
    if (iteration == 9) restored.restore(container.individuals(), container.state());
    if (iteration > 9) restored.add_all(batch, rows, workers, outcomes);
  }
  EXPECT_TRUE(same(members_of(container.individuals()), members_of(restored.individuals())));
}

TEST(DominatedNovelty, TheFittestAlwaysStaysAndOneByOneIsAsGoodAsABatch) {
  DominatedNovelty container(small_layout(1), {}, 2);
  Individuals batch(small_layout(1), 4);
  for (std::size_t row = 0; row < 4; ++row) {
    batch.ids[row] = row;
    batch.descriptors(row, 0) = static_cast<float>(row);
    batch.fitness[row] = static_cast<float>(row);
  }
  EXPECT_EQ(container.add(batch, 0), Outcome::added);
  EXPECT_EQ(container.add(batch, 3), Outcome::added);
  EXPECT_EQ(container.add(batch, 1), Outcome::rejected);  // 2 from the fittest, the other is 3
  batch.ids[2] = 9;
  batch.descriptors(2, 0) = -5;
  EXPECT_EQ(container.add(batch, 2), Outcome::replaced);
  EXPECT_EQ(members_of(container.individuals()).back().id, 9U);
}

TEST(DominatedNovelty, ChecksWhatItIsGiven) {
  EXPECT_THROW(DominatedNovelty(small_layout(1), {.k = 0}, 5), UsageError);
  EXPECT_THROW(DominatedNovelty(small_layout(1), {.novelty_k = 0}, 5), UsageError);
  EXPECT_THROW(DominatedNovelty(small_layout(1), {}, 0), UsageError);
  EXPECT_THROW(DominatedNovelty(small_layout(0), {}, 5), UsageError);
  for (const double iteration : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    DominatedNovelty container(small_layout(1), {.start = 0.5}, 5);
    const PartState state{.numbers = {{"container.iteration", iteration}}};
    EXPECT_THROW(container.restore(Individuals(small_layout(1)), state), DataError);
  }
  // More members than may stay are found.
  DominatedNovelty large(small_layout(1), {}, 9);
  Stream draw(1, Purpose::user);
  Individuals batch = random_batch(1, 0, draw);
  for (std::uint32_t row = 0; row < 9; ++row) batch.fitness[row] = 1;
  for (std::uint32_t row = 0; row < 9; ++row) large.add(batch, row);
  DominatedNovelty small(small_layout(1), {}, 8);
  small.restore(large.individuals());
  Workers workers(1);
  EXPECT_THROW(small.check(workers), DataError);
}

// --- In whole runs ---

constexpr const char* kNoEngine = "run.seed=1";  // as it is anyway: not all tasks have engines

struct Golden {
  const char* task;
  const char* engine;  // task.engine=..., or kNoEngine
  const char* variant;
  const char* iterations;
  const char* hash;
};

class DnsRuns : public RunFixture, public testing::WithParamInterface<Golden> {
 protected:
  bool missing() const {
    return (GetParam().engine == kDart && !hexapod::has_engine(hexapod::Engine::dart)) ||
           (GetParam().engine == kBox2d && !air_hockey::has_engine(air_hockey::Engine::box2d));
  }

 public:
  static constexpr std::string_view kDart = "task.engine=dart";
  static constexpr std::string_view kBox2d = "task.engine=box2d";
};

// A change of these hashes is a change of results: it must be meant, and the commit says why.
TEST_P(DnsRuns, HaveTheirGoldenHashForAnyNumberOfThreads) {
  if (missing()) GTEST_SKIP();
  const auto run_small = [&](const char* threads) {
    return run_with({GetParam().iterations, GetParam().engine, "run.batch=16",
                     "container.target_size=60", "encoder.epochs=3", threads},
                    GetParam().variant, GetParam().task);
  };
  const RunSummary one = run_small("run.threads=1");
  EXPECT_EQ(one.status, RunStatus::finished);
  EXPECT_LE(one.container_size, 60U);
  const bool learns = std::string_view(GetParam().variant).starts_with("aurora");
  if (encoders_have_golden_bits() || !learns) {
    EXPECT_EQ(one.container_hash, GetParam().hash);
  }
  EXPECT_EQ(run_small("run.threads=3").container_hash, one.container_hash);
  for (const Check& check : verify_run(parts_, out_, 3)) {
    EXPECT_TRUE(check.good) << check.subject << ": " << check.finding;
  }
}

TEST_P(DnsRuns, GoOnFromACheckpointToTheSameBits) {
  if (missing()) GTEST_SKIP();
  const auto plan = [&](const std::string& iterations) {
    return plan_with({"run.iterations=" + iterations, GetParam().engine, "run.batch=16",
                      "container.target_size=60", "encoder.epochs=2"},
                     GetParam().variant, GetParam().task);
  };
  const std::filesystem::path whole = root_ / "whole";
  const std::filesystem::path parts = root_ / "parts";
  const std::string hash = run(parts_, plan("16"), {.out = whole}, stop_).container_hash;
  run(parts_, plan("9"), {.out = parts}, stop_);
  const RunOptions resumed{.out = parts, .resume = true};
  EXPECT_EQ(run(parts_, plan("16"), resumed, stop_).container_hash, hash);
}

constexpr const char* kMany = "run.iterations=60";
constexpr const char* kFew = "run.iterations=12";

INSTANTIATE_TEST_SUITE_P(
    Tasks, DnsRuns,
    testing::Values(
        Golden{"maze", kNoEngine, "dns", kMany, "153de7acf39016fe"},
        Golden{"maze", kNoEngine, "aurora-dns-10", kMany, "0d6af2f7a69269b8"},
        Golden{"air-hockey", "task.engine=box2d", "dns", kMany, "896b1db152404dcc"},
        Golden{"air-hockey", "task.engine=box2d", "aurora-dns-2", kMany, "96adce178ab1aa0b"},
        Golden{"air-hockey", "task.engine=lanes", "dns", kMany, "a6a1227cf3d7a68b"},
        Golden{"air-hockey", "task.engine=lanes", "aurora-dns-2", kMany, "ab6aead2efca4c2a"},
        Golden{"hexapod", "task.engine=dart", "dns", kFew, "d3a7424fd6e01675"},
        Golden{"hexapod", "task.engine=dart", "aurora-dns-2", kFew, "1578d77785908abd"},
        Golden{"hexapod", "task.engine=lanes", "dns", kFew, "1f71ecf23d0e7ed9"},
        Golden{"hexapod", "task.engine=lanes", "aurora-dns-2", kFew, "b4558ac4437fba25"}),
    [](const auto& instance) {
      std::string name = std::string(instance.param.task) + instance.param.variant;
      if (instance.param.engine == DnsRuns::kDart) name += "dart";
      if (instance.param.engine == DnsRuns::kBox2d) name += "box2d";
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace aurora
