// Tournaments: k members are drawn, the best of them is the parent.
//
// Nobody is drawn k times: the chances follow from the ranks. Of N members, with replacement, the
// one of rank r (0 is the best) wins with probability ((N - r)^k - (N - r - 1)^k) / N^k, which says
// that all k are of rank r or worse, but not all of them worse. Equals share their chances.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "aurora/evolution/selector.hpp"

namespace aurora {
namespace {

struct TournamentConfig {
  std::size_t size = 2;               // k
  std::string criterion = "fitness";  // or "novelty", or "both"
};

/// Calls visit(rows, rank of the first of them) for every set of equals; largest values first. What
/// is no number comes last.
template <class Visit>
void visit_equals(std::vector<double> values, const Visit& visit) {
  for (double& value : values) {
    if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
  }
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, std::ranges::greater(), [&](std::uint32_t row) { return values[row]; });
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    visit(std::span(order).subspan(begin, end - begin), begin);
    begin = end;
  }
}

/// The same in every C library, which cannot be said of std::pow.
double whole_power(double base, std::size_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

class Tournament final : public Selector {
 public:
  explicit Tournament(const TournamentConfig& config) : config_(config) {}

  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    const auto n = static_cast<double>(view.size());
    std::vector<float> weights(view.size());
    visit_equals(scores(view), [&](std::span<const std::uint32_t> rows, std::size_t rank) {
      const auto here_or_worse = n - static_cast<double>(rank);
      const auto count = static_cast<double>(rows.size());
      const double wins = whole_power(here_or_worse / n, config_.size) -
                          whole_power((here_or_worse - count) / n, config_.size);
      // 1 on average, so that small chances are no denormal numbers.
      for (const std::uint32_t row : rows) weights[row] = static_cast<float>(n * wins / count);
    });
    return weights;
  }

 private:
  std::vector<double> scores(SelectionView& view) const {
    if (config_.criterion == "both") {
      // The sum of the two ranks (Bentley & Wakefield 1997), whatever the criteria's units.
      std::vector<double> sum(view.size());
      subtract_ranks(view.fitness(), sum);
      subtract_ranks(view.novelty(), sum);
      return sum;
    }
    const std::vector<float> values =
        config_.criterion == "novelty" ? view.novelty() : view.fitness();
    return {values.begin(), values.end()};
  }

  /// Equals have the mean of their ranks.
  static void subtract_ranks(const std::vector<float>& values, std::vector<double>& from) {
    visit_equals({values.begin(), values.end()},
                 [&](std::span<const std::uint32_t> rows, std::size_t rank) {
                   const double mean = static_cast<double>(2 * rank + rows.size() - 1) / 2;
                   for (const std::uint32_t row : rows) from[row] -= mean;
                 });
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
