// How far a run is: a line that renews itself on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include "aurora/runs/records.hpp"

namespace aurora {

/// "1:05:09", "12:34" or "42 s": a duration for people.
std::string duration_text(double seconds);

class Progress {
 public:
  /// Writes to `stream` (stderr). Quiet: writes nothing.
  Progress(std::FILE* stream, bool quiet, std::size_t iterations, std::size_t target_size);

  /// Shows where the run stands, at most a few times a second (terminal) or every few seconds
  /// (log).
  void show(const MetricsRow& row, const EncoderRow* last_training);
  /// Says a line of its own.
  void say(const std::string& line);
  /// Ends the line that renews itself.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::FILE* stream_;
  bool quiet_;
  bool terminal_;
  std::size_t iterations_;
  std::size_t target_size_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
  bool line_open_ = false;
};

}  // namespace aurora
