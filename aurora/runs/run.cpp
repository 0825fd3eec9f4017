#include "aurora/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/stopwatch.hpp"
#include "aurora/metrics/linear_fit.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/failures.hpp"
#include "aurora/runs/internal/counting.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora {
namespace {

/// Individuals outside the bounds of the plane that coverage looks at.
std::size_t count_outside(const Individuals& members, const TaskSpec& spec) {
  std::size_t outside = 0;
  for (std::size_t row = 0; row < members.size(); ++row) {
    bool inside = true;
    for (std::size_t i = 0; i < kHandCodedSize; ++i) {
      const Axis& axis = spec.ground_truth[i];
      const float value = members.ground_truth(row, i);
      inside = inside && value >= axis.min && value <= axis.max;
    }
    outside += inside ? 0 : 1;
  }
  return outside;
}

/// The metrics of a plan, measured together.
class Measurements {
 public:
  explicit Measurements(const Plan& plan) : metrics_(plan.make_metrics()) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      standard_.push_back(plan.metrics[i].entry->standard);
    }
  }

  /// Those that every run has, and those that this one has besides.
  void measure(const Individuals& members) {
    everywhere.clear();
    here.clear();
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      const std::vector<MetricColumn> columns = metrics_[i]->columns();
      std::vector<double> values(columns.size());
      metrics_[i]->measure(members, values);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        (standard_[i] ? everywhere : here).push_back({columns[c].name, values[c]});
      }
    }
  }

  std::vector<std::pair<std::string, std::string>> units() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& metric : metrics_) {
      for (const MetricColumn& column : metric->columns()) {
        if (!column.unit.empty()) all.emplace_back(column.name, column.unit);
      }
    }
    return all;
  }

  std::vector<NamedNumber> everywhere;
  std::vector<NamedNumber> here;

 private:
  std::vector<std::unique_ptr<Metric>> metrics_;
  std::vector<bool> standard_;
};

/// Follows an algorithm: counts, measures, writes the run directory, tells the observer.
class Recorder {
 public:
  Recorder(const Plan& plan, const RunOptions& options, RunObserver& observer,
           RunDirectory directory)
      : plan_(plan),
        wanted_(options.checkpoint_wanted),
        remarks_(options.remarks),
        observer_(observer),
        directory_(std::move(directory)),
        checkpoints_(directory_.path(), [this] { directory_.check_in_place(); }),
        measurements_(plan) {
    record_.summary.started = directory_.started();
  }

  /// Goes on from a checkpoint: what was counted, and the tables as they were.
  void resume(const FoundCheckpoint& found) {
    const Checkpoint& saved = found.checkpoint;
    record_ = saved.record;
    const RunSummary& summary = record_.summary;
    if (!found.damage.empty()) {
      observer_.warn(
          fmt::format("the last checkpoint is damaged and the previous one, of iteration {}, is "
                      "used: {}",
                      summary.iterations, found.damage));
      set_damaged_aside(directory_.path());
    }
    if (summary.version != version()) {
      observer_.warn(
          fmt::format("the run was begun by version {}, this is {}: results may differ from those "
                      "of one version alone",
                      summary.version, version()));
    }
    earlier_seconds_ = summary.seconds_total;
    saved_iteration_ = summary.iterations;
    directory_.restore_tables(saved.metrics, saved.training);
    observer_.resumed(summary.iterations, summary.evaluations);
    observer_.note(fmt::format("resumed at iteration {}", summary.iterations));
  }

  /// Writes down what is about to be run.
  void begin(const Evaluator& evaluator) {
    RunSummary& summary = record_.summary;
    summary.version = version();
    introduce(summary, plan_);
    const std::string who = evaluator.describe();
    if (!who.empty()) summary.evaluator += ": " + who;
    summary.units = measurements_.units();
    for (const std::string& remark : remarks_) {
      if (std::ranges::find(summary.remarks, remark) == summary.remarks.end()) {
        summary.remarks.push_back(remark);
      }
    }
    summary.manifest.clear();
    directory_.write_config(plan_.toml());
    directory_.write_summary(summary);
  }

  /// Begins anew: nothing that was there before a first checkpoint counts.
  void forget_tables() { directory_.restore_tables({}, {}); }

