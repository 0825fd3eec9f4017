// aurora experiment: all runs of a study, several at a time, each a process of its own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/interrupt.hpp"
#include "apps/aurora/job_table.hpp"
#include "apps/aurora/progress.hpp"
#include "aurora/core/processors.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/experiments/estimate.hpp"
#include "aurora/experiments/experiment.hpp"
#include "aurora/experiments/scheduler.hpp"
#include "aurora/experiments/slurm.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1024 * 1024;

struct Arguments {
  std::string file;
  std::vector<std::string> variants;
  std::vector<std::string> only;  // patterns of names; none: all
  std::string out;
  std::size_t jobs = 0;          // 0: as many as there are processors
  std::size_t replications = 0;  // 0: all
  bool dry_run = false;
  bool slurm = false;
};

fs::path program() {
  return fs::read_symlink("/proc/self/exe");
}

class ExperimentCommand {
 public:
  ExperimentCommand(const Parts& parts, const Arguments& arguments, const std::string& robot)
      : arguments_(arguments),
        parts_(with_variants(parts, arguments.variants)),
        experiment_(plan_experiment(parts_, arguments.file)),
        out_(arguments.out.empty() ? fs::path("runs") / fs::path(arguments.file).stem()
                                   : fs::path(arguments.out)),
        processors_(processors()),
        robot_(robot) {
    if (arguments.replications > 0) {
      std::erase_if(experiment_.runs, [&](const PlannedRun& run) {
        return run.replication > arguments.replications;
      });
    }
    if (!arguments.only.empty()) keep_only(experiment_.runs, arguments.only);
    // Under mpirun the ranks share the runs among them, by the locks, and each has one at a time.
    const MpiLaunch launch = mpi_launch();
    if (launch.size > 1) processors_ = threads_of_rank(launch);
    const std::size_t fallback = launch.size > 1 ? 1 : processors_;
    jobs_ = arguments.jobs > 0 ? arguments.jobs
                               : std::min<std::size_t>(fallback, experiment_.runs.size());
    threads_ = std::max<std::size_t>(processors_ / std::max<std::size_t>(jobs_, 1), 1);
  }

  /// The list, how far each run is, and about how long those will take that are not finished.
  int describe() {
    Estimate all;
    for (const PlannedRun& run : experiment_.runs) {
      const RunProgress progress = progress_of(parts_, run, out_ / run.name);
      constexpr const char* kWords[] = {"to do", "to go on with", "to re-train", "finished"};
      print(fmt::format("{:<14} {}\n", kWords[static_cast<int>(progress)], run.name));
      const Estimate one = estimate_rest(run, progress);
      all.simulation += one.simulation;
      all.encoder += one.encoder;
      all.memory = std::max(all.memory, one.memory);
    }
    print(fmt::format("{} runs, {} at a time with {} thread(s) each, in {}\n",
                      experiment_.runs.size(), jobs_, threads_, out_.string()));
    const auto wall = [&](double seconds) {
      return duration_text(seconds / static_cast<double>(std::min(processors_, jobs_ * threads_)));
    };
    print(fmt::format(
        "about {}: simulation {}, training and encoding {}\n"
        "about {:.0f} MB of memory for a run, {:.1f} GB for those at a time\n"
        "(from timing a few evaluations and one epoch of each kind of run just now; give or take a "
        "factor of 2, as the growth of containers and the number of epochs are only assumed)\n",
        wall(all.simulation + all.encoder), wall(all.simulation), wall(all.encoder),
        all.memory / kMegabyte,
        all.memory / kMegabyte / 1024 *
            static_cast<double>(std::min(jobs_, experiment_.runs.size()))));
    return 0;
  }

  int write_slurm() {
    const fs::path folder = fs::absolute(out_);
    std::vector<SlurmRun> runs;
    for (const PlannedRun& run : experiment_.runs) {
      const Estimate rest = estimate_rest(run, progress_of(parts_, run, out_ / run.name));
      SlurmRun& one = runs.emplace_back();
      one.seconds = (rest.simulation + rest.encoder) / static_cast<double>(threads_);
      one.memory = rest.memory;
      one.commands.push_back(with_program(command_of(run, folder / run.name, true)));
      if (run.retrain) one.commands.push_back(with_program(retrain_command(folder / run.name)));
    }
    make_directories(folder / "logs");
    print(
        slurm_script({fs::path(arguments_.file).stem().string(), threads_, folder / "logs"}, runs));
    return 0;
  }

