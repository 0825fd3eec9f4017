#include "apps/aurora/explore/own_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "aurora/core/errors.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestOwn = 4;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw FileError(
      fmt::format("cannot read '{}': {}", path.string(), std::generic_category().message(error)));
}

std::optional<struct stat> look_at(const fs::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail(path, errno);
}

/// The bytes of a file, or of all that are in a directory.
std::uint64_t weigh(const fs::path& path, const std::string& but, int depth) {
  const auto status = look_at(path);
  if (!status) return 0;
  if (S_ISLNK(status->st_mode)) {
    throw FileError(
        fmt::format("'{}' is a symbolic link: nothing is read through it", path.string()));
  }
  if (S_ISREG(status->st_mode)) {
    return path.filename() == but ? 0 : static_cast<std::uint64_t>(status->st_size);
  }
  if (!S_ISDIR(status->st_mode) || depth == kDeepestOwn) {
    throw FileError(fmt::format("'{}' is no file of a run", path.string()));
  }
  std::uint64_t sum = 0;
  for (const fs::path& entry : entries_of(path)) sum += weigh(entry, but, depth + 1);
  return sum;
}

}  // namespace

void check_own(const fs::path& run, const fs::path& name, std::uint64_t limit,
               const std::string& but) {
  fs::path way = run;
  for (const fs::path& part : name.parent_path()) {
    way /= part;
    const auto status = look_at(way);
    if (!status) return;
    if (!S_ISDIR(status->st_mode)) {
      throw FileError(
          fmt::format("'{}' is no directory: nothing is read through it", way.string()));
    }
  }
  if (const std::uint64_t bytes = weigh(run / name, but, 0); bytes > limit) {
    throw DataError(
        fmt::format("'{}' has {} bytes; at most {} are read", (run / name).string(), bytes, limit));
  }
}

std::string stamp_of_file(const fs::path& file) {
  const auto status = look_at(file);
  if (!status) return {};
  return fmt::format("{:x}-{:x}-{:x}-{:x}", status->st_ino, status->st_size, status->st_mtim.tv_sec,
                     status->st_mtim.tv_nsec);
}

FileHandle open_own_table(const fs::path& file) {
  FileHandle handle(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (handle.get() < 0 && errno == ENOENT) return handle;
  struct stat status;
  if (handle.get() < 0 || ::fstat(handle.get(), &status) != 0) fail(file, errno);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("cannot read '{}': it is not a regular file", file.string()));
  }
  return handle;
}

std::string read_piece(const FileHandle& file, std::uint64_t from, std::uint64_t most) {
  std::string piece(most, '\0');
  std::size_t filled = 0;
  while (filled < piece.size()) {
    const ssize_t got = ::pread(file.get(), piece.data() + filled, piece.size() - filled,
                                static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  piece.resize(filled);
  return piece;
}

}  // namespace aurora::explore
