#include "apps/aurora/explore/tables.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "apps/aurora/explore/own_files.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/storage/internal/csv.hpp"
#include "aurora/storage/internal/json.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;        // bytes of a table in one answer
constexpr std::size_t kLongestRows = std::size_t{16} << 20;     // bytes of rows in one answer
constexpr std::uint64_t kLongestLine = std::uint64_t{1} << 16;  // bytes

struct Table {
  FileHandle file;
  std::vector<std::string> columns;
  std::uint64_t begin = 0;  // of the rows
  std::uint64_t size = 0;
};

/// Its columns are empty if there is no table, or not even its first line yet.
Table open_table(const fs::path& path) {
  Table table{open_own_table(path), {}, 0, 0};
  struct stat status;
  if (table.file.get() < 0 || ::fstat(table.file.get(), &status) != 0) return table;
  table.size = static_cast<std::uint64_t>(status.st_size);
  const std::string head = read_piece(table.file, 0, kLongestLine);
  const std::size_t end = head.find('\n');
  if (end == std::string::npos) {
    if (head.size() < kLongestLine) return table;
    throw DataError(fmt::format("the first line of '{}' does not end", path.string()));
  }
  table.columns = split_cells(std::string_view(head).substr(0, end));
  table.begin = end + 1;
  return table;
}

double number_in(std::string_view cell) {
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  const bool whole = error == std::errc() && rest == end;
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

/// A line as a list of as many numbers as there are columns.
void append_row(std::string& json, std::string_view line, std::size_t columns) {
  json += '[';
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t end = std::min(line.find(','), line.size());
    const double value = number_in(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    if (i > 0) json += ',';
    json += std::isfinite(value) ? fmt::to_string(value) : "null";
  }
  json += ']';
}

bool begins_line(const Table& table, std::uint64_t at) {
  if (at < table.begin || at > table.size) return false;
  return read_piece(table.file, at - 1, 1) == "\n";
}

}  // namespace

std::string table_json(const fs::path& file, std::uint64_t from) {
  const Table table = open_table(file);
  if (table.columns.empty()) return R"({"columns": [], "rows": [], "from": 0, "next": 0})";
  const bool anew = !begins_line(table, from);
  const std::uint64_t begin = anew ? table.begin : from;
  const std::string piece =
      read_piece(table.file, begin, std::min(kPiece, table.size - std::min(begin, table.size)));
  const std::size_t end = piece.rfind('\n') + 1;  // 0 if there is no whole line
  if (end == 0 && piece.size() == kPiece) {
    throw DataError(fmt::format("a line of '{}' does not end", file.string()));
  }
  std::string rows;
  std::size_t at = 0;
  while (at < end && rows.size() < kLongestRows) {  // short lines may make long rows
    const std::size_t stop = piece.find('\n', at);
    if (!rows.empty()) rows += ',';
    append_row(rows, std::string_view(piece).substr(at, stop - at), table.columns.size());
    at = stop + 1;
  }
  const Json columns = table.columns;
  return fmt::format(R"({{"columns": {}, "rows": [{}], "from": {}, "next": {}}})",
                     columns.dump(-1, ' ', false, Json::error_handler_t::replace), rows,
                     anew ? 0 : from, begin + at);
}

std::vector<std::pair<std::string, double>> last_row(const fs::path& file) {
  const Table table = open_table(file);
  const std::uint64_t begin =
      std::max(table.begin, table.size - std::min(table.size, kLongestLine));
  if (table.columns.empty() || begin >= table.size) return {};
  const std::string piece = read_piece(table.file, begin, table.size - begin);
  std::string_view lines(piece);
  lines = lines.substr(0, lines.rfind('\n') + 1);
  if (lines.empty()) return {};
  lines.remove_suffix(1);
  const std::size_t before = lines.rfind('\n');
  if (before == std::string_view::npos && begin != table.begin) return {};  // a line without an end
  const std::vector<std::string> cells =
      split_cells(before == std::string_view::npos ? lines : lines.substr(before + 1));
  std::vector<std::pair<std::string, double>> row;
  for (std::size_t i = 0; i < std::min(cells.size(), table.columns.size()); ++i) {
    row.emplace_back(table.columns[i], number_in(cells[i]));
  }
  return row;
}

}  // namespace aurora::explore
