#include "aurora/experiments/scheduler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double evaluations_of(const PlannedRun& run) {
  return static_cast<double>(run.plan.run.iterations * run.plan.run.batch);
}

class Scheduler {
 public:
  Scheduler(const Parts& parts, const std::vector<PlannedRun>& runs,
            const SchedulerOptions& options)
      : parts_(parts), runs_(runs), options_(options) {
    tally_.runs = runs.size();
    if (options.jobs == 0) throw UsageError("at least one run must go on at a time");
  }

  Tally run(const std::atomic<bool>& stop) {
    std::size_t next = 0;
    while (next < runs_.size() || !again_.empty() || !children_.empty()) {
      const bool stopped = stop;
      if (stopped && children_.empty()) break;
      while (!stopped && !again_.empty() && children_.size() < options_.jobs) {
        const Child child = again_.back();
        again_.pop_back();
        begin(child.run, child.start);
      }
      while (!stopped && next < runs_.size() && children_.size() < options_.jobs) {
        begin(next++, Clock::now());
      }
      if (!children_.empty() && !reap()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
    std::error_code not_empty;
    fs::remove(options_.out / "errors", not_empty);
    return std::move(tally_);
  }

 private:
  struct Child {
    std::size_t run;
    Clock::time_point start;
  };

  void fail(const PlannedRun& run, const std::string& reason) {
    tally_.failures.push_back(run.name + ": " + reason);
    say(run.name + ": FAILED: " + reason);
  }

  void begin(std::size_t number, Clock::time_point start) {
    const PlannedRun& run = runs_[number];
    const fs::path folder = options_.out / run.name;
    try {
      const RunProgress progress = progress_of(parts_, run, folder);
      if (progress == RunProgress::finished) {
        forget_errors(number);  // of a run that ended just before the experiment was killed
        ++tally_.skipped;
        return;
      }
      make_directories(folder.parent_path());
      make_directories(options_.out / "errors");
      spawn(number,
            progress == RunProgress::to_retrain ? options_.retrain_command(folder)
                                                : options_.command(run, folder),
            errors_of(number), start);
    } catch (const Error& error) {
      fail(run, error.what());
    }
  }

  fs::path errors_of(std::size_t number) const {
    return options_.out / "errors" / (std::to_string(number) + ".txt");
  }

  void forget_errors(std::size_t number) const {
    std::error_code ignored;
    fs::remove(errors_of(number), ignored);
  }

  void spawn(std::size_t number, std::vector<std::string> words, const fs::path& errors,
             Clock::time_point start) {
    words.insert(words.begin(), "aurora");
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, options_.program.c_str(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw FileError(fmt::format("cannot start a run: {}", std::strerror(error)));
    children_.emplace(child, Child{number, start});
  }

  /// Takes note of a run that has ended; false if none has.
  bool reap() {
    int status = 0;
    const auto child = std::ranges::find_if(children_, [&](const auto& entry) {
      return waitpid(entry.first, &status, WNOHANG) == entry.first;
    });
    if (child == children_.end()) return false;
    const auto [number, start] = child->second;
    children_.erase(child);
    const PlannedRun& run = runs_[number];
    const bool interrupted = WIFEXITED(status) && WEXITSTATUS(status) > 128;
    // What counts is the run, not what its process says: a task may end it with a status of 0, and
    // another process may have finished what ours found in use.
    const RunProgress progress = progress_of(parts_, run, options_.out / run.name);
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (progress == RunProgress::to_retrain && well) {
      again_.push_back({number, start});
    } else if (progress == RunProgress::finished) {
      ++tally_.done;
      forget_errors(number);
      note_cost(run, seconds_since(start));
      say(outcome(run));
    } else if (WIFSIGNALED(status)) {
      fail(run, fmt::format("ended by signal {}", WTERMSIG(status)));
    } else if (well) {
      fail(run, "its process ended with status 0, but the run is not finished");
    } else if (!interrupted) {
      fail(run, last_line(errors_of(number), WEXITSTATUS(status)));
    }
    return true;
  }

  static std::string last_line(const fs::path& file, int status) {
    std::string text;
    try {
      text = read_file(file, std::uint64_t{1} << 20);
    } catch (const Error&) {
    }
    while (text.ends_with('\n')) text.pop_back();
    const std::string line = text.substr(text.rfind('\n') + 1);
    return line.empty() ? fmt::format("ended with status {}", status) : line;
  }

  std::string outcome(const PlannedRun& run) const {
    const RunSummary summary = read_summary(options_.out / run.name / "run.json");
    return fmt::format("{}: coverage {:.1f} %, grid mean fitness {:.4g}, {:.0f} s", run.name,
                       summary.metric("coverage"), summary.metric("grid_mean_fitness"),
                       summary.seconds_total);
  }

  void note_cost(const PlannedRun& run, double seconds) {
    for (const std::string& kind : {kind_of(run), std::string()}) {
      costs_[kind].first += seconds;
      costs_[kind].second += evaluations_of(run);
    }
  }

  /// From what finished runs of the same kind have cost, or, without any, all finished runs.
  double seconds_left() const {
    double seconds = 0;
    for (std::size_t i = tally_.ended(); i < runs_.size(); ++i) {
      const auto same = costs_.find(kind_of(runs_[i]));
      const auto& [spent, evaluations] = same != costs_.end() ? same->second : costs_.at("");
      seconds += spent / evaluations * evaluations_of(runs_[i]);
    }
    return seconds / static_cast<double>(options_.jobs);
  }

  void say(const std::string& what) const {
    if (options_.ended) options_.ended(tally_, what, costs_.empty() ? -1 : seconds_left());
  }

  const Parts& parts_;
  const std::vector<PlannedRun>& runs_;
  const SchedulerOptions& options_;
  Tally tally_;
  std::map<pid_t, Child> children_;
  std::vector<Child> again_;  // whose run has ended, and whose re-training is still to come
  std::map<std::string, std::pair<double, double>> costs_;  // by kind: seconds, evaluations
};

}  // namespace

Tally run_experiment(const Parts& parts, const std::vector<PlannedRun>& runs,
                     const SchedulerOptions& options, const std::atomic<bool>& stop) {
  return Scheduler(parts, runs, options).run(stop);
}

}  // namespace aurora
