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
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/runs/npy.hpp"

namespace aurora {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kFormatVersion = 1;
constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{1} << 24;
constexpr std::string_view kManifest = "manifest.json";

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

/// Texts from outside may hold bytes that are not UTF-8; they must not keep us from writing.
std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// A name that is safe as a file of its directory and as nothing else. The directory's own files,
/// the hidden ones and those above it are out.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_plain);
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

// ---- Reading JSON from outside ----

/// A JSON object that knows where it comes from, so that messages can say it.
class JsonObject {
 public:
  JsonObject(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) throw DataError(fmt::format("{}: an object was expected", where_));
  }

  [[noreturn]] void wrong(std::string_view key, std::string_view wanted) const {
    throw DataError(fmt::format("{}: '{}' should be {}", where_, key, wanted));
  }

  bool has(std::string_view key) const { return json_.contains(key); }

  const Json& at(std::string_view key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw DataError(fmt::format("{}: '{}' is missing", where_, key));
    return *found;
  }

  std::string text(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_string()) wrong(key, "a text");
    return value.get<std::string>();
  }

  std::uint64_t whole(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) wrong(key, "a whole number, 0 or more");
    return value.get<std::uint64_t>();
  }

  /// `null` stands for what JSON cannot say.
  double number(std::string_view key) const {
    const Json& value = at(key);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) wrong(key, "a number");
    return value.get<double>();
  }

  std::vector<std::size_t> whole_numbers(std::string_view key) const {
    std::vector<std::size_t> values;
    for (const Json& value : array(key)) {
      if (!value.is_number_unsigned()) wrong(key, "a list of whole numbers, 0 or more");
      values.push_back(value.get<std::size_t>());
    }
    return values;
  }

  template <class E>
  E name(std::string_view key) const {
    const std::string text_value = text(key);
    for (const auto& [enumerator, known] : Names<E>::entries) {
      if (known == text_value) return enumerator;
    }
    wrong(key, fmt::format("one of {}, not '{}'", fmt::join(names_of<E>(), ", "), text_value));
  }

  JsonObject object(std::string_view key) const {
    return {at(key), fmt::format("{}: '{}'", where_, key)};
  }

  std::vector<JsonObject> objects(std::string_view key) const {
    std::vector<JsonObject> all;
    for (const Json& value : array(key)) {
      all.emplace_back(value, fmt::format("{}: '{}', number {}", where_, key, all.size() + 1));
    }
    return all;
  }

 private:
  const Json& array(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_array()) wrong(key, "a list");
    return value;
  }

  const Json& json_;
  std::string where_;
};

Json read_json(const fs::path& path) {
  const std::string text = read_file(path, kMaxJsonBytes);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not valid JSON: {}", path.string(), error.what()));
  }
}

// ---- Directories of arrays with a manifest: writing ----

struct ArrayEntry {
  std::string file;
  NpyHeader header;
  std::uint64_t bytes = 0;
  std::string checksum;
};

/// Writes arrays into a directory and keeps the books for its manifest.
class ArrayDirectoryWriter {
 public:
  explicit ArrayDirectoryWriter(fs::path directory) : directory_(std::move(directory)) {}

  /// An array piece by piece: `content` writes the bytes that `header` promises.
  template <class Content>
  void add(std::string file, NpyHeader header, Content content) {
    OutputFile out(directory_ / file);
    out.write(npy_preamble(header));
    [[maybe_unused]] const std::uint64_t begin = out.bytes();
    content(out);
    assert(out.bytes() - begin == header.data_bytes());
    out.close();
    entries_.push_back({std::move(file), std::move(header), out.bytes(), out.checksum()});
  }

  /// The manifest: what the caller has to say, the files, and a checksum of the text up to there.
  void finish(Json manifest) const {
    Json files = Json::array();
    for (const ArrayEntry& entry : entries_) {
      files.push_back({{"name", entry.file},
                       {"dtype", name_of(entry.header.type)},
                       {"shape", entry.header.shape},
                       {"bytes", entry.bytes},
                       {"xxh3", entry.checksum}});
    }
    manifest["files"] = std::move(files);
    manifest["checksum"] = checksum_of(manifest);
    OutputFile out(directory_ / kManifest);
    out.write(to_text(manifest));
    out.close();
  }

