// What a run writes about itself: the rows of metrics.csv and encoder.csv, and run.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/names.hpp"
#include "aurora/encoders/encoder.hpp"

namespace aurora {

/// A row of metrics.csv. No clock in it: equal runs write equal bytes.
struct MetricsRow {
  std::size_t iteration = 0;
  std::size_t evaluations = 0;  // genotypes proposed so far, clones included
  std::size_t container_size = 0;
  double coverage = 0;
  double grid_mean_fitness = 0;
  double qd_score = 0;
  double best_fitness = 0;
  double mean_fitness = 0;
  double threshold = 0;
  std::size_t added = 0;  // since the row before, as are the next four
  std::size_t replaced = 0;
  std::size_t rejected = 0;
  std::size_t invalid = 0;
  std::size_t lost = 0;
  std::size_t container_updates = 0;
  double loss_per_update = 0;  // over the whole run so far
  /// What a task measures besides: a column each, named and ordered as in the run's first row.
  std::vector<std::pair<std::string, double>> extra;
};

/// A row of encoder.csv.
struct EncoderRow {
  std::size_t iteration = 0;
  TrainingReport training;
  double seconds = 0;
};

enum class RunStatus { running, finished, interrupted, failed };

template <>
struct Names<RunStatus> {
  static constexpr std::pair<RunStatus, std::string_view> entries[] = {
      {RunStatus::running, "running"},
      {RunStatus::finished, "finished"},
      {RunStatus::interrupted, "interrupted"},
      {RunStatus::failed, "failed"}};
};

/// run.json.
struct RunSummary {
  std::string version;
  std::string host;     // this machine, if left empty
  std::string started;  // ISO 8601, UTC; the creation of the run directory, if left empty
  std::string ended;    // likewise; the moment it is written, if left empty and no longer running
  std::string task;
  std::string variant;
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::running;
  std::string error;  // why, if it failed
  std::size_t iterations = 0;
  std::size_t evaluations = 0;  // genotypes proposed
  std::size_t simulations = 0;  // of which were simulated; the others were clones
  std::size_t invalid = 0;
  std::size_t container_size = 0;
  std::string container_hash;
  double coverage = 0;
  double grid_mean_fitness = 0;
  double qd_score = 0;
  double threshold = 0;
  double loss_per_update = 0;
  std::size_t threads = 1;
  PhaseSeconds seconds;
  double seconds_metrics = 0;
  double seconds_io = 0;
  double seconds_total = 0;
};

/// What a run has counted so far, besides what stands in its tables.
struct RunRecord {
  RunSummary summary;
  MetricsRow row;        // what will be in the next row of metrics.csv
  std::size_t lost = 0;  // over the whole run, as is the next one
  std::size_t container_updates = 0;
};

}  // namespace aurora
