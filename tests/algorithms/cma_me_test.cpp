// The loop against one in plain words, and what it does when nothing goes well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arm.hpp"
#include "aurora/algorithms/cma_es.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

Plan small(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"container.target_size=400", "run.batch=32",
                                  "variation.rate=0.2"};
  all.insert(all.end(), more.begin(), more.end());
  return arm_plan("cma-me", all);
}

std::uint64_t hash_after(const Plan& plan, std::size_t iterations, std::size_t threads) {
  Arm arm;
  Workers workers(threads);
  const auto algorithm = plan.make_loop(workers);
  for (std::size_t i = 0; i < iterations; ++i) algorithm->step(arm);
  return container_hash(algorithm->individuals());
}

/// CMA-ME with cells, a child at a time: 32 children of 5 emitters.
class PlainCmaMe {
 public:
  PlainCmaMe(const Plan& plan, double sigma, Workers& workers)
      : container_(plan.make_container(workers)), sigma_(sigma) {}

  void step() {
    ++iteration_;
    const Matrix<float> genotypes = emitters_.empty() ? drawn() : emitted();
    Individuals batch({.genotype_size = 4,
                       .descriptor_size = 2,
                       .ground_truth_size = 2,
                       .sensory = arm_spec().sensory},
                      32);
    ArmTask().evaluate(genotypes,
                       {batch.fitness, batch.sensory.mutable_view(), batch.ground_truth.view()});
    batch.genotypes = genotypes;
    batch.descriptors = batch.ground_truth;
    struct Better {
      int rank;  // 0: added, 1: replaced
      double minus_gain;
      std::size_t child;
      auto operator<=>(const Better&) const = default;
    };
    std::map<std::size_t, std::vector<Better>> better;  // by emitter
    for (std::size_t i = 0; i < 32; ++i) {
      batch.ids[i] = (iteration_ - 1) * 32 + i;
      const std::vector<float> before = container_->individuals().fitness;
      const Outcome outcome = container_->add(batch, i);
      const std::size_t emitter = emitter_of(i);
      if (outcome == Outcome::added) better[emitter].push_back({0, -batch.fitness[i], i});
      if (outcome != Outcome::replaced) continue;
      const std::vector<std::uint64_t>& ids = container_->individuals().ids;
      const auto row = std::ranges::find(ids, batch.ids[i]) - ids.begin();
      const float gain = batch.fitness[i] - before[static_cast<std::size_t>(row)];
      better[emitter].push_back({1, -gain, i});
    }
    if (emitters_.empty()) {
      for (std::size_t e = 0; e < 5; ++e) emitters_.push_back(anew(e));
      return;
    }
    for (std::size_t e = 0; e < 5; ++e) {
      std::ranges::sort(better[e]);
      Matrix<double> parents(better[e].size(), 4);
      for (std::size_t p = 0; p < parents.rows(); ++p) {
        std::ranges::copy(genotypes.row(better[e][p].child), parents.row(p).begin());
      }
      if (parents.rows() > 0) emitters_[e].update(parents);
      if (parents.rows() == 0 || emitters_[e].is_degenerate(1e-6)) {
        emitters_[e] = anew(e);
        ++restarts;
      }
    }
  }

  const Individuals& individuals() const { return container_->individuals(); }
  std::size_t restarts = 0;
  std::size_t clipped = 0;

