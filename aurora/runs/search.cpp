#include "aurora/runs/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/internal/counting.hpp"
#include "aurora/runs/run.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {

Search::Search(Plan plan)
    : plan_(std::move(plan)),
      workers_(std::make_unique<Workers>(plan_.run.threads)),
      algorithm_(plan_.make_loop(*workers_)),
      metrics_(plan_.make_metrics()) {
  record_.summary.version = version();
  introduce(record_.summary, plan_);
}

void Search::check_whole() const {
  if (broken_) {
    throw UsageError("the last tell failed half-way, and the state is of no use: load a saved one");
  }
}

MatrixView<const float> Search::ask(MatrixView<const float> given) {
  check_whole();
  if (asked_) throw UsageError("ask was called twice: tell what the last genotypes do first");
  algorithm_->propose(given);
  asked_ = true;
  return algorithm_->genotypes();
}

EvaluationView Search::evaluation() {
  if (!asked_) throw UsageError("tell was called without ask: there is nothing to be told");
  return algorithm_->evaluation();
}

StepReport Search::tell() {
  if (!asked_) throw UsageError("tell was called without ask: there is nothing to be told");
  asked_ = false;
  broken_ = true;  // an encoder of the user's may throw
  StepReport report = algorithm_->absorb();
  broken_ = false;
  count_step(record_, report, algorithm_->iteration(), plan_.run.batch);
  return report;
}

std::vector<NamedNumber> Search::measure() const {
  std::vector<NamedNumber> all;
  for (const auto& metric : metrics_) {
    const std::vector<MetricColumn> columns = metric->columns();
    std::vector<double> values(columns.size());
    metric->measure(algorithm_->individuals(), values);
    for (std::size_t i = 0; i < columns.size(); ++i) all.push_back({columns[i].name, values[i]});
  }
  const std::vector<NamedNumber> own = algorithm_->numbers();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

void Search::save(const std::filesystem::path& directory) const {
  check_whole();
  if (path_exists(directory / "run.json")) {
    throw FileError(
        fmt::format("'{}' holds a run already; save into another directory", directory.string()));
  }
  RunDirectory place = RunDirectory::reopen(directory);
  place.write_config(plan_.toml());
  CheckpointWriter writer(directory, [&] { place.check_in_place(); });
  Checkpoint& copy = writer.copy();
  copy.task = plan_.spec().name;
  copy.task_version = plan_.spec().version;
  copy.task_spec = fingerprint(plan_.spec());
  copy.settings = plan_.settings();
  copy.record = record_;
  copy.record.summary.started = place.started();
  algorithm_->save(copy.algorithm);
  copy.algorithm.iteration = iterations();  // what was only asked is asked again
  writer.start(0, 0);
  writer.wait();
  const auto outcome = writer.outcome();
  if (outcome && !outcome->error.empty()) throw FileError(outcome->error);
}

void Search::load(const Parts& parts, const std::filesystem::path& directory) {
  const auto fresh = [&] { algorithm_ = plan_.make_loop(*workers_); };
  fresh();
  asked_ = false;
  broken_ = true;
  const std::optional<FoundCheckpoint> found =
      find_checkpoint(directory, [&](Checkpoint& checkpoint) {
        // How long a run was to be means nothing here.
        Plan endless = plan_;
        endless.run.iterations = std::max(plan_.run.iterations, checkpoint.algorithm.iteration);
        check_resumable(parts, checkpoint, endless);
        try {
          algorithm_->restore(std::move(checkpoint.algorithm));
        } catch (const DataError&) {
          fresh();
          throw;
        }
      });
  if (!found) {
    throw FileError(fmt::format("there is no state to go on from in '{}': no checkpoint is there",
                                directory.string()));
  }
  record_ = found->checkpoint.record;
  broken_ = false;
}

}  // namespace aurora
