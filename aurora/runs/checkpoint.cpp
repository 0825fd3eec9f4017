#include "aurora/runs/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/internal/summary_json.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/array_directory.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kCheckpointVersion = 2;  // 1 is read, too
constexpr const char* kPrevious = "checkpoint.previous";
constexpr const char* kDamaged = "checkpoint.damaged";
constexpr const char* kContainer = "container.";
constexpr const char* kPopulation = "population.";
constexpr const char* kEncoder = "encoder.";
constexpr const char* kContainerState = "container_state.";
constexpr const char* kLoopState = "loop_state.";
constexpr const char* kMetrics = "metrics.csv.npy";
constexpr const char* kTraining = "encoder_updates.csv.npy";

/// What version 1 said of the threshold, in the words of the container that owns it now.
std::vector<NamedNumber> old_threshold(const JsonObject& json) {
  return {{"threshold.value", json.number("value")},
          {"threshold.encoder_updated", json.flag("encoder_updated") ? 1.0 : 0.0},
          {"threshold.anchor", json.number("pid_anchor")},
          {"threshold.sum", json.number("pid_sum")},
          {"threshold.error", json.number("pid_error")},
          {"threshold.trend", json.number("pid_trend")}};
}

Json manifest_of(const Checkpoint& checkpoint) {
  const AlgorithmState& algorithm = checkpoint.algorithm;
  const RunRecord& record = checkpoint.record;
  Json settings = Json::object();
  for (const auto& [key, value] : checkpoint.settings) settings[key] = value;
  return {{"checkpoint_version", kCheckpointVersion},
          {"task", checkpoint.task},
          {"task_version", checkpoint.task_version},
          {"task_spec", checkpoint.task_spec},
          {"settings", std::move(settings)},
          {"iteration", algorithm.iteration},
          {"encoder_updates", algorithm.encoder_updates},
          {"container", numbers_json(algorithm.container_state.numbers)},
          {"loop", numbers_json(algorithm.loop_state.numbers)},
          {"extra_columns", algorithm.container.extra_names},
          {"container_size", algorithm.container.size()},
          {"population_size", algorithm.population.size()},
          {"since_last_row",
           {{"added", record.since_row.added},
            {"replaced", record.since_row.replaced},
            {"rejected", record.since_row.rejected},
            {"invalid", record.since_row.invalid},
            {"lost", record.since_row.lost}}},
          {"lost", record.lost},
          {"container_updates", record.container_updates},
          {"summary", summary_json(record.summary)}};
}

RunRecord record_of(const JsonObject& manifest) {
  RunRecord record;
  const JsonObject row = manifest.object("since_last_row");
  record.since_row.added = row.whole("added");
  record.since_row.replaced = row.whole("replaced");
  record.since_row.rejected = row.whole("rejected");
  record.since_row.invalid = row.whole("invalid");
  record.since_row.lost = row.whole("lost");
  record.lost = manifest.whole("lost");
  record.container_updates = manifest.whole("container_updates");
  record.summary = summary_of(manifest.object("summary"));
  return record;
}

/// The format's version. DataError unless this is a checkpoint that we read.
std::uint64_t check_version(const ArrayDirectoryReader& reader) {
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != "checkpoint") manifest.wrong("kind", "'checkpoint'");
  const std::uint64_t version = manifest.whole("checkpoint_version");
  if (version < 1 || version > kCheckpointVersion) {
    throw VersionError(fmt::format(
        "{}: checkpoint format version {} is not read; only up to {}: resume with the program that "
        "wrote it ({}), or start a new run in another directory",
        reader.where(), version, kCheckpointVersion, manifest.object("summary").text("version")));
  }
  return version;
}

