// How many processors there are for this process, which may be fewer than the machine has.
#pragma once

#include <cstddef>
#include <filesystem>

namespace aurora {

/// Where the system says what a process may have; elsewhere in tests.
struct ControlGroups {
  std::filesystem::path own = "/proc/self/cgroup";
  std::filesystem::path all = "/sys/fs/cgroup";
};

/// Those that it is bound to (by taskset, Slurm, mpirun), and no more than its control groups may
/// use at a time (containers with --cpus), rounded up; 1 or more.
std::size_t processors(const ControlGroups& groups = {});

}  // namespace aurora
