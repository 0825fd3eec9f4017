#include "aurora/algorithms/recent.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {

Recent::Recent(const Individuals& columns, std::size_t most) : most_(most), kept_(columns) {
  kept_.resize(0);
  kept_.sensory.freeze();
}

void Recent::add(const Individuals& from, std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    if (!is_evaluated(from, row)) continue;
    if (kept_.size() < most_) kept_.resize(kept_.size() + 1);
    kept_.copy_row(from, row, next_);
    next_ = (next_ + 1) % most_;
  }
}

Examples Recent::with(const Individuals& members) const {
  Examples examples{members.sensory, members.fitness};
  if (kept_.size() == 0) return examples;
  const std::unordered_set<std::uint64_t> known(members.ids.begin(), members.ids.end());
  for (const std::uint32_t row : rows_by_age(kept_)) {
    if (known.contains(kept_.ids[row])) continue;
    const std::size_t to = examples.fitness.size();
    examples.sensory.resize_rows(to + 1);
    examples.sensory.copy_row(kept_.sensory, row, to);
    examples.fitness.push_back(kept_.fitness[row]);
  }
  return examples;
}

void Recent::restore(Individuals kept) {
  if (kept.size() > most_) {
    throw DataError("there are " + std::to_string(kept.size()) + " recent individuals, at most " +
                    std::to_string(most_) + " are kept");
  }
  if (kept.size() > 0) {
    if (!same_columns(kept, kept_)) {
      throw DataError("the columns of the recent individuals are not those of this search");
    }
    check_ids(kept);
    for (std::size_t row = 0; row < kept.size(); ++row) {
      if (!is_evaluated(kept, row)) {
        throw DataError("recent individual " + std::to_string(kept.ids[row]) +
                        " holds a number that is not finite");
      }
    }
    kept_ = std::move(kept);
    kept_.sensory.freeze();
  } else {
    kept_.resize(0);
  }
  next_ = kept_.size();
  if (next_ == most_ && most_ > 0) {
    next_ = static_cast<std::size_t>(std::ranges::min_element(kept_.ids) - kept_.ids.begin());
  }
}

}  // namespace aurora