Checkpoint load_checkpoint(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  const std::uint64_t version = check_version(reader);
  Checkpoint checkpoint;
  checkpoint.task = manifest.text("task");
  checkpoint.task_version = manifest.whole("task_version");
  if (manifest.has("task_spec")) checkpoint.task_spec = manifest.text("task_spec");
  checkpoint.settings = manifest.object("settings").texts();
  checkpoint.record = record_of(manifest);
  checkpoint.metrics = reader.read_text(kMetrics);
  checkpoint.training = reader.read_text(kTraining);

  AlgorithmState& algorithm = checkpoint.algorithm;
  algorithm.iteration = manifest.whole("iteration");
  if (checkpoint.record.summary.iterations != algorithm.iteration) {
    manifest.wrong("iteration", "the number of iterations in 'summary'");
  }
  algorithm.encoder_updates = manifest.whole("encoder_updates");
  algorithm.container_state.numbers = version == 1 ? old_threshold(manifest.object("threshold"))
                                                   : manifest.object("container").numbers();
  algorithm.container_state.arrays = reader.read_arrays(kContainerState);
  if (manifest.has("loop")) algorithm.loop_state.numbers = manifest.object("loop").numbers();
  algorithm.loop_state.arrays = reader.read_arrays(kLoopState);
  const std::vector<std::string> extra = manifest.text_list("extra_columns");
  algorithm.container =
      reader.read_columns(kContainer, manifest.whole("container_size"), true, extra);
  if (const std::size_t size = manifest.whole("population_size"); size > 0) {
    algorithm.population = reader.read_columns(kPopulation, size, true, extra);
  }
  algorithm.encoder = reader.read_arrays(kEncoder);
  for (const auto& [prefix, individuals] : {std::pair(kContainer, &algorithm.container),
                                            std::pair(kPopulation, &algorithm.population)}) {
    if (!has_valid_genes(*individuals)) {
      reader.wrong(fmt::format("{}genotypes.npy", prefix), "there are genes outside [0, 1]");
    }
  }
  return checkpoint;
}

/// Adds the first bytes of a table, which is still growing; an empty one may not be there yet. They
/// come piece by piece: a long run has long tables, and their memory would not all come back.
void add_beginning(ArrayDirectoryWriter& writer, const char* name, const fs::path& table,
                   std::uint64_t bytes) {
  writer.add(name, {NpyType::uint8, {static_cast<std::size_t>(bytes)}}, [&](OutputFile& out) {
    if (bytes == 0) return;
    InputFile in(table);
    std::array<std::byte, 16384> piece;
    for (std::uint64_t left = bytes; left > 0;) {
      const auto part = std::span(piece).first(std::min<std::uint64_t>(left, piece.size()));
      in.read(part);
      out.write(part);
      left -= part.size();
    }
  });
}

/// Writes a checkpoint with the first bytes of the tables; `check` is called before anything is
/// written and before the new one takes its place.
void write_checkpoint(const fs::path& run, const Checkpoint& checkpoint,
                      const std::function<void()>& check, std::uint64_t metrics_bytes,
                      std::uint64_t training_bytes) {
  check();
  write_directory(
      run / kLastCheckpoint,
      [&](const fs::path& fresh) {
        ArrayDirectoryWriter writer(fresh);
        writer.add_columns(kContainer, checkpoint.algorithm.container, true, {});
        if (checkpoint.algorithm.population.size() > 0) {
          writer.add_columns(kPopulation, checkpoint.algorithm.population, true, {});
        }
        writer.add_arrays(kEncoder, checkpoint.algorithm.encoder);
        writer.add_arrays(kContainerState, checkpoint.algorithm.container_state.arrays);
        writer.add_arrays(kLoopState, checkpoint.algorithm.loop_state.arrays);
        add_beginning(writer, kMetrics, run / "metrics.csv", metrics_bytes);
        add_beginning(writer, kTraining, run / "encoder.csv", training_bytes);
        writer.finish("checkpoint", manifest_of(checkpoint));
        check();
      },
      run / kPrevious);
}

/// `take`, with the checkpoint's name in the message of a DataError.
void taken(Checkpoint& checkpoint, const fs::path& directory,
           const std::function<void(Checkpoint&)>& take) {
  try {
    take(checkpoint);
  } catch (const DataError& error) {
    throw DataError(
        fmt::format("'{}' is no state of this run: {}", directory.string(), error.what()));
  }
}

}  // namespace

