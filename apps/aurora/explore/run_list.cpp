#include "apps/aurora/explore/run_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "aurora/core/errors.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;                   // folders in folders
constexpr std::size_t kMostRuns = 5'000;      // enough for every study; a home directory is none
constexpr std::size_t kMostFolders = 20'000;  // that are looked into
constexpr std::chrono::seconds kPatience{3};
constexpr int kRest = 20;  // times as long as looking took

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.toml", ignored) || fs::exists(folder / "run.json", ignored);
}

/// What people call it: its place in the folder that was named, or its own name.
std::string name_of_run(const fs::path& place, const fs::path& run) {
  if (run != place) return run.lexically_relative(place).generic_string();
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(run, ignored);
  return whole.filename().empty() ? run.string() : whole.filename().string();
}

}  // namespace

RunList::RunList(const Parts& parts, const std::vector<fs::path>& places)
    : parts_(parts), places_(places), next_look_(std::chrono::steady_clock::now()) {
  for (const fs::path& place : places_) {
    if (!directory_exists(place)) {
      throw FileError(fmt::format("there is no directory '{}'", place.string()));
    }
  }
}

std::vector<std::shared_ptr<LiveRun>> RunList::all() {
  const std::scoped_lock lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  if (begin >= next_look_) {
    folders_ = 0;
    for (const fs::path& place : places_) look(place, place, 0);
    const auto end = std::chrono::steady_clock::now();
    next_look_ =
        end + std::max<std::chrono::steady_clock::duration>(kPatience, kRest * (end - begin));
  }
  return runs_;
}

std::shared_ptr<LiveRun> RunList::at(std::size_t number) {
  const std::vector<std::shared_ptr<LiveRun>> runs = all();
  return number < runs.size() ? runs[number] : nullptr;
}

void RunList::look(const fs::path& place, const fs::path& folder, int depth) {
  if (known_.contains(folder)) return;
  if (runs_.size() >= kMostRuns || ++folders_ > kMostFolders) return;
  if (is_run(folder)) {
    known_.insert(folder);
    runs_.push_back(std::make_shared<LiveRun>(parts_, folder, name_of_run(place, folder)));
    return;
  }
  if (depth == kDeepest) return;
  std::vector<fs::path> entries;
  try {
    entries = entries_of(folder);
  } catch (const FileError&) {
    return;  // somebody else's
  }
  for (const fs::path& entry : entries) {
    std::error_code ignored;
    const bool hidden = entry.filename().string().starts_with('.');
    // Only what was named may be a link.
    if (!hidden && fs::is_directory(fs::symlink_status(entry, ignored))) {
      look(place, entry, depth + 1);
    }
  }
}

}  // namespace aurora::explore
