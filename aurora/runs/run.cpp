#include "aurora/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "aurora/algorithms/population_search.hpp"
#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/stopwatch.hpp"
#include "aurora/metrics/grid.hpp"
#include "aurora/metrics/orientation.hpp"
#include "aurora/metrics/trajectory.hpp"
#include "aurora/runs/failures.hpp"
#include "aurora/runs/progress.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/thread_evaluator.hpp"

namespace aurora {
namespace {

Grid descriptor_grid(const TaskSpec& task) {
  const Axis& x = task.ground_truth[0];
  const Axis& y = task.ground_truth[1];
  return {.x_min = x.min, .x_max = x.max, .y_min = y.min, .y_max = y.max};
}

std::size_t axis_called(const TaskSpec& task, std::string_view name) {
  const auto axis = std::ranges::find(task.ground_truth, name, &Axis::name);
  assert(axis != task.ground_truth.end());
  return static_cast<std::size_t>(axis - task.ground_truth.begin());
}

std::pair<std::string, double> measured(TaskMetric metric, const TaskSpec& task,
                                        const Individuals& members) {
  switch (metric) {
    case TaskMetric::orientation_coverage:
      return {"orientation_coverage",
              orientation_coverage(members.ground_truth, axis_called(task, "pitch"),
                                   axis_called(task, "roll"))};
    case TaskMetric::trajectory_diversity:
      return {"trajectory_diversity", trajectory_diversity(members.sensory.view())};
  }
  return {};
}

void add_to(PhaseSeconds& total, const PhaseSeconds& step) {
  total.simulate += step.simulate;
  total.encode += step.encode;
  total.train += step.train;
  total.container += step.container;
  total.variation += step.variation;
}

/// Follows an algorithm: counts, measures, writes the run directory, shows progress.
class Recorder {
 public:
  Recorder(const TaskSpec& task, const RunConfig& config, const RunOptions& options)
      : task_(task),
        config_(config),
        directory_(RunDirectory::create(options.out)),
        progress_(stderr, options.quiet, config.iterations, config.algorithm.target_size) {
    summary_.version = version();
    summary_.task = config.task;
    summary_.variant = config.variant;
    summary_.seed = config.algorithm.seed;
    summary_.threads = config.threads;
    directory_.write_config(to_toml(config));
    directory_.write_summary(summary_);
  }

  void record(const Algorithm& algorithm, const StepReport& step) {
    add_to(summary_.seconds, step.seconds);
    summary_.iterations = algorithm.iteration();
    summary_.evaluations += config_.algorithm.batch;
    summary_.simulations += step.simulated;
    summary_.invalid += step.invalid;
    row_.added += step.added;
    row_.replaced += step.replaced;
    row_.rejected += step.rejected;
    row_.invalid += step.invalid;
    row_.lost += step.lost;
    lost_ += step.lost;
    container_updates_ += step.container_updated ? 1 : 0;

    if (step.training) {
      training_ = {summary_.iterations, *step.training, step.seconds.train};
      const Stopwatch watch(summary_.seconds_io);
      directory_.append_encoder(*training_);
    }
    if (summary_.iterations % config_.log_every == 0 || summary_.iterations == config_.iterations) {
      log(algorithm);
    }
    if (config_.snapshot_every > 0 && summary_.iterations % config_.snapshot_every == 0) {
      const Stopwatch watch(summary_.seconds_io);
      directory_.write_snapshot(summary_.iterations, algorithm.individuals(), task_);
    }
  }

  /// Saves everything and says how the run ended.
  RunSummary finish(const Algorithm& algorithm, RunStatus status, const std::string& error = {}) {
    progress_.finish();
    summary_.status = status;
    summary_.error = error;
    measure(algorithm);
    {
      const Stopwatch watch(summary_.seconds_io);
      summary_.container_hash = container_hash_text(algorithm.individuals());
      directory_.write_container(algorithm.individuals(), task_);
      if (algorithm.encoder()) directory_.write_encoder(algorithm.encoder()->state());
    }
    write_summary();
    return summary_;
  }

  /// After a failure: at least run.json should say so.
  void fail(const std::string& error) {
    summary_.status = RunStatus::failed;
    summary_.error = error;
    write_summary();
  }

