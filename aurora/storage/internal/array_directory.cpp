#include "aurora/storage/internal/array_directory.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

namespace aurora {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFormatVersion = 1;
constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kEnding = ".npy";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// A name that is safe as a file of its directory and as nothing else. The directory's own files,
/// the hidden ones and those above it are out.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_plain);
}

NpyType npy_type_of(ElementType element) {
  return element == ElementType::uint8 ? NpyType::uint8 : NpyType::float32;
}

// ---- Columns of individuals ----

OpenArray open_column(const ArrayDirectoryReader& reader, const std::string& file,
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
OpenArray open_vector(const ArrayDirectoryReader& reader, const std::string& file, NpyType type,
                      std::size_t rows) {
  OpenArray array = open_column(reader, file, {type}, rows);
  if (array.shape().size() != 1) array.wrong("one value per individual was expected");
  return array;
}

/// A row of floats per row.
OpenArray open_matrix(const ArrayDirectoryReader& reader, const std::string& file,
                      std::size_t rows) {
  OpenArray array = open_column(reader, file, {NpyType::float32}, rows);
  if (array.shape().size() != 2) array.wrong("two axes were expected");
  return array;
}

/// All columns are opened before memory is taken for one: the number of rows is then known to be
/// that of files that are really there.
struct OpenColumns {
  OpenArray ids;
  OpenArray genotypes;
  OpenArray fitness;
  OpenArray descriptors;
  OpenArray reconstruction_error;
  OpenArray ground_truth;
  std::optional<OpenArray> sensory;
  std::vector<std::string> extra_names;
  std::vector<OpenArray> extra;

  OpenColumns(const ArrayDirectoryReader& reader, const std::string& prefix, std::size_t rows,
              bool with_sensory, const std::vector<std::string>& names)
      : ids(open_vector(reader, prefix + "ids.npy", NpyType::uint64, rows)),
        genotypes(open_matrix(reader, prefix + "genotypes.npy", rows)),
        fitness(open_vector(reader, prefix + "fitness.npy", NpyType::float32, rows)),
        descriptors(open_matrix(reader, prefix + "descriptors.npy", rows)),
        reconstruction_error(
            open_vector(reader, prefix + "reconstruction_error.npy", NpyType::float32, rows)),
        ground_truth(open_matrix(reader, prefix + "ground_truth.npy", rows)),
        extra_names(names) {
    for (const std::string& name : names) {
      extra.push_back(open_vector(reader, prefix + name + ".npy", NpyType::float32, rows));
    }
    if (!with_sensory) return;
    sensory.emplace(
        open_column(reader, prefix + "sensory.npy", {NpyType::uint8, NpyType::float32}, rows));
  }

  IndividualsLayout layout() const {
    IndividualsLayout sizes{
        genotypes.shape()[1], descriptors.shape()[1], ground_truth.shape()[1], {{0}}, extra_names};
    if (sensory) {
      const bool bytes = sensory->entry.header.type == NpyType::uint8;
      sizes.sensory.element = bytes ? ElementType::uint8 : ElementType::float32;
      sizes.sensory.extents.assign(sensory->shape().begin() + 1, sensory->shape().end());
    }
    return sizes;
  }
};

template <class T>
void read_values(OpenArray& array, T* data) {
  array.read(std::as_writable_bytes(std::span(data, array.entry.header.count())));
}

}  // namespace

// ---- Writing ----

