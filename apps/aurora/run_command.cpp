// aurora run: resolves the configuration, runs, sums up.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/interrupt.hpp"
#include "apps/aurora/progress.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/experiments/estimate.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/run.hpp"

namespace aurora {
namespace {

struct Arguments {
  Words words;
  std::optional<std::string> variant;
  std::optional<std::string> iterations;
  std::optional<std::string> seed;
  std::optional<std::string> threads;
  std::optional<std::string> out;
  std::optional<std::string> config;
  std::vector<std::string> variants;
  bool resume = false;
  bool quiet = false;
  bool dry_run = false;
  std::size_t ranks = 0;  // 0: none
};

PlanRequest request_of(const Arguments& arguments, const Parts& parts) {
  const Words words = sorted(arguments.words);
  PlanRequest request;
  if (!words.task.empty()) request.task = words.task;
  request.variant = arguments.variant;
  if (arguments.config) {
    request.file = *arguments.config;
  } else if (arguments.resume) {
    const std::filesystem::path stored = std::filesystem::path(*arguments.out) / "config.toml";
    std::error_code ignored;  // what cannot be looked at is not there
    if (std::filesystem::exists(stored, ignored)) {
      request.file = stored;
      request.file_is_of_run = true;
    }
  }
  // Under mpirun all ranks work at one run, whatever the run in the file was made with.
  if (const MpiLaunch launch = mpi_launch(); launch.size > 1 && !arguments.dry_run) {
    request.assignments = {"run.evaluator=mpi",
                           fmt::format("run.threads={}", threads_of_rank(launch))};
  }
  const auto assign = [&](const char* key, const std::optional<std::string>& value) {
    if (value) request.assignments.push_back(fmt::format("{}={}", key, *value));
  };
  assign("run.iterations", arguments.iterations);
  assign("run.seed", arguments.seed);
  assign("run.threads", arguments.threads);
  request.assignments.insert(request.assignments.end(), words.assignments.begin(),
                             words.assignments.end());

  const bool may_name_task =
      request.file || std::ranges::any_of(request.assignments, [](const std::string& assignment) {
        return assignment.starts_with("run.task");
      });
  if (!request.task && !may_name_task && !parts.usual_task.empty()) {
    request.task = parts.usual_task;
  }
  if (!request.task && !may_name_task) {
    if (arguments.resume) {
      throw UsageError(
          fmt::format("there is no config.toml in '{}', so no run to go on with; name the TASK and "
                      "it begins there",
                      *arguments.out));
    }
    throw UsageError(fmt::format(
        "which TASK? Known: {}; as in: aurora run {}", fmt::join(parts.tasks.names(), ", "),
        parts.tasks.names().empty() ? "TASK" : parts.tasks.names().front()));
  }
  return request;
}

/// runs/TASK-VARIANT-seedS, or the first of ...-2, ...-3, ... that is free.
std::filesystem::path free_directory(const Plan& plan) {
  const std::string name =
      fmt::format("{}-{}-seed{}", plan.spec().name, plan.variant, plan.run.seed);
  std::filesystem::path path = std::filesystem::path("runs") / name;
  std::error_code ignored;  // what cannot be looked at cannot be created either, and says why then
  for (int number = 2; std::filesystem::exists(path, ignored); ++number) {
    path.replace_filename(fmt::format("{}-{}", name, number));
  }
  return path;
}

/// "x from 0 to 1, y from 0 to 1"
std::string axes_text(const TaskSpec& spec) {
  std::vector<std::string> axes;
  for (const Axis& axis : std::span(spec.ground_truth).first(kHandCodedSize)) {
    axes.push_back(fmt::format("{} from {} to {}", axis.name, axis.min, axis.max));
  }
  return fmt::format("{}", fmt::join(axes, ", "));
}

std::string summary_text(const RunSummary& summary, const Plan& plan,
                         const std::filesystem::path& out) {
  const double per_second = summary.seconds_total > 0
                                ? static_cast<double>(summary.evaluations) / summary.seconds_total
                                : 0.0;
  std::string text = fmt::format(
      "{} · {} · seed {}: {} after {} iterations\n", summary.task, summary.variant, summary.seed,
      summary.status == RunStatus::finished ? "finished" : "interrupted", summary.iterations);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", name, value);
  };
  line("container",
       fmt::format("{} individuals (target {}){}", summary.container_size, plan.run.target_size,
                   summary.outside == 0 ? ""
                                        : fmt::format(", {} of them outside the bounds of {}",
                                                      summary.outside, axes_text(plan.spec()))));
  line("coverage", fmt::format("{:.2f} %", summary.metric("coverage")));
  line("grid mean fitness", fmt::format("{:.6g}", summary.metric("grid_mean_fitness")));
  if (plan.threshold) line("threshold", fmt::format("{:.6g}", summary.metric("threshold")));
  line("evaluations", fmt::format("{} ({:.0f} per second), of which {} were simulated",
                                  summary.evaluations, per_second, summary.simulations));
  line("wall time", duration_text(summary.seconds_total));
  line("results", out.string());
  if (summary.status == RunStatus::interrupted) {
    line("goes on with", fmt::format("aurora run --resume --out '{}'", out.string()));
  }
  return text;
}

/// About how long the run takes here, and what becomes of that with many ranks.
int estimate_run(const Arguments& arguments, const Plan& plan) {
  const PlannedRun run{.name = "", .plan = plan, .assignments = {}, .retrain = false};
  const Estimate one = estimate(run, measure_costs(plan));
  const std::size_t threads = plan.run.threads;
  const double encoder = one.encoder / static_cast<double>(threads);
  const auto simulation = [&](std::size_t ranks) {
    return one.simulation / simulation_speedup(plan, ranks * threads);
  };
  const double here = simulation(1) + encoder;
  print(fmt::format(
      "{} iterations of {} with {} thread(s), about {}: simulation {}, training and encoding {}\n"
      "about {:.0f} MB of memory\n",
      plan.run.iterations, plan.run.batch, threads, duration_text(here),
      duration_text(simulation(1)), duration_text(encoder), one.memory / (1024 * 1024)));
  if (arguments.ranks > 0) {
    const double there = simulation(arguments.ranks) + encoder;
    const double best = one.simulation / simulation_speedup(plan, plan.run.batch) + encoder;
    print(fmt::format(
        "with {} ranks of as many threads, about {}: simulation {}, {:.1f} times as fast\n"
        "with any number of them {:.1f} times: rank 0 alone trains, and the batch is {} piece(s) "
        "of {}\n",
        arguments.ranks, duration_text(there), duration_text(simulation(arguments.ranks)),
        here / there, here / best,
        (plan.run.batch + plan.spec().preferred_batch - 1) / plan.spec().preferred_batch,
        plan.spec().preferred_batch));
  }
  print(
      "(from timing a few evaluations and one epoch just now; give or take a factor of 2, as the "
      "growth of the container and the number of epochs are only assumed)\n");
  return 0;
}

int act(const Arguments& arguments, const Parts& parts) {
  if (arguments.out && arguments.out->empty()) throw UsageError("--out needs the name of a folder");
  if (arguments.resume && !arguments.out) {
    throw UsageError("--resume needs --out DIR, the folder of the run that shall go on");
  }
  const Parts all = with_variants(parts, arguments.variants);
  if (arguments.ranks > 0 && !arguments.dry_run) {
    throw UsageError("--ranks goes with --dry-run; a run has the ranks that mpirun starts");
  }
  const Plan plan = resolve(all, request_of(arguments, all));
  if (arguments.dry_run) return estimate_run(arguments, plan);
  const std::filesystem::path out =
      arguments.out ? std::filesystem::path(*arguments.out) : free_directory(plan);

  const MpiLaunch launch = mpi_launch();
  Progress progress(stderr, arguments.quiet || launch.rank > 0, out.string());
  for (const std::string& note : plan.notes) progress.note("aurora: note: " + note);
  if (!plan.departures.empty()) {
    progress.note(
        fmt::format("aurora: note: {} with {}", plan.variant, fmt::join(plan.departures, ", ")));
  }
  if (launch.size > 1) {
    progress.note(fmt::format("aurora: note: {} ranks; should one be lost, {}", launch.size,
                              launch.survives
                                  ? "the run goes on without it"
                                  : "the run ends, and the same command with --resume goes on"));
  }
  const InterruptFlag interrupt;
  end_with_adopter();
  RunSummary summary;
  try {
    summary = run(all, plan,
                  {.out = out,
                   .resume = arguments.resume,
                   .observer = &progress,
                   .checkpoint_wanted = &interrupt.checkpoint_wanted()},
                  interrupt.raised());
  } catch (const Interrupted&) {
    progress.warn("interrupted before the first iteration: nothing was written");
    return interrupt.exit_status();
  }
  if (summary.task.empty()) return 0;  // this process evaluated for another one
  print(summary_text(summary, plan, out));
  if (summary.container_size > 0 && summary.outside == summary.container_size) {
    progress.warn(
        "nobody is inside the bounds of the ground truth, so coverage says nothing; look at the "
        "task's axes");
  }
  return summary.status == RunStatus::interrupted ? interrupt.exit_status() : 0;
}

}  // namespace