 private:
  void measure(const Algorithm& algorithm) {
    const Stopwatch watch(summary_.seconds_metrics);
    const Individuals& members = algorithm.individuals();
    const GridMetrics grid = grid_metrics(descriptor_grid(task_), members.ground_truth,
                                          members.fitness, task_.worst_fitness);
    summary_.container_size = members.size();
    summary_.coverage = grid.coverage;
    summary_.grid_mean_fitness = grid.grid_mean_fitness;
    summary_.qd_score = grid.qd_score;
    summary_.threshold = algorithm.threshold();
    summary_.loss_per_update =
        container_updates_ == 0
            ? 0.0
            : static_cast<double>(lost_) / static_cast<double>(container_updates_);
  }

  void log(const Algorithm& algorithm) {
    measure(algorithm);
    row_.iteration = summary_.iterations;
    row_.evaluations = summary_.evaluations;
    row_.container_size = summary_.container_size;
    row_.coverage = summary_.coverage;
    row_.grid_mean_fitness = summary_.grid_mean_fitness;
    row_.qd_score = summary_.qd_score;
    row_.threshold = summary_.threshold;
    row_.container_updates = container_updates_;
    row_.loss_per_update = summary_.loss_per_update;
    const std::vector<float>& fitness = algorithm.individuals().fitness;
    if (!fitness.empty()) {
      row_.best_fitness = *std::ranges::max_element(fitness);
      row_.mean_fitness = std::accumulate(fitness.begin(), fitness.end(), 0.0) /
                          static_cast<double>(fitness.size());
    }
    {
      const Stopwatch watch(summary_.seconds_metrics);
      for (const TaskMetric metric : task_.metrics) {
        row_.extra.push_back(measured(metric, task_, algorithm.individuals()));
      }
    }
    {
      const Stopwatch watch(summary_.seconds_io);
      directory_.append_metrics(row_);
    }
    progress_.show(row_, training_ ? &*training_ : nullptr);
    row_ = {};
  }

  void write_summary() {
    summary_.seconds_total =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    directory_.write_summary(summary_);
  }

  const TaskSpec& task_;
  const RunConfig& config_;
  RunDirectory directory_;
  Progress progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunSummary summary_;
  MetricsRow row_;
  std::optional<EncoderRow> training_;
  std::size_t lost_ = 0;
  std::size_t container_updates_ = 0;
};

}  // namespace

std::string version() {
  return AURORA_VERSION;
}

std::unique_ptr<Algorithm> make_algorithm(const TaskSpec& task, const AlgorithmConfig& config,
                                          Evaluator& evaluator, Workers& workers) {
  if (config.kind == AlgorithmKind::quality_diversity) {
    return std::make_unique<QualityDiversity>(task, config, evaluator, workers);
  }
  return std::make_unique<PopulationSearch>(task, config, evaluator, workers);
}

RunSummary run(const TaskRegistry& tasks, const RunConfig& config, const RunOptions& options,
               const std::atomic<bool>& stop) {
  const std::unique_ptr<Task> task = tasks.make(config.task, config.task_options);
  Workers workers(config.threads);
  Failures failures(options.out / "failures", config.failure_share, [](const std::string& warning) {
    fmt::print(stderr, "aurora: warning: {}\n", warning);
  });
  ThreadEvaluator evaluator(*task, workers, failures, config.evaluation_seconds);
  const auto algorithm = make_algorithm(task->spec(), config.algorithm, evaluator, workers);
  Recorder recorder(task->spec(), config, options);
  try {
    while (algorithm->iteration() < config.iterations && !stop) {
      failures.count(config.algorithm.batch);
      recorder.record(*algorithm, algorithm->step());
    }
    const bool whole = algorithm->iteration() == config.iterations;
    return recorder.finish(*algorithm, whole ? RunStatus::finished : RunStatus::interrupted);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    try {
      recorder.finish(*algorithm, RunStatus::failed, reason);
    } catch (const std::exception&) {
      // The container cannot be saved either (a full disk, say); the first error is the one to
      // tell.
      try {
        recorder.fail(reason);
      } catch (const std::exception&) {
      }
    }
    throw;
  }
}

}  // namespace aurora
