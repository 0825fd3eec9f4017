#include "apps/aurora/explore/live_run.hpp"

#include <sys/wait.h>

#include <array>

#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

class Live : public ExploreFixture {
 protected:
  LiveRun open(const fs::path& run) const { return LiveRun(parts_, run, run.filename().string()); }

  /// Changes run.json as a run would.
  void set_status(const fs::path& run, RunStatus status) {
    RunSummary summary = read_summary(run / "run.json");
    const std::string table = content(run / "metrics.csv");
    summary.status = status;
    summary.manifest.clear();
    RunDirectory::reopen(run).write_summary(summary);
    write(run / "metrics.csv", table);
  }
};

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

TEST_F(Live, AFinishedRunSaysSo) {
  const fs::path run = make_run("a");
  LiveRun live = open(run);
  const Standing standing = live.standing();
  EXPECT_EQ(standing.state, "finished");
  EXPECT_EQ(standing.task, "tiny");
  EXPECT_EQ(standing.variant, "aurora-csc-uniform-2");
  EXPECT_EQ(standing.iteration, 20u);
  EXPECT_EQ(standing.iterations, 20u);
  const RunSummary summary = read_summary(run / "run.json");
  EXPECT_EQ(standing.size, summary.container_size);
  EXPECT_EQ(standing.coverage, summary.metric("coverage"));
  EXPECT_EQ(live.sources(), sources_of(run));
  ASSERT_NE(live.plan(), nullptr);
  EXPECT_EQ(live.plan()->spec().name, "tiny");
}

TEST_F(Live, ARunIsRunningWhileItsProcessIs) {
  const fs::path run = make_run("a");
  set_status(run, RunStatus::running);
  LiveRun live = open(run);
  EXPECT_EQ(live.standing().state, "interrupted");  // nobody holds it
  write(run / ".lock", std::to_string(getpid()) + " on " + host());
  EXPECT_EQ(live.standing().state, "running");
  EXPECT_EQ(live.standing().iteration, 20u);  // by the table
  write(run / ".lock", "999999999 on " + host());
  EXPECT_EQ(live.standing().state, "interrupted");
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  siginfo_t news;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(ended), &news, WEXITED | WNOWAIT), 0);
  write(run / ".lock", std::to_string(ended) + " on " + host());
  EXPECT_EQ(live.standing().state, "interrupted");
  waitpid(ended, nullptr, 0);
  write(run / ".lock", "999999999 on another-machine");
  EXPECT_EQ(live.standing().state, "running");
  write(run / "metrics.csv", "iteration,container_size,coverage\n30,7,12.5\n");
  EXPECT_EQ(live.standing().iteration, 30u);
  EXPECT_EQ(live.standing().size, 7u);
  EXPECT_EQ(live.standing().coverage, 12.5);
  write(run / "metrics.csv", "iteration,container_size,coverage\n-1,1e300,nan\n");
  EXPECT_EQ(live.standing().iteration, std::nullopt);
  EXPECT_EQ(live.standing().size, std::nullopt);
  EXPECT_EQ(live.standing().coverage, std::nullopt);
}

TEST_F(Live, WhatIsBrokenIsAState) {
  const fs::path run = make_run("a");
  LiveRun live = open(run);
  const std::string whole = content(run / "run.json");
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(), whole + " "}) {
    write(run / "run.json", text);
    EXPECT_EQ(live.standing().state, "broken") << text;
    EXPECT_NE(live.standing().error, "");
  }
  fs::remove(run / "run.json");
  EXPECT_EQ(live.standing().state, "broken");
  fs::create_symlink("/etc/passwd", run / "run.json");
  EXPECT_EQ(live.standing().state, "broken");
  EXPECT_EQ(live.standing().error.find("root"), std::string::npos);
  fs::remove(run / "run.json");
  write(run / "run.json", whole);
  EXPECT_EQ(live.standing().state, "finished");
  fs::remove_all(run);
  EXPECT_EQ(live.standing().state, "broken");
}

TEST_F(Live, APlanThatCannotBeMadeHasAReason) {
  const fs::path run = make_run("a");
  const Parts others = builtin_parts();
  LiveRun live(others, run, "a");
  std::string why;
  EXPECT_EQ(live.plan(&why), nullptr);
  EXPECT_NE(why.find("tiny"), std::string::npos);
  EXPECT_EQ(live.standing().state, "finished");
}

TEST_F(Live, SourcesBehindLinksAreNotLookedAt) {
  const fs::path run = make_run("a");
  fs::rename(run / "snapshots", root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", run / "snapshots");
  EXPECT_THROW(open(run).sources(), FileError);
}

}  // namespace
}  // namespace aurora::explore
