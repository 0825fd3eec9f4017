#include "aurora/runs/sources.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();
constexpr int kAttempts = 4;  // at what is replaced while it is read

std::optional<std::size_t> number_in(const std::string& name) {
  std::size_t value = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// When the container was written: a run says so when it ends, and when it goes on.
std::size_t container_iteration(const fs::path& run) {
  try {
    return read_summary(run / "run.json").iterations;
  } catch (const Error&) {
    return kUnknown;  // then it is taken for the newest
  }
}

/// What `read` gives, tried again for as long as the thing is replaced meanwhile.
template <class Read>
auto read_in_peace(const fs::path& run, const Source& source, Read read) {
  for (int attempt = 1;; ++attempt) {
    const std::string before = stamp_of(run, source);
    try {
      return read();
    } catch (const Error&) {
      if (attempt == kAttempts || stamp_of(run, source) == before) throw;
    }
  }
}

/// How the kinds are ordered if they are equally new.
int rank(const Source& source) {
  if (source.is_checkpoint()) return 2;
  return source.name.starts_with("snapshots") ? 1 : 0;
}

SavedContainer from_checkpoint(const fs::path& directory, const TaskSpec& spec) {
  SavedContainer saved;
  saved.task = spec.name;
  saved.ground_truth = spec.ground_truth;
  saved.individuals = load_checkpoint_container(directory);
  if (saved.individuals.ground_truth.cols() != spec.ground_truth.size()) {
    throw DataError(fmt::format("'{}' holds {} values of ground truth, but the task '{}' has {}",
                                directory.string(), saved.individuals.ground_truth.cols(),
                                spec.name, spec.ground_truth.size()));
  }
  return saved;
}

}  // namespace

std::vector<Source> sources_of(const fs::path& run) {
  std::vector<Source> found;
  for (const fs::path& entry : entries_of(run / "snapshots")) {
    const std::string name = entry.filename().string();
    if (const auto iteration = number_in(name)) found.push_back({"snapshots/" + name, *iteration});
  }
  const fs::path container = whole_directory(run / "container");
  if (path_exists(container)) {
    found.push_back({container.filename().string(), container_iteration(run)});
  }
  if (path_exists(whole_directory(run / kLastCheckpoint))) {
    try {
      const Source last{kLastCheckpoint, 0};
      const std::size_t iteration = read_in_peace(
          run, last, [&] { return checkpoint_iteration(whole_directory(run / kLastCheckpoint)); });
      found.push_back({last.name, iteration});
    } catch (const Error&) {
      // It is damaged, or of another version; there may be something else.
    }
  }
  std::ranges::sort(found, [](const Source& a, const Source& b) {
    return std::tuple(b.iteration, rank(a), a.name) < std::tuple(a.iteration, rank(b), b.name);
  });
  return found;
}

SavedContainer load_source(const fs::path& run, const Source& source, const TaskSpec& spec,
                           SensoryWanted sensory) {
  return read_in_peace(run, source, [&] {
    const fs::path directory = whole_directory(run / source.name);
    return source.is_checkpoint() ? from_checkpoint(directory, spec)
                                  : load_container(directory, sensory == SensoryWanted::yes);
  });
}

std::vector<NamedArray> load_encoder_of(const fs::path& run, const Source& source) {
  const fs::path encoder = whole_directory(run / "encoder");
  if (!source.is_checkpoint() && path_exists(encoder)) return load_encoder(encoder);
  if (!path_exists(whole_directory(run / kLastCheckpoint))) return {};
  return read_in_peace(run, {kLastCheckpoint, 0}, [&] {
    return load_checkpoint_encoder(whole_directory(run / kLastCheckpoint));
  });
}

std::string stamp_of(const fs::path& run, const Source& source) {
  // The manifest is written last and with a checksum of everything: it stands for the directory.
  struct stat status;
  const fs::path manifest = whole_directory(run / source.name) / "manifest.json";
  if (::lstat(manifest.c_str(), &status) != 0) return {};
  return fmt::format("{:x}-{:x}-{:x}-{:x}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace aurora
