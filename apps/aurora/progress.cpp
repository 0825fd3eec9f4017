#include "apps/aurora/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace aurora {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{250};
constexpr std::chrono::seconds kLogPeriod{10};

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

StatusLine::StatusLine(std::FILE* stream)
    : stream_(stream), terminal_(isatty(fileno(stream)) != 0) {}

double StatusLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool StatusLine::is_due() const {
  return Clock::now() >= due_;
}

/// A log that cannot be written ends nothing.
void StatusLine::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
}

void StatusLine::show(const std::string& line) {
  write(fmt::format("{}{}{}", terminal_ ? "\r\x1b[K" : "", line, terminal_ ? "" : "\n"));
  open_ = terminal_;
  due_ =
      Clock::now() + (terminal_ ? Clock::duration(kTerminalPeriod) : Clock::duration(kLogPeriod));
}

void StatusLine::say(const std::string& line) {
  finish();
  write(line + "\n");
}

void StatusLine::finish() {
  if (open_) write("\n");
  open_ = false;
}

Progress::Progress(std::FILE* stream, bool quiet, std::string run)
    : line_(stream), quiet_(quiet), run_(std::move(run)) {}

void Progress::stands(const Standing& now) {
  const std::scoped_lock lock(mutex_);
  if (quiet_ || (now.iteration < now.iterations && !line_.is_due())) return;
  const double elapsed = line_.seconds();
  const double rate =
      static_cast<double>(now.evaluations - first_evaluations_) / std::max(elapsed, 1e-9);
  const double left =
      elapsed * static_cast<double>(now.iterations - now.iteration) /
      static_cast<double>(std::max<std::size_t>(now.iteration - first_iteration_, 1));
  std::string line = fmt::format("iteration {}/{}  {:.0f} eval/s  size {}/{}  coverage {:.1f} %",
                                 now.iteration, now.iterations, rate, now.container_size,
                                 now.target_size, number_called(now.row, "coverage", 0));
  if (const double threshold = number_called(now.row, "threshold", -1); threshold >= 0) {
    line += fmt::format("  d_min {:.3g}", threshold);
  }
  if (now.training) line += fmt::format("  reconstruction {:.3g}", now.training->validation_loss);
  line_.show(line + fmt::format("  left {}", duration_text(left)));
}

void Progress::resumed(std::size_t iteration, std::size_t evaluations) {
  const std::scoped_lock lock(mutex_);
  first_iteration_ = iteration;
  first_evaluations_ = evaluations;
}

void Progress::ended() {
  const std::scoped_lock lock(mutex_);
  line_.finish();
}

void Progress::saved_up_to(std::size_t iteration) {
  warn(
      fmt::format("the run is saved up to iteration {}; once the cause of the error is mended, "
                  "aurora run --resume --out '{}' goes on from there",
                  iteration, run_));
}

void Progress::note(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (!quiet_) line_.say(text);
}

void Progress::warn(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  line_.say("aurora: warning: " + text);
}

}  // namespace aurora
