// aurora experiment: all runs of a study, several at a time, each a process of its own.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/interrupt.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/estimate.hpp"
#include "aurora/runs/experiment.hpp"
#include "aurora/runs/files.hpp"
#include "aurora/runs/progress.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Arguments {
  std::string file;
  std::string out;
  std::size_t jobs = 0;  // 0: as many as there are processors
  bool dry_run = false;
  bool slurm = false;
};

double evaluations_of(const PlannedRun& run) {
  return static_cast<double>(run.config.iterations * run.config.algorithm.batch);
}

/// What makes runs cost alike: the task, whether there is an encoder to train, and of which kind.
std::string kind_of(const PlannedRun& run) {
  const AlgorithmConfig& algorithm = run.config.algorithm;
  return fmt::format("{}/{}/{}", run.config.task, name_of(algorithm.descriptor),
                     name_of(algorithm.encoder.kind));
}

class Experiment {
 public:
  Experiment(const TaskRegistry& tasks, const Arguments& arguments)
      : tasks_(tasks),
        runs_(plan_experiment(tasks, arguments.file)),
        out_(arguments.out.empty() ? fs::path("runs") / fs::path(arguments.file).stem()
                                   : fs::path(arguments.out)),
        processors_(std::max(std::thread::hardware_concurrency(), 1U)) {
    jobs_ = arguments.jobs > 0 ? arguments.jobs : std::min<std::size_t>(processors_, runs_.size());
    threads_ = std::max<std::size_t>(processors_ / std::max<std::size_t>(jobs_, 1), 1);
  }

  /// The list, how far each run is, and about how long those will take that are not finished.
  int describe() {
    Estimate all;
    std::map<std::string, Costs> measured;
    for (const PlannedRun& run : runs_) {
      const RunProgress progress = progress_of(tasks_, run, out_ / run.name);
      constexpr const char* kWords[] = {"to do", "to go on with", "to re-train", "finished"};
      print(fmt::format("{:<14} {}\n", kWords[static_cast<int>(progress)], run.name));
      if (progress == RunProgress::finished) continue;
      const auto [costs, fresh] = measured.try_emplace(kind_of(run));
      if (fresh) costs->second = measure_costs(tasks_, run.config);
      const Estimate one = progress == RunProgress::to_retrain
                               ? estimate_retraining(run, costs->second)
                               : estimate(run, costs->second);
      all.simulation += one.simulation;
      all.encoder += one.encoder;
    }
    print(fmt::format("{} runs, {} at a time with {} thread(s) each, in {}\n", runs_.size(), jobs_,
                      threads_, out_.string()));
    const auto wall = [&](double seconds) {
      return duration_text(seconds / static_cast<double>(std::min(processors_, jobs_ * threads_)));
    };
    print(fmt::format(
        "about {}: simulation {}, training and encoding {}\n"
        "(from timing a few evaluations and one epoch of each kind of run just now; give or take a "
        "factor of 2, as the growth of containers and the number of epochs are only assumed)\n",
        wall(all.simulation + all.encoder), wall(all.simulation), wall(all.encoder)));
    return 0;
  }

  int write_slurm() {
    print(slurm_script(runs_, fs::absolute(out_), program().string(), threads_));
    return 0;
  }