  /// Of a manifest without its checksum, as to_text() writes it: what cannot be seen in the values
  /// (white space) does not count.
  static std::string checksum_of(const Json& manifest) {
    Checksum checksum;
    const std::string text = to_text(manifest);
    checksum.update(std::as_bytes(std::span(text)));
    return checksum.text();
  }

 private:
  fs::path directory_;
  std::vector<ArrayEntry> entries_;
};

std::vector<std::size_t> rows_by_id(const Individuals& individuals) {
  std::vector<std::size_t> order(individuals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t row) { return individuals.ids[row]; });
  return order;
}

NpyType npy_type_of(ElementType element) {
  return element == ElementType::uint8 ? NpyType::uint8 : NpyType::float32;
}

void write_columns(ArrayDirectoryWriter& writer, const Individuals& individuals,
                   bool with_sensory) {
  const std::vector<std::size_t> order = rows_by_id(individuals);
  const std::size_t rows = order.size();
  const auto matrix = [&](std::string file, const Matrix<float>& column) {
    writer.add(std::move(file), {NpyType::float32, {rows, column.cols()}}, [&](OutputFile& out) {
      for (const std::size_t row : order) out.write(std::as_bytes(column.row(row)));
    });
  };
  const auto vector = [&]<class T>(std::string file, const std::vector<T>& column) {
    writer.add(std::move(file), {npy_type<T>(), {rows}}, [&](OutputFile& out) {
      for (const std::size_t row : order) out.write(std::as_bytes(std::span(&column[row], 1)));
    });
  };
  vector("ids.npy", individuals.ids);
  matrix("genotypes.npy", individuals.genotypes);
  vector("fitness.npy", individuals.fitness);
  matrix("descriptors.npy", individuals.descriptors);
  vector("reconstruction_error.npy", individuals.reconstruction_error);
  matrix("ground_truth.npy", individuals.ground_truth);
  if (!with_sensory) return;

  const SensoryShape& sensory = individuals.sensory.shape();
  NpyHeader header{npy_type_of(sensory.element), {rows}};
  header.shape.insert(header.shape.end(), sensory.extents.begin(), sensory.extents.end());
  writer.add("sensory.npy", header, [&](OutputFile& out) {
    for (const std::size_t row : order) out.write(individuals.sensory.view().bytes(row));
  });
}

void write_individuals(const fs::path& directory, const Individuals& individuals,
                       const TaskSpec& spec, bool with_sensory) {
  assert(individuals.genotypes.cols() == spec.genotype_size);
  assert(individuals.ground_truth.cols() == spec.ground_truth.size());
  assert(!with_sensory || individuals.sensory.shape() == spec.sensory);
  write_directory(directory, [&](const fs::path& fresh) {
    ArrayDirectoryWriter writer(fresh);
    write_columns(writer, individuals, with_sensory);
    Json axes = Json::array();
    for (const Axis& axis : spec.ground_truth) {
      axes.push_back({{"name", axis.name}, {"min", axis.min}, {"max", axis.max}});
    }
    writer.finish({{"format_version", kFormatVersion},
                   {"kind", with_sensory ? "container" : "snapshot"},
                   {"task", spec.name},
                   {"count", individuals.size()},
                   {"ground_truth", std::move(axes)}});
  });
}

// ---- Directories of arrays with a manifest: reading ----

/// An array of a directory, opened and held against its manifest; the data is still to be read.
struct OpenArray {
  ArrayEntry entry;
  InputFile file;

  const std::vector<std::size_t>& shape() const { return entry.header.shape; }

  [[noreturn]] void wrong(std::string_view what) const {
    throw DataError(fmt::format("'{}': {}", file.path().string(), what));
  }

  /// Reads all of the data, into memory of just this size, and compares the checksum.
  void read(std::span<std::byte> out) {
    assert(out.size() == entry.header.data_bytes());
    file.read(out);
    if (file.checksum() != entry.checksum) {
      wrong(fmt::format("the file is damaged: its checksum is {}, the manifest says {}",
                        file.checksum(), entry.checksum));
    }
  }
};

