// A run: a plan carried out, from the first iteration to a finished run directory.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "aurora/runs/observer.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/records.hpp"

namespace aurora {

struct RunOptions {
  std::filesystem::path out;        // must not exist, or be an empty directory, unless resumed
  bool resume = false;              // go on from the last checkpoint
  RunObserver* observer = nullptr;  // told what happens; nobody if null
  std::atomic<bool>* checkpoint_wanted = nullptr;  // set it, and a checkpoint is written soon
  std::vector<std::string> remarks = {};           // for run.json, besides those it has
};

/// Runs to the end, or until `stop` becomes true: then the iteration is finished, everything is
/// saved, and the status is `interrupted`. If the run fails, run.json says `failed` and why, what
/// was found so far is saved as far as possible, and the error is thrown on. An evaluator that
/// throws Interrupted gives its iteration up: what came before is saved whole, and the run ends as
/// above.
///
/// A run that is resumed ends as if it had never stopped, to the bit. It begins anew if it had not
/// come to its first checkpoint, and is left as it is if it was finished. UsageError if the
/// plan is not the run's, FileError or DataError if it cannot be resumed. Lost if somebody whom the
/// evaluator needs is gone: all iterations that were finished are in a checkpoint then.
///
/// In a process that only evaluates for another one (Evaluator::serve) it does that, writes
/// nothing, and returns a summary without a task.
RunSummary run(const Parts& parts, const Plan& plan, const RunOptions& options,
               const std::atomic<bool>& stop);

/// The program's version, as --version and run.json have it.
std::string version();

}  // namespace aurora