 private:
  static std::size_t emitter_of(std::size_t child) {
    for (std::size_t e = 0; e < 5; ++e) {
      if (child < 32 * (e + 1) / 5) return e;
    }
    return 5;
  }
  Matrix<float> drawn() const {
    Matrix<float> genotypes(32, 4);
    for (std::uint32_t i = 0; i < 32; ++i) {
      Stream stream(1, Purpose::genotype, static_cast<std::uint32_t>(iteration_), i);
      for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
    }
    return genotypes;
  }
  Matrix<float> emitted() {
    Matrix<float> genotypes(32, 4);
    for (std::uint32_t i = 0; i < 32; ++i) {
      Stream stream(1, Purpose::emitters, static_cast<std::uint32_t>(iteration_), i);
      std::vector<double> x(4);
      bool inside = false;
      for (int tries = 0; tries < 10 && !inside; ++tries) {
        emitters_[emitter_of(i)].sample(stream, x);
        inside = std::ranges::all_of(x, [](double gene) { return gene >= 0 && gene <= 1; });
      }
      clipped += inside ? 0 : 1;
      for (std::size_t j = 0; j < 4; ++j) {
        genotypes(i, j) = static_cast<float>(std::min(1.0, std::max(0.0, x[j])));
      }
    }
    return genotypes;
  }
  CmaEs anew(std::size_t emitter) const {
    Stream stream(1, Purpose::emitters, static_cast<std::uint32_t>(iteration_),
                  static_cast<std::uint32_t>(32 + emitter));
    const Individuals& members = container_->individuals();
    const std::vector<std::uint32_t> rows = rows_by_age(members);
    return {members.genotypes.row(rows[stream.below(rows.size())]), sigma_};
  }

  std::unique_ptr<Container> container_;
  double sigma_;
  std::vector<CmaEs> emitters_;
  std::size_t iteration_ = 0;
};

TEST(CmaMe, DoesWhatPlainLoopsDo) {
  Workers workers(2);
  std::size_t clipped = 0;
  for (const char* sigma : {"0.2", "1"}) {  // with the larger one many genes are clipped
    Arm arm;
    const Plan plan = small({"algorithm.emitters=5", std::string("algorithm.sigma=") + sigma});
    const auto algorithm = plan.make_loop(workers);
    PlainCmaMe plain(plan, std::stod(sigma), workers);
    for (int i = 0; i < 150; ++i) {
      algorithm->step(arm);
      plain.step();
      ASSERT_EQ(container_hash(algorithm->individuals()), container_hash(plain.individuals())) << i;
      ASSERT_EQ(number_called(algorithm->numbers(), "restarts", -1),
                static_cast<double>(plain.restarts));
    }
    EXPECT_GT(plain.restarts, 0U);
    clipped += plain.clipped;
    EXPECT_TRUE(has_valid_genes(algorithm->individuals()));
  }
  EXPECT_GT(clipped, 0U);
}

TEST(CmaMe, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"algorithm.emitted=0.5", "selection.kind=curiosity"},
        {"container.kind=unstructured"},
        {"container.kind=dns"}}) {
    const std::uint64_t one = hash_after(small(more), 60, 1);
    for (const std::size_t threads : {2U, 3U}) EXPECT_EQ(hash_after(small(more), 60, threads), one);
    std::vector<std::string> other = more;
    other.emplace_back("run.seed=2");
    EXPECT_NE(hash_after(small(other), 60, 1), one);
  }
}

TEST(CmaMe, BeginsAnewWhenNobodyIsKept) {
  Arm arm;
  Workers workers(1);
  const auto algorithm = small({"algorithm.emitters=3"}).make_loop(workers);
  algorithm->step(arm);
  EXPECT_EQ(number_called(algorithm->numbers(), "restarts", -1), 0);
  arm.break_every = 1;
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(algorithm->step(arm).invalid, 32U);
    EXPECT_EQ(number_called(algorithm->numbers(), "restarts", -1), 3 * i);
  }
}

TEST(CmaMe, WaitsForTheFirstMembers) {
  Arm arm;
  arm.break_every = 1;
  Workers workers(1);
  const auto algorithm = small().make_loop(workers);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(algorithm->step(arm).invalid, 32U);
  arm.break_every = 0;
  for (int i = 0; i < 5; ++i) algorithm->step(arm);
  EXPECT_GT(algorithm->individuals().size(), 32U);
}

TEST(CmaMe, SharesTheBatchWithChildrenOfMembers) {
  for (const auto& [share, count] : {std::pair("0.5", 16U), {"0.75", 24U}, {"1", 32U}}) {
    Arm arm;
    Workers workers(1);
    // Without mutation the children of members are clones, which nobody simulates.
    const auto algorithm =
        small({"variation.rate=0", std::string("algorithm.emitted=") + share}).make_loop(workers);
    EXPECT_EQ(algorithm->step(arm).simulated, 32U) << "drawn";
    for (int i = 0; i < 10; ++i) EXPECT_EQ(algorithm->step(arm).simulated, count) << share;
  }
}

