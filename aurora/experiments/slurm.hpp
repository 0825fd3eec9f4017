// A study as a Slurm array job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aurora {

/// A command as its words.
using Commandline = std::vector<std::string>;

/// A job for each element of `runs`: its commands, one after the other, each only if the one before
/// succeeded.
std::string slurm_script(const std::vector<std::vector<Commandline>>& runs, std::size_t threads);

}  // namespace aurora
