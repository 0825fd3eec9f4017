// The seal of a run that has ended: manifest.json in its directory lists every file with length and
// checksum, and run.json has the manifest's own. Of a directory that has a manifest itself
// (containers, encoders, checkpoints) that manifest is listed alone, which vouches for the rest.
// Not installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aurora {

/// Writes the manifest and returns its checksum. All that is in the directory is listed, but for
/// run.json, hidden names, checkpoint.damaged/, and retrained/, which may come and go later.
std::string write_seal(const std::filesystem::path& run);

/// What a look at every file gave.
struct SealReport {
  std::string checksum;              // of the manifest
  std::size_t files = 0;             // that were looked at, and are as they were
  std::vector<std::string> damaged;  // "NAME: what is wrong with it"
  std::vector<std::string> unknown;  // files that nothing vouches for
};

/// Holds the directory against its manifest; FileError or DataError if that is missing or damaged.
SealReport check_seal(const std::filesystem::path& run);

}  // namespace aurora
