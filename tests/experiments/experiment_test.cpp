#include "aurora/experiments/experiment.hpp"

#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/runs/retrain.hpp"
#include "tests/runs/run_fixture.hpp"

namespace aurora {
namespace {

class AnExperiment : public RunFixture {
 protected:
  Experiment experiment(const std::string& text) {
    const auto file = root_ / "study.toml";
    std::ofstream(file) << text;
    return plan_experiment(parts_, file);
  }
  std::vector<PlannedRun> plan(const std::string& text) { return experiment(text).runs; }

  std::string complaint(const std::string& text) {
    try {
      plan(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
};

constexpr const char* kStudy = R"(
replications = 3
first_seed = 5
[settings]
run.iterations = 40
[[study]]
name = "periods"
tasks = ["maze"]
variants = ["hc-csc-uniform", "aurora-csc-uniform-4"]
settings = { run.batch = 16, container.target_size = 90 }
sweep = { container.update_period = [5, 10], variation.rate = [0.1, 0.2] }
[[study]]
name = "more"
tasks = ["maze"]
variants = ["ns"]
replications = 1
)";

TEST_F(AnExperiment, IsEveryCombinationOnce) {
  const std::vector<PlannedRun> runs = plan(kStudy);
  ASSERT_EQ(runs.size(), 2U * 4 * 3 + 1);
  std::set<std::string> names;
  for (const PlannedRun& run : runs) {
    names.insert(run.name);
    EXPECT_EQ(run.plan.run.iterations, 40U);
  }
  EXPECT_EQ(names.size(), runs.size());
  EXPECT_TRUE(names.contains("periods/maze-hc-csc-uniform-update_period=10-rate=0.2-seed7"));
  const PlannedRun& first = runs.front();
  EXPECT_EQ(first.name, "periods/maze-hc-csc-uniform-update_period=5-rate=0.1-seed5");
  EXPECT_EQ(first.plan.run.batch, 16U);
  EXPECT_EQ(first.plan.container->integer("update_period"), 5U);
  EXPECT_EQ(first.plan.run.seed, 5U);
  EXPECT_EQ(runs.back().name, "more/maze-ns-seed5");
  EXPECT_EQ(runs.back().plan.run.batch, 128U);
}

TEST_F(AnExperiment, HasTheFirstReplicationOfAllOfAStudyFirst) {
  std::vector<std::string> order;
  for (const PlannedRun& run : plan("replications = 2\nfirst_seed = 4\n[[study]]\nname = \"a\"\n"
                                    "tasks = [\"maze\"]\nvariants = [\"ns\", \"map-elites\"]\n"
                                    "[[study]]\nname = \"b\"\ntasks = [\"maze\"]\n"
                                    "variants = [\"random-search\"]\n")) {
    order.push_back(std::to_string(run.replication) + " " + run.name);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"1 a/maze-ns-seed4", "1 a/maze-map-elites-seed4",
                                             "2 a/maze-ns-seed5", "2 a/maze-map-elites-seed5",
                                             "1 b/maze-random-search-seed4",
                                             "2 b/maze-random-search-seed5"}));
}

TEST_F(AnExperiment, KnowsWhichRunsCostAlike) {
  const std::vector<PlannedRun> runs = plan(
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"ns\"]\n"
      "sweep = { task.sensory = [\"picture\", \"lasers\"], variation.rate = [0.1, 0.2] }\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\n");
  std::set<std::string> kinds;
  for (const PlannedRun& run : runs) kinds.insert(run.kind);
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_EQ(kinds, (std::set<std::string>{"maze/hand-coded task.sensory=\"lasers\"",
                                          "maze/hand-coded task.sensory=\"picture\"",
                                          "maze/auto task.sensory=\"picture\""}));
}

TEST_F(AnExperiment, MayBeCutDownToRunsOfSomeNames) {
  const std::vector<PlannedRun> all = plan(kStudy);
  const auto kept = [&](const std::vector<std::string>& patterns) {
    std::vector<PlannedRun> runs = all;
    keep_only(runs, patterns);
    return runs;
  };
  EXPECT_EQ(kept({"*"}).size(), all.size());
  EXPECT_EQ(kept({"periods/*"}).size(), 24U);
  EXPECT_EQ(kept({"*-seed5", "*/maze-ns-*"}).size(), 9U);  // one of them fits both
  const std::vector<PlannedRun> some = kept({"more/maze-ns-seed5", "*period=10-rate=0.?-seed6"});
  ASSERT_EQ(some.size(), 5U);  // in the order of the study
  EXPECT_EQ(some[0].name, "periods/maze-hc-csc-uniform-update_period=10-rate=0.1-seed6");
  EXPECT_EQ(some[4].name, "more/maze-ns-seed5");
  try {
    kept({"periods/*", "maze-ns"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'maze-ns'; they have names like 'periods/maze-hc"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(AnExperiment, MayGiveItsRunsALabel) {
  const std::string study =
      "[[study]]\ntasks = [\"maze\"]\nlabel = \"with \\\"less\\\" noise\"\nreplications = 2\n";
  for (const PlannedRun& run : plan(study + "variants = [\"ns\"]\n")) {
    EXPECT_EQ(run.plan.run.label, "with \"less\" noise");
  }
  EXPECT_THROW(plan(study + "variants = [\"ns\", \"map-elites\"]\n"), UsageError);
  EXPECT_THROW(plan(study + "variants = [\"ns\"]\nsweep = { run.batch = [1, 2] }\n"), UsageError);
  EXPECT_THROW(plan("[[study]]\ntasks = [\"maze\"]\nvariants = [\"ns\"]\nlabel = 3\n"), UsageError);
}

TEST_F(AnExperiment, PlansARunThatTwoStudiesShareOnce) {
  const std::string study = "[[study]]\ntasks = [\"maze\"]\nvariants = [\"ns\"]\n";
  EXPECT_EQ(plan(study).size(), 1U);
  EXPECT_EQ(plan(study + study).size(), 1U);
  EXPECT_EQ(plan(study + study + "sweep = { run.batch = [128, 64] }\n").size(), 2U);
}

TEST_F(AnExperiment, ReTrainsARunIfOneOfItsStudiesAsksForIt) {
  const std::string study =
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\n";
  EXPECT_FALSE(plan(study)[0].retrain);
  EXPECT_FALSE(plan(study + "retrain = false\n")[0].retrain);
  for (const std::string& text :
       {study + study + "retrain = true\n", study + "retrain = true\n" + study}) {
    const std::vector<PlannedRun> runs = plan(text);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_TRUE(runs[0].retrain);
  }
}

TEST_F(AnExperiment, SaysWhatIsWrongBeforeAnythingIsRun) {
  const std::string study = "[[study]]\ntasks = [\"maze\"]\nvariants = [\"ns\"]\n";
  const auto says = [&](const std::string& text, const std::string& what) {
    EXPECT_NE(complaint(text).find(what), std::string::npos) << complaint(text);
  };
  says("", "has no [[study]]");
  says("x = 1\n" + study, "known there: replications");
  says(study + "y = 1\n", "known there: name");
  says("[[study]]\ntasks = [\"maze\"]\n", "without 'variants'");
  says("[[study]]\ntasks = [\"maize\"]\nvariants = [\"ns\"]\n", "maze");
  says("[[study]]\ntasks = [\"maze\"]\nvariants = [\"nss\"]\n", "ns");
  says(study + "settings = { run.bach = 3 }\n", "run.batch");
  says(study + "sweep = { run.batch = 3 }\n", "a list of values");
  says(study + "sweep = { run.batch = [0] }\n", "run.batch");
  says(study + "name = \"../up\"\n", "a name is that of a folder");
  says("replications = 0\n" + study, "whole number above 0");
  says("replications = [", ":1: this is not TOML");
  says(study + "retrain = 1\n", "needs true or false for 'retrain'");
  says(study + "retrain = true\n", "its descriptors are hand-coded");
}

TEST_F(AnExperiment, KnowsHowFarARunIs) {
  const std::vector<PlannedRun> runs = plan(
      "[settings]\nrun.iterations = 6\nrun.batch = 8\ncontainer.target_size = 20\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"hc-csc-uniform\"]\n");
  const auto folder = root_ / "run";
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::missing);
  Plan shorter = runs[0].plan;
  shorter.run.iterations = 3;
  run(parts_, shorter, {.out = folder}, stop_);
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::unfinished);
  run(parts_, runs[0].plan, {.out = folder, .resume = true}, stop_);
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::finished);
  PlannedRun other = runs[0];
  other.plan.run.seed = 9;
  EXPECT_THROW(progress_of(parts_, other, folder), UsageError);
}

TEST_F(AnExperiment, KnowsWhatIsStillToBeReTrained) {
  std::vector<PlannedRun> runs = plan(
      "[settings]\nrun.iterations = 6\nrun.batch = 8\ncontainer.target_size = 20\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\nretrain = true\n");
  const auto folder = root_ / "run";
  run(parts_, runs[0].plan, {.out = folder}, stop_);
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::to_retrain);
  retrain(parts_, folder, {.epochs = 2});
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::finished);
  // A longer run has another container: what was re-trained is of the earlier one.
  runs[0].plan.run.iterations = 9;
  run(parts_, runs[0].plan, {.out = folder, .resume = true}, stop_);
  EXPECT_EQ(progress_of(parts_, runs[0], folder), RunProgress::to_retrain);
}

