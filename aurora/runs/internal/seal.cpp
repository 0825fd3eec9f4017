#include "aurora/runs/internal/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/array_directory.hpp"
#include "aurora/storage/internal/json.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFormatVersion = 1;
constexpr const char* kManifest = "manifest.json";

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

/// Every file of a run but the hidden ones, by its name inside the run, in order. Links are files:
/// what they lead to is not ours.
std::set<std::string> files_of(const fs::path& run) {
  std::set<std::string> names;
  std::vector<fs::path> directories = {run};
  while (!directories.empty()) {
    const fs::path directory = directories.back();
    directories.pop_back();
    for (const fs::path& path : entries_of(directory)) {
      if (is_hidden(path)) continue;
      std::error_code ignored;  // what cannot be looked at is a file that cannot be read
      if (fs::is_directory(fs::symlink_status(path, ignored))) {
        directories.push_back(path);
      } else {
        names.insert(path.lexically_relative(run).generic_string());
      }
    }
  }
  return names;
}

/// Whether the file lies in retrained/, or is one of the two that hold the seal itself.
bool is_outside(const std::string& name) {
  return name == kManifest || name == "run.json" || name.starts_with("retrained/");
}

/// A checkpoint that was set aside is not what its manifest says, and nobody reads it.
bool is_damaged(const std::string& name) {
  return name.starts_with("checkpoint.damaged/");
}

/// The directory whose manifest vouches for the file; empty if it is the run itself.
fs::path vouching(const std::set<std::string>& files, const fs::path& name) {
  const fs::path directory = name.parent_path();
  return files.contains((directory / kManifest).generic_string()) ? directory : fs::path();
}

std::string checksum_of_file(const fs::path& path, std::uint64_t& bytes) {
  InputFile file(path);
  bytes = file.size();
  std::array<std::byte, 65536> piece;
  while (file.left() > 0) {
    file.read(std::span(piece).first(std::min<std::uint64_t>(file.left(), piece.size())));
  }
  return file.checksum();
}

/// What is wrong with a file, or nothing.
std::string damage_of(const fs::path& path, std::uint64_t bytes, const std::string& checksum) {
  try {
    std::uint64_t found = 0;
    const std::string now = checksum_of_file(path, found);
    if (found != bytes) return fmt::format("has {} bytes instead of {}", found, bytes);
    if (now != checksum) return fmt::format("its checksum is {} instead of {}", now, checksum);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::string write_seal(const fs::path& run) {
  const std::set<std::string> files = files_of(run);
  Json listed = Json::array();
  for (const std::string& name : files) {
    const bool vouched_for = !vouching(files, name).empty() && !name.ends_with(kManifest);
    if (is_outside(name) || is_damaged(name) || vouched_for) continue;
    std::uint64_t bytes = 0;
    const std::string checksum = checksum_of_file(run / name, bytes);
    listed.push_back({{"name", name}, {"bytes", bytes}, {"xxh3", checksum}});
  }
  Json manifest = {
      {"format_version", kFormatVersion}, {"kind", "run"}, {"files", std::move(listed)}};
  sign(manifest);
  write_file(run / kManifest, to_text(manifest), Links::replace);
  return manifest["checksum"].get<std::string>();
}

SealReport check_seal(const fs::path& run) {
  const Json json = read_signed_json(run / kManifest);
  const JsonObject manifest(json, fmt::format("'{}'", (run / kManifest).string()));
  SealReport report;
  report.checksum = manifest.text("checksum");
  std::set<std::string> unknown = files_of(run);
  const auto good_or = [&](const std::string& name, const std::string& damage) {
    unknown.erase(name);
    if (damage.empty()) {
      ++report.files;
    } else {
      report.damaged.push_back(fmt::format("{}: {}", name, damage));
    }
  };
  for (const JsonObject& file : manifest.objects("files")) {
    const std::string name = file.text("name");
    const fs::path path(name);
    if (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end()) {
      file.wrong("name", "that of a file inside the run");
    }
    const std::string damage = damage_of(run / path, file.whole("bytes"), file.text("xxh3"));
    good_or(name, damage);
    if (!damage.empty() || !path.has_parent_path() || path.filename() != kManifest) continue;
    const fs::path directory = path.parent_path();
    try {
      const ArrayDirectoryReader arrays(run / directory);
      for (const ArrayEntry& entry : arrays.entries()) {
        good_or((directory / entry.file).generic_string(),
                damage_of(run / directory / entry.file, entry.bytes, entry.checksum));
      }
    } catch (const Error& error) {
      report.damaged.push_back(fmt::format("{}: {}", name, error.what()));
    }
  }
  std::ranges::copy_if(unknown, std::back_inserter(report.unknown),
                       [](const std::string& name) { return !is_outside(name); });
  return report;
}

}  // namespace aurora
