#include "aurora/runs/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/files.hpp"
#include "aurora/runs/internal/array_directory.hpp"
#include "aurora/runs/internal/json.hpp"
#include "aurora/runs/internal/summary_json.hpp"

namespace aurora {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kCheckpointVersion = 1;
constexpr const char* kLast = "checkpoint";
constexpr const char* kPrevious = "checkpoint.previous";
constexpr const char* kDamaged = "checkpoint.damaged";
constexpr const char* kContainer = "container.";
constexpr const char* kPopulation = "population.";
constexpr const char* kEncoder = "encoder.";
constexpr const char* kMetrics = "metrics.csv.npy";
constexpr const char* kTraining = "encoder_updates.csv.npy";

Json threshold_json(const Threshold::State& state) {
  return {{"value", state.value},           {"encoder_updated", state.encoder_updated},
          {"pid_anchor", state.pid.anchor}, {"pid_sum", state.pid.sum},
          {"pid_error", state.pid.error},   {"pid_trend", state.pid.trend}};
}

Threshold::State threshold_of(const JsonObject& json) {
  return {.value = json.number("value"),
          .encoder_updated = json.flag("encoder_updated"),
          .pid = {.anchor = json.number("pid_anchor"),
                  .sum = json.number("pid_sum"),
                  .error = json.number("pid_error"),
                  .trend = json.number("pid_trend")}};
}

Json manifest_of(const Checkpoint& checkpoint) {
  const AlgorithmState& algorithm = checkpoint.algorithm;
  const RunRecord& record = checkpoint.record;
  Json settings = Json::object();
  for (const auto& [key, value] : checkpoint.settings) settings[key] = value;
  return {{"checkpoint_version", kCheckpointVersion},
          {"task", checkpoint.task},
          {"task_version", checkpoint.task_version},
          {"settings", std::move(settings)},
          {"iteration", algorithm.iteration},
          {"encoder_updates", algorithm.encoder_updates},
          {"threshold", threshold_json(algorithm.threshold)},
          {"container_size", algorithm.container.size()},
          {"population_size", algorithm.population.size()},
          {"since_last_row",
           {{"added", record.row.added},
            {"replaced", record.row.replaced},
            {"rejected", record.row.rejected},
            {"invalid", record.row.invalid},
            {"lost", record.row.lost}}},
          {"lost", record.lost},
          {"container_updates", record.container_updates},
          {"summary", summary_json(record.summary)}};
}

RunRecord record_of(const JsonObject& manifest) {
  RunRecord record;
  const JsonObject row = manifest.object("since_last_row");
  record.row.added = row.whole("added");
  record.row.replaced = row.whole("replaced");
  record.row.rejected = row.whole("rejected");
  record.row.invalid = row.whole("invalid");
  record.row.lost = row.whole("lost");
  record.lost = manifest.whole("lost");
  record.container_updates = manifest.whole("container_updates");
  record.summary = summary_of(manifest.object("summary"));
  return record;
}

Checkpoint load_checkpoint(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != "checkpoint") manifest.wrong("kind", "'checkpoint'");
  if (const std::uint64_t version = manifest.whole("checkpoint_version");
      version != kCheckpointVersion) {
    throw VersionError(fmt::format(
        "{}: checkpoint format version {} is not read; only {}: resume with the program that wrote "
        "it ({}), or start a new run with another --out",
        reader.where(), version, kCheckpointVersion, manifest.object("summary").text("version")));
  }
  Checkpoint checkpoint;
  checkpoint.task = manifest.text("task");
  checkpoint.task_version = manifest.whole("task_version");
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
  algorithm.threshold = threshold_of(manifest.object("threshold"));
  algorithm.container = reader.read_columns(kContainer, manifest.whole("container_size"), true);
  if (const std::size_t size = manifest.whole("population_size"); size > 0) {
    algorithm.population = reader.read_columns(kPopulation, size, true);
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

/// Writes a checkpoint whose tables are what `add_tables` adds.
void write_state(const fs::path& run, const Checkpoint& checkpoint,
                 const std::function<void()>& check,
                 const std::function<void(ArrayDirectoryWriter&)>& add_tables) {
  check();
  write_directory(
      run / kLast,
      [&](const fs::path& fresh) {
        ArrayDirectoryWriter writer(fresh);
        writer.add_columns(kContainer, checkpoint.algorithm.container, true, {});
        if (checkpoint.algorithm.population.size() > 0) {
          writer.add_columns(kPopulation, checkpoint.algorithm.population, true, {});
        }
        writer.add_arrays(kEncoder, checkpoint.algorithm.encoder);
        add_tables(writer);
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

void write_checkpoint(const fs::path& run, const Checkpoint& checkpoint,
                      const std::function<void()>& check) {
  write_state(run, checkpoint, check, [&](ArrayDirectoryWriter& writer) {
    writer.add_text(kMetrics, checkpoint.metrics);
    writer.add_text(kTraining, checkpoint.training);
  });
}

std::optional<FoundCheckpoint> find_checkpoint(const fs::path& run,
                                               const std::function<void(Checkpoint&)>& take) {
  std::string damage;
  for (const char* name : {kLast, kPrevious}) {
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

void set_damaged_aside(const fs::path& run) {
  move_path(whole_directory(run / kLast), run / kDamaged);
}

void check_resumable(const Checkpoint& checkpoint, const TaskSpec& task, const RunConfig& config) {
  check_same_run(checkpoint.settings, config);
  if (checkpoint.task_version != task.version) {
    throw UsageError(fmt::format(
        "the run cannot go on with another version of its task: '{}' was version {}, now it is {}; "
        "start a new run with another --out",
        task.name, checkpoint.task_version, task.version));
  }
  if (checkpoint.algorithm.iteration > config.iterations) {
    throw UsageError(
        fmt::format("the run has done {} iterations already; --iterations must be at least that, "
                    "not {}",
                    checkpoint.algorithm.iteration, config.iterations));
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
    write_state(run_, copy_, check_, [&](ArrayDirectoryWriter& writer) {
      add_beginning(writer, kMetrics, run_ / "metrics.csv", metrics_bytes);
      add_beginning(writer, kTraining, run_ / "encoder.csv", training_bytes);
    });
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
