// Runs that stop and go on end as if they had never stopped.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"
#include "tests/algorithms/arm.hpp"
#include "tests/storage/faults.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

/// Remembers what a user would be warned of.
struct Warnings : RunObserver {
  std::vector<std::string> all;
  void warn(const std::string& text) override { all.push_back(text); }
};

class Resumed : public RunFixture {
 protected:
  const std::vector<std::string> small_ = {
      "run.batch=16",     "container.target_size=80", "run.log_every=10",   "run.snapshot_every=20",
      "encoder.epochs=2", "encoder.update_step=5",    "threshold.gain=1e-3"};

  Plan plan(std::vector<std::string> more, const std::string& variant = "hc-csc-uniform") {
    std::vector<std::string> assignments = small_;
    assignments.insert(assignments.end(), more.begin(), more.end());
    return plan_with(std::move(assignments), variant);
  }

  RunSummary go(const fs::path& out, const Plan& plan, bool resume = true,
                RunObserver* observer = nullptr) {
    return run(parts_, plan, {.out = out, .resume = resume, .observer = observer}, stop_);
  }

  /// The only warning of a run that goes on.
  std::string warning(const fs::path& out, const Plan& plan) {
    Warnings warnings;
    EXPECT_EQ(go(out, plan, true, &warnings).status, RunStatus::finished);
    EXPECT_EQ(warnings.all.size(), 1U);
    return warnings.all.empty() ? "" : warnings.all.front();
  }

  /// Writes a checkpoint in the place of the last one.
  static void write_checkpoint(const fs::path& out, Checkpoint checkpoint) {
    CheckpointWriter writer(out);
    const std::size_t metrics = checkpoint.metrics.size();
    const std::size_t training = checkpoint.training.size();
    writer.copy() = std::move(checkpoint);
    writer.start(metrics, training);
    writer.wait();
    ASSERT_EQ(writer.outcome().value().error, "");
  }

  template <class E>
  std::string refusal(const fs::path& out, const Plan& plan) {
    try {
      go(out, plan);
    } catch (const E& error) {
      return error.what();
    }
    return "(no error)";
  }

  /// encoder.csv without its last column, which is the time it took.
  static std::string training(const fs::path& out) {
    std::istringstream lines(content(out / "encoder.csv"));
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      text += line.substr(0, line.rfind(',')) + '\n';
    }
    return text;
  }

  /// Every file of a directory, by name.
  static std::vector<std::pair<std::string, std::string>> files(const fs::path& directory) {
    std::vector<std::pair<std::string, std::string>> all;
    if (!fs::exists(directory)) return all;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      all.emplace_back(fs::relative(entry.path(), directory).string(), content(entry.path()));
    }
    std::ranges::sort(all);
    return all;
  }

  static void expect_same_run(const fs::path& a, const fs::path& b) {
    EXPECT_EQ(content(a / "metrics.csv"), content(b / "metrics.csv"));
    EXPECT_EQ(training(a), training(b));
    EXPECT_EQ(files(a / "container"), files(b / "container"));
    EXPECT_EQ(files(a / "encoder"), files(b / "encoder"));
    EXPECT_EQ(files(a / "snapshots"), files(b / "snapshots"));
  }
};

class EveryFamily : public Resumed, public testing::WithParamInterface<std::string> {};

TEST_P(EveryFamily, EndsAsIfItHadNeverStopped) {
  const std::string variant = GetParam();
  const RunSummary whole = go(root_ / "whole", plan({"run.iterations=47"}, variant), false);
  // Extended twice; 13 and 31 are no multiples of log_every, so their last rows are out of turn.
  const fs::path out = root_ / "parts";
  go(out, plan({"run.iterations=13"}, variant));
  go(out, plan({"run.iterations=31"}, variant));
  // Killed after its last row: what comes after the checkpoint (the one of iteration 13) goes.
  fs::remove_all(out / "checkpoint");
  const RunSummary end = go(out, plan({"run.iterations=47", "run.threads=3"}, variant));
  EXPECT_EQ(end.container_hash, whole.container_hash);
  EXPECT_EQ(end.evaluations, whole.evaluations);
  EXPECT_EQ(end.simulations, whole.simulations);
  EXPECT_EQ(end.status, RunStatus::finished);
  expect_same_run(root_ / "whole", out);
}

