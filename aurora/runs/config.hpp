// The configuration of a run: defaults of the task < the variant < a TOML file < KEY=VALUE.
//
// Every key stands once, in the table of config.cpp, with its help, its range and the field it
// sets; reading, checking, writing and listing all go through that table.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aurora/algorithms/config.hpp"
#include "aurora/tasks/registry.hpp"

namespace aurora {

struct RunConfig {
  std::string task = "maze";
  TaskOptions task_options;
  std::string variant = "aurora-csc-uniform-10";
  AlgorithmConfig algorithm;
  std::size_t iterations = 1000;
  std::size_t threads = 1;           // does not change any result
  std::size_t log_every = 10;        // iterations between two rows of metrics.csv
  std::size_t snapshot_every = 500;  // iterations between two snapshots; 0: none
  double checkpoint_seconds = 60;    // between two checkpoints; 0: only at the end
  double failure_share = 0.5;        // of the evaluations; a run with more stops
  double evaluation_seconds = 60;    // after which an evaluation is reported as hanging
};

/// What the user said, before it is checked. Task and variant can also be said by the keys run.task
/// and run.variant, in the file or as an assignment (the name `task` itself is the section of the
/// task's own options, task.NAME); what stands here goes first.
struct ConfigRequest {
  std::optional<std::string> task;
  std::optional<std::string> variant;  // nowhere: aurora-csc-uniform-10
  std::optional<std::filesystem::path> file;
  std::vector<std::string> assignments;  // KEY=VALUE; of two for the same key the last one counts
};

/// Resolves a request to a complete, checked configuration. Threads not said are those of the
/// machine. Unknown keys, tasks and variants name the nearest valid one, values out of range name
/// the range, mixes that make no sense say why, and so does a request without a task (UsageError);
/// a file that cannot be read or parsed is a FileError or DataError with its line.
RunConfig resolve(const TaskRegistry& tasks, const ConfigRequest& request);

/// The configuration of a run directory, from its config.toml. FileError if there is none.
RunConfig config_of_run(const TaskRegistry& tasks, const std::filesystem::path& run);

/// The configuration as a TOML file; resolving that file gives an equal configuration again.
std::string to_toml(const RunConfig& config);

/// Every key with its value as TOML, task options included.
using Settings = std::vector<std::pair<std::string, std::string>>;
Settings settings_of(const RunConfig& config);

/// UsageError with the key and both values if a run with the settings `saved` cannot go on with
/// `config`. How long it runs, on how many threads, and how often it writes may change.
void check_same_run(const Settings& saved, const RunConfig& config);

/// Where a configuration is no longer what its variant says: "KEY = VALUE instead of VALUE".
std::vector<std::string> departures_from_variant(const RunConfig& config);

/// A key as `aurora list options` shows it.
struct OptionHelp {
  std::string key;
  std::string values;  // range or allowed names
  std::string help;
};
std::vector<OptionHelp> option_help();

}  // namespace aurora
