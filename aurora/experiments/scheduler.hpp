// All runs of a study, several at a time, each a process of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "aurora/experiments/experiment.hpp"

namespace aurora {

/// How many runs have ended, and how.
struct Tally {
  std::size_t runs = 0;
  std::size_t done = 0;               // finished now
  std::size_t skipped = 0;            // finished before
  std::vector<std::string> failures;  // NAME: why

  std::size_t ended() const { return done + skipped + failures.size(); }
};

struct SchedulerOptions {
  std::filesystem::path out;      // where the folders of the runs are
  std::filesystem::path program;  // what is started
  std::size_t jobs = 1;           // at a time
  /// The words behind the program that run it, or go on with it, in a folder, and those that train
  /// an encoder from scratch once it is finished.
  std::function<std::vector<std::string>(const PlannedRun&, const std::filesystem::path&)> command;
  std::function<std::vector<std::string>(const std::filesystem::path&)> retrain_command;
  /// Called when a run has ended, with a line about it, and about how many seconds are left for the
  /// rest; less than 0 while nobody knows.
  std::function<void(const Tally&, const std::string& line, double seconds_left)> ended;
};

/// Runs what is missing, until all is done or `stop` is set and the runs that it has started have
/// ended.
Tally run_experiment(const Parts& parts, const std::vector<PlannedRun>& runs,
                     const SchedulerOptions& options, const std::atomic<bool>& stop);

}  // namespace aurora
