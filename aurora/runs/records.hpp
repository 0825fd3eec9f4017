// What a run writes about itself: the rows of metrics.csv and encoder.csv, and run.json. What is
// measured is a name and a value; nobody on the way knows which there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/named.hpp"
#include "aurora/core/names.hpp"
#include "aurora/encoders/encoder.hpp"

namespace aurora {

/// A row of metrics.csv or encoder.csv: its columns, in order. No clock in those of metrics.csv:
/// equal runs write equal bytes.
using Row = std::vector<NamedNumber>;

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
  std::string title;  // of the task
  std::string variant;
  std::string label;  // what reports call it; may be empty
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::running;
  std::string error;  // why, if it failed
  std::size_t iterations = 0;
  std::size_t evaluations = 0;  // genotypes proposed
  std::size_t simulations = 0;  // of which were simulated; the others were clones
  std::size_t invalid = 0;
  std::size_t container_size = 0;
  std::size_t outside = 0;  // members outside the bounds of the plane that coverage is about
  std::string container_hash;
  std::vector<NamedNumber> metrics;  // all that were measured, and the container's own numbers
  std::vector<std::pair<std::string, std::string>> units;  // of those that have one
  double loss_per_update = 0;
  std::size_t threads = 1;
  std::string evaluator;
  std::vector<std::string> remarks;  // what a reader should know: "... is not deterministic"
  PhaseSeconds seconds;
  double seconds_metrics = 0;
  double seconds_io = 0;
  double seconds_total = 0;
  std::string manifest = {};  // checksum of manifest.json, once all else is written

  /// A metric by its name; 0 if it was not measured.
  double metric(std::string_view name) const { return number_called(metrics, name, 0); }
};

/// What has been counted since the last row of metrics.csv.
struct Counts {
  std::size_t added = 0;
  std::size_t replaced = 0;
  std::size_t rejected = 0;
  std::size_t invalid = 0;
  std::size_t lost = 0;
};

/// What a run has counted so far, besides what stands in its tables.
struct RunRecord {
  RunSummary summary;
  Counts since_row;
  std::size_t lost = 0;  // over the whole run, as is the next one
  std::size_t container_updates = 0;
};

}  // namespace aurora
