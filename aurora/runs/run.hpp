// A run: an algorithm on a task, from the first iteration to a finished run directory.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/runs/config.hpp"
#include "aurora/runs/records.hpp"
#include "aurora/tasks/registry.hpp"

namespace aurora {

struct RunOptions {
  std::filesystem::path out;  // must not exist, or be an empty directory
  bool quiet = false;         // no progress on stderr
};

/// Runs to the end, or until `stop` becomes true: then the iteration is finished, everything is
/// saved, and the status is `interrupted`. If the run fails, run.json says `failed` and why, what
/// was found so far is saved as far as possible, and the error is thrown on.
RunSummary run(const TaskRegistry& tasks, const RunConfig& config, const RunOptions& options,
               const std::atomic<bool>& stop);

/// The algorithm that a configuration describes.
std::unique_ptr<Algorithm> make_algorithm(const TaskSpec& task, const AlgorithmConfig& config,
                                          Evaluator& evaluator, Workers& workers);

/// The program's version, as --version and run.json have it.
std::string version();

}  // namespace aurora