std::optional<FoundCheckpoint> find_checkpoint(const fs::path& run,
                                               const std::function<void(Checkpoint&)>& take) {
  std::string damage;
  for (const char* name : {kLastCheckpoint, kPrevious}) {
    const fs::path directory = whole_directory(run / name);
    std::error_code ignored;  // what cannot be looked at cannot be read either
    if (!fs::exists(directory, ignored)) continue;
    try {
      FoundCheckpoint found{load_checkpoint(directory), damage};
      if (take) taken(found.checkpoint, directory, take);
      return found;
    } catch (const VersionError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      damage += (damage.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (damage.empty()) return std::nullopt;
  throw DataError(fmt::format("'{}' has no checkpoint that can be used: {}", run.string(), damage));
}

std::size_t checkpoint_iteration(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  check_version(reader);
  return reader.manifest().whole("iteration");
}

Individuals load_checkpoint_container(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  check_version(reader);
  const JsonObject manifest = reader.manifest();
  const Individuals stored = reader.read_columns(kContainer, manifest.whole("container_size"),
                                                 false, manifest.text_list("extra_columns"));
  check_ids(stored);
  if (!has_valid_genes(stored)) {
    reader.wrong(fmt::format("{}genotypes.npy", kContainer), "there are genes outside [0, 1]");
  }
  Individuals sorted = stored;
  const std::vector<std::uint32_t> order = rows_by_age(stored);
  for (std::size_t row = 0; row < order.size(); ++row) {
    // The reconstruction error may be infinite, as in a container.
    if (!is_evaluated(stored, row) || !all_finite(stored.descriptors.row(row))) {
      reader.wrong(fmt::format("{}fitness.npy", kContainer), "an individual is not finite");
    }
    sorted.copy_row(stored, order[row], row);
  }
  return sorted;
}

std::vector<NamedArray> load_checkpoint_encoder(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  check_version(reader);
  return reader.read_arrays(kEncoder);
}

void set_damaged_aside(const fs::path& run) {
  move_path(whole_directory(run / kLastCheckpoint), run / kDamaged);
}

void check_resumable(const Parts& parts, const Checkpoint& checkpoint, const Plan& plan) {
  check_same_run(parts, checkpoint.settings, plan);
  if (checkpoint.task_version != plan.spec().version) {
    throw UsageError(fmt::format(
        "the run cannot go on with another version of its task: '{}' was version {}, now it is {}; "
        "start a new run in another directory",
        plan.spec().name, checkpoint.task_version, plan.spec().version));
  }
  const std::string now = fingerprint(plan.spec());
  if (!checkpoint.task_spec.empty() && checkpoint.task_spec != now) {
    throw UsageError(fmt::format(
        "the run cannot go on with another specification of its task: it was '{}', now it is '{}'; "
        "start a new run in another directory",
        checkpoint.task_spec, now));
  }
  if (checkpoint.algorithm.iteration > plan.run.iterations) {
    throw UsageError(fmt::format(
        "the run has done {} iterations already; run.iterations must be at least that, not {}",
        checkpoint.algorithm.iteration, plan.run.iterations));
  }
}

void CheckpointWriter::start(std::uint64_t metrics_bytes, std::uint64_t training_bytes) {
  wait();
  busy_ = true;
  try {
    thread_ = std::thread([=, this] { write(metrics_bytes, training_bytes); });
  } catch (const std::system_error&) {
    write(metrics_bytes, training_bytes);  // no thread to be had: then the run waits
  }
}

void CheckpointWriter::write(std::uint64_t metrics_bytes, std::uint64_t training_bytes) {
  Outcome outcome{.iteration = copy_.algorithm.iteration, .error = {}};
  try {
    write_checkpoint(run_, copy_, check_, metrics_bytes, training_bytes);
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  copy_ = {};
  outcome_ = std::move(outcome);
  busy_ = false;
}

void CheckpointWriter::wait() {
  if (thread_.joinable()) thread_.join();
}

std::optional<CheckpointWriter::Outcome> CheckpointWriter::outcome() {
  if (busy_) return std::nullopt;
  return std::exchange(outcome_, std::nullopt);
}

}  // namespace aurora
