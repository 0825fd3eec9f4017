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

const std::vector<std::vector<Commandline>> kRuns = {
    {{"/bin/echo", "run", "maze", "--out", "it's here/a", "x=$HOME", "", "a;b", "\"q\"", "*"}},
    {{"/bin/echo", "run", "b"}, {"/bin/echo", "retrain", "b"}},
    {{"/bin/false"}, {"/bin/echo", "retrain", "c"}}};

TEST_F(ASlurmScript, IsReadByAShellWordByWord) {
  const std::string script = slurm_script(kRuns, 2);
  EXPECT_EQ(job(script, 0).first, "run maze --out it's here/a x=$HOME  a;b \"q\" *\n");
  EXPECT_NE(script.find("# 3 runs;"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --array=0-2\n"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --cpus-per-task=2\n"), std::string::npos);
  ASSERT_EQ(std::system(("bash -n '" + (root_ / "job.sh").string() + "'").c_str()), 0);
}

TEST_F(ASlurmScript, ReTrainsOnceTheRunIsDone) {
  const std::string script = slurm_script(kRuns, 1);
  EXPECT_EQ(job(script, 1), std::pair(std::string("run b\nretrain b\n"), 0));
  EXPECT_EQ(job(script, 2), std::pair(std::string(), 1));
}

// Slurm's signals go to the process that it started.
TEST_F(ASlurmScript, LeavesItsPlaceToTheLastCommand) {
  const std::string script = slurm_script({{{"/bin/true"}, {"/bin/sh", "-c", "echo $PPID $$"}}}, 1);
  std::ofstream(root_ / "job.sh") << "echo $$\n" << script;
  std::ifstream in(root_ / "job.sh");
  const std::string said = job({std::istreambuf_iterator<char>(in), {}}, 0).first;
  const std::string bash = said.substr(0, said.find('\n'));
  EXPECT_TRUE(said.ends_with(" " + bash + "\n")) << said;
}

TEST_F(ASlurmScript, OfNothingIsAScriptStill) {
  const std::string script = slurm_script({}, 1);
  EXPECT_NE(script.find("#SBATCH --array=0-0\n"), std::string::npos);
  EXPECT_EQ(job(script, 0), std::pair(std::string(), 0));
}

}  // namespace
}  // namespace aurora