class ArrayDirectoryReader {
 public:
  explicit ArrayDirectoryReader(const fs::path& directory)
      : directory_(whole_directory(directory)), json_(read_json(directory_ / kManifest)) {
    const std::string version = "format_version";
    if (manifest().whole(version) != kFormatVersion) {
      throw DataError(fmt::format("{}: format version {} is not read; only {}", where(),
                                  manifest().whole(version), kFormatVersion));
    }
    const std::string checksum = manifest().text("checksum");
    json_.erase("checksum");
    if (ArrayDirectoryWriter::checksum_of(json_) != checksum) {
      throw DataError(
          fmt::format("{}: the manifest is damaged: its checksum does not fit", where()));
    }
    read_entries();
  }

  JsonObject manifest() const { return {json_, where()}; }
  std::string where() const { return fmt::format("'{}'", (directory_ / kManifest).string()); }
  const std::vector<ArrayEntry>& entries() const { return entries_; }

  bool has(std::string_view file) const { return find(file) != entries_.end(); }

  OpenArray open(std::string_view file) const {
    const auto found = find(file);
    if (found == entries_.end()) {
      throw DataError(fmt::format("{}: there is no file '{}'", where(), file));
    }
    OpenArray array{*found, InputFile(directory_ / found->file)};
    if (array.file.size() != found->bytes) {
      array.wrong(fmt::format("the file has {} bytes, the manifest says {}", array.file.size(),
                              found->bytes));
    }
    if (read_npy_header(array.file) != found->header) {
      array.wrong("type or shape are not those of the manifest");
    }
    return array;
  }

 private:
  std::vector<ArrayEntry>::const_iterator find(std::string_view file) const {
    return std::ranges::find(entries_, file, &ArrayEntry::file);
  }

  void read_entries() {
    std::set<std::string> seen;
    for (const JsonObject& file : manifest().objects("files")) {
      ArrayEntry entry{file.text("name"),
                       {file.name<NpyType>("dtype"), file.whole_numbers("shape")},
                       file.whole("bytes"),
                       file.text("xxh3")};
      if (!is_plain_name(entry.file)) {
        file.wrong("name", "a plain file name of letters, digits, '.', '_' and '-'");
      }
      if (!seen.insert(entry.file).second) file.wrong("name", "different in every entry");
      entries_.push_back(std::move(entry));
    }
  }

  fs::path directory_;
  Json json_;
  std::vector<ArrayEntry> entries_;
};

/// A column of a container: `rows` rows of the given type and any number of axes.
OpenArray open_column(const ArrayDirectoryReader& reader, std::string_view file,
                      std::initializer_list<NpyType> types, std::size_t rows) {
  OpenArray array = reader.open(file);
  if (std::ranges::find(types, array.entry.header.type) == types.end()) {
    array.wrong(fmt::format("{} values cannot be in it", name_of(array.entry.header.type)));
  }
  if (array.shape().empty() || array.shape().front() != rows) {
    array.wrong(fmt::format("its shape is ({}), but the container has {} individuals",
                            fmt::join(array.shape(), ", "), rows));
  }
  return array;
}

/// One value per row.
OpenArray open_vector(const ArrayDirectoryReader& reader, std::string_view file, NpyType type,
                      std::size_t rows) {
  OpenArray array = open_column(reader, file, {type}, rows);
  if (array.shape().size() != 1) array.wrong("one value per individual was expected");
  return array;
}

/// A row of floats per row.
OpenArray open_matrix(const ArrayDirectoryReader& reader, std::string_view file, std::size_t rows) {
  OpenArray array = open_column(reader, file, {NpyType::float32}, rows);
  if (array.shape().size() != 2) array.wrong("two axes were expected");
  return array;
}

template <class T>
void read_values(OpenArray& array, T* data) {
  array.read(std::as_writable_bytes(std::span(data, array.entry.header.count())));
}

void read_finite(OpenArray& array, float* data) {
  read_values(array, data);
  if (!all_finite({data, array.entry.header.count()})) {
    array.wrong("there are values that are not finite");
  }
}

std::vector<Axis> read_axes(const JsonObject& manifest) {
  std::vector<Axis> axes;
  for (const JsonObject& json : manifest.objects("ground_truth")) {
    const Axis axis{json.text("name"), json.number("min"), json.number("max")};
    if (!std::isfinite(axis.min)) json.wrong("min", "a finite number");
    if (!std::isfinite(axis.max) || axis.max < axis.min) {
      json.wrong("max", "a finite number, 'min' or more");
    }
    axes.push_back(axis);
  }
  return axes;
}

