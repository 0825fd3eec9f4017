// The one table of `make bench`, and its copy in JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace aurora::bench {

struct Row {
  std::string name;
  double rate = 0;
  std::string unit;
  std::optional<double> baseline = {};        // the same unit, measured in the same process
  std::optional<double> floor_fraction = {};  // of what the hardware could do at the very best
  std::string baseline_name = {};
};

/// Work that handles `items` things at a call.
struct Work {
  std::size_t items;
  std::function<void()> call;
};

class Table {
 public:
  /// Rows whose name does not contain `filter` are not measured.
  explicit Table(std::string filter) : filter_(std::move(filter)) {}

  /// Printed above the next row.
  void heading(const std::string& text);

  /// Measures `work` and, in turns with it, its baseline; the best of five rounds of each counts,
  /// by wall clock. `floor_rate` is the rate at the floor, 0 if there is none to tell.
  void measure(const std::string& name, const std::string& unit, const Work& work,
               const std::string& baseline_name = {}, const std::optional<Work>& baseline = {},
               double floor_rate = 0);
  /// A row measured elsewhere.
  void add(Row row);
  bool wanted(const std::string& name) const { return name.find(filter_) != std::string::npos; }

  /// An array of objects: name, rate, unit, baseline, ratio, floor_fraction (null where there is
  /// none).
  void write_json(const std::string& path) const;

 private:
  std::string filter_;
  std::string heading_;
  std::vector<Row> rows_;
};

void maze_rows(Table& table);
void robot_rows(Table& table);
void autoencoder_rows(Table& table);
void neighbour_rows(Table& table);
void archive_rows(Table& table);
void dominated_novelty_rows(Table& table);
void run_rows(Table& table);

}  // namespace aurora::bench