// One of every family; tests/algorithms/algorithm_test.cpp has all variants.
INSTANTIATE_TEST_SUITE_P(Maze, EveryFamily,
                         testing::Values("aurora-csc-surprise-3", "aurora-vat-novelty-3",
                                         "aurora-pid-uniform-3", "taxons-3", "ns",
                                         "cvt-map-elites"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(Resumed, AnInterruptedRunGoesOnAndItsSecondsAddUp) {
  go(root_ / "whole", plan({"run.iterations=30"}), false);
  const fs::path out = root_ / "parts";
  stop_ = true;
  EXPECT_EQ(go(out, plan({"run.iterations=30"}), false).status, RunStatus::interrupted);
  stop_ = false;
  EXPECT_TRUE(fs::exists(out / "checkpoint" / "manifest.json"));
  go(out, plan({"run.iterations=20"}));
  const RunSummary half = read_summary(out / "run.json");
  const RunSummary end = go(out, plan({"run.iterations=30"}));
  expect_same_run(root_ / "whole", out);
  EXPECT_GT(end.seconds.simulate, half.seconds.simulate);
  EXPECT_EQ(end.started, half.started);
  EXPECT_EQ(read_summary(out / "run.json").iterations, 30U);
  EXPECT_FALSE(fs::exists(out / ".lock"));
}

TEST_F(Resumed, AFinishedRunIsLeftAsItIs) {
  const fs::path out = root_ / "run";
  const RunSummary first = go(out, plan({"run.iterations=12"}), false);
  const auto before = files(out);
  const RunSummary again = go(out, plan({"run.iterations=12"}));
  EXPECT_EQ(again.container_hash, first.container_hash);
  EXPECT_EQ(files(out), before);
  // Killed after the last checkpoint but before the results were there.
  fs::remove_all(out / "container");
  fs::remove(out / "run.json");
  EXPECT_EQ(go(out, plan({"run.iterations=12"})).container_hash, first.container_hash);
  go(root_ / "whole", plan({"run.iterations=12"}), false);
  expect_same_run(root_ / "whole", out);
}

TEST_F(Resumed, WithoutACheckpointItBeginsAnewButNeverOverResults) {
  const fs::path out = root_ / "run";
  go(root_ / "whole", plan({"run.iterations=25"}), false);
  go(out, plan({"run.iterations=25"}));  // there was nothing yet
  expect_same_run(root_ / "whole", out);

  fs::remove_all(out / "checkpoint");
  EXPECT_EQ(go(out, plan({"run.iterations=25"})).status, RunStatus::finished) << "nothing to do";
  EXPECT_SAYS(refusal<FileError>(out, plan({"run.iterations=30"})),
              "has results but no checkpoint");
  RunSummary killed = read_summary(out / "run.json");
  killed.status = RunStatus::running;
  RunDirectory::reopen(out).write_summary(killed);
  // As a kill before the first checkpoint leaves it.
  fs::remove_all(out / "container");
  EXPECT_SAYS(refusal<UsageError>(out, plan({"run.iterations=25", "run.seed=5"})),
              "run.seed was 1, now it is 5");
  go(out, plan({"run.iterations=25"}));
  expect_same_run(root_ / "whole", out);

  fs::create_directories(root_ / "other");
  std::ofstream(root_ / "other" / "thesis.txt") << "precious";
  EXPECT_SAYS(refusal<FileError>(root_ / "other", plan({})), "neither config.toml nor checkpoint");
  EXPECT_EQ(files(root_ / "other").size(), 1U);
}

// A run that was killed while it wrote its results, or failed, before it ever wrote a checkpoint.
TEST_F(Resumed, WhateverEndedItBeforeItsFirstCheckpointItBeginsAnew) {
  go(root_ / "whole", plan({"run.iterations=25"}), false);
  for (const RunStatus status : {RunStatus::running, RunStatus::interrupted, RunStatus::failed}) {
    const fs::path out = root_ / name_of(status);
    go(out, plan({"run.iterations=25"}), false);
    fs::remove_all(out / "checkpoint");
    RunSummary summary = read_summary(out / "run.json");
    summary.status = status;
    summary.error = "a full disk";
    RunDirectory::reopen(out).write_summary(summary);
    ASSERT_TRUE(fs::exists(out / "container"));
    EXPECT_EQ(go(out, plan({"run.iterations=25"})).status, RunStatus::finished);
    expect_same_run(root_ / "whole", out);
  }
}

// All of them, from the creation of the directory to the last rename.
TEST_F(Resumed, KilledAfterAnyFileOperationItGoesOnToTheSameBits) {
  parts_ = arm_parts();
  const auto tiny = [&](const std::string& variant) {
    return plan_with({"run.iterations=12", "run.batch=8", "container.target_size=20",
                      "run.log_every=4", "run.snapshot_every=6", "encoder.kind=pca",
                      "encoder.update_step=3", "run.checkpoint_seconds=0.001", "run.threads=1"},
                     variant, "arm");
  };
  for (const std::string variant : {"hc-csc-uniform", "aurora-csc-uniform-2"}) {
    const Plan plan = tiny(variant);
    const fs::path whole = root_ / (variant + "-whole");
    const std::string hash = go(whole, plan, false).container_hash;
    int operations = 0;
    for (bool died = true; died; ++operations) {
      const fs::path out = root_ / (variant + std::to_string(operations));
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        faults = {};
        faults.on = true;
        faults.removals = true;
        faults.fail_at = operations;
        try {
          go(out, plan, false);
        } catch (...) {
          _exit(1);
        }
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 0))
          << operations << ": " << status;
      died = WEXITSTATUS(status) == 77;
      const RunSummary resumed = go(out, plan);
      ASSERT_EQ(resumed.status, RunStatus::finished) << operations;
      ASSERT_EQ(resumed.container_hash, hash) << operations;
      ASSERT_EQ(content(out / "metrics.csv"), content(whole / "metrics.csv")) << operations;
      for (const auto& entry : fs::recursive_directory_iterator(out)) {  // nothing is left behind
        ASSERT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
      }
      fs::remove_all(out);
    }
    EXPECT_GT(operations, 100) << variant;
  }
}

