// A study in a file: tasks x variants x sweeps x replications, as a list of runs.
//
//   replications = 20                  # seeds first_seed, first_seed + 1, ...; of every study
//   [settings]                         # of every run, as in a config.toml
//   run.log_every = 50
//   [variant.mine]                     # variants of one's own (runs/variants.hpp)
//   base = "aurora-csc-uniform-5"
//   settings = { selection.kind = "novelty" }
//   [[study]]
//   name = "periods"                   # its folder
//   label = "ours"                     # in reports; for one variant without a sweep
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

#include "aurora/runs/plan.hpp"

namespace aurora {

struct PlannedRun {
  std::string name;  // STUDY/TASK-VARIANT[-KEY=VALUE...]-seedS, also its folder
  Plan plan;
  std::vector<std::string> assignments;  // KEY=VALUE, beside task, variant and seed
  bool retrain = false;
  std::size_t replication = 1;  // 1, 2, ...
  std::string kind = {};        // of equal kind are runs whose evaluations and trainings cost alike
};

struct Experiment {
  std::vector<PlannedRun> runs;
  bool has_variants = false;  // the file has variants of its own
};

/// Reads a file and checks every run that it describes; in each study the first replication of
/// everything comes first, then the second, so that one that is not finished has as many of each.
/// Settings that a run has no part for are passed over; a sweep over such a key is an error. A run
/// that two studies share is planned once, and re-trained if one of them asks for it. FileError,
/// DataError or UsageError with what is wrong and where.
Experiment plan_experiment(const Parts& parts, const std::filesystem::path& file);

/// Leaves the runs whose names fit one of the patterns: `*` is anything, `?` one character.
/// UsageError if there is none for one of the patterns.
void keep_only(std::vector<PlannedRun>& runs, const std::vector<std::string>& patterns);

enum class RunProgress { missing, unfinished, to_retrain, finished };

/// How far a planned run is in its folder; the digest of one counts as the run. UsageError, with
/// what differs, if another run is there.
RunProgress progress_of(const Parts& parts, const PlannedRun& run,
                        const std::filesystem::path& folder);

}  // namespace aurora