// A file's settings are for all of its runs: each takes what it has a part for.
TEST_F(AnExperiment, PassesOverSettingsThatARunHasNoPartForButNoSweep) {
  const std::string both =
      "[settings]\nthreshold.gain = 1e-3\ncontainer.update_period = 7\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"hc-csc-uniform\", \"ns\"]\n";
  const std::vector<PlannedRun> runs = plan(both);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].assignments,
            (std::vector<std::string>{"container.update_period=7", "threshold.gain=0.001"}));
  EXPECT_EQ(runs[0].plan.container->integer("update_period"), 7U);
  EXPECT_EQ(runs[1].assignments, std::vector<std::string>{});
  const std::string said = complaint(both + "sweep = { threshold.gain = [1e-3, 1e-4] }\n");
  EXPECT_NE(said.find("run study1/maze-ns-gain=0.001-seed1: "), std::string::npos) << said;
  EXPECT_NE(said.find("threshold.gain"), std::string::npos) << said;
  EXPECT_NE(said.find("means nothing here"), std::string::npos) << said;
}

TEST_F(AnExperiment, SaysTheNearestThingLast) {
  const std::vector<PlannedRun> runs = plan(
      "[settings]\nrun.batch = 8\nrun.iterations = 10\nrun.log_every = 5\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"ns\"]\n"
      "settings = { run.batch = 16, run.iterations = 20 }\nsweep = { run.batch = [32] }\n");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].plan.run.batch, 32U);
  EXPECT_EQ(runs[0].plan.run.iterations, 20U);
  EXPECT_EQ(runs[0].plan.run.log_every, 5U);
  // The same command, alone, gives the same run.
  PlanRequest request;
  request.task = "maze";
  request.variant = runs[0].plan.variant;
  request.assignments = runs[0].assignments;
  request.assignments.push_back("run.threads=1");
  EXPECT_EQ(resolve(parts_, request).toml(), runs[0].plan.toml());
}