/// The columns of a container, all of them opened before memory is taken for one: the number of
/// rows is then known to be that of files that are really there.
struct OpenColumns {
  OpenArray ids;
  OpenArray genotypes;
  OpenArray fitness;
  OpenArray descriptors;
  OpenArray reconstruction_error;
  OpenArray ground_truth;
  std::optional<OpenArray> sensory;

  IndividualsLayout layout() const {
    IndividualsLayout sizes{
        genotypes.shape()[1], descriptors.shape()[1], ground_truth.shape()[1], {{0}}};
    if (sensory) {
      const bool bytes = sensory->entry.header.type == NpyType::uint8;
      sizes.sensory.element = bytes ? ElementType::uint8 : ElementType::float32;
      sizes.sensory.extents.assign(sensory->shape().begin() + 1, sensory->shape().end());
    }
    return sizes;
  }
};

OpenColumns open_columns(const ArrayDirectoryReader& reader, std::size_t rows, std::size_t axes,
                         bool with_sensory) {
  OpenColumns columns{
      open_vector(reader, "ids.npy", NpyType::uint64, rows),
      open_matrix(reader, "genotypes.npy", rows),
      open_vector(reader, "fitness.npy", NpyType::float32, rows),
      open_matrix(reader, "descriptors.npy", rows),
      open_vector(reader, "reconstruction_error.npy", NpyType::float32, rows),
      open_matrix(reader, "ground_truth.npy", rows),
      std::nullopt,
  };
  if (columns.ground_truth.shape()[1] != axes) {
    columns.ground_truth.wrong(fmt::format("it has {} columns, but there are {} axes",
                                           columns.ground_truth.shape()[1], axes));
  }
  if (with_sensory) {
    columns.sensory = open_column(reader, "sensory.npy", {NpyType::uint8, NpyType::float32}, rows);
  }
  return columns;
}

void read_sensory(OpenArray& array, SensoryData& sensory) {
  std::span<std::byte> all;
  if (sensory.rows() > 0) {
    const std::span<std::byte> first = sensory.view().bytes(0);
    all = {first.data(), first.size() * sensory.rows()};
  }
  array.read(all);
  if (array.entry.header.type != NpyType::float32) return;
  if (!all_finite({reinterpret_cast<const float*>(all.data()), all.size() / sizeof(float)})) {
    array.wrong("there are values that are not finite");
  }
}

Individuals read_columns(OpenColumns columns, std::size_t rows) {
  Individuals individuals(columns.layout(), rows);
  read_values(columns.ids, individuals.ids.data());
  if (std::ranges::adjacent_find(individuals.ids, std::ranges::greater_equal{}) !=
      individuals.ids.end()) {
    columns.ids.wrong("the ids are not in ascending order");
  }
  read_values(columns.genotypes, individuals.genotypes.data());
  const std::span<const float> genes(individuals.genotypes.data(),
                                     rows * individuals.genotypes.cols());
  if (!std::ranges::all_of(genes, [](float gene) { return gene >= 0 && gene <= 1; })) {
    columns.genotypes.wrong("there are genes outside [0, 1]");
  }
  read_finite(columns.fitness, individuals.fitness.data());
  read_finite(columns.descriptors, individuals.descriptors.data());
  // A diverged decoder makes this one infinite, which does not harm the individual.
  read_values(columns.reconstruction_error, individuals.reconstruction_error.data());
  read_finite(columns.ground_truth, individuals.ground_truth.data());
  if (columns.sensory) read_sensory(*columns.sensory, individuals.sensory);
  return individuals;
}

// ---- The rows of the tables ----