Command add_run(Parser& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command("run", "Search for behaviours of a task's robot");
  add_words(grammar, arguments->words, "KEY=VALUE", "Options of the run (aurora list options)");
  grammar.add("--variant", arguments->variant,
              "The variant (aurora list variants); aurora-csc-uniform-10 unless said",
              {.value = "V"});
  grammar.add("--iterations", arguments->iterations, "Iterations; the task has its own default",
              {.value = "I"});
  grammar.add("--seed", arguments->seed, "Seed of everything random; 1 unless said",
              {.value = "S"});
  grammar.add("--threads", arguments->threads,
              "Threads; all the machine has unless said; changes no result", {.value = "T"});
  grammar.add("--out", arguments->out,
              "Folder for the results, new or empty; runs/TASK-VARIANT-seedS unless said",
              {.value = "DIR"});
  grammar.add("--config", arguments->config,
              "TOML file with options; the config.toml of a run repeats that run",
              {.value = "FILE"});
  add_variants_option(grammar, arguments->variants);
  grammar.add("--resume", arguments->resume,
              "Go on with the run in --out from its last checkpoint; with a TASK, begin it if\n"
              "there is none yet");
  grammar.add("--quiet", arguments->quiet, "No progress on stderr");
  grammar.add("--dry-run", arguments->dry_run, "Only estimate time and memory");
  grammar.add("--ranks", arguments->ranks,
              "With --dry-run: what so many ranks of mpirun would make of it",
              {.value = "R", .least = 1, .most = 1000000});
  grammar.footer(
      "Values on the command line go before those of the file, which go before the variant's,\n"
      "which go before the task's defaults.\n\n"
      "Examples:\n"
      "  aurora run maze\n"
      "  aurora run maze --variant hc-csc-uniform --iterations 500 --seed 7 --out runs/hc-7\n"
      "  aurora run maze container.target_size=2000 selection.kind=novelty\n"
      "  aurora run --task-command 'python3 examples/robot.py' --iterations 200\n"
      "  aurora run --config runs/hc-7/config.toml --out runs/hc-7-again\n"
      "  aurora run --resume --out runs/hc-7 --iterations 1000\n"
      "  aurora run hexapod --dry-run --ranks 64\n"
      "  mpirun -n 64 aurora run hexapod --out runs/hexapod");
  return {grammar, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
