#include "aurora/experiments/scheduler.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "aurora/core/errors.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/storage/files.hpp"
#include "tests/runs/run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// A shell takes the place of the program, and copies of a run that of runs.
class AScheduler : public RunFixture {
 protected:
  AScheduler() {
    std::ofstream(root_ / "study.toml")
        << "replications = 4\n[settings]\nrun.iterations = 6\nrun.batch = 8\n"
           "container.target_size = 20\n"
           "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\n";
    runs_of_study_ = plan_experiment(parts_, root_ / "study.toml").runs;
    options_.out = root_ / "runs";
    options_.program = "/bin/sh";
    options_.jobs = 2;
    options_.command = [this](const PlannedRun& run, const fs::path& folder) {
      return shell(commands_.at(run.plan.run.seed - 1), folder);
    };
    options_.retrain_command = [this](const fs::path& folder) {
      return shell(retraining_, folder);
    };
    options_.ended = [this](const Tally& tally, const std::string& line, double seconds_left) {
      lines_.push_back(line);
      ended_.push_back(tally.ended());
      left_.push_back(seconds_left);
    };
  }

  std::vector<std::string> shell(const std::string& script, const fs::path& folder) const {
    return {"-c", script, "sh", (root_ / "ready").string(), folder.string()};
  }

  /// Finished runs, to be copied: ready1 is the run with seed 1.
  void make_ready() {
    for (const PlannedRun& planned : runs_of_study_) {
      run(parts_, planned.plan, {.out = root_ / ("ready" + std::to_string(planned.plan.run.seed))},
          stop_);
    }
  }

  Tally go() { return run_experiment(parts_, runs_of_study_, options_, stop_); }

  std::vector<PlannedRun> runs_of_study_;
  SchedulerOptions options_;
  std::vector<std::string> commands_;
  std::string retraining_ = "false";
  std::vector<std::string> lines_;
  std::vector<std::size_t> ended_;
  std::vector<double> left_;
};

// A task that calls exit(0), and a run that another process has finished meanwhile.
TEST_F(AScheduler, LooksAtTheRunAndNotAtTheStatusOfItsProcess) {
  make_ready();
  commands_ = {"exit 0", "cp -r \"${1}2\" \"$2\"; exit 1", "cp -r \"${1}3\" \"$2\"; exit 0",
               "exit 3"};
  fs::create_directories(options_.out);
  const Tally tally = go();
  EXPECT_EQ(tally.done, 2U);
  ASSERT_EQ(tally.failures.size(), 2U);
  std::vector<std::string> failures = tally.failures;
  std::ranges::sort(failures);
  EXPECT_NE(failures[0].find("status 0, but the run is not finished"), std::string::npos);
  EXPECT_NE(failures[1].find("status 3"), std::string::npos);
}

TEST_F(AScheduler, RunsWhatIsMissingAndSaysWhatFailed) {
  make_ready();
  fs::create_directories(options_.out / "study1");
  fs::copy(root_ / "ready4", options_.out / runs_of_study_[3].name, fs::copy_options::recursive);
  commands_ = {"cp -r \"$1\"1 \"$2\"", "echo first >&2; echo the reason >&2; exit 3",
               "kill -SEGV $$", "echo it was finished >&2; exit 1"};
  const Tally tally = go();
  EXPECT_EQ(tally.runs, 4U);
  EXPECT_EQ(tally.done, 1U);
  EXPECT_EQ(tally.skipped, 1U);
  EXPECT_EQ(tally.ended(), 4U);
  std::vector<std::string> failures = tally.failures;
  std::ranges::sort(failures);
  EXPECT_EQ(failures, (std::vector<std::string>{runs_of_study_[1].name + ": the reason",
                                                runs_of_study_[2].name + ": ended by signal 11"}));
  EXPECT_EQ(lines_.size(), 3U);
  EXPECT_TRUE(std::ranges::any_of(lines_, [&](const std::string& line) {
    return line.starts_with(runs_of_study_[0].name + ": coverage ");
  }));
  EXPECT_TRUE(std::ranges::any_of(lines_, [&](const std::string& line) {
    return line == runs_of_study_[1].name + ": FAILED: the reason";
  }));
  // What the failed ones said is kept, what the others said is not.
  EXPECT_EQ(content(options_.out / "errors" / "1.txt"), "first\nthe reason\n");
  EXPECT_FALSE(fs::exists(options_.out / "errors" / "0.txt"));

  // Again, the failed ones alone.
  commands_ = {"false", "cp -r \"$1\"2 \"$2\"", "cp -r \"$1\"3 \"$2\"", "false"};
  lines_.clear();
  left_.clear();
  const Tally again = go();
  EXPECT_EQ(again.done, 2U);
  EXPECT_EQ(again.skipped, 2U);
  EXPECT_TRUE(again.failures.empty());
  EXPECT_EQ(lines_.size(), 2U);
  EXPECT_EQ(left_.back(), 0) << "all that is left is nothing";
  EXPECT_FALSE(fs::exists(options_.out / "errors"));
}

