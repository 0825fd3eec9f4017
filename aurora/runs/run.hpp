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
  std::filesystem::path out;  // must not exist, or be an empty directory, unless resumed
  bool quiet = false;         // no progress on stderr; warnings are always said
  bool resume = false;        // go on from the last checkpoint
  std::atomic<bool>* checkpoint_wanted = nullptr;  // set it, and a checkpoint is written soon
};

/// Runs to the end, or until `stop` becomes true: then the iteration is finished, everything is
/// saved, and the status is `interrupted`. If the run fails, run.json says `failed` and why, what
/// was found so far is saved as far as possible, and the error is thrown on.
///
/// A run that is resumed ends as if it had never stopped, to the bit. It begins anew if it had not
/// come to its first checkpoint, and is left as it is if it was finished. UsageError if the
/// configuration is not the run's, FileError or DataError if it cannot be resumed.
RunSummary run(const TaskRegistry& tasks, const RunConfig& config, const RunOptions& options,
               const std::atomic<bool>& stop);

/// The algorithm that a configuration describes.
std::unique_ptr<Algorithm> make_algorithm(const TaskSpec& task, const AlgorithmConfig& config,
                                          Evaluator& evaluator, Workers& workers);

/// The program's version, as --version and run.json have it.
std::string version();

}  // namespace aurora
