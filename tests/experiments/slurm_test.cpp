#include "aurora/experiments/slurm.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace aurora {
namespace {

namespace fs = std::filesystem;

class ASlurmScript : public testing::Test {
 protected:
  ASlurmScript() {
    std::string name = (fs::temp_directory_path() / "aurora_slurm_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~ASlurmScript() override { fs::remove_all(root_); }

  /// What a job of the array prints, and the status with which it ends.
  std::pair<std::string, int> job(const std::string& script, std::size_t number) {
    std::ofstream(root_ / "job.sh") << script;
    const std::string command = "SLURM_ARRAY_TASK_ID=" + std::to_string(number) + " bash '" +
                                (root_ / "job.sh").string() + "' > '" + (root_ / "said").string() +
                                "'";
    const int status = std::system(command.c_str());
    std::ifstream in(root_ / "said");
    return {{std::istreambuf_iterator<char>(in), {}}, WEXITSTATUS(status)};
  }

  fs::path root_;
};

const std::vector<SlurmRun> kRuns = {
    {{{"/bin/echo", "run", "maze", "--out", "it's here/a", "x=$HOME", "", "a;b", "\"q\"", "*"}}},
    {{{"/bin/echo", "run", "b"}, {"/bin/echo", "retrain", "b"}}},
    {{{"/bin/false"}, {"/bin/echo", "retrain", "c"}}}};

const SlurmJob kJob = {"study", 2, "/some where/100 %/logs"};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(ASlurmScript, IsReadByAShellWordByWord) {
  const std::string script = slurm_script(kJob, kRuns);
  EXPECT_EQ(job(script, 0).first, "run maze --out it's here/a x=$HOME  a;b \"q\" *\n");
  EXPECT_HAS(script, "# 3 runs;");
  EXPECT_HAS(script, "#SBATCH --job-name=study\n");
  EXPECT_HAS(script, "#SBATCH --array=0-2\n");
  EXPECT_HAS(script, "#SBATCH --cpus-per-task=2\n");
  EXPECT_HAS(script, "#SBATCH --requeue\n");
  EXPECT_HAS(script, "#SBATCH --output=\"/some where/100 %%/logs/%x-%A_%a.out\"\n");
  ASSERT_EQ(std::system(("bash -n '" + (root_ / "job.sh").string() + "'").c_str()), 0);
}

TEST_F(ASlurmScript, ReTrainsOnceTheRunIsDone) {
  const std::string script = slurm_script(kJob, kRuns);
  EXPECT_EQ(job(script, 1), std::pair(std::string("run b\nretrain b\n"), 0));
  EXPECT_EQ(job(script, 2), std::pair(std::string(), 1));
}

// MaxArraySize is 1001 where nobody has set it.
TEST_F(ASlurmScript, HasNoMoreElementsThanSlurmTakes) {
  std::vector<SlurmRun> runs(1860);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].commands = {{"/bin/echo", std::to_string(i)}};
    runs[i].seconds = 3600;
  }
  runs[3].commands.insert(runs[3].commands.begin(), {"/bin/false"});
  const std::string script = slurm_script(kJob, runs);
  EXPECT_HAS(script, "#SBATCH --array=0-999\n");
  EXPECT_HAS(script, "#SBATCH --time=4:15:00\n");  // twice two hours, and something
  EXPECT_EQ(job(script, 0).first, "0\n1000\n");
  EXPECT_EQ(job(script, 859).first, "859\n1859\n");
  EXPECT_EQ(job(script, 860).first, "860\n");
  EXPECT_EQ(job(script, 3), std::pair(std::string("1003\n"), 1)) << "one fails, the next goes on";
}

TEST_F(ASlurmScript, AsksForWhatTheRunsNeed) {
  const auto asks = [](double seconds, double megabytes) {
    const std::string script =
        slurm_script(kJob, {{{{"true"}}, seconds, megabytes * 1024 * 1024}, {{{"true"}}}});
    const std::size_t begin = script.find("#SBATCH --mem");
    return script.substr(begin, script.find("\n#SBATCH --signal") - begin);
  };
  EXPECT_EQ(asks(1, 10), "#SBATCH --mem=512M\n#SBATCH --time=0:30:00");
  EXPECT_EQ(asks(3600, 300), "#SBATCH --mem=1024M\n#SBATCH --time=2:15:00");
  EXPECT_EQ(asks(1e6, 3000), "#SBATCH --mem=6144M\n#SBATCH --time=24:00:00");
}

/// A run that saves itself on SIGHUP, with all that Slurm has to do with it.
class ASlurmJobThatIsCutOff : public ASlurmScript {
 protected:
  /// What it says, and what was asked of Slurm, if it gets `signal` in the middle of its first run.
  std::pair<std::string, std::string> cut_off(const std::string& signal, const std::string& to) {
    const std::string run =
        "trap 'echo saved; exit 129' HUP; trap 'echo saved; exit 143' TERM; echo begins; touch "
        "begun; for i in $(seq 100); do sleep 0.1; done; echo too late";
    std::ofstream(root_ / "job.sh")
        << slurm_script(kJob, {{{{"/bin/bash", "-c", run}, {"/bin/echo", "never"}}}});
    std::ofstream(root_ / "scontrol") << "#!/bin/sh\necho \"$@\" > requeued\n";
    fs::permissions(root_ / "scontrol", fs::perms::owner_all);
    const std::string command =
        "cd '" + root_.string() + "'; PATH=.:$PATH SLURM_ARRAY_TASK_ID=0 SLURM_JOB_ID=7 " +
        "setsid bash job.sh > said & job=$!; while [ ! -e begun ]; do sleep 0.05; done; kill -" +
        signal + " " + to + "$job; wait";
    EXPECT_EQ(std::system(("bash -c '" + escaped(command) + "'").c_str()), 0);
    return {content("said"), content("requeued")};
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
  }

  std::string content(const char* name) {
    std::ifstream in(root_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(ASlurmJobThatIsCutOff, SavesAndGoesBackIntoTheQueueBeforeItsTimeIsOver) {
  EXPECT_EQ(cut_off("USR1", ""),
            std::pair(std::string("begins\nsaved\n"), std::string("requeue 7\n")));
}

// Slurm tells every process of a job that is cancelled or preempted.
TEST_F(ASlurmJobThatIsCutOff, SavesWhenItIsCancelledAndStaysOutOfTheQueue) {
  EXPECT_EQ(cut_off("TERM", "-"), std::pair(std::string("begins\nsaved\n"), std::string()));
}

TEST_F(ASlurmScript, OfNothingIsAScriptStill) {
  const std::string script = slurm_script(kJob, {});
  EXPECT_HAS(script, "#SBATCH --array=0-0\n");
  EXPECT_EQ(job(script, 0), std::pair(std::string(), 0));
}

}  // namespace
}  // namespace aurora