TEST_F(AScheduler, ReTrainsWhatAsksForItAfterItsRun) {
  runs_of_study_.resize(2);
  runs_of_study_[0].retrain = true;
  make_ready();
  fs::create_directories(root_ / "trained");
  retrain(parts_, root_ / "ready1", {.epochs = 1, .out = root_ / "trained" / "retrained"});
  commands_ = {"cp -r \"$1\"1 \"$2\"", "cp -r \"$1\"2 \"$2\""};
  retraining_ = "cp -r \"$1/../trained/retrained\" \"$2\"";
  // "ready" is only the beginning of a name.
  fs::create_directories(root_ / "ready");
  const Tally tally = go();
  EXPECT_EQ(tally.done, 2U);
  EXPECT_TRUE(tally.failures.empty());
  EXPECT_TRUE(is_retrained(options_.out / runs_of_study_[0].name));
  EXPECT_FALSE(is_retrained(options_.out / runs_of_study_[1].name));

  // A run that is there is re-trained only.
  fs::remove_all(options_.out / runs_of_study_[0].name / "retrained");
  commands_ = {"exit 9", "exit 9"};
  const Tally again = go();
  EXPECT_EQ(again.done, 1U);
  EXPECT_EQ(again.skipped, 1U);
}

TEST_F(AScheduler, NeverTouchesAnotherRun) {
  runs_of_study_.resize(1);
  make_ready();
  fs::create_directories(options_.out / "study1");
  fs::copy(root_ / "ready1", options_.out / runs_of_study_[0].name, fs::copy_options::recursive);
  runs_of_study_[0].plan.run.seed = 2;
  commands_ = {"exit 9", "exit 9"};
  const Tally tally = go();
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_NE(tally.failures[0].find("run.seed was 1, now it is 2"), std::string::npos);
}

/// Of the run with seed 1, as an experiment on another machine would have it.
fs::path claim(const fs::path& out, const PlannedRun& run) {
  const fs::path folder = out / run.name;
  fs::create_directories(folder.parent_path());
  return folder.parent_path() / ("." + folder.filename().string() + ".lock");
}

TEST_F(AScheduler, LeavesRunsThatOthersHaveToThemAndWaits) {
  make_ready();
  auto theirs = std::make_unique<FileLock>(claim(options_.out, runs_of_study_[0]), "it");
  commands_ = {"exit 9", "cp -r \"${1}2\" \"$2\"", "cp -r \"${1}3\" \"$2\"",
               "cp -r \"${1}4\" \"$2\""};
  bool shown = false;
  options_.goes_on = [&](const Tally&, const std::vector<Job>& jobs, double) {
    if (!theirs || jobs.size() != 1 || !jobs[0].elsewhere) return;
    shown = true;
    EXPECT_EQ(jobs[0].name, runs_of_study_[0].name);
    EXPECT_TRUE(jobs[0].status.starts_with("process " + std::to_string(getpid()) + " on "));
    fs::copy(root_ / "ready1", options_.out / runs_of_study_[0].name, fs::copy_options::recursive);
    theirs.reset();
  };
  const Tally tally = go();
  EXPECT_TRUE(shown);
  EXPECT_EQ(tally.done, 3U);
  EXPECT_EQ(tally.skipped, 1U);
  EXPECT_TRUE(tally.failures.empty());
  const auto said = [&](const std::string& begin) {
    return std::ranges::count_if(lines_, [&](const std::string& line) {
      return line.starts_with(runs_of_study_[0].name + begin);
    });
  };
  EXPECT_EQ(said(": busy: process "), 1);
  EXPECT_EQ(said(": finished by another process, on "), 1);
  EXPECT_EQ(lines_.size(), 5U);
}

