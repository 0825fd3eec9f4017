#include "aurora/experiments/scheduler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPeriod{100};
// How soon a run that somebody else has is looked at again: for a lock of ours that is cheap, for
// that of the run itself a process is started.
constexpr std::chrono::seconds kClaimPeriod{1};
constexpr std::chrono::seconds kRunPeriod{5};
constexpr std::size_t kMostText = std::size_t{1} << 20;  // of what a process says

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double evaluations_of(const PlannedRun& run) {
  return static_cast<double>(run.plan.run.iterations * run.plan.run.batch);
}

/// Every run that goes on needs two open files of ours.
void allow_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// What comes out of a process's stderr: lines, and among them one that renews itself, as on a
/// terminal.
class Output {
 public:
  explicit Output(int descriptor) : pipe_(descriptor) {}

  /// Takes what there is by now.
  void listen() {
    std::array<char, 4096> bytes;
    for (ssize_t n; (n = ::read(pipe_.get(), bytes.data(), bytes.size())) > 0;) {
      unread_.append(bytes.data(), static_cast<std::size_t>(n));
      sort_lines();
    }
  }

  const std::string& status() const { return status_; }
  std::string text() const { return text_ + unread_.substr(0, unread_.find('\r')); }
  std::string last_line() const {
    std::string all = text();
    while (all.ends_with('\n')) all.pop_back();
    return all.substr(all.rfind('\n') + 1);
  }

 private:
  void sort_lines() {
    for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      take(std::string_view(unread_).substr(0, end), true);
      unread_.erase(0, end + 1);
    }
    if (const std::size_t renewed = unread_.rfind('\r'); renewed != std::string::npos) {
      take(unread_, false);
      unread_.erase(0, renewed);
    }
    if (unread_.size() > kMostText) unread_.erase(0, unread_.size() - kMostText);
    if (text_.size() > kMostText) text_.erase(0, text_.size() - kMostText);
  }

  void take(std::string_view line, bool whole) {
    const std::size_t renewed = line.rfind('\r');
    if (renewed == std::string_view::npos) {
      text_.append(line).append("\n");
      return;
    }
    constexpr std::string_view kClear = "\x1b[K";
    std::string_view status = line.substr(renewed + 1);
    if (status.starts_with(kClear)) status.remove_prefix(kClear.size());
    if (!status.empty() || whole) status_ = status;
  }

  FileHandle pipe_;
  std::string unread_;
  std::string text_;
  std::string status_;
};

class Scheduler {
 public:
  Scheduler(const Parts& parts, const std::vector<PlannedRun>& runs,
            const SchedulerOptions& options)
      : parts_(parts), runs_(runs), options_(options), over_(runs.size()) {
    tally_.runs = runs.size();
    if (options.jobs == 0) throw UsageError("at least one run must go on at a time");
    allow_open_files();
  }

  Tally run(const std::atomic<bool>& stop) {
    while (next_ < runs_.size() || !again_.empty() || !children_.empty() || !waiting_.empty()) {
      if (stop && children_.empty()) break;
      if (!stop) start_some();
      if (stop && !std::exchange(asked_, true)) ask_to_end();
      const bool idle = !reap(stop) && !(children_.empty() && waiting_.empty());
      if (options_.goes_on) options_.goes_on(tally_, jobs(), seconds_left());
      if (idle) std::this_thread::sleep_for(kPeriod);
    }
    std::error_code not_empty;
    fs::remove(options_.out / "errors", not_empty);
    return std::move(tally_);
  }

 private:
  /// A run that we have.
  struct Child {
    std::size_t run = 0;
    Clock::time_point start = Clock::now();
    bool told = false;  // people were told that somebody else had it
    std::unique_ptr<FileLock> claim = nullptr;
    std::unique_ptr<Output> output = nullptr;
  };

  /// One that somebody else has.
  struct Waiting {
    std::size_t run;
    std::string who;
    Clock::time_point due;
    bool told = false;
  };

  bool has_room() const { return children_.size() < options_.jobs; }