void check_column_names(const std::string& header, const MetricsRow& row) {
  std::set<std::string_view> names;
  for (std::string_view rest = header; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.insert(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  for (const auto& [name, value] : row.extra) {
    const bool valid = !name.empty() && name.find_first_of(",\"\r\n") == std::string::npos;
    if (!valid || !names.insert(name).second) {
      throw DataError(
          fmt::format("a metric cannot be called '{}': the name is taken already, or "
                      "cannot head a column of a CSV file",
                      name));
    }
  }
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)), started_(now_iso()) {}

RunDirectory RunDirectory::create(const fs::path& path) {
  create_fresh_directory(path, "choose another --out");
  return RunDirectory(path);
}

void RunDirectory::write_config(std::string_view toml) {
  write_file(path_ / "config.toml", toml);
}

void RunDirectory::append(Table& table, std::string_view name, const std::string& header,
                          const std::string& row) {
  if (!table.file) table.file.emplace(path_ / name);
  if (table.file->size() == 0) {
    table.file->append(header + '\n' + row + '\n');
    table.header = header;
    return;
  }
  if (header != table.header) {
    throw DataError(fmt::format("'{}' has the columns {}, but the new row has {}",
                                (path_ / name).string(), table.header, header));
  }
  table.file->append(row + '\n');
}

void RunDirectory::append_metrics(const MetricsRow& row) {
  std::string header =
      "iteration,evaluations,container_size,coverage,grid_mean_fitness,qd_score,best_fitness,"
      "mean_fitness,threshold,added,replaced,rejected,invalid,lost,container_updates,"
      "loss_per_update";
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", row.iteration, row.evaluations,
                  row.container_size, row.coverage, row.grid_mean_fitness, row.qd_score,
                  row.best_fitness, row.mean_fitness, row.threshold, row.added, row.replaced,
                  row.rejected, row.invalid, row.lost, row.container_updates, row.loss_per_update);
  check_column_names(header, row);
  for (const auto& [name, value] : row.extra) {
    header += ',' + name;
    line += fmt::format(",{}", value);
  }
  append(metrics_, "metrics.csv", header, line);
}

void RunDirectory::append_encoder(const EncoderRow& row) {
  append(encoder_, "encoder.csv",
         "iteration,examples,validation,epochs,train_loss,validation_loss,seconds",
         fmt::format("{},{},{},{},{},{},{}", row.iteration, row.training.examples,
                     row.training.validation, row.training.epochs, row.training.train_loss,
                     row.training.validation_loss, row.seconds));
}

void RunDirectory::write_summary(const RunSummary& summary) {
  // A run that failed should be able to say so even if its tables cannot be synced.
  for (Table* table : {&metrics_, &encoder_}) {
    try {
      if (table->file) table->file->sync();
    } catch (const FileError&) {
      if (summary.status != RunStatus::failed) throw;
    }
  }
  Json json;
  json["version"] = summary.version;
  json["host"] = summary.host.empty() ? host_name() : summary.host;
  json["task"] = summary.task;
  json["variant"] = summary.variant;
  json["seed"] = summary.seed;
  json["status"] = name_of(summary.status);
  if (summary.status == RunStatus::failed) json["error"] = summary.error;
  json["started"] = summary.started.empty() ? started_ : summary.started;
  if (summary.status != RunStatus::running) {
    json["ended"] = summary.ended.empty() ? now_iso() : summary.ended;
  }
  json["iterations"] = summary.iterations;
  json["evaluations"] = summary.evaluations;
  json["simulations"] = summary.simulations;
  json["invalid"] = summary.invalid;
  json["container_size"] = summary.container_size;
  json["container_hash"] = summary.container_hash;
  json["coverage"] = summary.coverage;
  json["grid_mean_fitness"] = summary.grid_mean_fitness;
  json["qd_score"] = summary.qd_score;
  json["threshold"] = summary.threshold;
  json["loss_per_update"] = summary.loss_per_update;
  json["threads"] = summary.threads;
  json["seconds"] = {
      {"total", summary.seconds_total},         {"simulate", summary.seconds.simulate},
      {"encode", summary.seconds.encode},       {"train", summary.seconds.train},
      {"container", summary.seconds.container}, {"variation", summary.seconds.variation},
      {"metrics", summary.seconds_metrics},     {"io", summary.seconds_io}};
  write_file(path_ / "run.json", to_text(json));
}

void RunDirectory::write_container(const Individuals& individuals, const TaskSpec& spec) {
  write_individuals(path_ / "container", individuals, spec, true);
}

void RunDirectory::write_snapshot(std::size_t iteration, const Individuals& individuals,
                                  const TaskSpec& spec) {
  make_directories(path_ / "snapshots");
  write_individuals(path_ / "snapshots" / fmt::format("{:06}", iteration), individuals, spec,
                    false);
}

