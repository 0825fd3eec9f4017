// A search by ask and tell is a run, to the bit.
#include "aurora/runs/search.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"
#include "tests/algorithms/arm.hpp"

namespace aurora {
namespace {

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

class Searching : public RunFixture {
 protected:
  Searching() { parts_ = arm_parts(); }

  Plan plan(const std::string& variant, std::vector<std::string> more = {}) {
    return plan(variant, std::move(more), parts_);
  }
  static Plan plan(const std::string& variant, std::vector<std::string> more, const Parts& parts) {
    more.insert(more.end(), {"run.batch=16", "container.target_size=80", "run.iterations=24",
                             "encoder.epochs=2", "encoder.update_step=5", "run.log_every=5",
                             "variation.rate=0.5"});
    return arm_plan(variant, more, parts);
  }

  static void tell(Search& search, int iterations) {
    for (int i = 0; i < iterations; ++i) {
      const auto genotypes = search.ask();
      ArmTask().evaluate(genotypes, search.evaluation());
      search.tell();
    }
  }

  static std::string hash(const Search& search) {
    return container_hash_text(search.algorithm().individuals());
  }

  std::string hash_of_run(const std::string& variant) {
    const RunSummary summary = run(parts_, plan(variant), {.out = root_ / variant}, stop_);
    return summary.container_hash;
  }
};

TEST_F(Searching, GivesTheContainerOfARunWhateverTheLoop) {
  for (const char* variant : {"aurora-csc-uniform-2", "aurora-csc-surprise-2", "taxons-2", "ns",
                              "random-search", "map-elites", "dns"}) {
    Search search(plan(variant));
    tell(search, 24);
    EXPECT_EQ(hash(search), hash_of_run(variant)) << variant;
    EXPECT_EQ(search.iterations(), 24U);
    const RunSummary summary = read_summary(root_ / variant / "run.json");
    EXPECT_EQ(search.record().summary.simulations, summary.simulations);
    for (const NamedNumber& number : search.measure()) {
      EXPECT_EQ(number.value, summary.metric(number.name)) << number.name;
    }
  }
}

TEST_F(Searching, AskAndTellTakeTurns) {
  Search search(plan("hc-csc-uniform"));
  EXPECT_THROW(search.tell(), UsageError);
  EXPECT_THROW(search.evaluation(), UsageError);
  search.ask();
  EXPECT_TRUE(search.asked());
  EXPECT_THROW(search.ask(), UsageError);
}

TEST_F(Searching, SavedAtAnyMomentItGoesOnToTheSameBits) {
  for (const char* variant : {"aurora-csc-surprise-2", "taxons-2"}) {
    Search whole(plan(variant));
    tell(whole, 24);
    for (const bool asked : {false, true}) {
      const auto place = root_ / (std::string("saved-") + variant + (asked ? "-asked" : ""));
      Search first(plan(variant));
      tell(first, 13);
      if (asked) first.ask();
      first.save(place);
      Search second(plan(variant, {"run.threads=2"}));
      second.load(parts_, place);
      EXPECT_FALSE(second.asked());
      EXPECT_EQ(second.iterations(), 13U);
      tell(second, 11);
      EXPECT_EQ(hash(second), hash(whole)) << variant;

      // A run goes on from there as well, and a search from a run.
      const RunSummary summary = run(parts_, plan(variant), {.out = place, .resume = true}, stop_);
      EXPECT_EQ(summary.container_hash, hash(whole)) << variant;
      EXPECT_EQ(summary.evaluations, 24U * 16);
      Search third(plan(variant));
      third.load(parts_, place);
      EXPECT_EQ(hash(third), hash(whole));
      EXPECT_THROW(third.save(place), FileError) << "results are there";
    }
  }
}

TEST_F(Searching, WhatIsNoStateOfItIsRefused) {
  Search search(plan("hc-csc-uniform"));
  EXPECT_THROW(search.load(parts_, root_ / "nowhere"), FileError);
  EXPECT_THROW(search.ask(), UsageError) << "it was on its way to another state";
  Search other(plan("aurora-csc-uniform-2"));
  other.save(root_ / "other");
  EXPECT_THROW(search.load(parts_, root_ / "other"), UsageError);
  std::filesystem::create_directory(root_ / "full");
  std::ofstream(root_ / "full" / "mine") << "x";
  EXPECT_THROW(other.save(root_ / "full"), FileError);
}

/// Gives up at a call.
struct GivesUp : Evaluator {
  explicit GivesUp(int call) : at(call) {}
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    if (--at == 0) throw Interrupted("the pool is broken");
    ArmTask().evaluate(genotypes, out);
  }
  int at;
};

TEST_F(Searching, ARunWhoseEvaluatorGivesUpEndsBeforeThatIteration) {
  const std::string whole = hash_of_run("aurora-csc-uniform-2");
  for (const bool stopped : {false, true}) {
    Parts parts = parts_;
    std::atomic<bool>& stop = stop_;
    parts.evaluators.add(
        part<NoOptions>("tired", "gives up")
            .made_by([&stop, stopped](const NoOptions&, EvaluatorContext&) {
              struct Tired : GivesUp {
                Tired(std::atomic<bool>& flag, bool sets) : GivesUp(9), flag_(flag), sets_(sets) {}
                void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
                  if (at == 1 && sets_) flag_ = true;
                  GivesUp::evaluate(genotypes, out);
                }
                std::atomic<bool>& flag_;
                bool sets_;
              };
              return std::make_unique<Tired>(stop, stopped);
            }));
    const auto out = root_ / (stopped ? "stopped" : "failed");
    const Plan tired = plan("aurora-csc-uniform-2", {"run.evaluator=tired"}, parts);
    stop_ = false;
    if (stopped) {
      EXPECT_EQ(run(parts, tired, {.out = out}, stop_).status, RunStatus::interrupted);
    } else {
      EXPECT_THROW(run(parts, tired, {.out = out}, stop_), Interrupted);
    }
    stop_ = false;
    const RunSummary ended = read_summary(out / "run.json");
    EXPECT_EQ(ended.iterations, 8U);
    EXPECT_EQ(ended.status, stopped ? RunStatus::interrupted : RunStatus::failed);
    EXPECT_EQ(ended.invalid, 0U) << "nobody's fault";
    const RunSummary resumed = run(parts, plan("aurora-csc-uniform-2"),
                                   {.out = out, .resume = true, .remarks = {"mended"}}, stop_);
    EXPECT_EQ(resumed.container_hash, whole);
    EXPECT_EQ(read_summary(out / "run.json").remarks, std::vector<std::string>{"mended"});
  }
}

}  // namespace
}  // namespace aurora