  void start_some() {
    while (!again_.empty() && has_room()) {
      Child child = std::move(again_.back());
      again_.pop_back();
      begin(std::move(child));
    }
    while (next_ < runs_.size() && has_room()) begin({.run = next_++});
    if (next_ < runs_.size()) return;
    // Nothing else is left: what becomes of those that others have?
    for (Waiting& one : waiting_) {
      if (std::exchange(one.told, true)) continue;
      say(fmt::format("{}: busy: {}; waiting for it", runs_[one.run].name, one.who));
    }
    std::vector<Waiting> due = std::exchange(waiting_, {});
    for (Waiting& one : due) {
      if (has_room() && Clock::now() >= one.due) {
        begin({.run = one.run, .told = one.told});
      } else {
        waiting_.push_back(std::move(one));
      }
    }
  }

  /// What interrupted us may have been sent to us alone.
  void ask_to_end() const {
    for (const auto& [process, child] : children_) ::kill(process, kEndsRun);
  }

  void fail(std::size_t number, const std::string& reason) {
    const std::string& name = runs_[number].name;
    over_[number] = true;
    tally_.failures.push_back(name + ": " + reason);
    say(name + ": FAILED: " + reason);
  }

  void wait_for(std::size_t number, std::string who, Clock::duration period, bool told) {
    waiting_.push_back({number, std::move(who), Clock::now() + period, told});
  }

  void begin(Child child) {
    const std::size_t number = child.run;
    const bool told = child.told;
    const PlannedRun& run = runs_[number];
    const fs::path folder = options_.out / run.name;
    try {
      if (skip_finished(number, told)) return;
      if (!child.claim) {
        make_directories(folder.parent_path());
        child.claim = std::make_unique<FileLock>(claim_of(run), folder);
        // Its last owner may have finished it between the two.
        if (skip_finished(number, told)) return;
      }
      spawn(std::move(child), progress_of(parts_, run, folder) == RunProgress::to_retrain
                                  ? options_.retrain_command(folder)
                                  : options_.command(run, folder));
    } catch (const InUse&) {
      wait_for(number, FileLock::holder(claim_of(run)), kClaimPeriod, told);
    } catch (const Error& error) {
      fail(number, error.what());
    }
  }

  bool skip_finished(std::size_t number, bool told) {
    const PlannedRun& run = runs_[number];
    if (progress_of(parts_, run, options_.out / run.name) != RunProgress::finished) return false;
    over_[number] = true;
    ++tally_.skipped;
    forget_errors(number);  // of a run that ended just before the experiment was killed
    std::error_code ignored;
    fs::remove(claim_of(run), ignored);  // likewise; nobody needs it any more
    if (told) {
      const RunSummary summary = read_summary(options_.out / run.name / "run.json");
      say(fmt::format("{}: finished by another process, on {}", run.name, summary.host));
    }
    return true;
  }

  fs::path claim_of(const PlannedRun& run) const {
    const fs::path folder = options_.out / run.name;
    return folder.parent_path() / fmt::format(".{}.lock", folder.filename().string());
  }

  fs::path errors_of(std::size_t number) const {
    return options_.out / "errors" / (std::to_string(number) + ".txt");
  }

  void forget_errors(std::size_t number) const {
    std::error_code ignored;
    fs::remove(errors_of(number), ignored);
  }

  void keep_errors(std::size_t number, const std::string& text) const {
    try {
      make_directories(options_.out / "errors");
      write_file(errors_of(number), text);
    } catch (const Error&) {
      // Its last line is said anyway.
    }
  }

