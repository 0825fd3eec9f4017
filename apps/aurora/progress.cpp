#include "apps/aurora/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/aurora/interrupt.hpp"

namespace aurora {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{250};
constexpr std::chrono::seconds kLogPeriod{10};

/// Columns and rows of a terminal.
winsize size_of(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0;
  if (!known || size.ws_col < 2) size.ws_col = 80;
  if (!known || size.ws_row < 2) size.ws_row = 24;
  return size;
}

/// A log that cannot be written ends nothing.
void write_to(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

StatusLine::StatusLine(std::FILE* stream)
    : stream_(stream), terminal_(isatty(fileno(stream)) != 0), adopted_(is_adopted()) {}

double StatusLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool StatusLine::is_due() const {
  return Clock::now() >= due_;
}

void StatusLine::write(const std::string& text) {
  write_to(stream_, text);
}

void StatusLine::show(const std::vector<std::string>& pieces) {
  const bool renews = terminal_ || adopted_;
  const std::size_t most = terminal_ ? size_of(stream_).ws_col - 1U : std::string::npos;
  std::string line = pieces.front().substr(0, most);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (line.size() + 2 + pieces[i].size() > most) break;
    line += "  " + pieces[i];
  }
  write(fmt::format("{}{}{}", renews ? "\r\x1b[K" : "", line, renews ? "" : "\n"));
  open_ = renews;
  due_ = Clock::now() + (renews ? Clock::duration(kTerminalPeriod) : Clock::duration(kLogPeriod));
}

void StatusLine::say(const std::string& line) {
  finish();
  write(line + "\n");
}

void StatusLine::finish() {
  if (open_) write("\n");
  open_ = false;
}

StatusBlock::StatusBlock(std::FILE* stream)
    : stream_(stream), terminal_(isatty(fileno(stream)) != 0) {}

bool StatusBlock::is_due() const {
  return terminal_ && Clock::now() >= due_;
}

std::size_t StatusBlock::columns() const {
  return size_of(stream_).ws_col - 1U;  // the last one would begin a new line
}

void StatusBlock::show(const std::vector<std::string>& lines) {
  if (!terminal_) return;
  const std::size_t rows = size_of(stream_).ws_row - 1U;
  std::string text = shown_ > 0 ? fmt::format("\x1b[{}A\r", shown_) : "\r";
  shown_ = std::min(lines.size(), rows);
  for (std::size_t i = 0; i < shown_; ++i) text += "\x1b[K" + lines[i].substr(0, columns()) + "\n";
  write_to(stream_, text + "\x1b[J");
  due_ = Clock::now() + kTerminalPeriod;
}

void StatusBlock::say(const std::string& line) {
  clear();
  write_to(stream_, line + "\n");
}

void StatusBlock::clear() {
  if (shown_ > 0) show({});
  due_ = Clock::now();
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
