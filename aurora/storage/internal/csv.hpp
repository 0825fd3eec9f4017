// Lines of comma-separated values, as tables of a run have them: no quotes, no commas inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aurora {

inline std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace aurora
