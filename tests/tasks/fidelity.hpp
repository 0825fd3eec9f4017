// What tests of an engine of ours against another one have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "aurora/core/parallel.hpp"

namespace aurora {

/// AURORA_TIMES=7 build/bin/hexapod_fidelity_test looks at seven times as many robots, and at the
/// other engine beside itself.
inline std::size_t times() {
  const char* wanted = std::getenv("AURORA_TIMES");
  return wanted ? std::max(1UL, std::strtoul(wanted, nullptr, 10)) : 1;
}
inline bool beside_itself() {
  return std::getenv("AURORA_TIMES") != nullptr;
}

inline void for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  Workers workers(std::max(1U, std::thread::hardware_concurrency()));
  workers.parallel_for(count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) work(n);
  });
}

/// 0 of none.
inline double quantile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

/// The probability that two samples of one distribution are as far apart (Kolmogorov and Smirnov).
inline double same_distribution(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double gap = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    gap = std::max(gap, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                 static_cast<double>(j) / static_cast<double>(b.size())));
  }
  const double root = std::sqrt(static_cast<double>(a.size()) / 2);
  const double l = (root + 0.12 + 0.11 / root) * gap;
  double p = 0;
  for (int k = 1; k < 100; ++k) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * l * l);
  return l < 0.2 ? 1 : std::clamp(p, 0.0, 1.0);
}

}  // namespace aurora