TEST_F(Resumed, NothingIsWrittenThroughASymbolicLinkAndAPipeHoldsNobodyUp) {
  const fs::path out = root_ / "run";
  const fs::path precious = root_ / "precious";
  go(root_ / "whole", plan({"run.iterations=30"}), false);
  for (const char* name : {"metrics.csv", "run.json", "config.toml"}) {
    fs::remove_all(out);
    go(out, plan({"run.iterations=15"}), false);
    std::ofstream(precious) << content(out / name);
    const std::string before = content(precious);
    fs::remove(out / name);
    fs::create_symlink(precious, out / name);
    go(out, plan({"run.iterations=30"}));
    EXPECT_EQ(content(precious), before) << name;
    EXPECT_FALSE(fs::is_symlink(out / name)) << name;
  }
  fs::remove_all(out);
  go(out, plan({"run.iterations=15"}), false);
  fs::remove_all(out / "snapshots");
  fs::create_directories(root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", out / "snapshots");
  EXPECT_SAYS(refusal<FileError>(out, plan({"run.iterations=30"})), "symbolic link");
  EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));

  for (const char* name : {"metrics.csv", "run.json", ".lock"}) {
    fs::remove_all(out);
    go(out, plan({"run.iterations=15"}), false);
    fs::remove(out / name);
    ASSERT_EQ(mkfifo((out / name).c_str(), 0600), 0);
    try {  // an error, or what it should be; but it comes to an end
      go(out, plan({"run.iterations=30"}));
      EXPECT_TRUE(fs::is_regular_file(out / "metrics.csv"));
    } catch (const Error&) {
    }
  }
}

