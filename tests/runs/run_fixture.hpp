// Runs into temporary directories, for tests.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "aurora/runs/run.hpp"

namespace aurora {

/// The native encoders give the same bits on every processor with fused multiply-adds; without them
/// the results differ by rounding. The Maze and all else give the same bits everywhere.
inline bool encoders_have_golden_bits() {
  return (hwy::SupportedTargets() & (HWY_AVX2 | (HWY_AVX2 - 1))) != 0;  // lower bits are newer sets
}

class RunFixture : public testing::Test {
 protected:
  RunFixture() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() /
            ("aurora-" + std::string(test->test_suite_name()) + "-" + test->name() + "-" +
             std::to_string(getpid()));
    std::filesystem::create_directories(root_);
  }
  ~RunFixture() override { std::filesystem::remove_all(root_); }

  /// A plan of the Maze, or of another task of `parts_`. Assignments that mean nothing to the
  /// variant are passed over.
  Plan plan_with(const std::vector<std::string>& assignments, const std::string& variant,
                 const std::string& task = "maze") {
    PlanRequest request;
    request.task = task;
    request.variant = variant;
    // The paper's gain for containers of every size: golden hashes are of such runs.
    request.where_they_matter = {"threshold.gain=5e-6"};
    request.where_they_matter.insert(request.where_they_matter.end(), assignments.begin(),
                                     assignments.end());
    return resolve(parts_, request);
  }

  /// The same carried out in a fresh directory.
  RunSummary run_with(const std::vector<std::string>& assignments, const std::string& variant,
                      const std::string& task = "maze") {
    out_ = root_ / std::to_string(runs_++);
    return run(parts_, plan_with(assignments, variant, task), {.out = out_}, stop_);
  }

  static std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  Parts parts_ = builtin_parts();
  std::atomic<bool> stop_ = false;
  std::filesystem::path root_;
  std::filesystem::path out_;  // of the last run
  int runs_ = 0;
};

}  // namespace aurora
