// The tables of a run, metrics.csv and encoder.csv, piece by piece while they grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace aurora::explore {

/// Whole lines of a table from a byte on, as JSON: columns, rows, `from`, the byte at which these
/// rows begin, and `next`, the byte to ask from next. Empty cells, and what is no finite number,
/// are null. If there is no line that begins at `from` (the table was cut back), all of it is given
/// again, and `from` is 0. One answer holds a few megabytes of the table at most.
std::string table_json(const std::filesystem::path& file, std::uint64_t from);

/// The last whole line, by the names of the columns; nothing if there is none.
std::vector<std::pair<std::string, double>> last_row(const std::filesystem::path& file);

}  // namespace aurora::explore
