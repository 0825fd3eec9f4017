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
  /// For a run that goes on: speed and time left are those of what is done from here on.
  void start_from(std::size_t iteration, std::size_t evaluations);
  /// Says a line of its own.
  void say(const std::string& line);
  /// The same, even if quiet: something is wrong.
  void warn(const std::string& line);
  /// Ends the line that renews itself.
  void finish();

 private:
  void print(const std::string& line);

  using Clock = std::chrono::steady_clock;
  std::FILE* stream_;
  bool quiet_;
  bool terminal_;
  std::size_t iterations_;
  std::size_t target_size_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
  std::size_t first_iteration_ = 0;
  std::size_t first_evaluations_ = 0;
  bool line_open_ = false;
};

}  // namespace aurora
