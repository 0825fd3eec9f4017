#include "aurora/runs/retrain.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/internal/array_directory.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "retrained";

/// The run.json. UsageError or DataError unless there is something to train again.
RunSummary check_run(const Plan& plan, const fs::path& run) {
  if (!plan.encoder) {
    throw UsageError(
        fmt::format("the descriptors of '{}' are hand-coded: there is no encoder to train again; "
                    "choose a run of a variant that learns them, as aurora-csc-uniform-2 does",
                    run.string()));
  }
  RunSummary summary = read_summary(run / "run.json");
  if (summary.status != RunStatus::finished) {
    throw DataError(
        fmt::format("'{0}' is not finished: its run.json says '{1}' at iteration {2}; let it end "
                    "first",
                    run.string(), name_of(summary.status), summary.iterations));
  }
  return summary;
}

Individuals members_of(const TaskSpec& spec, const fs::path& run) {
  SavedContainer saved = load_container(run / "container");
  const std::string where = (run / "container").string();
  if (!saved.has_sensory) {
    throw DataError(fmt::format(
        "'{}' has no sensory data to train on: it is a snapshot, not the container of a run",
        where));
  }
  if (saved.task != spec.name || saved.individuals.sensory.shape() != spec.sensory) {
    throw DataError(fmt::format(
        "'{}' holds individuals of '{}' whose sensory data does not have the shape of the task "
        "'{}'",
        where, saved.task, spec.name));
  }
  if (saved.individuals.size() == 0) {
    throw DataError(fmt::format("'{}' is empty: there is nothing to train on", where));
  }
  return std::move(saved.individuals);
}

bool same_settings(const Retrained& a, const Retrained& b) {
  const RetrainOptions& x = a.options;
  const RetrainOptions& y = b.options;
  return a.container_hash == b.container_hash && x.seed == y.seed && x.dimension == y.dimension &&
         x.epochs == y.epochs && x.patience == y.patience;
}

/// What is in the place of the result, if it is a re-training; FileError if it is something else.
std::optional<Retrained> found_at(const fs::path& directory) {
  if (!path_exists(whole_directory(directory))) return std::nullopt;
  try {
    return load_retrained(directory);
  } catch (const Error& error) {
    throw FileError(
        fmt::format("'{}' exists and is no whole re-training of a run ({}); move it away or choose "
                    "another directory",
                    directory.string(), error.what()));
  }
}

Json settings_json(const RetrainOptions& options) {
  return {{"seed", options.seed},
          {"dimension", *options.dimension},
          {"epochs", options.epochs},
          {"patience", options.patience}};
}

Json training_json(const TrainingReport& report) {
  return {{"examples", report.examples},
          {"validation", report.validation},
          {"epochs", report.epochs},
          {"train_loss", report.train_loss},
          {"validation_loss", report.validation_loss}};
}

void write(const Retrained& retrained, const std::string& task, const Individuals& members,
           const Matrix<float>& descriptors, const std::vector<float>& errors,
           const Encoder& encoder) {
  const std::size_t rows = members.size();
  write_directory(retrained.directory, [&](const fs::path& fresh) {
    ArrayDirectoryWriter writer(fresh);
    const auto column = [&](const char* name, NpyHeader header, const void* data) {
      const std::span bytes(static_cast<const std::byte*>(data), header.data_bytes());
      writer.add(name, std::move(header), [&](OutputFile& out) { out.write(bytes); });
    };
    column("ids.npy", {NpyType::uint64, {rows}}, members.ids.data());
    column("descriptors.npy", {NpyType::float32, {rows, descriptors.cols()}}, descriptors.data());
    column("reconstruction_error.npy", {NpyType::float32, {rows}}, errors.data());
    writer.finish(kKind, {{"task", task},
                          {"count", rows},
                          {"container_hash", retrained.container_hash},
                          {"settings", settings_json(retrained.options)},
                          {"training", training_json(retrained.training)}});
    make_directories(fresh / "encoder");
    write_encoder_state(fresh / "encoder", encoder.state());
  });
}

}  // namespace

Retrained retrain(const Parts& parts, const fs::path& run, const RetrainOptions& options) {
  Plan plan = plan_of_run(parts, run);
  const RunSummary summary = check_run(plan, run);
  const Individuals members = members_of(plan.spec(), run);

  Retrained result;
  result.directory = options.out.empty() ? run / "retrained" : options.out;
  result.container_hash = container_hash_text(members);
  if (result.container_hash != summary.container_hash) {
    throw DataError(
        fmt::format("the container of '{0}' is not the one that its run.json speaks of: aurora "
                    "verify {0}",
                    run.string()));
  }
  result.options = options;
  result.options.dimension = options.dimension.value_or(plan.run.dimension);

  // The same lock as that of a run, so that neither runs into the other.
  const fs::path folder = fs::absolute(result.directory / ".").parent_path().parent_path();
  make_directories(folder);
  const FileLock lock(folder / ".lock", folder);
  std::optional<Retrained> found = found_at(result.directory);
  if (found && same_settings(*found, result)) {
    found->was_there = true;
    return *std::move(found);
  }
  if (found && !options.force) {
    throw FileError(
        fmt::format("'{}' exists, with other settings or of another container: replace it by "
                    "force, or put the new one elsewhere",
                    result.directory.string()));
  }

  if (options.begins) options.begins(members.size());
  plan.encoder->set("epochs", options.epochs);
  plan.encoder->set("patience", options.patience);
  const std::uint64_t seed = plan.run.seed;
  Stream weights(seed, Purpose::retraining, options.seed, 0);
  Stream order(seed, Purpose::retraining, options.seed, 1);
  Workers workers(options.threads);
  const auto encoder = plan.make_encoder(*result.options.dimension, weights);
  result.training = encoder->train({members.sensory.view(), members.fitness}, order, workers,
                                   options.after_epoch);
  Matrix<float> descriptors(members.size(), encoder->dimension());
  std::vector<float> errors(members.size());
  encoder->encode(members.sensory.view(), descriptors, errors, workers);
  write(result, plan.spec().name, members, descriptors, errors, *encoder);
  return result;
}

Retrained load_retrained(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != kKind) manifest.wrong("kind", fmt::format("'{}'", kKind));
  for (const ArrayEntry& entry : reader.entries()) {
    OpenArray array = reader.open(entry.file);
    std::vector<std::byte> bytes(entry.header.data_bytes());
    array.read(bytes);
  }
  load_encoder(whole_directory(directory) / "encoder");

  Retrained found;
  found.directory = directory;
  found.container_hash = manifest.text("container_hash");
  const JsonObject settings = manifest.object("settings");
  found.options.seed = static_cast<std::uint32_t>(settings.whole("seed"));
  found.options.dimension = settings.whole("dimension");
  found.options.epochs = settings.whole("epochs");
  found.options.patience = settings.whole("patience");
  const JsonObject training = manifest.object("training");
  found.training.examples = training.whole("examples");
  found.training.validation = training.whole("validation");
  found.training.epochs = training.whole("epochs");
  found.training.train_loss = training.number("train_loss");
  found.training.validation_loss = training.number("validation_loss");
  return found;
}

bool is_retrained(const fs::path& run) {
  try {
    return load_retrained(run / "retrained").container_hash ==
           read_summary(run / "run.json").container_hash;
  } catch (const Error&) {
    return false;  // not there, or not whole
  }
}

}  // namespace aurora
