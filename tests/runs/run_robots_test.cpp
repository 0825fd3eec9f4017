// Short whole runs of the tasks with physics.
#include <gtest/gtest.h>

#include "aurora/runs/run_directory.hpp"
#include "tests/runs/run_fixture.hpp"

namespace aurora {
namespace {

class RobotRun : public RunFixture {
 protected:
  /// Long enough for an encoder update, which comes with iteration 10.
  RunSummary short_run(const std::string& task, const std::string& variant, int threads) {
    return run_with({"run.iterations=11", "run.batch=48", "run.threads=" + std::to_string(threads)},
                    variant, task);
  }

  void expect_same_result_for_any_threads(const std::string& task) {
    const std::string missing = parts_.tasks.find(task)->missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    for (const std::string variant : {"aurora-csc-uniform-10", "hc-csc-uniform"}) {
      const RunSummary one = short_run(task, variant, 1);
      const std::string metrics = content(out_ / "metrics.csv");
      EXPECT_EQ(one.status, RunStatus::finished);
      EXPECT_GT(one.container_size, 10U);
      EXPECT_GT(one.metric("coverage"), 0);
      EXPECT_EQ(one.invalid, 0U);
      const RunSummary three = short_run(task, variant, 3);
      EXPECT_EQ(three.container_hash, one.container_hash) << variant;
      EXPECT_EQ(content(out_ / "metrics.csv"), metrics) << variant;
    }
  }

  /// The last value of the last row of metrics.csv, if the column has this name.
  double last_metric(const std::string& name) const {
    std::istringstream lines(content(out_ / "metrics.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_TRUE(line.ends_with("," + name)) << line;
    std::string last;
    while (std::getline(lines, line)) last = line;
    return std::stod(last.substr(last.rfind(',') + 1));
  }
};

TEST_F(RobotRun, AirHockeyDoesNotDependOnThreads) {
  expect_same_result_for_any_threads("air-hockey");
  if (IsSkipped()) return;
  EXPECT_GT(last_metric("trajectory_diversity"), 0);
}

TEST_F(RobotRun, TheHexapodDoesNotDependOnThreads) {
  expect_same_result_for_any_threads("hexapod");
  if (IsSkipped()) return;
  EXPECT_GT(last_metric("orientation_coverage"), 0);
}

TEST_F(RobotRun, TheMazeHasNoMetricsOfItsOwn) {
  run_with({"run.iterations=1", "run.batch=8"}, "hc-csc-uniform");
  const std::string metrics = content(out_ / "metrics.csv");
  EXPECT_TRUE(metrics.substr(0, metrics.find('\n')).ends_with(",loss_per_update"));
}

}  // namespace
}  // namespace aurora
