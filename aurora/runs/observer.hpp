// Whoever wants to know what a run is at. The library itself prints nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "aurora/encoders/encoder.hpp"
#include "aurora/runs/records.hpp"

namespace aurora {

/// Where a run stands. The row is the last one of metrics.csv, or what was measured before there
/// was one.
struct Standing {
  std::size_t iteration = 0;
  std::size_t iterations = 0;  // in all
  std::size_t evaluations = 0;
  std::size_t container_size = 0;
  std::size_t target_size = 0;
  const Row& row;
  const TrainingReport* training = nullptr;  // the last one, if there was one
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Something that takes long is made before the run can begin; a share of 1 is all of it.
  virtual void makes(std::string_view /*what*/, double /*share*/) {}
  /// After each row of metrics.csv, and after every iteration at which it wants to know.
  virtual void stands(const Standing& /*standing*/) {}
  virtual bool wants_standing() { return false; }
  /// The run goes on from here; nothing of what was before counts for its speed.
  virtual void resumed(std::size_t /*iteration*/, std::size_t /*evaluations*/) {}
  /// The run has ended, well or not.
  virtual void ended() {}
  /// The run fails, but could be resumed from this iteration.
  virtual void saved_up_to(std::size_t /*iteration*/) {}
  /// Something that a user wants to know.
  virtual void note(const std::string& /*text*/) {}
  /// Something is wrong. May be called from any thread.
  virtual void warn(const std::string& /*text*/) {}
};

}  // namespace aurora
