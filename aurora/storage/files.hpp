// The one place that touches the file system: whole files, growing tables and directories are
// written so that a crash, a kill or a full disk never harms what existed before.
//
// Whatever the operating system refuses is a FileError with the path and its reason. A name that
// begins with a dot and ends in .new or .old is ours: the leftover of a write that was cut short.
// It is ignored by readers, and gone with the next write of the same directory or when a run goes
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "aurora/core/errors.hpp"

struct XXH3_state_s;

namespace aurora {

/// A running XXH3 checksum (64 bits) of bytes that come in pieces.
class Checksum {
 public:
  Checksum();
  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;
  /// The value as 16 hexadecimal digits, as manifests have it.
  std::string text() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

/// An open file descriptor, closed when it goes out of scope.
class FileHandle {
 public:
  explicit FileHandle(int descriptor = -1) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int get() const { return descriptor_; }
  /// Gives the descriptor away; the caller closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// Whether write_file() follows a symbolic link, and writes to a device or pipe directly, or takes
/// its place: inside a directory of ours nobody else's file may be reached.
enum class Links { follow, replace };

/// A new file that is written from front to back. It counts and is whole only after close();
/// destroyed before that, it is removed.
class OutputFile {
 public:
  /// Creates `path`, which must not exist. Messages call it `called` if that is not empty.
  explicit OutputFile(std::filesystem::path path, std::filesystem::path called = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Everything handed to write() so far.
  std::uint64_t bytes() const { return bytes_; }
  std::string checksum() const { return checksum_.text(); }

  /// Writes out what is buffered, waits until the disk has it, closes.
  void close();

 private:
  friend void write_file(const std::filesystem::path&, const std::function<void(OutputFile&)>&,
                         Links);
  struct Existing {};
  OutputFile(std::filesystem::path path, Existing);
  void flush();

  std::filesystem::path path_;
  std::filesystem::path called_;
  FileHandle file_;
  bool temporary_ = true;  // remove it unless it was closed
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  Checksum checksum_;
};

/// A file that is read from front to back.
class InputFile {
 public:
  /// FileError if it cannot be opened or is not a regular file.
  explicit InputFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Bytes not read yet.
  std::uint64_t left() const { return size_ - position_; }
  /// Fills `out`; DataError if the file ends before.
  void read(std::span<std::byte> out);
  /// Passes over bytes; DataError if the file ends before. The checksum does not have them.
  void skip(std::uint64_t bytes);
  /// Of everything read so far.
  std::string checksum() const { return checksum_.text(); }

 private:
  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  Checksum checksum_;
};

/// A table that grows line by line. Each line is handed to the kernel at once and as a whole: it
/// survives a kill of the process; sync() makes it survive a power cut too.
class AppendFile {
 public:
  /// Opens `path` at its end, or creates it empty. FileError if it is a symbolic link or anything
  /// else that is no regular file.
  explicit AppendFile(std::filesystem::path path);

  /// Appends whole lines, '\n' included. If that fails, no part of them stays in the file.
  void append(std::string_view lines);
  std::uint64_t size() const { return size_; }
  /// False if its name is another file's now, or nobody's: it was removed, renamed or replaced.
  bool in_place() const;
  void sync();

 private:
  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

/// Another process is at work there; it may be tried again later.
class InUse : public FileError {
 public:
  using FileError::FileError;
};

/// A file that says which process of which machine uses a directory, for as long as it does. The
/// operating system holds the lock (flock) and drops it when the process ends, however it ends:
/// what a dead process left is simply taken over. On a shared file system it holds between machines
/// if that one's locks do: docs/cluster.md.
class FileLock {
 public:
  /// InUse with the other's process number and machine if the lock is held; `used` is what to call
  /// the thing that is locked.
  FileLock(std::filesystem::path path, const std::filesystem::path& used);
  FileLock(FileLock&&) noexcept = default;
  ~FileLock();

  /// False if its name is another file's now, or nobody's: whoever takes the lock next takes that.
  bool in_place() const;
  /// "process 123 on HOST", as the file says; "another process" if it says nothing.
  static std::string holder(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  FileHandle file_;
};

/// Replaces `path` by what `content` writes, or leaves it exactly as it was: written under a
/// temporary name beside it, synced, renamed, directory synced. Not for two threads and the same
/// path at once. (If only the very last step fails, the sync of the directory, the new one is in
/// place already.)
void write_file(const std::filesystem::path& path, const std::function<void(OutputFile&)>& content,
                Links links = Links::follow);
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                Links links = Links::follow);
void write_file(const std::filesystem::path& path, std::string_view text,
                Links links = Links::follow);

/// The whole file, which may hold `limit` bytes at most (DataError).
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Replaces the directory `path` by the one that `content` fills, or leaves it exactly as it was.
/// `content` gets a fresh directory beside it, and closes the files it writes there. At every
/// moment of it, a crash leaves the old or the new directory whole: where the file system can
/// exchange two names at once they are exchanged; elsewhere the old one is renamed aside first, and
/// whole_directory() finds it. One writer at a time. The old directory is removed in the end, or
/// becomes `previous`, beside it, in the place of what was there.
void write_directory(const std::filesystem::path& path,
                     const std::function<void(const std::filesystem::path&)>& content,
                     const std::filesystem::path& previous = {});

/// Where the last complete version of a directory written by write_directory() lies: `path`, or the
/// name aside if a crash came between the two renames.
std::filesystem::path whole_directory(const std::filesystem::path& path);

/// Removes what calls of write_file() and write_directory() that were cut short have left in a
/// directory that nobody else writes to, if it can; what whole_directory() finds stays.
void remove_leftovers(const std::filesystem::path& directory);

/// Removes a file, or a directory with all that is in it; nothing there is fine too.
void remove_path(const std::filesystem::path& path);

/// Gives a file or directory another name, in the place of what had it, and syncs the directory.
void move_path(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes `path` and its parents, unless they exist.
void make_directories(const std::filesystem::path& path);

/// Makes `path` inside a directory of ours, unless it exists. FileError if it is a symbolic link:
/// nothing is written through it.
void make_own_directory(const std::filesystem::path& path);

/// Makes `path` a new, empty directory (parents too). FileError if something is there already or it
/// cannot be made; `remedy` ends the message, e.g. "choose another --out".
void create_fresh_directory(const std::filesystem::path& path, std::string_view remedy);

}  // namespace aurora