TEST_F(AnExperiment, MayHaveVariantsOfItsOwn) {
  EXPECT_FALSE(experiment(kStudy).has_variants);
  const std::string study = "[[study]]\ntasks = [\"maze\"]\nvariants = [\"curious-5\", \"bold\"]\n";
  const std::string variants =
      "[variant.curious-5]\nsummary = \"x\"\nbase = \"aurora-csc-uniform-5\"\n"
      "settings = { selection.kind = \"novelty\" }\n"
      "[variant.bold]\nbase = \"hc-csc-uniform\"\nsettings = { variation.rate = 0.5 }\n";
  const Experiment mine = experiment(variants + study);
  EXPECT_TRUE(mine.has_variants);
  ASSERT_EQ(mine.runs.size(), 2U);
  EXPECT_EQ(mine.runs[0].name, "study1/maze-curious-5-seed1");
  EXPECT_EQ(mine.runs[0].plan.variant, "curious-5");
  EXPECT_EQ(mine.runs[0].plan.selector.entry->name, "novelty");
  EXPECT_EQ(mine.runs[0].plan.run.dimension, 5U);
  EXPECT_EQ(mine.runs[0].plan.departures, std::vector<std::string>{});
  EXPECT_EQ(mine.runs[0].assignments, std::vector<std::string>{});
  EXPECT_FALSE(mine.runs[1].plan.encoder);

  const auto says = [&](const std::string& text, const std::string& what) {
    EXPECT_NE(complaint(text).find(what), std::string::npos) << complaint(text);
  };
  says(study, "curious-5");
  says("[variant.ns]\nsettings = { variation.rate = 0.5 }\n" + study, "ns");
  says("[variant.bold]\nbase = \"nss\"\n" + study, "nss");
  says(
      "[variant.bold]\nsettings = { variation.rat = 0.5 }\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"bold\"]\n",
      "variation.rate");
  says("[variant.bold]\ncolour = 1\n" + study, "colour");
}

TEST(Experiments, OfTheRepositoryCanBeRead) {
  const Parts parts = builtin_parts();
  for (const auto& entry : parts.tasks.entries()) {
    if (!entry->missing.empty()) GTEST_SKIP() << "without " << entry->name;
  }
  const std::filesystem::path folder = AURORA_SOURCE_DIR "/experiments";
  EXPECT_EQ(plan_experiment(parts, folder / "paper-small.toml").runs.size(), 109U);
  // 9 variants, 14 other latent sizes, 4 + 4 other periods; 3 tasks, 20 seeds.
  EXPECT_EQ(plan_experiment(parts, folder / "paper.toml").runs.size(), (9U + 14 + 4 + 4) * 3 * 20);
}

}  // namespace
}  // namespace aurora