void ArrayDirectoryWriter::add_columns(const std::string& prefix, const Individuals& individuals,
                                       bool with_sensory, std::span<const std::uint32_t> order) {
  const std::size_t rows = individuals.size();
  const auto column = [&](const std::string& name, NpyHeader header, const void* data) {
    const auto* bytes = static_cast<const std::byte*>(data);
    const std::size_t all = header.data_bytes();
    add(prefix + name, std::move(header), [&](OutputFile& out) {
      if (order.empty()) return out.write(std::span(bytes, all));
      const std::size_t one = all / rows;
      for (const std::size_t row : order) out.write(std::span(bytes + row * one, one));
    });
  };
  const auto matrix = [&](const char* name, const Matrix<float>& values) {
    column(name, {NpyType::float32, {rows, values.cols()}}, values.data());
  };
  column("ids.npy", {NpyType::uint64, {rows}}, individuals.ids.data());
  matrix("genotypes.npy", individuals.genotypes);
  column("fitness.npy", {NpyType::float32, {rows}}, individuals.fitness.data());
  matrix("descriptors.npy", individuals.descriptors);
  column("reconstruction_error.npy", {NpyType::float32, {rows}},
         individuals.reconstruction_error.data());
  matrix("ground_truth.npy", individuals.ground_truth);
  for (std::size_t i = 0; i < individuals.extra_names.size(); ++i) {
    std::vector<float> values(rows);
    for (std::size_t row = 0; row < rows; ++row) values[row] = individuals.extra(row, i);
    column(individuals.extra_names[i] + ".npy", {NpyType::float32, {rows}}, values.data());
  }
  if (!with_sensory) return;

  const SensoryShape& sensory = individuals.sensory.shape();
  NpyHeader header{npy_type_of(sensory.element), {rows}};
  header.shape.insert(header.shape.end(), sensory.extents.begin(), sensory.extents.end());
  add(prefix + "sensory.npy", std::move(header), [&](OutputFile& out) {
    const SensoryView data = individuals.sensory.view();
    for (std::size_t i = 0; i < rows; ++i) out.write(data.bytes(order.empty() ? i : order[i]));
  });
}

void ArrayDirectoryWriter::add_arrays(const std::string& prefix,
                                      std::span<const NamedArray> arrays) {
  std::set<std::string_view> names;
  for (const NamedArray& array : arrays) {
    if (!is_file_name(fmt::format("{}{}{}", prefix, array.name, kEnding)) ||
        !names.insert(array.name).second) {
      throw DataError(
          fmt::format("an array cannot be called '{}': the name is taken "
                      "already, or cannot be that of a file",
                      array.name));
    }
    const NpyHeader header{NpyType::float32, array.shape};
    if (array.values.size() != header.count()) {
      throw DataError(fmt::format("the array '{}' has {} values, its shape ({}) says {}",
                                  array.name, array.values.size(), fmt::join(array.shape, ", "),
                                  header.count()));
    }
  }
  for (const NamedArray& array : arrays) {
    add(fmt::format("{}{}{}", prefix, array.name, kEnding), {NpyType::float32, array.shape},
        [&](OutputFile& out) { out.write(std::as_bytes(std::span(array.values))); });
  }
}

void ArrayDirectoryWriter::add_text(std::string file, std::string_view text) {
  add(std::move(file), {NpyType::uint8, {text.size()}}, [&](OutputFile& out) { out.write(text); });
}

void ArrayDirectoryWriter::finish(std::string_view kind, const Json& more) const {
  Json manifest = {{"format_version", kFormatVersion}, {"kind", kind}};
  manifest.update(more);
  Json files = Json::array();
  for (const ArrayEntry& entry : entries_) {
    files.push_back({{"name", entry.file},
                     {"dtype", name_of(entry.header.type)},
                     {"shape", entry.header.shape},
                     {"bytes", entry.bytes},
                     {"xxh3", entry.checksum}});
  }
  manifest["files"] = std::move(files);
  sign(manifest);
  OutputFile out(directory_ / kManifest);
  out.write(to_text(manifest));
  out.close();
}

// ---- Reading ----

void OpenArray::wrong(std::string_view what) const {
  throw DataError(fmt::format("'{}': {}", file.path().string(), what));
}

void OpenArray::read(std::span<std::byte> out) {
  assert(out.size() == entry.header.data_bytes());
  file.read(out);
  check_whole();
}

void OpenArray::check_whole() const {
  if (file.checksum() != entry.checksum) {
    wrong(fmt::format("the file is damaged: its checksum is {}, the manifest says {}",
                      file.checksum(), entry.checksum));
  }
}

