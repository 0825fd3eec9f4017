// A run is a directory of plain files.
//
//   config.toml        the resolved configuration
//   run.json           what the run is and how it stands (RunSummary), with a checksum of itself
//   metrics.csv        a row per logged iteration
//   encoder.csv        a row per encoder update
//   container/         manifest.json and a .npy file per column, rows in ascending order of ids
//   snapshots/000500/  the same without sensory data
//   encoder/           manifest.json and a .npy file per array
//   reconstructions/   what that encoder makes of a few individuals, and their ids
//   retrained/         an encoder trained from scratch after the run (retrain.hpp)
//   checkpoint/        the last complete state (checkpoint.hpp), and checkpoint.previous/
//   manifest.json      checksums of all of the above but retrained/, once the run has ended
//   .lock              while a process writes to it
//
// Files and directories appear whole or not at all, and equal content gives equal bytes, whatever
// order a container stores its rows in. Manifests have checksums of everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/core/individuals.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/runs/reconstructions.hpp"
#include "aurora/runs/records.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// Writes a run. Every member throws FileError if the operating system refuses; what was written
/// before is then as it was, and the call may be repeated.
///
/// If the directory is removed, renamed or replaced by another while the run goes on, nothing is
/// made in its place: the next member that is called throws FileError. The same goes for a table,
/// whose rows would be lost.
class RunDirectory {
 public:
  /// A new directory, with its parents. FileError if it exists and is not empty.
  static RunDirectory create(const std::filesystem::path& path);
  /// The directory of a run that goes on, or a new one. FileError if it holds something else, or
  /// another process is using it.
  static RunDirectory reopen(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// FileError if this is no longer the directory that was opened.
  void check_in_place() const;
  /// When it was opened, as run.json has it.
  const std::string& started() const { return started_; }

  void write_config(std::string_view toml);

  /// Numbers are written with as many digits as reading them back exactly takes. The columns are
  /// those of the table's first row, which an older version may have written: what a later row does
  /// not have is "nan" there, and what it has besides is left out. DataError if a name cannot head
  /// a column, or does so twice.
  void append_metrics(const Row& row) { append(metrics_, "metrics.csv", row); }
  void append_encoder(const Row& row) { append(encoder_, "encoder.csv", row); }
  /// Names of columns that were left out so far.
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// Bytes of the tables.
  std::uint64_t metrics_bytes() const { return bytes_of(metrics_); }
  std::uint64_t encoder_bytes() const { return bytes_of(encoder_); }
  /// Replaces the tables by what they were once; an empty one is removed.
  void restore_tables(std::string_view metrics, std::string_view encoder);

  /// run.json; the rows of the tables are on the disk before it.
  void write_summary(const RunSummary& summary);
  /// manifest.json, with checksums of all that is in the directory by now; `summary`, which is to
  /// be written next and last, gets that of the manifest.
  void seal(RunSummary& summary);

  /// `state` is what the container depends on besides its individuals. `before` is called when all
  /// is written, just before it takes its place.
  void write_container(
      const Individuals& individuals, const PartState& state, const TaskSpec& spec,
      const std::function<void()>& before = [] {});
  void write_snapshot(std::size_t iteration, const Individuals& individuals, const TaskSpec& spec);

  /// DataError if names repeat or hold other characters than letters, digits, '.', '_' and '-'.
  void write_encoder(std::span<const NamedArray> arrays);

  /// `shape` is that of the sensory data.
  void write_reconstructions(const Reconstructions& some, const SensoryShape& shape);

 private:
  /// A table and its columns; the file is created with the first row.
  struct Table {
    std::optional<AppendFile> file;
    std::vector<std::string> columns;
  };

  /// Takes the lock.
  explicit RunDirectory(std::filesystem::path path);
  void check_in_place(const Table& table, std::string_view name) const;
  void sync_tables(const RunSummary& summary);
  static std::uint64_t bytes_of(const Table& table) { return table.file ? table.file->size() : 0; }
  void restore(Table& table, std::string_view name, std::string_view content);
  void append(Table& table, std::string_view name, const Row& row);

  std::filesystem::path path_;
  FileLock lock_;
  std::string started_;
  Table metrics_;
  Table encoder_;
  std::vector<std::string> left_out_;
};

/// Reads a run.json. FileError if it cannot be read, DataError if it is not what it should be.
/// Numbers that JSON cannot say (NaN, infinities) come back as NaN.
RunSummary read_summary(const std::filesystem::path& file);

/// Whether the directory is a digest of a run (`aurora digest`), which reports and studies read.
bool is_digest(const std::filesystem::path& run);
/// UsageError if it is one.
void refuse_digest(const std::filesystem::path& run);

/// What container/ or a snapshot holds.
struct SavedContainer {
  std::string task;
  std::vector<Axis> ground_truth;  // of the columns of individuals.ground_truth
  bool has_sensory = false;        // if not, individuals.sensory has the shape {0}
  Individuals individuals;         // in ascending order of ids
  PartState state;                 // of the container; none in a snapshot
};

/// Reads <run>/container or <run>/snapshots/NNNNNN. DataError unless everything is as a run writes
/// it: manifest, file sizes, checksums, types, shapes, ascending ids, genes in [0, 1], finite
/// values. Memory is taken only for what the files really hold. Sensory data, by far the largest
/// column, can be left out.
SavedContainer load_container(const std::filesystem::path& directory, bool with_sensory = true);

/// What is stored of one individual and is too large to be read of all.
struct SavedIndividual {
  std::uint64_t id = 0;
  SensoryData sensory;  // one row
};

/// Reads it from <run>/container. DataError as above, but checksums are those of whole files and
/// are not looked at; also if there is no such row.
SavedIndividual load_individual(const std::filesystem::path& directory, std::size_t row);

/// Reads <run>/encoder; the arrays come in the order in which they were written. DataError as
/// above; whether the values make sense is for Encoder::set_state() to say.
std::vector<NamedArray> load_encoder(const std::filesystem::path& directory);

/// Writes what load_encoder() reads into a directory that is there and empty.
void write_encoder_state(const std::filesystem::path& directory,
                         std::span<const NamedArray> arrays);

/// Reads <run>/reconstructions. DataError as above.
Reconstructions load_reconstructions(const std::filesystem::path& directory);

}  // namespace aurora
