// Every variant on the Maze: 200 iterations of small sizes, the same bits for any number of
// threads. A golden hash is of all numbers of threads and of runs in one piece and in two; where an
// older instruction set is forced, one run that has it is enough.
#include <cstdlib>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/runs/verify.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

bool older_set() {
  const char* forced = std::getenv("AURORA_INSTRUCTIONS");
  return forced != nullptr && *forced != 0;
}

struct Golden {
  const char* variant;
  const char* hash;
};

class EveryVariant : public RunFixture, public testing::WithParamInterface<Golden> {
 protected:
  RunSummary run_small(const char* threads) {
    // Instruction sets that have no golden hash are slow, too. The encoder is trained after 10.
    const char* iterations = has_hash() ? "run.iterations=200" : "run.iterations=15";
    return run_with({iterations, "run.batch=16", "container.target_size=200", "threshold.gain=2e-4",
                     "encoder.epochs=3", threads},
                    GetParam().variant);
  }
  bool has_hash() const { return encoders_have_golden_bits() || !learns(); }
  bool learns() const {
    const std::string variant = GetParam().variant;
    return variant.starts_with("aurora") || variant.starts_with("taxons");
  }
};

// A change of these hashes is a change of results: it must be meant, and the commit says why.
TEST_P(EveryVariant, HasItsGoldenHashForAnyNumberOfThreads) {
  const RunSummary three = run_small("run.threads=3");
  EXPECT_EQ(three.status, RunStatus::finished);
  EXPECT_GT(three.container_size, 0U);
  if (has_hash()) {
    EXPECT_GT(three.metric("coverage"), 5);
    EXPECT_EQ(three.container_hash, GetParam().hash);
    if (older_set()) return;
  }
  EXPECT_EQ(run_small("run.threads=1").container_hash, three.container_hash);
}

INSTANTIATE_TEST_SUITE_P(Maze, EveryVariant,
                         testing::Values(Golden{"aurora-csc-uniform-10", "e9ddce0d29b955b6"},
                                         Golden{"aurora-csc-novelty-10", "75ffd0ce504a3280"},
                                         Golden{"aurora-csc-surprise-10", "8cf82ea5f0e1432d"},
                                         Golden{"aurora-vat-uniform-10", "dd5eecd9c95f93e6"},
                                         Golden{"aurora-vat-novelty-10", "4280124dd40b0b9e"},
                                         Golden{"taxons-10", "4488935f95a684bb"},
                                         Golden{"hc-csc-uniform", "3221e4ca7b4ecd3c"},
                                         Golden{"random-search", "f8d2928c3414509b"},
                                         Golden{"ns", "fe1ec2581cb9138e"},
                                         Golden{"aurora-pid-uniform-10", "ed9549977f4eb973"},
                                         Golden{"map-elites", "a64718014f189bdc"},
                                         Golden{"cvt-map-elites", "11f35438d10a1a2d"},
                                         Golden{"aurora-uniform-10", "b28407b3d6cf2f9a"},
                                         Golden{"hc-uniform", "4abccab24f57ceb3"},
                                         Golden{"aurora-tournament-10", "b70c68c113c19344"},
                                         Golden{"hc-tournament", "9e66f5a380fd008e"},
                                         Golden{"aurora-ensemble-10", "f8010259775913fc"}),
                         [](const auto& instance) {
                           std::string name = instance.param.variant;
                           std::erase(name, '-');
                           return name;
                         });

class EveryEncoder : public RunFixture, public testing::WithParamInterface<Golden> {
 protected:
  RunSummary run_small(const char* threads) {
    std::vector<std::string> all = {"run.iterations=100", "run.batch=16",
                                    "container.target_size=200", threads, GetParam().variant};
    if (!encoders_have_golden_bits()) {
      all.emplace_back("run.iterations=15");
      all.emplace_back("encoder.epochs=3");
    }
    return run_with(all, "aurora-csc-surprise-4");
  }
};

