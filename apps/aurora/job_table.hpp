// What the runs of an experiment are at, as a table that fits the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "aurora/experiments/scheduler.hpp"

namespace aurora {

/// A heading and a line for each: time left, coverage, evaluations per second, where there is room
/// the iteration, and the end of the name. Runs that have not begun, or are at something else, say
/// that in place of the numbers. No line is wider than `columns`.
std::vector<std::string> job_table(const std::vector<Job>& jobs, std::size_t columns);

}  // namespace aurora
