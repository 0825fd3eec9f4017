#include "aurora/core/names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace aurora {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  // A beginning counts for more than any misspelling: 'random' is 'random-search', not 'ns'.
  const auto distance = [&](const std::string& candidate) {
    const bool begins = name.size() >= 3 && candidate.starts_with(name);
    return std::pair(!begins, edit_distance(name, candidate));
  };
  const auto nearest = std::ranges::min_element(candidates, {}, distance);
  return nearest == candidates.end() ? std::string() : *nearest;
}

void throw_unknown(std::string_view what, std::string_view name,
                   std::span<const std::string> candidates) {
  std::string known;
  for (const std::string& candidate : candidates) known += (known.empty() ? "" : ", ") + candidate;
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) +
                   "'; did you mean '" + nearest_name(name, candidates) + "'? (known: " + known +
                   ")");
}

}  // namespace aurora
