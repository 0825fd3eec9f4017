#include "aurora/storage/paths.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::error_code& error) {
  throw FileError(fmt::format("cannot read '{}': {}", path.string(), error.message()));
}

std::optional<mode_t> mode_of(const fs::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) return status.st_mode;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail(path, std::error_code(errno, std::generic_category()));
}

}  // namespace

bool path_exists(const fs::path& path) {
  return mode_of(path).has_value();
}

bool directory_exists(const fs::path& path) {
  const std::optional<mode_t> mode = mode_of(path);
  return mode && S_ISDIR(*mode);
}

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!path_exists(directory)) return found;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    found.push_back(entry->path());
  }
  if (error) fail(directory, error);
  std::ranges::sort(found);
  return found;
}

}  // namespace aurora
