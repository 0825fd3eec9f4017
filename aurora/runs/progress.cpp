#include "aurora/runs/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

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

void StatusLine::show(const std::string& line) {
  fmt::print(stream_, "{}{}{}", terminal_ ? "\r\x1b[K" : "", line, terminal_ ? "" : "\n");
  std::fflush(stream_);
  open_ = terminal_;
  due_ =
      Clock::now() + (terminal_ ? Clock::duration(kTerminalPeriod) : Clock::duration(kLogPeriod));
}

void StatusLine::say(const std::string& line) {
  finish();
  fmt::print(stream_, "{}\n", line);
  std::fflush(stream_);
}

void StatusLine::finish() {
  if (open_) fmt::print(stream_, "\n");
  open_ = false;
}

Progress::Progress(std::FILE* stream, bool quiet, std::size_t iterations, std::size_t target_size)
    : line_(stream), quiet_(quiet), iterations_(iterations), target_size_(target_size) {}

void Progress::show(const MetricsRow& row, const EncoderRow* last_training) {
  if (quiet_ || (row.iteration < iterations_ && !line_.is_due())) return;
  const double elapsed = line_.seconds();
  const double rate =
      static_cast<double>(row.evaluations - first_evaluations_) / std::max(elapsed, 1e-9);
  const double left =
      elapsed * static_cast<double>(iterations_ - row.iteration) /
      static_cast<double>(std::max<std::size_t>(row.iteration - first_iteration_, 1));
  std::string line = fmt::format(
      "iteration {}/{}  {:.0f} eval/s  size {}/{}  coverage {:.1f} %  d_min {:.3g}", row.iteration,
      iterations_, rate, row.container_size, target_size_, row.coverage, row.threshold);
  if (last_training) {
    line += fmt::format("  reconstruction {:.3g}", last_training->training.validation_loss);
  }
  line_.show(line + fmt::format("  left {}", duration_text(left)));
}

void Progress::start_from(std::size_t iteration, std::size_t evaluations) {
  first_iteration_ = iteration;
  first_evaluations_ = evaluations;
}

void Progress::say(const std::string& line) {
  if (!quiet_) line_.say(line);
}

void Progress::warn(const std::string& line) {
  line_.say("aurora: warning: " + line);
}

}  // namespace aurora
