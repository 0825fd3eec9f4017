#include "apps/aurora/explore/replay_process.hpp"

#include "aurora/core/errors.hpp"
#include "aurora/runs/show.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class ReplayProcess : public ExploreFixture {
 protected:
  /// The first individual of a run.
  ReplayJob job(const fs::path& run, const PicturesWanted& wanted = {}) {
    LiveRun live(parts_, run, "run");
    const Source source = live.sources().front();
    return {run, open_container(live, source, "\"x\""), 0, wanted};
  }
  static std::string said(ReplayProcesses& processes, const ReplayJob& job) {
    try {
      processes.draw(job);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_F(ReplayProcess, AJobInWordsIsTheSameJob) {
  const fs::path run = make_run("a");
  const Drawn expected = Viewer(parts_, run).draw(0);
  const Drawn drawn = draw_job(parts_, job_text(job(run)));
  EXPECT_EQ(drawn.difference, "");
  ASSERT_EQ(drawn.files.size(), expected.files.size());
  for (std::size_t i = 0; i < drawn.files.size(); ++i) {
    EXPECT_EQ(drawn.files[i].name, expected.files[i].name);
    EXPECT_EQ(drawn.files[i].bytes, expected.files[i].bytes);
  }
}

TEST_F(ReplayProcess, StoredValuesThatDoNotComeBackAreFound) {
  const ReplayJob right = job(make_run("a"));
  auto container = std::make_shared<OpenContainer>(*right.container);
  container->saved.individuals.fitness[0] -= 1;
  const Drawn drawn = draw_job(parts_, job_text({right.run, container, 0, {}}));
  EXPECT_TRUE(drawn.difference.starts_with("fitness is ")) << drawn.difference;
}

TEST_F(ReplayProcess, TheProgramDrawsAsWeDo) {
  PlanRequest request;
  request.task = "maze";
  request.variant = "aurora-csc-uniform-2";
  request.where_they_matter = {"run.iterations=2", "run.batch=4", "run.threads=1"};
  const std::atomic<bool> stop = false;
  run(parts_, resolve(parts_, request), {.out = root_ / "maze"}, stop);
  ReplayProcesses processes({AURORA_PROGRAM, "explore", "--worker"}, milliseconds(60'000));
  const PicturesWanted stills{true, FilmKind::none};
  const Drawn drawn = processes.draw(job(root_ / "maze", stills));
  const Drawn expected = Viewer(parts_, root_ / "maze").draw(0, stills);
  EXPECT_EQ(drawn.difference, "");
  ASSERT_EQ(drawn.files.size(), 2u);
  EXPECT_EQ(drawn.files[0].bytes, expected.files[0].bytes);
  EXPECT_EQ(drawn.files[1].bytes, expected.files[1].bytes);
  // The program does not have this task; the process says so and goes on.
  EXPECT_NE(said(processes, job(make_run("a"))).find("tiny"), std::string::npos);
  EXPECT_EQ(processes.draw(job(root_ / "maze", stills)).files.size(), 2u);
}

TEST_F(ReplayProcess, OneThatHangsIsEnded) {
  ReplayProcesses processes({"/bin/sleep", "1000"}, milliseconds(50));
  EXPECT_NE(said(processes, job(make_run("a"))).find("takes longer than 0.05 s"),
            std::string::npos);
}

TEST_F(ReplayProcess, OneThatCrashesTakesNobodyWithIt) {
  ReplayProcesses crashing({"/bin/sh", "-c", "kill -SEGV $$"}, milliseconds(5000));
  EXPECT_NE(said(crashing, job(make_run("a"))).find("crashed (signal 11)"), std::string::npos);
  ReplayProcesses ending({"/bin/true"}, milliseconds(5000));
  EXPECT_NE(said(ending, job(make_run("b"))).find("has ended"), std::string::npos);
  ReplayProcesses babbling({"/bin/sh", "-c", "exec head -c 4000 /dev/zero >&0"},
                           milliseconds(5000));
  EXPECT_NE(said(babbling, job(make_run("c"))), "");
  ReplayProcesses none({"/nowhere"}, milliseconds(5000));
  EXPECT_NE(said(none, job(make_run("d"))).find("cannot start"), std::string::npos);
}

}  // namespace
}  // namespace aurora::explore