ArrayDirectoryReader::ArrayDirectoryReader(const fs::path& directory)
    : directory_(whole_directory(directory)), json_(read_signed_json(directory_ / kManifest)) {
  if (const std::uint64_t version = manifest().whole("format_version"); version != kFormatVersion) {
    throw VersionError(fmt::format("{}: format version {} is not read; only {}", where(), version,
                                   kFormatVersion));
  }
  read_entries();
}

std::string ArrayDirectoryReader::where() const {
  return fmt::format("'{}'", (directory_ / kManifest).string());
}

OpenArray ArrayDirectoryReader::open(std::string_view file) const {
  const auto found = std::ranges::find(entries_, file, &ArrayEntry::file);
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

void ArrayDirectoryReader::wrong(std::string_view file, std::string_view what) const {
  throw DataError(fmt::format("'{}': {}", (directory_ / file).string(), what));
}

void ArrayDirectoryReader::read_entries() {
  std::set<std::string> seen;
  for (const JsonObject& file : manifest().objects("files")) {
    ArrayEntry entry{file.text("name"),
                     {file.name<NpyType>("dtype"), file.whole_numbers("shape")},
                     file.whole("bytes"),
                     file.text("xxh3")};
    if (!is_file_name(entry.file)) {
      file.wrong("name", "a plain file name of letters, digits, '.', '_' and '-'");
    }
    if (!seen.insert(entry.file).second) file.wrong("name", "different in every entry");
    entries_.push_back(std::move(entry));
  }
}

Individuals ArrayDirectoryReader::read_columns(const std::string& prefix, std::size_t rows,
                                               bool with_sensory,
                                               const std::vector<std::string>& extra) const {
  OpenColumns columns(*this, prefix, rows, with_sensory, extra);
  Individuals individuals(columns.layout());
  individuals.sensory.freeze();
  individuals.resize(rows);
  read_values(columns.ids, individuals.ids.data());
  read_values(columns.genotypes, individuals.genotypes.data());
  read_values(columns.fitness, individuals.fitness.data());
  read_values(columns.descriptors, individuals.descriptors.data());
  read_values(columns.reconstruction_error, individuals.reconstruction_error.data());
  read_values(columns.ground_truth, individuals.ground_truth.data());
  for (std::size_t i = 0; i < extra.size(); ++i) {
    std::vector<float> values(rows);
    read_values(columns.extra[i], values.data());
    for (std::size_t row = 0; row < rows; ++row) individuals.extra(row, i) = values[row];
  }
  if (columns.sensory) {
    for (std::size_t row = 0; row < rows; ++row) {
      individuals.sensory.fill_row(
          row, [&](std::span<std::byte> out) { columns.sensory->file.read(out); });
    }
    columns.sensory->check_whole();
  }
  return individuals;
}

std::vector<NamedArray> ArrayDirectoryReader::read_arrays(const std::string& prefix) const {
  std::vector<NamedArray> arrays;
  for (const ArrayEntry& entry : entries_) {
    if (!entry.file.starts_with(prefix)) continue;
    OpenArray array = open(entry.file);
    if (entry.header.type != NpyType::float32) array.wrong("float32 values were expected");
    if (!entry.file.ends_with(kEnding)) array.wrong("a name that ends in .npy was expected");
    NamedArray& named = arrays.emplace_back();
    named.name =
        entry.file.substr(prefix.size(), entry.file.size() - prefix.size() - kEnding.size());
    named.shape = array.shape();
    named.values.resize(entry.header.count());
    read_values(array, named.values.data());
  }
  return arrays;
}

std::string ArrayDirectoryReader::read_text(std::string_view file) const {
  OpenArray array = open(file);
  if (array.entry.header.type != NpyType::uint8 || array.shape().size() != 1) {
    array.wrong("a text was expected: uint8 and one axis");
  }
  std::string text(array.entry.header.count(), '\0');
  read_values(array, text.data());
  return text;
}

}  // namespace aurora