/// The selector is told of its own children alone.
TEST(CmaMe, TeachesTheSelectorWhatBecameOfItsOwnChildren) {
  Arm arm;
  Workers workers(1);
  const auto algorithm =
      small({"algorithm.emitted=0.5", "selection.kind=curiosity", "selection.penalty=1",
             "container.kind=dns", "container.target_size=100000"})
          .make_loop(workers);
  algorithm->step(arm);
  for (int i = 1; i <= 10; ++i) {
    algorithm->step(arm);  // everybody is kept
    const Individuals& members = algorithm->individuals();
    float sum = 0;
    for (std::size_t row = 0; row < members.size(); ++row) sum += members.extra(row, 0);
    EXPECT_EQ(sum, static_cast<float>(16 * i));
  }
}

TEST(CmaMe, RefusesWhatMakesNoSense) {
  const auto complaint = [](const std::vector<std::string>& more) -> std::string {
    try {
      small(more);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({"algorithm.emitters=16"}), "");
  EXPECT_NE(complaint({"algorithm.emitters=17"}).find("each needs two children"),
            std::string::npos);
  EXPECT_NE(complaint({"algorithm.emitted=0.25", "algorithm.emitters=5"})
                .find("8 of run.batch=32 are emitted"),
            std::string::npos);
  EXPECT_EQ(complaint({"algorithm.emitted=0.25", "algorithm.emitters=4"}), "");
  EXPECT_NE(complaint({"selection.kind=none"}).find("children of selected members"),
            std::string::npos);
  for (const char* bad : {"algorithm.sigma=0", "algorithm.emitted=0", "algorithm.emitters=0",
                          "algorithm.emitted=1.5"}) {
    EXPECT_NE(complaint({bad}), "") << bad;
  }
}

TEST(CmaMe, RefusesItAlsoWithoutAPlan) {
  Workers workers(1);
  const auto make = [&](std::size_t batch, const char* emitters, bool varies) {
    SelectorContext selection;
    VariationContext genes{4};
    LoopContext context{.task = arm_spec(),
                        .batch = batch,
                        .descriptor_size = 2,
                        .encoder = nullptr,
                        .container = small().make_container(workers),
                        .selector = uniform_selector().make({}, selection),
                        .variation = varies ? polynomial_variation().make({}, genes) : nullptr,
                        .workers = workers};
    cma_me_loop().make({{"emitters", {Value::Form::integer, emitters}}}, context);
  };
  EXPECT_NO_THROW(make(10, "5", true));
  EXPECT_THROW(make(9, "5", true), UsageError);
  EXPECT_THROW(make(10, "0", true), UsageError);
  EXPECT_THROW(make(10, "5", false), UsageError);
}

TEST(CmaMe, RefusesAStateThatCannotBe) {
  Arm arm;
  Workers workers(1);
  const Plan plan = small({"algorithm.emitters=5"});
  const auto algorithm = plan.make_loop(workers);
  for (int i = 0; i < 5; ++i) algorithm->step(arm);
  AlgorithmState good;
  algorithm->save(good);
  ASSERT_EQ(good.loop_state.arrays.size(), 4U);
  EXPECT_NO_THROW(plan.make_loop(workers)->restore(good));
  const auto refused = [&](const auto& change) {
    AlgorithmState bad = good;
    change(bad.loop_state);
    EXPECT_THROW(plan.make_loop(workers)->restore(bad), DataError);
  };
  for (std::size_t i = 0; i < 4; ++i) {
    refused([&](PartState& s) { s.arrays[i].name = "other"; });
    refused([&](PartState& s) { s.arrays[i].shape[0] = 4; });
    refused([&](PartState& s) { s.arrays[i].values[1] = std::nanf(""); });
  }
  refused([](PartState& s) {
    std::erase_if(s.numbers, [](const NamedNumber& number) { return number.name == "sigma.2"; });
  });
  refused([](PartState& s) { s.numbers.front().value = 1e300; });  // restarts
  refused([](PartState& s) { s.numbers.back().value = -1; });
  refused([](PartState& s) { s.numbers.back().value = std::nan(""); });
}

}  // namespace
}  // namespace aurora
