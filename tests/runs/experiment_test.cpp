#include "aurora/runs/experiment.hpp"

#include <cstdlib>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/runs/retrain.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

class AnExperiment : public RunFixture {
 protected:
  std::vector<PlannedRun> plan(const std::string& text) {
    const auto file = root_ / "study.toml";
    std::ofstream(file) << text;
    return plan_experiment(tasks_, file);
  }

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
    EXPECT_EQ(run.config.iterations, 40U);
  }
  EXPECT_EQ(names.size(), runs.size());
  EXPECT_TRUE(names.contains("periods/maze-hc-csc-uniform-update_period=10-rate=0.2-seed7"));
  const PlannedRun& first = runs.front();
  EXPECT_EQ(first.name, "periods/maze-hc-csc-uniform-update_period=5-rate=0.1-seed5");
  EXPECT_EQ(first.config.algorithm.batch, 16U);
  EXPECT_EQ(first.config.algorithm.update_period, 5U);
  EXPECT_EQ(first.config.algorithm.seed, 5U);
  EXPECT_EQ(runs.back().name, "more/maze-ns-seed5");
  EXPECT_EQ(runs.back().config.algorithm.batch, 128U);
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
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::missing);
  RunConfig shorter = runs[0].config;
  shorter.iterations = 3;
  run(tasks_, shorter, {.out = folder, .quiet = true}, stop_);
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::unfinished);
  run(tasks_, runs[0].config, {.out = folder, .quiet = true, .resume = true}, stop_);
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::finished);
  PlannedRun other = runs[0];
  other.config.algorithm.seed = 9;
  EXPECT_THROW(progress_of(tasks_, other, folder), UsageError);
}

TEST_F(AnExperiment, KnowsWhatIsStillToBeReTrained) {
  std::vector<PlannedRun> runs = plan(
      "[settings]\nrun.iterations = 6\nrun.batch = 8\ncontainer.target_size = 20\n"
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\nretrain = true\n");
  const auto folder = root_ / "run";
  run(tasks_, runs[0].config, {.out = folder, .quiet = true}, stop_);
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::to_retrain);
  retrain(tasks_, folder, {.epochs = 2});
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::finished);
  // A longer run has another container: what was re-trained is of the earlier one.
  runs[0].config.iterations = 9;
  run(tasks_, runs[0].config, {.out = folder, .quiet = true, .resume = true}, stop_);
  EXPECT_EQ(progress_of(tasks_, runs[0], folder), RunProgress::to_retrain);
}

TEST_F(AnExperiment, ReTrainsInAScriptOnceTheRunIsDone) {
  const std::vector<PlannedRun> runs = plan(
      "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\nretrain = true\n");
  const auto script = root_ / "job.sh";
  std::ofstream(script) << slurm_script(runs, root_, "/bin/echo", 2);
  ASSERT_EQ(std::system(("SLURM_ARRAY_TASK_ID=0 bash '" + script.string() + "' > '" +
                         (root_ / "said").string() + "'")
                            .c_str()),
            0);
  const std::string said = content(root_ / "said");
  EXPECT_TRUE(said.starts_with("run maze")) << said;
  EXPECT_NE(said.find("\nretrain " + (root_ / runs[0].name).string()), std::string::npos) << said;
}

TEST_F(AnExperiment, BecomesAScriptThatAShellReads) {
  const std::vector<PlannedRun> runs = plan(kStudy);
  const auto script = root_ / "job.sh";
  // In place of the program: something that prints what it was given.
  std::ofstream(script) << slurm_script(runs, root_ / "it's here", "/bin/echo", 2);
  ASSERT_EQ(std::system(("bash -n '" + script.string() + "'").c_str()), 0);
  const std::string text = content(script);
  EXPECT_NE(text.find("#SBATCH --array=0-24\n"), std::string::npos);
  for (const std::size_t number : {std::size_t{0}, runs.size() - 1}) {
    const std::string command = "SLURM_ARRAY_TASK_ID=" + std::to_string(number) + " bash '" +
                                script.string() + "' > '" + (root_ / "said").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::string expected;
    for (const std::string& word :
         command_of(runs[number], root_ / "it's here" / runs[number].name, 2)) {
      expected += (expected.empty() ? "" : " ") + word;
    }
    EXPECT_EQ(content(root_ / "said"), expected + "\n");
  }
}

TEST(Experiments, OfTheRepositoryCanBeRead) {
  const TaskRegistry tasks = builtin_tasks();
  for (const TaskEntry& entry : tasks.entries()) {
    if (!entry.missing.empty()) GTEST_SKIP() << "without " << entry.name;
  }
  const std::filesystem::path folder = AURORA_SOURCE_DIR "/experiments";
  EXPECT_EQ(plan_experiment(tasks, folder / "paper-small.toml").size(), 109U);
  // 9 variants, 14 other latent sizes, 4 + 4 other periods; 3 tasks, 20 seeds.
  EXPECT_EQ(plan_experiment(tasks, folder / "paper.toml").size(), (9U + 14 + 4 + 4) * 3 * 20);
}

}  // namespace
}  // namespace aurora