  void spawn(Child child, std::vector<std::string> words) {
    words.insert(words.begin(), "aurora");
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw FileError(fmt::format("cannot start a run: {}", std::strerror(errno)));
    }
    child.output = std::make_unique<Output>(ends[0]);
    const FileHandle theirs(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, theirs.get(), STDERR_FILENO);
    pid_t process = 0;
    const int error =
        posix_spawn(&process, options_.program.c_str(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw FileError(fmt::format("cannot start a run: {}", std::strerror(error)));
    children_.emplace(process, std::move(child));
  }

  /// Hears what the runs say, and takes note of one that has ended; false if none has.
  bool reap(const std::atomic<bool>& stop) {
    for (const auto& [process, child] : children_) child.output->listen();
    int status = 0;
    const auto found = std::ranges::find_if(children_, [&](const auto& entry) {
      return waitpid(entry.first, &status, WNOHANG) == entry.first;
    });
    if (found == children_.end()) return false;
    Child child = std::move(found->second);
    children_.erase(found);
    child.output->listen();
    const std::size_t number = child.run;
    try {
      note(std::move(child), status, stop);
    } catch (const Error& error) {  // a run.json that is broken, say
      fail(number, error.what());
    }
    return true;
  }

  void note(Child child, int status, bool stopped) {
    const std::size_t number = child.run;
    const PlannedRun& run = runs_[number];
    const fs::path folder = options_.out / run.name;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == kInUseStatus) {  // by a process that is no part of an experiment, or outlives one
      wait_for(number, FileLock::holder(folder / ".lock"), kRunPeriod, child.told);
      return;
    }
    // What counts is the run, not what its process says: a task may end it with a status of 0.
    const RunProgress progress = progress_of(parts_, run, folder);
    if (progress == RunProgress::to_retrain && code == 0) {
      again_.push_back(std::move(child));
    } else if (progress == RunProgress::finished) {
      over_[number] = true;
      ++tally_.done;
      forget_errors(number);
      note_cost(run, seconds_since(child.start));
      say(outcome(run));
    } else if (stopped && was_asked_to_end(status)) {
      // It goes on the next time.
    } else {
      keep_errors(number, child.output->text());
      fail(number, reason_of(*child.output, status));
    }
  }

  /// Ended by a signal that it may get when we get one, before it could look at it or after.
  static bool was_asked_to_end(int status) {
    const int number = WIFEXITED(status) ? WEXITSTATUS(status) - 128 : WTERMSIG(status);
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == kEndsRun;
  }

  static std::string reason_of(const Output& output, int status) {
    if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
    const int code = WEXITSTATUS(status);
    if (code == 0) return "its process ended with status 0, but the run is not finished";
    if (code > 128) return fmt::format("interrupted by signal {}", code - 128);
    const std::string line = output.last_line();
    return line.empty() ? fmt::format("ended with status {}", code) : line;
  }

  std::vector<Job> jobs() const {
    std::vector<Job> all;
    for (const auto& [process, child] : children_) {
      all.push_back({runs_[child.run].name, child.output->status()});
    }
    for (const Waiting& one : waiting_) {
      if (one.told) all.push_back({runs_[one.run].name, one.who, true});
    }
    return all;
  }

  std::string outcome(const PlannedRun& run) const {
    const RunSummary summary = read_summary(options_.out / run.name / "run.json");
    return fmt::format("{}: coverage {:.1f} %, grid mean fitness {:.4g}, {:.0f} s", run.name,
                       summary.metric("coverage"), summary.metric("grid_mean_fitness"),
                       summary.seconds_total);
  }

  void note_cost(const PlannedRun& run, double seconds) {
    for (const std::string& kind : {run.kind, std::string()}) {
      costs_[kind].first += seconds;
      costs_[kind].second += evaluations_of(run);
    }
  }

  /// From what finished runs of the same kind have cost, or, without any, all finished runs; less
  /// than 0 if there are none.
  double seconds_left() const {
    if (costs_.empty()) return -1;
    double seconds = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (over_[i]) continue;
      const auto same = costs_.find(runs_[i].kind);
      const auto& [spent, evaluations] = same != costs_.end() ? same->second : costs_.at("");
      seconds += spent / evaluations * evaluations_of(runs_[i]);
    }
    return seconds / static_cast<double>(options_.jobs);
  }

  void say(const std::string& what) const {
    if (options_.ended) options_.ended(tally_, what, seconds_left());
  }

  const Parts& parts_;
  const std::vector<PlannedRun>& runs_;
  const SchedulerOptions& options_;
  Tally tally_;
  std::size_t next_ = 0;    // of the runs that nobody has looked at
  std::vector<bool> over_;  // by run: done, skipped or failed
  bool asked_ = false;      // our processes were asked to end
  std::map<pid_t, Child> children_;
  std::vector<Child> again_;  // whose run has ended, and whose re-training is still to come
  std::vector<Waiting> waiting_;
  std::map<std::string, std::pair<double, double>> costs_;  // by kind: seconds, evaluations
};

}  // namespace

Tally run_experiment(const Parts& parts, const std::vector<PlannedRun>& runs,
                     const SchedulerOptions& options, const std::atomic<bool>& stop) {
  return Scheduler(parts, runs, options).run(stop);
}

}  // namespace aurora
