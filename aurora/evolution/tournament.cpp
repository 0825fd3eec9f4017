// Tournaments: k members are drawn, the best of them is the parent.
//
// Nobody is drawn k times: the chances follow from the ranks. Of N members, with replacement, the
// one of rank r (0 is the best) wins with probability ((N - r)^k - (N - r - 1)^k) / N^k, which says
// that all k are of rank r or worse, but not all of them worse. Equals share their chances.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "aurora/evolution/selector.hpp"

namespace aurora {
namespace {

struct TournamentConfig {
  std::size_t size = 2;               // k
  std::string criterion = "fitness";  // or "novelty", or "both"
};

// Members are ranked by whole numbers, the smallest first.
using Key = std::uint32_t;

/// Larger values have smaller keys. What is no number is the worst.
Key key_of(float value) {
  if (std::isnan(value)) value = -std::numeric_limits<float>::infinity();
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // one zero
  constexpr std::uint32_t kSign = 0x80000000U;
  return (bits & kSign) != 0 ? bits : ~(bits | kSign);
}

/// Every row with its key above it, sorted. By counting: comparisons that are guessed wrong take
/// ten times as long.
std::vector<std::uint64_t> sorted(std::span<const Key> keys) {
  constexpr unsigned kDigit = 11;  // bits
  constexpr std::size_t kDigits = 3;
  std::array<std::array<std::uint32_t, std::size_t{1} << kDigit>, kDigits> places{};
  std::vector<std::uint64_t> rows(keys.size());
  const auto digit_of = [](std::uint64_t row, std::size_t digit) {
    return (row >> (32 + digit * kDigit)) % (1U << kDigit);
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows[i] = static_cast<std::uint64_t>(keys[i]) << 32 | i;
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      ++places[digit][digit_of(rows[i], digit)];
    }
  }
  std::vector<std::uint64_t> next(rows.size());
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    std::exclusive_scan(places[digit].begin(), places[digit].end(), places[digit].begin(), 0U);
    for (const std::uint64_t row : rows) next[places[digit][digit_of(row, digit)]++] = row;
    rows.swap(next);
  }
  return rows;
}

/// Calls visit(rows, rank of the first of them) for every set of equals, the best first. Rows are
/// in the lower half of each number.
template <class Visit>
void visit_equals(std::span<const Key> keys, const Visit& visit) {
  const std::vector<std::uint64_t> rows = sorted(keys);
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && rows[end] >> 32 == rows[begin] >> 32) ++end;
    visit(std::span(rows).subspan(begin, end - begin), begin);
    begin = end;
  }
}

Key row_of(std::uint64_t sorted) {
  return static_cast<Key>(sorted);
}

/// The same in every C library, which cannot be said of std::pow.
double whole_power(double base, std::size_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

std::vector<Key> keys_of(std::span<const float> values) {
  std::vector<Key> keys(values.size());
  std::ranges::transform(values, keys.begin(), key_of);
  return keys;
}

/// Twice the rank of each member: equals have the mean of their ranks.
void add_ranks(std::span<const float> values, std::vector<Key>& ranks) {
  visit_equals(keys_of(values), [&](std::span<const std::uint64_t> rows, std::size_t rank) {
    for (const std::uint64_t row : rows) {
      ranks[row_of(row)] += static_cast<Key>(2 * rank + rows.size() - 1);
    }
  });
}

class Tournament final : public Selector {
 public:
  explicit Tournament(const TournamentConfig& config) : config_(config) {}

  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    const auto n = static_cast<double>(view.size());
    std::vector<float> weights(view.size());
    visit_equals(keys(view), [&](std::span<const std::uint64_t> rows, std::size_t rank) {
      const auto here_or_worse = n - static_cast<double>(rank);
      const auto count = static_cast<double>(rows.size());
      const double wins = whole_power(here_or_worse / n, config_.size) -
                          whole_power((here_or_worse - count) / n, config_.size);
      // 1 on average, so that small chances are no denormal numbers.
      for (const std::uint64_t row : rows) {
        weights[row_of(row)] = static_cast<float>(n * wins / count);
      }
    });
    return weights;
  }

 private:
  std::vector<Key> keys(SelectionView& view) const {
    if (config_.criterion == "both") {
      // The sum of the two ranks (Bentley & Wakefield 1997), whatever the criteria's units.
      std::vector<Key> sum(view.size());
      add_ranks(view.fitness(), sum);
      add_ranks(view.novelty(), sum);
      return sum;
    }
    return keys_of(config_.criterion == "novelty" ? view.novelty() : view.fitness());
  }

  TournamentConfig config_;
};

}  // namespace

SelectorEntry tournament_selector() {
  using Config = TournamentConfig;
  return part<Config>("tournament", "the best of a few, in fitness, in novelty or in both")
      .option("size", &Config::size, 2, 1000, "tournament: members that compete (k)")
      .option("criterion", &Config::criterion, {"fitness", "novelty", "both"},
              "tournament: what they are compared by")
      .made_by([](const Config& config, const SelectorContext&) {
        return std::make_unique<Tournament>(config);
      });
}

}  // namespace aurora