  void record(const Algorithm& algorithm, const StepReport& step) {
    RunSummary& summary = record_.summary;
    count_step(record_, step, algorithm.iteration(), plan_.run.batch);
    if (step.training) {
      training_ = *step.training;
      const double r2 = truth_r2(algorithm.individuals());
      const Stopwatch watch(summary.seconds_io);
      directory_.append_encoder(training_row(summary.iterations, step, r2));
    }
    if (row_due()) {
      log(algorithm);
    } else if (observer_.wants_standing()) {
      if (summary.metrics.empty()) measure(algorithm);  // something to show from the first second
      tell_standing(algorithm, summary.metrics);
    }
    if (plan_.run.snapshot_every > 0 && summary.iterations % plan_.run.snapshot_every == 0) {
      const Stopwatch watch(summary.seconds_io);
      directory_.write_snapshot(summary.iterations, algorithm.individuals(), plan_.spec());
    }
  }

  /// Begins a checkpoint if it is time for one, or somebody asked for it.
  void checkpoint_if_due(const Algorithm& algorithm) {
    tell_outcome();
    const bool asked = wanted_ && *wanted_;
    const auto period = std::chrono::duration<double>(plan_.run.checkpoint_seconds);
    const bool due = period.count() > 0 && Clock::now() - last_checkpoint_ >= period;
    if ((!asked && !due) || !checkpoints_.idle()) return;
    if (wanted_) *wanted_ = false;
    start_checkpoint(algorithm);
  }

  /// Begins the checkpoint at the end, unless this very state is in one already; finish() waits
  /// for it.
  void last_checkpoint(const Algorithm& algorithm) {
    wait_for_checkpoint();
    if (saved_iteration_ != iterations()) start_checkpoint(algorithm);
  }

  /// Iterations that are done.
  std::size_t iterations() const { return record_.summary.iterations; }

  /// Saves everything and says how the run ended.
  RunSummary finish(const Algorithm& algorithm, RunStatus status, const std::string& error = {}) {
    RunSummary& summary = record_.summary;
    // The last row may be out of turn. No checkpoint has it: a run that is extended does without.
    if (status == RunStatus::finished && !row_due()) log(algorithm);
    observer_.ended();
    summary.status = status;
    summary.error = error;
    measure(algorithm);
    {
      const Stopwatch watch(summary.seconds_io);
      const Individuals& members = algorithm.individuals();
      summary.outside = count_outside(members, plan_.spec());
      summary.container_hash = container_hash_text(members);
      directory_.write_config(plan_.toml());  // should somebody have removed it
      // Whoever finds results finds the checkpoint that they came from: both are written side by
      // side, but the container takes its place second.
      directory_.write_container(members, algorithm.container_state(), plan_.spec(), [this] {
        checkpoints_.wait();
        tell_outcome();
      });
      if (const Encoder* encoder = algorithm.encoder()) {
        directory_.write_encoder(encoder->state());
        directory_.write_reconstructions(reconstruct_some(*encoder, members, plan_.spec()),
                                         plan_.spec().sensory);
      }
    }
    {
      const Stopwatch watch(summary.seconds_io);
      directory_.seal(summary);
    }
    write_summary();
    return summary;
  }