TEST_P(EveryEncoder, HasItsGoldenHashForAnyNumberOfThreads) {
  const RunSummary three = run_small("run.threads=3");
  EXPECT_EQ(three.status, RunStatus::finished);
  EXPECT_GT(three.container_size, 0U);
  if (encoders_have_golden_bits()) {
    EXPECT_EQ(three.container_hash, GetParam().hash);
    if (older_set()) return;
  }
  EXPECT_EQ(run_small("run.threads=1").container_hash, three.container_hash);
}

INSTANTIATE_TEST_SUITE_P(Maze, EveryEncoder,
                         testing::Values(Golden{"encoder.kind=pca", "fdafac90f0b99a2c"},
                                         Golden{"encoder.kind=rff-pca", "c4503895c146f0e1"},
                                         Golden{"encoder.kind=vae", "01e553d574966e53"},
                                         Golden{"encoder.kind=contrastive", "2b1304e1bafcc365"},
                                         Golden{"encoder.training=none", "bca4004a5496922d"}),
                         [](const auto& instance) {
                           std::string name = instance.param.variant;
                           name = name.substr(name.find('=') + 1);
                           std::erase(name, '-');
                           return name;
                         });

/// Every encoder that there is, on pictures and on sequences, in two parts with a look at all
/// files in between.
TEST_F(RunFixture, EveryEncoderGoesOnAndIsVerified) {
  if (older_set()) GTEST_SKIP() << "the golden hashes above are of every set";
  const auto verified = [&](const std::filesystem::path& run) {
    for (const Check& check : verify_run(parts_, run, 4)) {
      EXPECT_TRUE(check.good) << check.subject << ": " << check.finding;
    }
  };
  std::vector<std::string> refused;
  for (const auto& encoder : parts_.encoders.entries()) {
    for (const std::string task : {"vases", "air-hockey"}) {
      SCOPED_TRACE(encoder->name + " on " + task);
      const auto plan = [&](const char* iterations) {
        return plan_with(
            {iterations, "run.batch=16", "container.target_size=100", "encoder.update_step=4",
             "encoder.epochs=2", "encoder.kind=" + encoder->name},
            "aurora-csc-surprise-3", task);
      };
      try {
        plan("run.iterations=1");
      } catch (const UsageError&) {
        refused.push_back(encoder->name + " on " + task);
        continue;
      }
      const auto whole = root_ / (encoder->name + task),
                 parts = root_ / (encoder->name + "2" + task);
      const RunSummary one = run(parts_, plan("run.iterations=30"), {.out = whole}, stop_);
      run(parts_, plan("run.iterations=17"), {.out = parts}, stop_);
      verified(parts);
      const RunSummary two =
          run(parts_, plan("run.iterations=30"), {.out = parts, .resume = true}, stop_);
      EXPECT_EQ(two.container_hash, one.container_hash);
      verified(parts);
    }
  }
  EXPECT_EQ(refused, (std::vector<std::string>{"conv-ae on air-hockey", "conv1d-ae on vases",
                                               "lstm-ae on vases"}));
}

// --- Parts that no variant has -----------------------------------------------------------------

struct GoldenMix {
  const char* name;
  const char* variant;
  std::vector<std::string> assignments;
  const char* hash;
};

class EveryMix : public RunFixture, public testing::WithParamInterface<GoldenMix> {
 protected:
  Plan plan(const std::string& iterations, const std::string& threads) {
    std::vector<std::string> all = {"run.iterations=" + iterations, "run.threads=" + threads,
                                    "run.batch=16", "container.target_size=200",
                                    "threshold.gain=2e-4"};
    all.insert(all.end(), GetParam().assignments.begin(), GetParam().assignments.end());
    return plan_with(all, GetParam().variant);
  }
};

