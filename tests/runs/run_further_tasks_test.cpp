// Short whole runs of tasks that are not the paper's: the same bits for any number of threads, and
// encoders that learn what nobody told them.
#include <algorithm>
#include <vector>

#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

struct Further {
  const char* name;
  const char* task;
  const char* option;  // KEY=VALUE, or one that says nothing
  const char* aurora_hash;
  const char* told_hash;  // of hc-csc-uniform
};
constexpr const char* kNoOption = "run.seed=1";

class EveryFurtherTask : public RunFixture, public testing::WithParamInterface<Further> {
 protected:
  RunSummary run_short(const char* variant, const char* threads) {
    return run_with({"run.iterations=12", "run.batch=32", "container.target_size=100",
                     GetParam().option, threads},
                    variant, GetParam().task);
  }
  void expect_golden(const char* variant, const char* hash, bool encodes) {
    const RunSummary one = run_short(variant, "run.threads=1");
    EXPECT_EQ(one.status, RunStatus::finished);
    EXPECT_GT(one.container_size, 10U);
    EXPECT_GT(one.metric("coverage"), 0);
    EXPECT_EQ(one.invalid, 0U);
    if (encoders_have_golden_bits() || !encodes) {
      EXPECT_EQ(one.container_hash, hash);
    }
    EXPECT_EQ(run_short(variant, "run.threads=3").container_hash, one.container_hash);
  }
};

// A change of these hashes is a change of results: it must be meant, and the commit says why.
TEST_P(EveryFurtherTask, HasItsGoldenHashesForAnyNumberOfThreads) {
  expect_golden("aurora-csc-uniform-4", GetParam().aurora_hash, true);
  expect_golden("hc-csc-uniform", GetParam().told_hash, false);
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, EveryFurtherTask,
    testing::Values(Further{"MazeTrajectory", "maze", "task.sensory=trajectory", "d3d62436ecd733f8",
                            "e9a4836d43603276"},
                    Further{"MazeLasers", "maze", "task.sensory=lasers", "a3e0345fa063e2b5",
                            "157eded9c519055e"},
                    Further{"Vases", "vases", kNoOption, "a41a642b4c063c92", "6ced869f0a3545d7"},
                    Further{"HexapodWalking", "hexapod-walking", kNoOption, "834cb827864966e0",
                            "fe24a4da5f0aef7a"}),
    [](const auto& instance) { return std::string(instance.param.name); });

class FurtherTask : public RunFixture {
 protected:
  /// A short run that keeps `members_`.
  RunSummary run_short(const char* task, const std::vector<std::string>& settings,
                       const char* variant) {
    const RunSummary summary = run_with(settings, variant, task);
    members_ = load_container(out_ / "container").individuals;
    return summary;
  }

  /// How much of the variance of `value(i)`, over the members, descriptors tell: R2 of the mean of
  /// the five members whose descriptors are nearest. Descriptors that tell nothing have 0 or less.
  template <class Value>
  double told(const Value& value) const {
    double mean = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) mean += value(i);
    mean /= static_cast<double>(members_.size());
    double all = 0, rest = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      double guess = 0;
      for (const std::size_t other : nearest(i)) guess += value(other) / 5;
      all += (value(i) - mean) * (value(i) - mean);
      rest += (value(i) - guess) * (value(i) - guess);
    }
    return 1 - rest / all;
  }
  double axis_told(std::size_t axis) const {
    return told([&](std::size_t i) { return static_cast<double>(members_.ground_truth(i, axis)); });
  }

  Individuals members_;

 private:
  std::vector<std::size_t> nearest(std::size_t i) const {
    std::vector<std::pair<double, std::size_t>> others;
    for (std::size_t j = 0; j < members_.size(); ++j) {
      double distance = 0;
      for (std::size_t k = 0; k < members_.descriptors.cols(); ++k) {
        const double d = members_.descriptors(i, k) - members_.descriptors(j, k);
        distance += d * d;
      }
      if (j != i) others.emplace_back(distance, j);
    }
    std::ranges::nth_element(others, others.begin() + 5);
    std::vector<std::size_t> rows;
    for (std::size_t n = 0; n < 5; ++n) rows.push_back(others[n].second);
    return rows;
  }
};

const std::vector<std::string> kMazeSettings = {"run.iterations=150", "container.target_size=1000",
                                                "threshold.gain=5e-5", "encoder.kind=mlp-ae"};

std::vector<std::string> maze_with(const char* option) {
  std::vector<std::string> settings = kMazeSettings;
  settings.emplace_back(option);
  return settings;
}

TEST_F(FurtherTask, TrajectoriesInTheMazeTellWhereTheyEnd) {
  run_short("maze", maze_with("task.sensory=trajectory"), "aurora-csc-uniform-10");
  EXPECT_GT(members_.size(), 500U);
  EXPECT_GT(axis_told(0), 0.6);
  EXPECT_GT(axis_told(1), 0.6);
}

TEST_F(FurtherTask, LasersInTheMazeTellWhatTheyMeasured) {
  run_short("maze", maze_with("task.sensory=lasers"), "aurora-csc-uniform-10");
  EXPECT_GT(members_.size(), 500U);
  for (std::size_t laser = 0; laser < 3; ++laser) {
    const double share = told([&](std::size_t i) {
      const auto readings = members_.sensory.view().row<float>(i);
      double sum = 0;
      for (std::size_t s = 0; s < 50; ++s) sum += static_cast<double>(readings[3 * s + laser]);
      return sum;
    });
    EXPECT_GT(share, 0.8) << laser;
  }
}

TEST_F(FurtherTask, VasesSeenAsPicturesAreMoreThanChanceFinds) {
  const std::vector<std::string> settings = {"run.iterations=400", "container.target_size=1000"};
  const double chance = run_short("vases", settings, "random-search").metric("coverage");
  const double found = run_short("vases", settings, "aurora-uniform-4").metric("coverage");
  EXPECT_GT(found, 1.2 * chance);
  EXPECT_GT(axis_told(0), 0.9);
  EXPECT_GT(axis_told(1), 0.9);
}

TEST_F(FurtherTask, GaitsAreToldByAnglesAndContacts) {
  run_short("hexapod-walking", {"run.iterations=30", "container.target_size=1000"},
            "aurora-csc-uniform-10");
  for (std::size_t leg = 0; leg < 6; ++leg) {
    EXPECT_GT(axis_told(leg), 0.5) << leg;
  }
}

TEST_F(FurtherTask, GaitsHaveSixDimensionsForThoseWhoAreTold) {
  for (const char* variant : {"hc-csc-uniform", "map-elites", "cvt-map-elites", "ns"}) {
    const RunSummary summary =
        run_short("hexapod-walking", {"run.iterations=3", "container.target_size=64"}, variant);
    ASSERT_EQ(members_.descriptors.cols(), 6U) << variant;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      ASSERT_TRUE(std::ranges::equal(members_.descriptors.row(i), members_.ground_truth.row(i)));
    }
    EXPECT_GT(summary.metric("coverage"), 0) << variant;
    EXPECT_GT(summary.metric("descriptor_coverage"), 0) << variant;
  }
}

}  // namespace
}  // namespace aurora