  /// After a failure: at least run.json should say so.
  void fail(const std::string& error) {
    record_.summary.status = RunStatus::failed;
    record_.summary.error = error;
    record_.summary.manifest.clear();
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
    observer_.saved_up_to(*saved_iteration_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool row_due() const { return record_.summary.iterations % plan_.run.log_every == 0; }

  static Row training_row(std::size_t iteration, const StepReport& step, double truth_r2) {
    const TrainingReport& training = *step.training;
    const auto number = [](std::size_t n) { return static_cast<double>(n); };
    Row row = {{"iteration", number(iteration)},
               {"examples", number(training.examples)},
               {"validation", number(training.validation)},
               {"epochs", number(training.epochs)},
               {"train_loss", training.train_loss},
               {"validation_loss", training.validation_loss},
               {"truth_r2", truth_r2},
               {"seconds", step.seconds.train}};
    row.insert(row.end(), training.extra.begin(), training.extra.end());
    return row;
  }

  /// How much the new descriptors know of what a human would have described.
  double truth_r2(const Individuals& members) {
    const Stopwatch watch(record_.summary.seconds_metrics);
    return explained_variance(members.descriptors, members.ground_truth,
                              plan_.spec().hand_coded_size);
  }

  void measure(const Algorithm& algorithm) {
    RunSummary& summary = record_.summary;
    const Stopwatch watch(summary.seconds_metrics);
    measurements_.measure(algorithm.individuals());
    numbers_ = algorithm.numbers();
    summary.container_size = algorithm.individuals().size();
    summary.metrics = measurements_.everywhere;
    summary.metrics.insert(summary.metrics.end(), numbers_.begin(), numbers_.end());
    summary.metrics.insert(summary.metrics.end(), measurements_.here.begin(),
                           measurements_.here.end());
    summary.loss_per_update =
        record_.container_updates == 0
            ? 0.0
            : static_cast<double>(record_.lost) / static_cast<double>(record_.container_updates);
  }

  Row metrics_row() const {
    const RunSummary& summary = record_.summary;
    const Counts& counts = record_.since_row;
    const auto number = [](std::size_t n) { return static_cast<double>(n); };
    Row row = {{"iteration", number(summary.iterations)},
               {"evaluations", number(summary.evaluations)},
               {"container_size", number(summary.container_size)}};
    const auto add = [&](const std::vector<NamedNumber>& more) {
      row.insert(row.end(), more.begin(), more.end());
    };
    add(measurements_.everywhere);
    add(numbers_);
    add({{"added", number(counts.added)},
         {"replaced", number(counts.replaced)},
         {"rejected", number(counts.rejected)},
         {"invalid", number(counts.invalid)},
         {"lost", number(counts.lost)},
         {"container_updates", number(record_.container_updates)},
         {"loss_per_update", summary.loss_per_update}});
    add(measurements_.here);
    return row;
  }

  void log(const Algorithm& algorithm) {
    measure(algorithm);
    RunSummary& summary = record_.summary;
    const Row row = metrics_row();
    {
      const Stopwatch watch(summary.seconds_io);
      directory_.append_metrics(row);
    }
    for (; left_out_ < directory_.left_out().size(); ++left_out_) {
      observer_.warn(fmt::format("the run was begun without a column '{}': it is left out",
                                 directory_.left_out()[left_out_]));
    }
    tell_standing(algorithm, row);
    record_.since_row = {};
  }

  void tell_standing(const Algorithm& algorithm, const Row& row) {
    observer_.stands({.iteration = record_.summary.iterations,
                      .iterations = plan_.run.iterations,
                      .evaluations = record_.summary.evaluations,
                      .container_size = algorithm.individuals().size(),
                      .target_size = plan_.run.target_size,
                      .row = row,
                      .training = training_ ? &*training_ : nullptr});
  }

  /// Copies the state, which is all that the run waits for.
  void start_checkpoint(const Algorithm& algorithm) {
    const Stopwatch watch(record_.summary.seconds_io);
    directory_.check_in_place();  // another run's checkpoint may lie there now
    last_checkpoint_ = Clock::now();
    record_.summary.seconds_total = seconds_so_far();
    Checkpoint& copy = checkpoints_.copy();
    try {
      copy.task = plan_.spec().name;
      copy.task_version = plan_.spec().version;
      copy.task_spec = fingerprint(plan_.spec());
      copy.settings = plan_.settings();
      copy.record = record_;
      algorithm.save(copy.algorithm);
      // One that was given up half-way does not count: what it proposed will be proposed again.
      copy.algorithm.iteration = iterations();
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
    if (std::exchange(failing_, false)) observer_.note("checkpoints are written again");
  }

  void tell_failure(const std::string& reason) {
    if (std::exchange(failing_, true)) return;
    observer_.warn(fmt::format(
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

  const Plan& plan_;
  std::atomic<bool>* wanted_;
  std::vector<std::string> remarks_;
  RunObserver& observer_;
  RunDirectory directory_;
  CheckpointWriter checkpoints_;
  Measurements measurements_;
  std::vector<NamedNumber> numbers_;  // of the container, as last measured
  RunRecord record_;
  std::optional<TrainingReport> training_;
  std::size_t left_out_ = 0;  // columns that the observer has been told of
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

/// Whether run.json says that the run was killed, interrupted or failed.
bool ended_early(const std::filesystem::path& run) {
  try {
    return read_summary(run / "run.json").status != RunStatus::finished;
  } catch (const Error&) {
    return false;  // who knows
  }
}

/// A run without a checkpoint may begin anew, with the configuration it has: it comes to the same
/// results again, whatever it left when it ended early. A finished one, from which somebody has
/// taken the checkpoint away, is left alone: it can only not be made longer.
void check_restartable(const Parts& parts, const Plan& plan, const std::filesystem::path& run,
                       bool done) {
  if (!done && std::filesystem::exists(run / "container") && !ended_early(run)) {
    throw FileError(
        fmt::format("'{0}' has results but no checkpoint: '{0}/checkpoint' is missing, and without "
                    "it the run cannot go on; start a new one in another directory",
                    run.string()));
  }
  if (!std::filesystem::exists(run / "config.toml")) return;
  check_same_run(parts, plan_of_run(parts, run).settings(), plan);
}

}  // namespace

std::string version() {
  return AURORA_VERSION;
}

RunSummary run(const Parts& parts, const Plan& plan, const RunOptions& options,
               const std::atomic<bool>& stop) {
  RunObserver nobody;
  RunObserver& observer = options.observer ? *options.observer : nobody;
  Workers workers(plan.run.threads);
  const auto warn = [&](const std::string& warning) { observer.warn(warning); };
  Failures failures(options.out / "failures", plan.run.failure_share, warn);
  const std::unique_ptr<Evaluator> evaluator = plan.make_evaluator(workers, warn);
  if (evaluator->serve()) return {};
  Guard guard(*evaluator, failures, plan.run.evaluation_seconds);
  const Watch watch{[&](std::string_view what, double share) { observer.makes(what, share); },
                    &stop};
  std::unique_ptr<Algorithm> algorithm = plan.make_loop(workers, watch);

  RunDirectory directory =
      options.resume ? RunDirectory::reopen(options.out) : RunDirectory::create(options.out);
  std::optional<FoundCheckpoint> found;
  if (options.resume) {
    refuse_digest(options.out);
    found = find_checkpoint(options.out, [&](Checkpoint& checkpoint) {
      check_resumable(parts, checkpoint, plan);
      try {
        algorithm->restore(std::move(checkpoint.algorithm));
      } catch (const DataError&) {
        algorithm = plan.make_loop(workers, watch);
        throw;
      }
    });
    const auto done = finished_summary(options.out, plan.run.iterations);
    if (!found) check_restartable(parts, plan, options.out, done.has_value());
    if (done) return *done;
  }
  Recorder recorder(plan, options, observer, std::move(directory));
  if (found) {
    recorder.resume(*found);
    found.reset();
  } else if (options.resume) {
    recorder.forget_tables();
  }
  recorder.begin(*evaluator);

  try {
    while (algorithm->iteration() < plan.run.iterations && !stop) {
      failures.count(plan.run.batch);
      try {
        recorder.record(*algorithm, algorithm->step(guard));
      } catch (const Interrupted&) {
        if (stop) break;
        recorder.last_checkpoint(*algorithm);
        throw;
      }
      recorder.checkpoint_if_due(*algorithm);
    }
    recorder.last_checkpoint(*algorithm);
    const bool whole = recorder.iterations() == plan.run.iterations;
    return recorder.finish(*algorithm, whole ? RunStatus::finished : RunStatus::interrupted);
  } catch (const std::exception& error) {
    // An error of ours leaves the algorithm as it was before the step. Anything else (no memory,
    // say) may come from the middle of one: of that state nothing is saved.
    const std::string reason = error.what();
    try {
      if (dynamic_cast<const Error*>(&error) != nullptr) {
        // Nothing is wrong with the run itself: it goes on from right here.
        if (dynamic_cast<const Lost*>(&error) != nullptr) recorder.last_checkpoint(*algorithm);
        recorder.finish(*algorithm, RunStatus::failed, reason);
      } else {
        recorder.fail(reason);
      }
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