TEST_F(Resumed, AChildThatATaskForksDoesNotKeepTheLock) {
  const fs::path out = root_ / "run";
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const RunDirectory directory = RunDirectory::create(out);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      close(pipe_ends[0]);
      pause();
      _exit(0);
    }
    static_cast<void>(write(pipe_ends[1], &grandchild, sizeof grandchild) == 0);
    raise(SIGKILL);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(pipe_ends[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(go(out, plan({"run.iterations=5"})).status, RunStatus::finished);
  kill(grandchild, SIGKILL);
}

TEST_F(Resumed, AnotherSpecificationOfTheTaskIsRefused) {
  const fs::path out = root_ / "run";
  parts_ = arm_parts();
  const std::vector<std::string> few = {"run.iterations=5", "run.batch=8"};
  go(out, plan_with(few, "hc-csc-uniform", "arm"), false);
  TaskSpec other = arm_spec();
  other.ground_truth[0].max = 7;
  parts_ = arm_parts(other);
  EXPECT_SAYS(refusal<UsageError>(
                  out, plan_with({"run.iterations=9", "run.batch=8"}, "hc-csc-uniform", "arm")),
              "another specification of its task");
}

TEST_F(Resumed, AnotherConfigurationIsRefusedAndNothingIsTouched) {
  const fs::path out = root_ / "run";
  go(out, plan({"run.iterations=12"}), false);
  const auto before = files(out);
  EXPECT_SAYS(refusal<UsageError>(out, plan({"run.iterations=20", "container.k=3"})),
              "container.k was 15, now it is 3");
  EXPECT_SAYS(refusal<UsageError>(out, plan({"run.iterations=20"}, "random-search")),
              "run.variant was \"hc-csc-uniform\", now it is \"random-search\"");
  EXPECT_SAYS(refusal<UsageError>(out, plan({"run.iterations=5"})), "12 iterations already");
  EXPECT_EQ(files(out), before);
}

TEST_F(Resumed, ADamagedCheckpointIsReportedAndThePreviousOneUsed) {
  go(root_ / "whole", plan({"run.iterations=40"}), false);
  const fs::path out = root_ / "run";
  go(out, plan({"run.iterations=10"}), false);
  go(out, plan({"run.iterations=30"}));
  fs::resize_file(out / "checkpoint" / "container.sensory.npy", 1000);
  const std::string said = warning(out, plan({"run.iterations=40"}));
  EXPECT_SAYS(said,
              "the last checkpoint is damaged and the previous one, of iteration 10, is used");
  EXPECT_SAYS(said, "container.sensory.npy");
  expect_same_run(root_ / "whole", out);
  EXPECT_TRUE(fs::exists(out / "checkpoint.damaged"));
  EXPECT_EQ(find_checkpoint(out)->checkpoint.algorithm.iteration, 40U);
}

TEST_F(Resumed, ACheckpointThatMakesNoSenseIsReportedAndThePreviousOneUsed) {
  const auto number = [](float value) {
    return [value](Checkpoint& c) { c.algorithm.container.fitness[3] = value; };
  };
  using Case = std::pair<const char*, std::function<void(Checkpoint&)>>;
  const std::vector<Case> everywhere = {
      {"not finite", number(std::numeric_limits<float>::quiet_NaN())},
      {"not finite", number(std::numeric_limits<float>::infinity())},
      {"have the id",
       [](Checkpoint& c) { c.algorithm.container.ids[2] = c.algorithm.container.ids[5]; }},
      {"columns of the individuals",
       [](Checkpoint& c) {
         Individuals& container = c.algorithm.container;
         container.ground_truth = Matrix<float>(container.size(), 5);
       }},
      {"genes outside", [](Checkpoint& c) { c.algorithm.container.genotypes(0, 0) = -7; }},
      {"encoder updates", [](Checkpoint& c) { c.algorithm.encoder_updates = 1'000'000'000'000; }},
      {"number of iterations", [](Checkpoint& c) { ++c.algorithm.iteration; }},
  };
  const std::map<std::string, std::vector<Case>> cases = {
      {"hc-csc-uniform",
       {{"threshold",
         [](Checkpoint& c) {
           c.algorithm.container_state.numbers = {{"threshold.value", -1}};
         }},
        {"no encoder",
         [](Checkpoint& c) {
           c.algorithm.encoder = {{"w", {1}, {0}}};
         }}}},
      {"cvt-map-elites",
       {{"in one cell",
         [](Checkpoint& c) {
           Matrix<float>& descriptors = c.algorithm.container.descriptors;
           std::ranges::copy(descriptors.row(0), descriptors.row(1).begin());
         }}}},
      {"ns", {{"in the population", [](Checkpoint& c) { c.algorithm.population.resize(3); }}}},
  };
  for (const auto& [variant, more] : cases) {
    go(root_ / variant, plan({"run.iterations=30"}, variant), false);
    const fs::path good = root_ / (variant + "-good");
    go(good, plan({"run.iterations=10"}, variant), false);
    go(good, plan({"run.iterations=20"}, variant));
    std::vector<Case> all = everywhere;
    if (variant == "cvt-map-elites") all.clear();  // its centroids take their time
    all.insert(all.end(), more.begin(), more.end());
    for (const auto& [says, change] : all) {
      SCOPED_TRACE(variant + ": " + says);
      const fs::path out = root_ / "run";
      fs::remove_all(out);
      fs::copy(good, out, fs::copy_options::recursive);
      // Written as every checkpoint is: all checksums are right.
      Checkpoint senseless = find_checkpoint(out)->checkpoint;
      change(senseless);
      fs::remove_all(out / "checkpoint");
      fs::rename(out / "checkpoint.previous", out / "checkpoint");
      write_checkpoint(out, senseless);

      const std::string said = warning(out, plan({"run.iterations=30"}, variant));
      EXPECT_SAYS(said, "the previous one, of iteration 10, is used");
      EXPECT_SAYS(said, says);
      expect_same_run(root_ / variant, out);
      EXPECT_TRUE(fs::exists(out / "checkpoint.damaged"));
    }
  }
}

TEST_F(Resumed, WithoutACheckpointThatMakesSenseItIsRefusedAndNothingIsTouched) {
  const fs::path out = root_ / "run";
  go(out, plan({"run.iterations=10"}), false);
  Checkpoint senseless = find_checkpoint(out)->checkpoint;
  senseless.algorithm.container.fitness[0] = std::numeric_limits<float>::quiet_NaN();
  write_checkpoint(out, senseless);
  write_checkpoint(out, senseless);
  const auto before = files(out);
  const std::string said = refusal<DataError>(out, plan({"run.iterations=30"}));
  EXPECT_SAYS(said, "has no checkpoint that can be used");
  EXPECT_SAYS(said, "checkpoint' is no state of this run: individual");
  EXPECT_SAYS(said, "checkpoint.previous' is no state of this run: individual");
  // What is the user's to put right is said first: no other checkpoint would help.
  EXPECT_SAYS(refusal<UsageError>(out, plan({"run.iterations=30", "run.seed=5"})),
              "run.seed was 1, now it is 5");
  EXPECT_EQ(files(out), before);
}

TEST_F(Resumed, ChangesNoResultHoweverOftenItSaves) {
  const RunSummary whole = go(root_ / "whole", plan({"run.iterations=60"}), false);
  const RunSummary often =
      go(root_ / "often", plan({"run.iterations=60", "run.checkpoint_seconds=1e-9"}), false);
  EXPECT_EQ(often.container_hash, whole.container_hash);
  expect_same_run(root_ / "whole", root_ / "often");
  EXPECT_TRUE(fs::exists(root_ / "often" / "checkpoint.previous"));
  EXPECT_FALSE(fs::exists(root_ / "whole" / "checkpoint.previous"));
}

TEST_F(Resumed, ACheckpointThatFailsIsSaidOnceAndTheRunGoesOn) {
  const fs::path out = root_ / "run";
  go(out, plan({"run.iterations=10"}), false);
  faults.no_directory = ".checkpoint.new";
  const std::string said = warning(out, plan({"run.iterations=60", "run.checkpoint_seconds=1e-9"}));
  faults.no_directory = nullptr;
  EXPECT_TRUE(said.starts_with("no checkpoint could be written: ")) << said;
  EXPECT_SAYS(said, "No space left on device");
  EXPECT_EQ(find_checkpoint(out)->checkpoint.algorithm.iteration, 10U);
}

TEST_F(Resumed, TwoProcessesCannotUseOneDirectory) {
  const fs::path out = root_ / "run";
  go(out, plan({"run.iterations=10"}), false);
  const auto before = files(out);
  {
    const FileLock other(out / ".lock", out);
    EXPECT_SAYS(refusal<FileError>(out, plan({"run.iterations=20"})), "is in use by process");
  }
  EXPECT_EQ(files(out), before);
}

}  // namespace
}  // namespace aurora
