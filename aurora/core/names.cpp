#include "aurora/core/names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace aurora {
namespace {

/// Letters to insert, remove or replace, and neighbours to swap.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last, row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], last[j - 2] + 1);
      }
    }
    last = std::exchange(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  // A beginning counts for more than any misspelling: 'random' is 'random-search', not 'ns'.
  const auto distance = [&](const std::string& candidate) {
    const bool begins = name.size() >= 3 && candidate.starts_with(name);
    return std::pair(!begins, edit_distance(name, candidate));
  };
  const auto nearest = std::ranges::min_element(candidates, {}, distance);
  if (nearest == candidates.end()) return "";
  const auto [elsewhere, edits] = distance(*nearest);
  // Who is more than half wrong meant something else.
  if (elsewhere && 2 * edits > std::max(name.size(), nearest->size())) return "";
  return "; did you mean '" + *nearest + "'?";
}

void throw_unknown(std::string_view what, std::string_view name,
                   std::span<const std::string> candidates) {
  std::string known;
  for (const std::string& candidate : candidates) known += (known.empty() ? "" : ", ") + candidate;
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) + "'" +
                   did_you_mean(name, candidates) + " (known: " + known + ")");
}

}  // namespace aurora