void RunDirectory::write_encoder(std::span<const NamedArray> arrays) {
  std::set<std::string_view> names;
  for (const NamedArray& array : arrays) {
    if (!is_plain_name(array.name + ".npy") || !names.insert(array.name).second) {
      throw DataError(
          fmt::format("an array of an encoder cannot be called '{}': the name is taken "
                      "already, or cannot be that of a file",
                      array.name));
    }
  }
  write_directory(path_ / "encoder", [&](const fs::path& fresh) {
    ArrayDirectoryWriter writer(fresh);
    for (const NamedArray& array : arrays) {
      writer.add(array.name + ".npy", {NpyType::float32, array.shape},
                 [&](OutputFile& out) { out.write(std::as_bytes(std::span(array.values))); });
    }
    writer.finish(
        {{"format_version", kFormatVersion}, {"kind", "encoder"}, {"count", arrays.size()}});
  });
}

RunSummary read_summary(const fs::path& file) {
  const Json parsed = read_json(file);
  const JsonObject json(parsed, fmt::format("'{}'", file.string()));
  RunSummary summary;
  summary.version = json.text("version");
  summary.host = json.text("host");
  summary.task = json.text("task");
  summary.variant = json.text("variant");
  summary.seed = json.whole("seed");
  summary.status = json.name<RunStatus>("status");
  if (summary.status == RunStatus::failed) summary.error = json.text("error");
  summary.started = json.text("started");
  if (summary.status != RunStatus::running) summary.ended = json.text("ended");
  summary.iterations = json.whole("iterations");
  summary.evaluations = json.whole("evaluations");
  summary.simulations = json.whole("simulations");
  summary.invalid = json.whole("invalid");
  summary.container_size = json.whole("container_size");
  summary.container_hash = json.text("container_hash");
  summary.coverage = json.number("coverage");
  summary.grid_mean_fitness = json.number("grid_mean_fitness");
  summary.qd_score = json.number("qd_score");
  summary.threshold = json.number("threshold");
  summary.loss_per_update = json.number("loss_per_update");
  summary.threads = json.whole("threads");
  const JsonObject seconds = json.object("seconds");
  summary.seconds_total = seconds.number("total");
  summary.seconds.simulate = seconds.number("simulate");
  summary.seconds.encode = seconds.number("encode");
  summary.seconds.train = seconds.number("train");
  summary.seconds.container = seconds.number("container");
  summary.seconds.variation = seconds.number("variation");
  summary.seconds_metrics = seconds.number("metrics");
  summary.seconds_io = seconds.number("io");
  return summary;
}

SavedContainer load_container(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  const std::string kind = manifest.text("kind");
  if (kind != "container" && kind != "snapshot") {
    manifest.wrong("kind", "'container' or 'snapshot'");
  }
  SavedContainer saved;
  saved.task = manifest.text("task");
  saved.ground_truth = read_axes(manifest);
  saved.has_sensory = kind == "container";
  const std::size_t rows = manifest.whole("count");
  saved.individuals =
      read_columns(open_columns(reader, rows, saved.ground_truth.size(), saved.has_sensory), rows);
  return saved;
}

std::vector<NamedArray> load_encoder(const fs::path& directory) {
  const ArrayDirectoryReader reader(directory);
  const JsonObject manifest = reader.manifest();
  if (manifest.text("kind") != "encoder") manifest.wrong("kind", "'encoder'");
  if (manifest.whole("count") != reader.entries().size()) {
    manifest.wrong("count", "the number of files");
  }
  std::vector<NamedArray> arrays;
  for (const ArrayEntry& entry : reader.entries()) {
    OpenArray array = reader.open(entry.file);
    if (entry.header.type != NpyType::float32) array.wrong("float32 values were expected");
    if (!entry.file.ends_with(".npy")) array.wrong("a name that ends in .npy was expected");
    NamedArray& named = arrays.emplace_back();
    named.name = entry.file.substr(0, entry.file.size() - 4);
    named.shape = array.shape();
    named.values.resize(entry.header.count());
    read_values(array, named.values.data());
  }
  return arrays;
}

}  // namespace aurora
