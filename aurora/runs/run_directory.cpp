#include "aurora/runs/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/runs/internal/seal.hpp"
#include "aurora/runs/internal/summary_json.hpp"
#include "aurora/storage/internal/array_directory.hpp"
#include "aurora/storage/internal/csv.hpp"
#include "aurora/storage/internal/json.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {

namespace fs = std::filesystem;

namespace {

// ---- Small things ----

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string now_iso() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

// ---- Containers ----

constexpr const char* kState = "state.";  // before the names of the arrays of a container's state

void write_individuals(const fs::path& directory, const Individuals& individuals,
                       const PartState& state, const TaskSpec& spec, bool with_sensory,
                       const std::function<void()>& before) {
  assert(individuals.genotypes.cols() == spec.genotype_size);
  assert(individuals.ground_truth.cols() == spec.ground_truth.size());
  assert(!with_sensory || individuals.sensory.shape() == spec.sensory);
  write_directory(directory, [&](const fs::path& fresh) {
    ArrayDirectoryWriter writer(fresh);
    writer.add_columns("", individuals, with_sensory, rows_by_age(individuals));
    writer.add_arrays(kState, state.arrays);
    Json axes = Json::array();
    for (const Axis& axis : spec.ground_truth) {
      axes.push_back({{"name", axis.name},
                      {"min", axis.min},
                      {"max", axis.max},
                      {"unit", axis.unit},
                      {"direction", axis.direction == Direction::down ? "down" : "up"}});
    }
    writer.finish(with_sensory ? "container" : "snapshot",
                  {{"task", spec.name},
                   {"title", title_of(spec)},
                   {"count", individuals.size()},
                   {"ground_truth", std::move(axes)},
                   {"extra_columns", individuals.extra_names},
                   {"state", numbers_json(state.numbers)}});
    before();
  });
}

std::vector<Axis> read_axes(const JsonObject& manifest) {
  std::vector<Axis> axes;
  for (const JsonObject& json : manifest.objects("ground_truth")) {
    Axis axis{json.text("name"), json.number("min"), json.number("max")};
    if (json.has("unit")) axis.unit = json.text("unit");
    if (json.has("direction") && json.text("direction") == "down") axis.direction = Direction::down;
    if (!std::isfinite(axis.min)) json.wrong("min", "a finite number");
    if (!std::isfinite(axis.max) || axis.max < axis.min) {
      json.wrong("max", "a finite number, 'min' or more");
    }
    axes.push_back(axis);
  }
  return axes;
}

/// DataError unless the columns are those of a container that a run has written.
void check_columns(const ArrayDirectoryReader& reader, const Individuals& individuals,
                   std::size_t axes, bool with_sensory) {
  if (individuals.ground_truth.cols() != axes) {
    reader.wrong("ground_truth.npy", fmt::format("it has {} columns, but there are {} axes",
                                                 individuals.ground_truth.cols(), axes));
  }
  if (std::ranges::adjacent_find(individuals.ids, std::ranges::greater_equal{}) !=
      individuals.ids.end()) {
    reader.wrong("ids.npy", "the ids are not in ascending order");
  }
  const auto values = [](const Matrix<float>& column) {
    return std::span(column.data(), column.rows() * column.cols());
  };
  if (!has_valid_genes(individuals)) {
    reader.wrong("genotypes.npy", "there are genes outside [0, 1]");
  }
  const auto finite = [&](const char* file, std::span<const float> column) {
    if (!all_finite(column)) reader.wrong(file, "there are values that are not finite");
  };
  // A diverged decoder makes the reconstruction error infinite, which does not harm the individual.
  finite("fitness.npy", individuals.fitness);
  finite("descriptors.npy", values(individuals.descriptors));
  finite("ground_truth.npy", values(individuals.ground_truth));
  if (!with_sensory || individuals.sensory.shape().element != ElementType::float32) return;
  for (std::size_t row = 0; row < individuals.size(); ++row) {
    finite("sensory.npy", individuals.sensory.view().row<float>(row));
  }
}

// ---- The rows of the tables ----

std::vector<std::string> names_in(const Row& row) {
  std::vector<std::string> names;
  std::set<std::string_view> taken;
  for (const NamedNumber& number : row) {
    const std::string& name = number.name;
    const bool valid = !name.empty() && name.find_first_of(",\"\r\n") == std::string::npos;
    if (!valid || !taken.insert(name).second) {
      throw DataError(
          fmt::format("a metric cannot be called '{}': the name is taken already, or "
                      "cannot head a column of a CSV file",
                      name));
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path)
    : path_(std::move(path)), lock_(path_ / ".lock", path_), started_(now_iso()) {}

RunDirectory RunDirectory::create(const fs::path& path) {
  create_fresh_directory(path, "choose another directory, or resume the run that is in it");
  return RunDirectory(path);
}

RunDirectory RunDirectory::reopen(const fs::path& path) {
  make_directories(path);
  RunDirectory directory(path);
  bool is_run = false;
  bool is_empty = true;
  for (const fs::path& entry : entries_of(path)) {
    const std::string name = entry.filename().string();
    is_run = is_run || name == "config.toml" || name.starts_with("checkpoint");
    is_empty = is_empty && name.starts_with('.');  // leftovers of a start that was cut short
  }
  if (!is_run && !is_empty) {
    throw FileError(
        fmt::format("'{}' is not empty, and neither config.toml nor checkpoint/ is in it: this is "
                    "no run that could go on; choose another directory",
                    path.string()));
  }
  remove_leftovers(path);
  remove_leftovers(path / "snapshots");
  return directory;
}

void RunDirectory::check_in_place() const {
  if (lock_.in_place()) return;
  throw FileError(
      fmt::format("'{}' was removed, renamed or replaced while the run went on, and the run stops "
                  "here; under its new name, if it has one, it can be resumed",
                  path_.string()));
}

void RunDirectory::check_in_place(const Table& table, std::string_view name) const {
  if (!table.file || table.file->in_place()) return;
  throw FileError(
      fmt::format("'{}' was removed, renamed or replaced while the run went on, and the run stops "
                  "here; resumed, it goes on from its last checkpoint, which has the rows so far",
                  (path_ / name).string()));
}

void RunDirectory::restore(Table& table, std::string_view name, std::string_view content) {
  table = {};
  if (content.empty()) return remove_path(path_ / name);
  write_file(path_ / name, content, Links::replace);
  table.file.emplace(path_ / name);
  table.columns = split_cells(content.substr(0, content.find('\n')));
}

void RunDirectory::restore_tables(std::string_view metrics, std::string_view encoder) {
  check_in_place();
  restore(metrics_, "metrics.csv", metrics);
  restore(encoder_, "encoder.csv", encoder);
}

void RunDirectory::write_config(std::string_view toml) {
  check_in_place();
  write_file(path_ / "config.toml", toml, Links::replace);
}

void RunDirectory::append(Table& table, std::string_view name, const Row& row) {
  check_in_place();
  check_in_place(table, name);
  std::vector<std::string> names = names_in(row);
  if (!table.file) table.file.emplace(path_ / name);
  std::string text;
  if (table.file->size() == 0) {
    table.columns = std::move(names);
    text = fmt::format("{}\n", fmt::join(table.columns, ","));
  }
  std::vector<std::string> cells;
  for (const std::string& column : table.columns) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    cells.push_back(fmt::to_string(number_called(row, column, kNone)));
  }
  table.file->append(text + fmt::format("{}\n", fmt::join(cells, ",")));
  for (const std::string& column : names) {
    if (std::ranges::find(table.columns, column) == table.columns.end() &&
        std::ranges::find(left_out_, column) == left_out_.end()) {
      left_out_.push_back(column);
    }
  }
}

void RunDirectory::sync_tables(const RunSummary& summary) {
  check_in_place();
  // A run that failed should be able to say so even if its tables are gone or cannot be synced.
  for (const auto& [table, name] :
       {std::pair(&metrics_, "metrics.csv"), std::pair(&encoder_, "encoder.csv")}) {
    try {
      check_in_place(*table, name);
      if (table->file) table->file->sync();
    } catch (const FileError&) {
      if (summary.status != RunStatus::failed) throw;
    }
  }
}

void RunDirectory::write_summary(const RunSummary& summary) {
  sync_tables(summary);
  RunSummary complete = summary;
  if (complete.started.empty()) complete.started = started_;
  if (complete.host.empty()) complete.host = host_name();
  if (complete.ended.empty()) complete.ended = now_iso();
  Json json = summary_json(complete);
  sign(json);
  write_file(path_ / "run.json", to_text(json), Links::replace);
  if (summary.manifest.empty()) remove_path(path_ / "manifest.json");  // of an earlier end
}

void RunDirectory::seal(RunSummary& summary) {
  sync_tables(summary);
  summary.manifest = write_seal(path_);
}

void RunDirectory::write_container(const Individuals& individuals, const PartState& state,
                                   const TaskSpec& spec, const std::function<void()>& before) {
  check_in_place();
  write_individuals(path_ / "container", individuals, state, spec, true, before);
}

void RunDirectory::write_snapshot(std::size_t iteration, const Individuals& individuals,
                                  const TaskSpec& spec) {
  check_in_place();
  make_own_directory(path_ / "snapshots");
  write_individuals(path_ / "snapshots" / fmt::format("{:06}", iteration), individuals, {}, spec,
                    false, [] {});
}

void RunDirectory::write_encoder(std::span<const NamedArray> arrays) {
  check_in_place();
  write_directory(path_ / "encoder",
                  [&](const fs::path& fresh) { write_encoder_state(fresh, arrays); });
}

void RunDirectory::write_reconstructions(const Reconstructions& some, const SensoryShape& shape) {
  check_in_place();
  write_directory(path_ / "reconstructions", [&](const fs::path& fresh) {
    ArrayDirectoryWriter writer(fresh);
    const std::size_t rows = some.ids.size();
    NpyHeader header{NpyType::float32, {rows}};
    header.shape.insert(header.shape.end(), shape.extents.begin(), shape.extents.end());
    const auto write = [&](const char* name, const NpyHeader& all, const auto* data) {
      writer.add(name, all,
                 [&](OutputFile& out) { out.write(std::as_bytes(std::span(data, all.count()))); });
    };
    write("ids.npy", {NpyType::uint64, {rows}}, some.ids.data());
    write("reconstructions.npy", header, some.values.data());
    writer.finish("reconstructions", {{"count", rows}});
  });
}

RunSummary read_summary(const fs::path& file) {
  Json json = read_json(file);
  const JsonObject summary(json, fmt::format("'{}'", file.string()));
  // Earlier formats have no checksum.
  const bool is_signed = summary.has("format") && summary.whole("format") >= 3;
  if (is_signed || summary.has("checksum")) json = read_signed_json(file);
  return summary_of(summary);
}

bool is_digest(const fs::path& run) {
  try {
    const Json json = read_json(run / "run.json");
    const auto digest = json.find("digest");
    return digest != json.end() && *digest == true;
  } catch (const Error&) {
    return false;  // it is something else
  }
}

void refuse_digest(const fs::path& run) {
  if (!is_digest(run)) return;
  throw UsageError(fmt::format(
      "'{}' is a digest of a run, for aurora report; everything else needs the run itself",
      run.string()));
}

SavedContainer load_container(const fs::path& directory, bool with_sensory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  const std::string kind = manifest.text("kind");
  if (kind != "container" && kind != "snapshot") {
    manifest.wrong("kind", "'container' or 'snapshot'");
  }
  SavedContainer saved;
  saved.task = manifest.text("task");
  saved.ground_truth = read_axes(manifest);
  saved.has_sensory = kind == "container" && with_sensory;
  const std::size_t rows = manifest.whole("count");
  saved.individuals =
      reader.read_columns("", rows, saved.has_sensory, manifest.text_list("extra_columns"));
  if (manifest.has("state")) saved.state.numbers = manifest.object("state").numbers();
  saved.state.arrays = reader.read_arrays(kState);
  check_columns(reader, saved.individuals, saved.ground_truth.size(), saved.has_sensory);
  return saved;
}

SavedIndividual load_individual(const fs::path& directory, std::size_t row) {
  const ArrayDirectoryReader reader(directory);
  OpenArray ids = reader.open("ids.npy");
  OpenArray sensory = reader.open("sensory.npy");
  const NpyHeader& header = sensory.entry.header;
  const bool bytes = header.type == NpyType::uint8;
  if (ids.entry.header.type != NpyType::uint64 || ids.shape().size() != 1 ||
      row >= ids.shape()[0]) {
    ids.wrong(fmt::format("there is no row {} of an id", row));
  }
  if ((!bytes && header.type != NpyType::float32) || header.shape.empty() ||
      row >= header.shape[0]) {
    sensory.wrong(fmt::format("there is no row {} of sensory data", row));
  }
  SavedIndividual one;
  ids.file.skip(row * sizeof(one.id));
  ids.file.read(std::as_writable_bytes(std::span(&one.id, 1)));
  const SensoryShape shape{{header.shape.begin() + 1, header.shape.end()},
                           bytes ? ElementType::uint8 : ElementType::float32};
  sensory.file.skip(row * shape.row_bytes());
  one.sensory = SensoryData(shape, 1);
  sensory.file.read(one.sensory.mutable_view().bytes(0));
  return one;
}

std::vector<NamedArray> load_encoder(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != "encoder") manifest.wrong("kind", "'encoder'");
  if (manifest.whole("count") != reader.entries().size()) {
    manifest.wrong("count", "the number of files");
  }
  return reader.read_arrays("");
}

void write_encoder_state(const fs::path& directory, std::span<const NamedArray> arrays) {
  ArrayDirectoryWriter writer(directory);
  writer.add_arrays("", arrays);
  writer.finish("encoder", {{"count", arrays.size()}});
}

Reconstructions load_reconstructions(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != "reconstructions") manifest.wrong("kind", "'reconstructions'");
  const std::size_t rows = manifest.whole("count");
  const auto open = [&](const char* file, NpyType type) {
    OpenArray array = reader.open(file);
    if (array.entry.header.type != type || array.shape().empty() || array.shape()[0] != rows) {
      array.wrong(fmt::format("{} rows of {} were expected", rows, name_of(type)));
    }
    return array;
  };
  OpenArray ids = open("ids.npy", NpyType::uint64);
  OpenArray values = open("reconstructions.npy", NpyType::float32);
  if (ids.shape().size() != 1) ids.wrong("one value per individual was expected");
  Reconstructions some{std::vector<std::uint64_t>(rows),
                       Matrix<float>(rows, rows > 0 ? values.entry.header.count() / rows : 0)};
  ids.read(std::as_writable_bytes(std::span(some.ids)));
  values.read(std::as_writable_bytes(std::span(some.values.data(), values.entry.header.count())));
  return some;
}

}  // namespace aurora