TEST_F(AScheduler, TakesOverWhatOthersLeaveUnfinished) {
  runs_of_study_.resize(1);
  make_ready();
  const fs::path lock = claim(options_.out, runs_of_study_[0]);
  auto theirs = std::make_unique<FileLock>(lock, "it");
  commands_ = {"cp -r \"${1}1\" \"$2\""};
  options_.goes_on = [&](const Tally&, const std::vector<Job>& jobs, double) {
    if (!jobs.empty() && jobs[0].elsewhere) theirs.reset();
  };
  EXPECT_EQ(go().done, 1U);
  EXPECT_FALSE(fs::exists(lock));

  // What a dead experiment has left beside a finished run.
  std::ofstream(lock) << "1 on nowhere";
  EXPECT_EQ(go().skipped, 1U);
  EXPECT_FALSE(fs::exists(lock));
}

TEST_F(AScheduler, TriesARunAgainThatIsInUse) {
  runs_of_study_.resize(1);
  make_ready();
  commands_ = {"[ -e \"$1.tried\" ] || { touch \"$1.tried\"; exit 75; }; cp -r \"${1}1\" \"$2\""};
  const Tally tally = go();
  EXPECT_EQ(tally.done, 1U);
  EXPECT_TRUE(tally.failures.empty());
  EXPECT_FALSE(fs::exists(options_.out / "errors"));
}

TEST_F(AScheduler, ShowsTheLineThatARunRenews) {
  runs_of_study_.resize(1);
  make_ready();
  commands_ = {
      "printf 'a note\\n\\r\\033[Kone  two\\r\\033[Kthree  four' >&2; sleep 0.5; "
      "printf '\\nthe reason\\n' >&2; exit 3"};
  std::vector<std::string> seen;
  options_.goes_on = [&](const Tally&, const std::vector<Job>& jobs, double) {
    for (const Job& job : jobs) seen.push_back(job.status);
  };
  const Tally tally = go();
  EXPECT_NE(std::ranges::find(seen, "three  four"), seen.end());
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_TRUE(tally.failures[0].ends_with(": the reason")) << tally.failures[0];
  EXPECT_EQ(content(options_.out / "errors" / "0.txt"), "a note\nthe reason\n");
}

TEST_F(AScheduler, StartsNothingMoreOnceItIsStopped) {
  commands_ = {"true", "true", "true", "true"};
  stop_ = true;
  const Tally tally = go();
  EXPECT_EQ(tally.ended(), 0U);
  EXPECT_EQ(tally.runs, 4U);
}

// A signal may have been sent to it alone. One run ends as ours do, one cannot say so any more.
TEST_F(AScheduler, AsksItsRunsToEndWhenItIsStopped) {
  const std::string sleeps = "echo > \"$2.began\"; while :; do sleep 0.05; done";
  commands_ = {"trap 'exit 140' USR2; " + sleeps, sleeps, "true", "true"};
  options_.goes_on = [&](const Tally&, const std::vector<Job>&, double) {
    const auto began = [&](std::size_t run) {
      return fs::exists((options_.out / runs_of_study_[run].name).string() + ".began");
    };
    if (began(0) && began(1)) stop_ = true;
  };
  const Tally tally = go();
  EXPECT_EQ(tally.ended(), 0U);
  EXPECT_EQ(tally.failures, std::vector<std::string>{});
}

TEST_F(AScheduler, SaysIfTheProgramCannotBeStarted) {
  runs_of_study_.resize(1);
  commands_ = {"true"};
  options_.program = root_ / "nobody";
  const Tally tally = go();
  ASSERT_EQ(tally.failures.size(), 1U);
  EXPECT_NE(tally.failures[0].find("cannot start a run"), std::string::npos);
}

}  // namespace
}  // namespace aurora
