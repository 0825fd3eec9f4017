#include "aurora/core/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace aurora {
namespace {

namespace fs = std::filesystem;

std::size_t bound_to() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
}

/// Processors that a group may use at a time, of its cpu.max: "max 100000", "150000 100000" (in
/// microseconds of each period). No limit if it is not there, or says something else.
double limit_of(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double time = 0, period = 0;
  const bool limited = file >> time >> period && time > 0 && period > 0;
  return limited ? time / period : std::numeric_limits<double>::infinity();
}

/// The path of this process's group (cgroup v2), "0::/a/b"; "/" if there is none.
fs::path own_group(const fs::path& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return "/";
}

}  // namespace

std::size_t processors(const ControlGroups& groups) {
  double most = static_cast<double>(bound_to());
  // A group has no more than those that it is in.
  for (fs::path group = own_group(groups.own);; group = group.parent_path()) {
    most = std::min(most, limit_of(groups.all / group.relative_path()));
    if (!group.has_relative_path()) break;
  }
  return static_cast<std::size_t>(std::max(std::ceil(most), 1.0));
}

}  // namespace aurora
