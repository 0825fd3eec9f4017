// A study in a file: tasks x variants x sweeps x replications, as a list of runs.
//
//   replications = 20                  # seeds first_seed, first_seed + 1, ...; of every study
//   [settings]                         # of every run, as in a config.toml
//   run.log_every = 50
//   [[study]]
//   name = "periods"                   # its folder
//   tasks = ["maze", "hexapod"]
//   variants = ["aurora-csc-uniform-10"]
//   replications = 5                   # of this study alone
//   settings = { run.iterations = 1000 }
//   sweep = { container.update_period = [1, 10, 50] }   # every combination
//   retrain = true                     # afterwards, an encoder from scratch for each (retrain.hpp)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "aurora/runs/config.hpp"

namespace aurora {

struct PlannedRun {
  std::string name;  // STUDY/TASK-VARIANT[-KEY=VALUE...]-seedS, also its folder
  RunConfig config;
  std::vector<std::string> assignments;  // KEY=VALUE, beside task, variant and seed
  bool retrain = false;
};

/// Reads a file and checks every run that it describes. A run that two studies share is planned
/// once, and re-trained if one of them asks for it. FileError, DataError or UsageError with what is
/// wrong and where.
std::vector<PlannedRun> plan_experiment(const TaskRegistry& tasks,
                                        const std::filesystem::path& file);

enum class RunProgress { missing, unfinished, to_retrain, finished };

/// How far a planned run is in its folder. UsageError, with what differs, if another run is there.
RunProgress progress_of(const TaskRegistry& tasks, const PlannedRun& run,
                        const std::filesystem::path& folder);

/// The words behind `aurora` that run it, or go on with it, in a folder.
std::vector<std::string> command_of(const PlannedRun& run, const std::filesystem::path& folder,
                                    std::size_t threads);
/// Those that train an encoder from scratch once it is finished.
std::vector<std::string> retrain_command(const std::filesystem::path& folder, std::size_t threads);

/// A Slurm array job that runs them all, one to a task of the array.
std::string slurm_script(const std::vector<PlannedRun>& runs, const std::filesystem::path& out,
                         const std::string& program, std::size_t threads);

}  // namespace aurora
