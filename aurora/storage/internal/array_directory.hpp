// Directories of .npy files with a manifest: containers, encoders and checkpoints. Not installed.
//
// A manifest lists type, shape, length and XXH3 checksum of every file and ends with a checksum of
// itself; the reader checks all of it before it believes it, and takes memory only for what the
// files really hold. Names are plain: nothing outside the directory is ever opened.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/individuals.hpp"
#include "aurora/core/named.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/json.hpp"
#include "aurora/storage/npy.hpp"

namespace aurora {

/// The manifest is whole but of a format that we do not read.
class VersionError : public DataError {
 public:
  using DataError::DataError;
};

struct ArrayEntry {
  std::string file;
  NpyHeader header;
  std::uint64_t bytes = 0;
  std::string checksum;
};

/// Writes arrays into a directory and keeps the books for its manifest.
class ArrayDirectoryWriter {
 public:
  explicit ArrayDirectoryWriter(std::filesystem::path directory)
      : directory_(std::move(directory)) {}

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

  /// The columns of individuals, a file each that begins with `prefix`. Rows come as `order` says,
  /// or as they are if it is empty.
  void add_columns(const std::string& prefix, const Individuals& individuals, bool with_sensory,
                   std::span<const std::uint32_t> order);

  /// Arrays by name. DataError if names repeat or cannot be those of files, or an array has more or
  /// fewer values than its shape says; nothing is written then.
  void add_arrays(const std::string& prefix, std::span<const NamedArray> arrays);

  /// Some text, byte by byte.
  void add_text(std::string file, std::string_view text);

  /// The manifest: what the caller has to say, the files, and a checksum of the text up to there.
  void finish(std::string_view kind, const Json& more) const;

 private:
  std::filesystem::path directory_;
  std::vector<ArrayEntry> entries_;
};

/// An array of a directory, opened and held against its manifest; the data is still to be read.
struct OpenArray {
  ArrayEntry entry;
  InputFile file;

  const std::vector<std::size_t>& shape() const { return entry.header.shape; }

  [[noreturn]] void wrong(std::string_view what) const;

  /// Reads all of the data, into memory of just this size, and compares the checksum.
  void read(std::span<std::byte> out);

  /// Compares the checksum after all of the data was read from `file`.
  void check_whole() const;
};

class ArrayDirectoryReader {
 public:
  /// FileError or DataError if the manifest is not whole, VersionError if it is of another format.
  explicit ArrayDirectoryReader(const std::filesystem::path& directory);

  JsonObject manifest() const { return {json_, where()}; }
  std::string where() const;
  const std::vector<ArrayEntry>& entries() const { return entries_; }

  /// DataError if there is no such file, or it is not what the manifest says.
  OpenArray open(std::string_view file) const;

  /// The file of an array, for messages.
  [[noreturn]] void wrong(std::string_view file, std::string_view what) const;

  /// `rows` individuals, as add_columns() wrote them; without sensory data its shape is {0}. What
  /// the numbers mean is for the caller to check.
  Individuals read_columns(const std::string& prefix, std::size_t rows, bool with_sensory,
                           const std::vector<std::string>& extra) const;

  /// All arrays whose file begins with `prefix`, in the order in which they were written.
  std::vector<NamedArray> read_arrays(const std::string& prefix) const;

  std::string read_text(std::string_view file) const;

 private:
  void read_entries();

  std::filesystem::path directory_;
  Json json_;
  std::vector<ArrayEntry> entries_;
};

}  // namespace aurora
