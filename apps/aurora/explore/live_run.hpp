// One run directory, as somebody sees it who watches: what is known of it is read again when its
// files have changed. Nothing is locked and nothing is written, so the run notices nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aurora/runs/plan.hpp"
#include "aurora/runs/records.hpp"
#include "aurora/runs/sources.hpp"

namespace aurora::explore {

/// How a run stands.
struct Standing {
  std::string state;  // "running", "finished", "interrupted", or "broken": it cannot be read
  std::string error;  // why, if it failed or is broken
  std::string task;
  std::string variant;
  std::string label;
  std::uint64_t seed = 0;
  std::optional<std::size_t> iteration;
  std::optional<std::size_t> iterations;  // in all
  std::optional<std::size_t> size;        // of the container
  std::optional<double> coverage;         // %
};

class LiveRun {
 public:
  LiveRun(const Parts& parts, std::filesystem::path directory, std::string name)
      : parts_(parts), directory_(std::move(directory)), name_(std::move(name)) {}

  const std::filesystem::path& directory() const { return directory_; }
  const std::string& name() const { return name_; }

  /// Throws nothing that is wrong with the run: that is a state, too.
  Standing standing();

  /// What run.json says, as it stands there; FileError or DataError if it cannot be read.
  std::string summary_text();

  /// The plan; null if it cannot be made here, then `why` says why: the task may be one that only
  /// another program has.
  std::shared_ptr<const Plan> plan(std::string* why = nullptr);

  /// All sources, the newest first; read again at most a few times a second.
  std::vector<Source> sources();

 private:
  std::optional<std::size_t> planned_iterations();
  void read_standing();

  const Parts& parts_;
  std::filesystem::path directory_;
  std::string name_;

  std::mutex mutex_;  // of all below
  std::string standing_stamp_;
  Standing standing_;
  std::string config_stamp_ = "none";
  std::optional<std::size_t> iterations_;
  std::string sources_stamp_;
  std::vector<Source> sources_;

  std::mutex
      plan_mutex_;  // a task may take seconds to make, and others only want to know how it stands
  std::string plan_stamp_ = "none";
  std::shared_ptr<const Plan> plan_;
  std::string plan_error_;
};

}  // namespace aurora::explore