  int run() {
    const InterruptFlag interrupt;
    adopt_runs();
    std::size_t next = 0;
    while (next < runs_.size() || !again_.empty() || !children_.empty()) {
      const bool stop = interrupt.raised();
      if (stop && children_.empty()) break;
      while (!stop && !again_.empty() && children_.size() < jobs_) {
        const Child child = again_.back();
        again_.pop_back();
        begin(child.run, child.start);
      }
      while (!stop && next < runs_.size() && children_.size() < jobs_) {
        begin(next++, Clock::now());
      }
      if (!children_.empty() && !reap()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
    std::error_code not_empty;
    fs::remove(out_ / "errors", not_empty);
    if (interrupt.raised()) {
      fmt::print(stderr, "aurora: stopped; the same command goes on\n");
      return interrupt.exit_status();
    }
    print(fmt::format("{} runs: {} finished now, {} before, {} failed\n", runs_.size(), done_,
                      skipped_, failures_.size()));
    for (const std::string& failure : failures_) print("  failed: " + failure + "\n");
    if (failures_.empty()) print(fmt::format("aurora report {}\n", out_.string()));
    return failures_.empty() ? 0 : 1;
  }

 private:
  struct Child {
    std::size_t run;
    Clock::time_point start;
  };

  static fs::path program() { return fs::read_symlink("/proc/self/exe"); }

  void fail(const PlannedRun& run, const std::string& reason) {
    failures_.push_back(run.name + ": " + reason);
    say(run.name + ": FAILED: " + reason);
  }

  void begin(std::size_t number, Clock::time_point start) {
    const PlannedRun& run = runs_[number];
    const fs::path folder = out_ / run.name;
    try {
      const RunProgress progress = progress_of(tasks_, run, folder);
      if (progress == RunProgress::finished) {
        forget_errors(number);  // of a run that ended just before the experiment was killed
        ++skipped_;
        return;
      }
      make_directories(folder.parent_path());
      make_directories(out_ / "errors");
      spawn(number,
            progress == RunProgress::to_retrain ? retrain_command(folder, threads_)
                                                : command_of(run, folder, threads_),
            errors_of(number), start);
    } catch (const Error& error) {
      fail(run, error.what());
    }
  }

  fs::path errors_of(std::size_t number) const {
    return out_ / "errors" / (std::to_string(number) + ".txt");
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
    const int error = posix_spawn(&child, program().c_str(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw FileError(fmt::format("cannot start a run: {}", std::strerror(error)));
    children_.emplace(child, Child{number, start});
  }

  /// Takes note of a run that has ended; false if none has.
  bool reap() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    const auto child = children_.find(pid);
    if (pid <= 0 || child == children_.end()) return false;
    const auto [number, start] = child->second;
    children_.erase(child);
    const PlannedRun& run = runs_[number];
    const bool interrupted = WIFEXITED(status) && WEXITSTATUS(status) > 128;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      const fs::path folder = out_ / run.name;
      if (progress_of(tasks_, run, folder) == RunProgress::to_retrain) {
        again_.push_back({number, start});
        return true;
      }
      ++done_;
      forget_errors(number);
      note_cost(run, seconds_since(start));
      say(outcome(run));
    } else if (!interrupted) {
      fail(run, WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                    : last_line(errors_of(number), WEXITSTATUS(status)));
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
    const RunSummary summary = read_summary(out_ / run.name / "run.json");
    return fmt::format("{}: coverage {:.1f} %, grid mean fitness {:.4g}, {}", run.name,
                       summary.coverage, summary.grid_mean_fitness,
                       duration_text(summary.seconds_total));
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
    for (std::size_t i = done_ + skipped_ + failures_.size(); i < runs_.size(); ++i) {
      const auto same = costs_.find(kind_of(runs_[i]));
      const auto& [spent, evaluations] = same != costs_.end() ? same->second : costs_.at("");
      seconds += spent / evaluations * evaluations_of(runs_[i]);
    }
    return seconds / static_cast<double>(jobs_);
  }

  void say(const std::string& what) const {
    const std::size_t ended = done_ + skipped_ + failures_.size();
    const std::string left =
        costs_.empty() ? "" : fmt::format(", about {} left", duration_text(seconds_left()));
    fmt::print(stderr, "[{}/{}{}] {}\n", ended, runs_.size(), left, what);
  }

  const TaskRegistry& tasks_;
  std::vector<PlannedRun> runs_;
  fs::path out_;
  std::size_t processors_;
  std::size_t jobs_ = 1;
  std::size_t threads_ = 1;
  std::map<pid_t, Child> children_;
  std::vector<Child> again_;  // whose run has ended, and whose re-training is still to come
  std::map<std::string, std::pair<double, double>> costs_;  // by kind: seconds, evaluations
  std::size_t done_ = 0;
  std::size_t skipped_ = 0;
  std::vector<std::string> failures_;
};

}  // namespace

Command add_experiment(CLI::App& program, const TaskRegistry& tasks) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand(
      "experiment", "Run a study: tasks x variants x sweeps x replications, from a TOML file");
  app->add_option("FILE", arguments->file, "The study (experiments/paper-small.toml is one)")
      ->required()
      ->type_name(" ");
  app->add_option("--out", arguments->out, "Folder for all runs; runs/NAME-OF-FILE unless said")
      ->type_name("DIR");
  app->add_option("--jobs", arguments->jobs,
                  "Runs at a time; as many as there are processors unless said; changes no result")
      ->type_name("J");
  app->add_flag("--dry-run", arguments->dry_run, "Only list the runs and estimate the time");
  app->add_flag("--slurm", arguments->slurm, "Only print a Slurm array job that runs them");
  app->footer(
      "Finished runs are left alone, interrupted ones go on from their last checkpoint: the same\n"
      "command again does what is missing. Then: aurora report DIR");
  return {app, [arguments, &tasks] {
            Experiment experiment(tasks, *arguments);
            if (arguments->dry_run) return experiment.describe();
            if (arguments->slurm) return experiment.write_slurm();
            return experiment.run();
          }};
}

}  // namespace aurora
