#include "aurora/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "aurora/algorithms/population_search.hpp"
#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/stopwatch.hpp"
#include "aurora/metrics/grid.hpp"
#include "aurora/metrics/orientation.hpp"
#include "aurora/metrics/trajectory.hpp"
#include "aurora/runs/checkpoint.hpp"
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
  Recorder(const TaskSpec& task, const RunConfig& config, const RunOptions& options,
           RunDirectory directory)
      : task_(task),
        config_(config),
        wanted_(options.checkpoint_wanted),
        directory_(std::move(directory)),
        checkpoints_(directory_.path(), [this] { directory_.check_in_place(); }),
        progress_(stderr, options.quiet, config.iterations, config.algorithm.target_size) {
    record_.summary.started = directory_.started();
  }

  /// Goes on from a checkpoint: what was counted, and the tables as they were.
  void resume(const FoundCheckpoint& found) {
    const Checkpoint& saved = found.checkpoint;
    record_ = saved.record;
    const RunSummary& summary = record_.summary;
    if (!found.damage.empty()) {
      progress_.warn(
          fmt::format("the last checkpoint is damaged and the previous one, of iteration {}, is "
                      "used: {}",
                      summary.iterations, found.damage));
      set_damaged_aside(directory_.path());
    }
    if (summary.version != version()) {
      progress_.warn(
          fmt::format("the run was begun by version {}, this is {}: results may differ from those "
                      "of one version alone",
                      summary.version, version()));
    }
    earlier_seconds_ = summary.seconds_total;
    saved_iteration_ = summary.iterations;
    directory_.restore_tables(saved.metrics, saved.training);
    progress_.start_from(summary.iterations, summary.evaluations);
    progress_.say(fmt::format("resumed at iteration {}", summary.iterations));
  }

  /// Writes down what is about to be run.
  void begin() {
    RunSummary& summary = record_.summary;
    summary.version = version();
    summary.task = config_.task;
    summary.variant = config_.variant;
    summary.seed = config_.algorithm.seed;
    summary.threads = config_.threads;
    summary.status = RunStatus::running;
    directory_.write_config(to_toml(config_));
    directory_.write_summary(summary);
  }

  /// Begins anew: nothing that was there before a first checkpoint counts.
  void forget_tables() { directory_.restore_tables({}, {}); }

  void record(const Algorithm& algorithm, const StepReport& step) {
    RunSummary& summary = record_.summary;
    MetricsRow& row = record_.row;
    add_to(summary.seconds, step.seconds);
    summary.iterations = algorithm.iteration();
    summary.evaluations += config_.algorithm.batch;
    summary.simulations += step.simulated;
    summary.invalid += step.invalid;
    row.added += step.added;
    row.replaced += step.replaced;
    row.rejected += step.rejected;
    row.invalid += step.invalid;
    row.lost += step.lost;
    record_.lost += step.lost;
    record_.container_updates += step.container_updated ? 1 : 0;

    if (step.training) {
      training_ = {summary.iterations, *step.training, step.seconds.train};
      const Stopwatch watch(summary.seconds_io);
      directory_.append_encoder(*training_);
    }
    if (row_due()) log(algorithm);
    if (config_.snapshot_every > 0 && summary.iterations % config_.snapshot_every == 0) {
      const Stopwatch watch(summary.seconds_io);
      directory_.write_snapshot(summary.iterations, algorithm.individuals(), task_);
    }
  }

  /// Begins a checkpoint if it is time for one, or somebody asked for it.
  void checkpoint_if_due(const Algorithm& algorithm) {
    tell_outcome();
    const bool asked = wanted_ && *wanted_;
    const auto period = std::chrono::duration<double>(config_.checkpoint_seconds);
    const bool due = period.count() > 0 && Clock::now() - last_checkpoint_ >= period;
    if ((!asked && !due) || !checkpoints_.idle()) return;
    if (wanted_) *wanted_ = false;
    start_checkpoint(algorithm);
  }

  /// Begins the checkpoint at the end, unless this very state is in one already; finish() waits
  /// for it.
  void last_checkpoint(const Algorithm& algorithm) {
    wait_for_checkpoint();
    if (saved_iteration_ != algorithm.iteration()) start_checkpoint(algorithm);
  }

  /// Saves everything and says how the run ended.
  RunSummary finish(const Algorithm& algorithm, RunStatus status, const std::string& error = {}) {
    RunSummary& summary = record_.summary;
    // The last row may be out of turn. No checkpoint has it: a run that is extended does without.
    if (status == RunStatus::finished && !row_due()) log(algorithm);
    progress_.finish();
    summary.status = status;
    summary.error = error;
    measure(algorithm);
    {
      const Stopwatch watch(summary.seconds_io);
      summary.container_hash = container_hash_text(algorithm.individuals());
      directory_.write_config(to_toml(config_));  // should somebody have removed it
      directory_.write_container(algorithm.individuals(), task_);
      if (const Encoder* encoder = algorithm.encoder()) {
        directory_.write_encoder(encoder->state());
        directory_.write_reconstructions(reconstruct_some(*encoder, algorithm.individuals(), task_),
                                         task_.sensory);
      }
    }
    wait_for_checkpoint();
    write_summary();
    return summary;
  }

  /// After a failure: at least run.json should say so.
  void fail(const std::string& error) {
    record_.summary.status = RunStatus::failed;
    record_.summary.error = error;
    write_summary();
  }

  /// After a failure: that not all is lost.
  void tell_what_is_saved() {
    if (!saved_iteration_) return;
    try {
      directory_.check_in_place();
    } catch (const FileError&) {
      return;  // it is not there any more, which is the failure
    }
    progress_.warn(
        fmt::format("the run is saved up to iteration {}; once the cause of the error is mended, "
                    "aurora run --resume --out '{}' goes on from there",
                    *saved_iteration_, directory_.path().string()));
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool row_due() const { return record_.summary.iterations % config_.log_every == 0; }

  void measure(const Algorithm& algorithm) {
    RunSummary& summary = record_.summary;
    const Stopwatch watch(summary.seconds_metrics);
    const Individuals& members = algorithm.individuals();
    const GridMetrics grid = grid_metrics(descriptor_grid(task_), members.ground_truth,
                                          members.fitness, task_.worst_fitness);
    summary.container_size = members.size();
    summary.coverage = grid.coverage;
    summary.grid_mean_fitness = grid.grid_mean_fitness;
    summary.qd_score = grid.qd_score;
    summary.threshold = algorithm.threshold();
    summary.loss_per_update =
        record_.container_updates == 0
            ? 0.0
            : static_cast<double>(record_.lost) / static_cast<double>(record_.container_updates);
  }

  void log(const Algorithm& algorithm) {
    measure(algorithm);
    RunSummary& summary = record_.summary;
    MetricsRow& row = record_.row;
    row.iteration = summary.iterations;
    row.evaluations = summary.evaluations;
    row.container_size = summary.container_size;
    row.coverage = summary.coverage;
    row.grid_mean_fitness = summary.grid_mean_fitness;
    row.qd_score = summary.qd_score;
    row.threshold = summary.threshold;
    row.container_updates = record_.container_updates;
    row.loss_per_update = summary.loss_per_update;
    const std::vector<float>& fitness = algorithm.individuals().fitness;
    if (!fitness.empty()) {
      row.best_fitness = *std::ranges::max_element(fitness);
      row.mean_fitness = std::accumulate(fitness.begin(), fitness.end(), 0.0) /
                         static_cast<double>(fitness.size());
    }
    {
      const Stopwatch watch(summary.seconds_metrics);
      for (const TaskMetric metric : task_.metrics) {
        row.extra.push_back(measured(metric, task_, algorithm.individuals()));
      }
    }
    {
      const Stopwatch watch(summary.seconds_io);
      directory_.append_metrics(row);
    }
    progress_.show(row, training_ ? &*training_ : nullptr);
    row = {};
  }

  /// Copies the state, which is all that the run waits for.
  void start_checkpoint(const Algorithm& algorithm) {
    const Stopwatch watch(record_.summary.seconds_io);
    directory_.check_in_place();  // another run's checkpoint may lie there now
    last_checkpoint_ = Clock::now();
    record_.summary.seconds_total = seconds_so_far();
    Checkpoint& copy = checkpoints_.copy();
    try {
      copy.task = task_.name;
      copy.task_version = task_.version;
      copy.settings = settings_of(config_);
      copy.record = record_;
      algorithm.save(copy.algorithm);
    } catch (const std::bad_alloc&) {
      return tell_failure("there is not enough memory for a copy of the state");
    }
    checkpoints_.start(directory_.metrics_bytes(), directory_.encoder_bytes());
  }

  void wait_for_checkpoint() {
    const Stopwatch watch(record_.summary.seconds_io);
    checkpoints_.wait();
    tell_outcome();
  }

  /// Says how the last checkpoint went, if that is news.
  void tell_outcome() {
    const auto outcome = checkpoints_.outcome();
    if (!outcome) return;
    if (!outcome->error.empty()) return tell_failure(outcome->error);
    saved_iteration_ = outcome->iteration;
    if (std::exchange(failing_, false)) progress_.say("checkpoints are written again");
  }

  void tell_failure(const std::string& reason) {
    if (std::exchange(failing_, true)) return;
    progress_.warn(fmt::format(
        "no checkpoint could be written: {}; the last good one is kept, and the run goes on and "
        "tries again",
        reason));
  }

  double seconds_so_far() const {
    return earlier_seconds_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void write_summary() {
    record_.summary.seconds_total = seconds_so_far();
    directory_.write_summary(record_.summary);
  }

  const TaskSpec& task_;
  const RunConfig& config_;
  std::atomic<bool>* wanted_;
  RunDirectory directory_;
  CheckpointWriter checkpoints_;
  Progress progress_;
  RunRecord record_;
  std::optional<EncoderRow> training_;
  Clock::time_point start_ = Clock::now();
  double earlier_seconds_ = 0;  // of the run before it was resumed
  Clock::time_point last_checkpoint_ = start_;
  std::optional<std::size_t> saved_iteration_;  // of the last good checkpoint
  bool failing_ = false;                        // the last checkpoint could not be written
};

/// Whether a run ended after just as many iterations as are wanted; there is nothing to do then.
std::optional<RunSummary> finished_summary(const std::filesystem::path& run,
                                           std::size_t iterations) {
  try {
    RunSummary summary = read_summary(run / "run.json");
    if (summary.status == RunStatus::finished && summary.iterations == iterations) return summary;
  } catch (const Error&) {
    // Not there, or broken: the checkpoint says how far the run came.
  }
  return std::nullopt;
}

/// A run without a checkpoint may begin anew, with the configuration it has, but never over
/// results.
void check_restartable(const TaskRegistry& tasks, const RunConfig& config,
                       const std::filesystem::path& run) {
  if (std::filesystem::exists(run / "container")) {
    throw FileError(
        fmt::format("'{0}' has results but no checkpoint: '{0}/checkpoint' is missing, and without "
                    "it the run cannot go on; start a new one with another --out",
                    run.string()));
  }
  if (!std::filesystem::exists(run / "config.toml")) return;
  check_same_run(settings_of(config_of_run(tasks, run)), config);
}

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
  auto algorithm = make_algorithm(task->spec(), config.algorithm, evaluator, workers);

  RunDirectory directory =
      options.resume ? RunDirectory::reopen(options.out) : RunDirectory::create(options.out);
  std::optional<FoundCheckpoint> found;
  if (options.resume) {
    found = find_checkpoint(options.out, [&](Checkpoint& checkpoint) {
      check_resumable(checkpoint, task->spec(), config);
      try {
        algorithm->restore(std::move(checkpoint.algorithm));
      } catch (const DataError&) {
        algorithm = make_algorithm(task->spec(), config.algorithm, evaluator, workers);
        throw;
      }
    });
    if (found) {
      if (const auto done = finished_summary(options.out, config.iterations)) return *done;
    } else {
      check_restartable(tasks, config, options.out);
    }
  }
  Recorder recorder(task->spec(), config, options, std::move(directory));
  if (found) {
    recorder.resume(*found);
    found.reset();
  } else if (options.resume) {
    recorder.forget_tables();
  }
  recorder.begin();

  try {
    while (algorithm->iteration() < config.iterations && !stop) {
      failures.count(config.algorithm.batch);
      recorder.record(*algorithm, algorithm->step());
      recorder.checkpoint_if_due(*algorithm);
    }
    recorder.last_checkpoint(*algorithm);
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
    recorder.tell_what_is_saved();
    throw;
  }
}

}  // namespace aurora
