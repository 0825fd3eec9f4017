// How far long work is: a line that renews itself on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/runs/observer.hpp"

namespace aurora {

/// "1:05:09", "12:34" or "42 s": a duration for people.
std::string duration_text(double seconds);

class StatusLine {
 public:
  /// Writes to `stream` (stderr). An experiment that has started this process gets what a terminal
  /// would, however wide.
  explicit StatusLine(std::FILE* stream);
  /// Ends the line, so that an error that is on its way begins on one of its own.
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Since it was made.
  double seconds() const;
  /// Whether it is time to show something again: a few times a second on a terminal, every few
  /// seconds elsewhere.
  bool is_due() const;
  /// Shows a line in place of the one shown before: pieces, the most important first; those at the
  /// end that do not fit the terminal are left out.
  void show(const std::vector<std::string>& pieces);
  /// Says a line that stays.
  void say(const std::string& line);
  /// Ends the line that renews itself.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text);

  std::FILE* stream_;
  bool terminal_;
  bool adopted_;
  bool open_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point due_ = start_;
};

/// Several lines that renew themselves at the bottom of a terminal; elsewhere only what is said.
class StatusBlock {
 public:
  /// Writes to `stream` (stderr).
  explicit StatusBlock(std::FILE* stream);
  ~StatusBlock() { clear(); }
  StatusBlock(const StatusBlock&) = delete;
  StatusBlock& operator=(const StatusBlock&) = delete;

  /// Whether there is a terminal, and it is time to show something again.
  bool is_due() const;
  /// Characters that fit a line.
  std::size_t columns() const;
  /// Shows lines in place of those shown before, as wide and as many as fit the terminal.
  void show(const std::vector<std::string>& lines);
  /// Says a line that stays, above the others.
  void say(const std::string& line);
  /// Takes the lines away.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream_;
  bool terminal_;
  std::size_t shown_ = 0;  // lines
  Clock::time_point due_ = Clock::now();
};

/// The progress of a run on a terminal or in a log.
class Progress final : public RunObserver {
 public:
  /// Writes to `stream` (stderr). Quiet: warnings alone.
  Progress(std::FILE* stream, bool quiet, std::string run);

  void makes(std::string_view what, double share) override;
  /// Shows where the run stands, if it is due or the end.
  void stands(const Standing& standing) override;
  bool wants_standing() override { return !quiet_ && line_.is_due(); }
  void resumed(std::size_t iteration, std::size_t evaluations) override;
  void ended() override;
  void saved_up_to(std::size_t iteration) override;
  void note(const std::string& text) override;
  void warn(const std::string& text) override;

 private:
  std::mutex mutex_;  // warnings come from any thread
  StatusLine line_;
  bool quiet_;
  std::string run_;          // its folder
  double first_second_ = 0;  // when the first iteration began
  std::size_t first_iteration_ = 0;
  std::size_t first_evaluations_ = 0;
};

}  // namespace aurora
