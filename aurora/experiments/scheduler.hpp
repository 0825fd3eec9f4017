// All runs of a study, several at a time, each a process of its own.
//
// Several schedulers may be at one study, on machines that share its folder: whoever takes a run
// holds STUDY/.RUN.lock beside its folder until it has ended, and the others take other runs. In
// the end each waits for what the others are at, and takes over what they leave unfinished.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "aurora/experiments/experiment.hpp"

namespace aurora {

/// With this status a process says that another one is at its run.
constexpr int kInUseStatus = 75;

/// Asks the process of a run to save everything and to end. No SIGTERM: the terminal may have sent
/// it a SIGINT already, and of two such signals the second ends it at once.
constexpr int kEndsRun = SIGUSR2;

/// How many runs have ended, and how.
struct Tally {
  std::size_t runs = 0;
  std::size_t done = 0;               // finished now
  std::size_t skipped = 0;            // finished before, or by somebody else meanwhile
  std::vector<std::string> failures;  // NAME: why

  std::size_t ended() const { return done + skipped + failures.size(); }
};

/// A run that is not finished: one that goes on, or that somebody else is at.
struct Job {
  std::string name;
  /// The last line with which its process has renewed the one before, as on a terminal ("\r"); of
  /// somebody else's, who that is.
  std::string status;
  bool elsewhere = false;
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
  /// Called several times a second with those that go on. Nobody's, if empty.
  std::function<void(const Tally&, const std::vector<Job>&, double seconds_left)> goes_on;
};

/// Runs what is missing, until all is done, by us or others, or `stop` is set and the runs that it
/// has started have ended, which they are asked for then. What the process of a failed run has said
/// is kept in OUT/errors.
Tally run_experiment(const Parts& parts, const std::vector<PlannedRun>& runs,
                     const SchedulerOptions& options, const std::atomic<bool>& stop);

}  // namespace aurora