  int run() {
    const InterruptFlag interrupt;
    adopt_runs();
    SchedulerOptions options;
    options.out = out_;
    options.program = program();
    options.jobs = jobs_;
    options.command = [&](const PlannedRun& run, const fs::path& folder) {
      return command_of(run, folder, false);
    };
    options.retrain_command = [&](const fs::path& folder) { return retrain_command(folder); };
    StatusBlock status(stderr);
    const auto left = [](double seconds) {
      return seconds < 0 ? "" : fmt::format(", about {} left", duration_text(seconds));
    };
    options.ended = [&](const Tally& tally, const std::string& line, double seconds_left) {
      status.say(fmt::format("[{}/{}{}] {}", tally.ended(), tally.runs, left(seconds_left), line));
    };
    options.goes_on = [&](const Tally& tally, const std::vector<Job>& jobs, double seconds_left) {
      if (!status.is_due()) return;
      std::vector<std::string> lines = job_table(jobs, status.columns());
      lines.insert(lines.begin(), fmt::format("{} of {} runs have ended{}", tally.ended(),
                                              tally.runs, left(seconds_left)));
      status.show(lines);
    };
    const Tally tally = run_experiment(parts_, experiment_.runs, options, interrupt.raised());
    status.clear();
    if (interrupt.raised()) {
      say("aurora: stopped; the same command goes on\n");
      return interrupt.exit_status();
    }
    print(fmt::format("{} runs: {} finished now, {} before, {} failed\n", tally.runs, tally.done,
                      tally.skipped, tally.failures.size()));
    for (const std::string& failure : tally.failures) print("  failed: " + failure + "\n");
    if (tally.failures.empty()) print(fmt::format("aurora report {}\n", out_.string()));
    return tally.failures.empty() ? 0 : 1;
  }

 private:
  static Commandline with_program(Commandline words) {
    words.insert(words.begin(), program().string());
    return words;
  }

  /// Of what is still to be done; nothing if the run is finished.
  Estimate estimate_rest(const PlannedRun& run, RunProgress progress) {
    if (progress == RunProgress::finished) return {};
    const auto [costs, fresh] = measured_.try_emplace(run.kind);
    if (fresh) costs->second = measure_costs(run.plan);
    return progress == RunProgress::to_retrain ? estimate_retraining(run, costs->second)
                                               : estimate(run, costs->second);
  }

  Commandline command_of(const PlannedRun& run, const fs::path& folder, bool quiet) const {
    Commandline words{"run",          run.plan.spec().name,
                      "--variant",    run.plan.variant,
                      "--seed",       std::to_string(run.plan.run.seed),
                      "--threads",    std::to_string(threads_),
                      "--resume",     "--out",
                      folder.string()};
    if (quiet) words.emplace_back("--quiet");
    add_robot(words);
    const auto knows = [&](const std::string& file) {
      words.insert(words.end(), {"--variants", fs::absolute(file).string()});
    };
    for (const std::string& file : arguments_.variants) knows(file);
    if (experiment_.has_variants) knows(arguments_.file);
    words.insert(words.end(), run.assignments.begin(), run.assignments.end());
    return words;
  }

  Commandline retrain_command(const fs::path& folder) const {
    // What is there is of an earlier container, or it would not be asked for.
    Commandline words{"retrain", folder.string(), "--threads", std::to_string(threads_), "--force"};
    add_robot(words);
    return words;
  }

  void add_robot(Commandline& words) const {
    if (!robot_.empty()) words.insert(words.end(), {"--task-command", robot_});
  }

  const Arguments& arguments_;
  Parts parts_;
  Experiment experiment_;
  fs::path out_;
  std::size_t processors_;
  std::string robot_;
  std::size_t jobs_ = 1;
  std::size_t threads_ = 1;
  std::map<std::string, Costs> measured_;  // by kind of run
};

}  // namespace

Command add_experiment(Parser& program, const Parts& parts, const std::string& robot) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command(
      "experiment", "Run a study: tasks x variants x sweeps x replications, from a TOML file");
  grammar.add("FILE", arguments->file, "The study (experiments/paper-small.toml is one)",
              {.required = true});
  grammar.add("--out", arguments->out, "Folder for all runs; runs/NAME-OF-FILE unless said",
              {.value = "DIR"});
  grammar.add("--jobs", arguments->jobs,
              "Runs at a time; as many as there are processors unless said; changes no result",
              {.value = "J", .least = 1, .most = 4096});
  grammar.add("--replications", arguments->replications,
              "At most so many of each, for a beginning; the file's unless said",
              {.value = "R", .least = 1, .most = 1'000'000});
  grammar.add("--only", arguments->only,
              "Only runs with such a name, where * stands for anything; may be given again",
              {.value = "PATTERN", .again = true});
  add_variants_option(grammar, arguments->variants);
  grammar.add("--dry-run", arguments->dry_run, "Only list the runs and estimate time and memory");
  grammar.add("--slurm", arguments->slurm,
              "Only print a Slurm array job that runs them, and make DIR/logs for what it says");
  grammar.footer(
      "Finished runs are left alone, interrupted ones go on from their last checkpoint: the same\n"
      "command again does what is missing. Several of them at a time, on machines that share DIR,\n"
      "share the work. Then: aurora report DIR. What a study file holds: aurora help study.\n\n"
      "Examples:\n"
      "  aurora experiment experiments/paper-small.toml --dry-run\n"
      "  aurora experiment experiments/paper-small.toml --jobs 2\n"
      "  aurora experiment experiments/paper.toml --only 'variants/maze-*' --replications 5\n"
      "  aurora experiment experiments/paper.toml --slurm > job.sh");
  return {grammar, [arguments, &parts, &robot] {
            ExperimentCommand experiment(parts, *arguments, robot);
            if (arguments->dry_run) return experiment.describe();
            if (arguments->slurm) return experiment.write_slurm();
            return experiment.run();
          }};
}

}  // namespace aurora
