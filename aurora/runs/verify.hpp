// Is a run directory what it says it is?
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "aurora/runs/parts.hpp"

namespace aurora {

/// One thing that was looked at: what was found, or what is wrong with it.
struct Check {
  bool good = true;
  std::string subject;  // a file or a promise
  std::string finding;
};

/// Looks at everything in a finished or interrupted run: every file against the seal (what nothing
/// vouches for is said); configuration, run.json, tables, encoder,
/// snapshots, checkpoint and container (checksums, shapes, finiteness); that the container has the
/// hash and the metrics that run.json says; that the container is one of its kind (no two members
/// closer than allowed, one in a cell); and, for `replay` individuals drawn at random, that another
/// evaluation gives the same bits. Every problem is a Check, and so is what could not be looked at,
/// which is no problem. FileError only if there is no such directory.
std::vector<Check> verify_run(const Parts& parts, const std::filesystem::path& run,
                              std::size_t replay);

}  // namespace aurora
