#include "apps/aurora/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace aurora {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{250};
constexpr std::chrono::seconds kLogPeriod{10};

/// Columns of a terminal.
std::size_t width_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 80;
  return size.ws_col;
}

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

void StatusLine::show(const std::vector<std::string>& pieces) {
  const std::size_t most = terminal_ ? width_of(stream_) - 1 : std::string::npos;
  std::string line = pieces.front().substr(0, most);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (line.size() + 2 + pieces[i].size() > most) break;
    line += "  " + pieces[i];
  }
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
  const double elapsed = line_.seconds() - first_second_;
  const double rate =
      static_cast<double>(now.evaluations - first_evaluations_) / std::max(elapsed, 1e-9);
  const double left =
      elapsed * static_cast<double>(now.iterations - now.iteration) /
      static_cast<double>(std::max<std::size_t>(now.iteration - first_iteration_, 1));
  std::vector<std::string> pieces = {
      fmt::format("iteration {}/{}", now.iteration, now.iterations),
      fmt::format("left {}", duration_text(left)),
      fmt::format("coverage {:.1f} %", number_called(now.row, "coverage", 0)),
      fmt::format("size {}/{}", now.container_size, now.target_size),
      fmt::format("{:.0f} eval/s", rate)};
  if (const double threshold = number_called(now.row, "threshold", -1); threshold >= 0) {
    pieces.push_back(fmt::format("d_min {:.3g}", threshold));
  }
  if (now.training) {
    pieces.push_back(fmt::format("reconstruction {:.3g}", now.training->validation_loss));
  }
  line_.show(pieces);
}

void Progress::makes(std::string_view what, double share) {
  const std::scoped_lock lock(mutex_);
  first_second_ = line_.seconds();
  if (quiet_ || !line_.is_due()) return;
  line_.show({fmt::format("making {}", what), fmt::format("{:.0f} %", 100 * share),
              fmt::format("for {}", duration_text(line_.seconds()))});
}

void Progress::resumed(std::size_t iteration, std::size_t evaluations) {
  const std::scoped_lock lock(mutex_);
  first_second_ = line_.seconds();
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
