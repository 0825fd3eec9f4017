#include "apps/aurora/explore/live_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string_view>

#include "apps/aurora/explore/own_files.hpp"
#include "apps/aurora/explore/tables.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSmallFile = std::uint64_t{16} << 20;  // bytes

/// Whether there is such a process; one that has ended and that nobody has asked about is none.
bool is_alive(int process) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || text.compare(name_end + 2, 1, "Z") != 0;
}

/// Whether the process that holds the run's lock may still be there. Its lock is left alone: even
/// to try it would stand in the way of who starts just now.
bool may_be_alive(const fs::path& run) {
  const FileHandle lock = open_own_table(run / ".lock");
  if (lock.get() < 0) return false;
  const std::string text = read_piece(lock, 0, 256);  // "123 on HOST"
  int process = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), process);
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0;
  if (error != std::errc() || process <= 0 || !known) return true;
  if (std::string(rest, text.data() + text.size()) != fmt::format(" on {}", host.data())) {
    return true;  // another machine's: who knows
  }
  return is_alive(process);
}

std::string state_of(const RunSummary& summary, const fs::path& run) {
  switch (summary.status) {
    case RunStatus::finished:
      return "finished";
    case RunStatus::running:
      return may_be_alive(run) ? "running" : "interrupted";
    case RunStatus::interrupted:
    case RunStatus::failed:
      break;
  }
  return "interrupted";
}

std::optional<std::size_t> whole(double value) {
  constexpr double kLargest = 1e15;
  if (!(value >= 0 && value <= kLargest)) return std::nullopt;
  return static_cast<std::size_t>(value);
}

/// A run that goes on says in its table how far it is.
void read_table(Standing& standing, const fs::path& file) {
  for (const auto& [name, value] : last_row(file)) {
    if (name == "iteration") standing.iteration = whole(value);
    if (name == "container_size") standing.size = whole(value);
    if (name == "coverage" && std::isfinite(value)) standing.coverage = value;
  }
}

/// The value of run.iterations in a file that a run has written; there is no need to make a plan.
std::optional<std::size_t> iterations_in(const std::string& toml) {
  constexpr std::string_view kKey = "iterations = ";
  std::size_t at = toml.find("[run]\n");
  while (at != std::string::npos) {
    at = toml.find('\n', at);
    if (at == std::string::npos || toml.compare(at, 2, "\n[") == 0) break;
    ++at;
    if (toml.compare(at, kKey.size(), kKey) != 0) continue;
    std::size_t value = 0;
    const char* begin = toml.data() + at + kKey.size();
    const auto [rest, error] = std::from_chars(begin, toml.data() + toml.size(), value);
    if (error == std::errc()) return value;
  }
  return std::nullopt;
}

}  // namespace

Standing LiveRun::standing() {
  const std::scoped_lock lock(mutex_);
  try {
    read_standing();
  } catch (const std::exception& error) {
    standing_ = {};
    standing_.state = "broken";
    standing_.error = error.what();
    standing_stamp_.clear();
  }
  return standing_;
}

void LiveRun::read_standing() {
  const fs::path file = directory_ / "run.json";
  const fs::path table = directory_ / "metrics.csv";
  const std::string stamp =
      stamp_of_file(file) + " " + stamp_of_file(table) + " " + stamp_of_file(directory_ / ".lock");
  if (stamp == standing_stamp_ && standing_.state != "running") return;
  check_own(directory_, "run.json", kSmallFile);
  const RunSummary summary = read_summary(file);
  const std::string state = state_of(summary, directory_);
  if (stamp == standing_stamp_ && state == standing_.state) return;
  Standing now{
      state, summary.error, summary.task, summary.variant, summary.label, summary.seed, {}, {}, {},
      {}};
  now.iterations = planned_iterations();
  if (summary.status == RunStatus::running || summary.status == RunStatus::failed) {
    read_table(now, table);
  } else {
    now.iteration = summary.iterations;
    now.size = summary.container_size;
    now.coverage = number_called(summary.metrics, "coverage", std::nan(""));
    if (!std::isfinite(*now.coverage)) now.coverage.reset();
  }
  standing_ = std::move(now);
  standing_stamp_ = stamp;
}

std::optional<std::size_t> LiveRun::planned_iterations() {
  const std::string stamp = stamp_of_file(directory_ / "config.toml");
  if (stamp == config_stamp_) return iterations_;
  config_stamp_ = stamp;
  iterations_.reset();
  try {
    check_own(directory_, "config.toml", kSmallFile);
    iterations_ = iterations_in(read_file(directory_ / "config.toml", kSmallFile));
  } catch (const Error&) {
    // Nobody knows then.
  }
  return iterations_;
}

std::string LiveRun::summary_text() {
  check_own(directory_, "run.json", kSmallFile);
  return read_file(directory_ / "run.json", kSmallFile);
}

std::shared_ptr<const Plan> LiveRun::plan(std::string* why) {
  const std::scoped_lock lock(plan_mutex_);
  const std::string stamp = stamp_of_file(directory_ / "config.toml");
  if (stamp != plan_stamp_) {
    plan_.reset();
    plan_error_.clear();
    try {
      check_own(directory_, "config.toml", kSmallFile);
      plan_ = std::make_shared<const Plan>(plan_of_run(parts_, directory_));
    } catch (const std::exception& error) {  // a task of somebody's own may throw anything
      plan_error_ = error.what();
    }
    plan_stamp_ = stamp;
  }
  if (why) *why = plan_error_;
  return plan_;
}

std::vector<Source> LiveRun::sources() {
  const std::scoped_lock lock(mutex_);
  // What changes a source changes one of these directories.
  std::string stamp = stamp_of_file(directory_) + stamp_of_file(directory_ / "snapshots") +
                      stamp_of_file(directory_ / "run.json") +
                      stamp_of_file(directory_ / kLastCheckpoint / "manifest.json");
  if (stamp == sources_stamp_) return sources_;
  for (const char* name : {"snapshots", "container", kLastCheckpoint}) {
    struct stat status;
    if (::lstat((directory_ / name).c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
      throw FileError(fmt::format("'{}' is a symbolic link: nothing is read through it",
                                  (directory_ / name).string()));
    }
  }
  sources_ = sources_of(directory_);
  sources_stamp_ = std::move(stamp);
  return sources_;
}

}  // namespace aurora::explore