TEST_P(EveryMix, HasItsGoldenHashAlsoInTwoPartsAndOnOtherThreads) {
  const RunSummary whole = run(parts_, plan("200", "1"), {.out = root_ / "whole"}, stop_);
  EXPECT_EQ(whole.status, RunStatus::finished);
  EXPECT_GT(whole.metric("coverage"), 2);
  EXPECT_EQ(whole.container_hash, GetParam().hash);
  if (older_set()) return;
  run(parts_, plan("77", "3"), {.out = root_ / "parts"}, stop_);
  const RunSummary parts =
      run(parts_, plan("200", "2"), {.out = root_ / "parts", .resume = true}, stop_);
  EXPECT_EQ(parts.container_hash, whole.container_hash);
  EXPECT_EQ(parts.metrics, whole.metrics);
  EXPECT_EQ(parts.loss_per_update, whole.loss_per_update);
  for (const Check& check : verify_run(parts_, root_ / "parts", 10)) {
    EXPECT_TRUE(check.good) << check.subject << ": " << check.finding;
  }
}

const std::string kExtinct = "algorithm.extinction_period=50";

INSTANTIATE_TEST_SUITE_P(
    Maze, EveryMix,
    testing::Values(
        GoldenMix{"Curiosity", "hc-csc-uniform", {"selection.kind=curiosity"}, "633dcc58e986d07f"},
        GoldenMix{"Exploring",
                  "dns",
                  {"selection.kind=exploring", "selection.iterations=120"},
                  "c21ecefdc54d56f7"},
        GoldenMix{
            "Tournament", "hc-csc-uniform", {"selection.kind=tournament"}, "6246a68b473c2380"},
        GoldenMix{"TournamentOnBoth",
                  "map-elites",
                  {"selection.kind=tournament", "selection.size=5", "selection.criterion=both"},
                  "1f03e2ae68296652"},
        GoldenMix{"ExtinctionsUnstructured", "hc-csc-uniform", {kExtinct}, "a0109c2aa99bdce5"},
        GoldenMix{"ExtinctionsCells", "map-elites", {kExtinct}, "ea8c517813cb5d87"},
        GoldenMix{"ExtinctionsDns", "dns", {kExtinct}, "2a607eb4bacbda41"},
        GoldenMix{"Recent",
                  "aurora-csc-uniform-2",
                  {"algorithm.recent=500", "encoder.kind=pca"},
                  "9f56a2b02b8624d9"},
        GoldenMix{"Relevance", "hc-csc-uniform", {"container.relevance=0.5"}, "b0423157350bf256"},
        GoldenMix{"RelevanceGrowing",
                  "aurora-uniform-2",
                  {"container.relevance=0.5", "encoder.kind=pca", "threshold.iterations=100"},
                  "ade3c0445c1fd387"},
        GoldenMix{"Ensemble", "aurora-ensemble-2", {"encoder.kind=rff-pca"}, "d9667b16e33ad04d"},
        GoldenMix{
            "EnsembleOfShares",
            "aurora-ensemble-2",
            {"algorithm.encoders=2", "algorithm.shares=true", "encoder.kind=pca",
             "threshold.kind=growing", "threshold.start=0.1", "threshold.iterations=100",
             "algorithm.recent=300", "container.relevance=0.3", "selection.kind=novelty", kExtinct},
            "59ad719a1405b74e"},
        GoldenMix{"EnsembleDns",
                  "aurora-dns-2",
                  {"algorithm.kind=ensemble", "algorithm.shares=true", "encoder.kind=pca"},
                  "802b7f939d064e05"},
        GoldenMix{"Emitters", "cma-me", {}, "ae3e3e1f9f5a0503"},
        GoldenMix{"MoreEmitters", "cma-me", {"algorithm.emitters=5"}, "5b77ded2bcac488b"},
        GoldenMix{"EmittersAndChildren",
                  "cma-me",
                  {"algorithm.emitted=0.5", "algorithm.emitters=2", kExtinct},
                  "b942026689cddbc9"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Variants, OfThePaperComeFirstAndInItsOrder) {
  const std::vector<Variant> variants = builtin_parts().variants;
  ASSERT_GE(variants.size(), 12U);
  EXPECT_EQ(variants[0].name, "aurora-csc-uniform-n");
  EXPECT_EQ(variants[8].name, "ns");
  EXPECT_EQ(variants[11].name, "cvt-map-elites");
}

}  // namespace
}  // namespace aurora
