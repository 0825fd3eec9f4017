// A target size that grows: a container that may be full at once is full of whatever came first;
// one that must stay small keeps those that are far apart and good, and has room for more when they
// have been found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace aurora {

struct Growth {
  double start = 0.1;        // the first target, as a share of N
  double iterations = 5000;  // until the target is N

  /// In a straight line up to N, which is `last`; at least 1.
  std::size_t target(std::size_t iteration, std::size_t last) const {
    const auto n = static_cast<double>(last);
    const double first = start * n;
    const double share = std::min(1.0, static_cast<double>(iteration) / iterations);
    return static_cast<std::size_t>(std::max(1.0, std::round(first + share * (n - first))));
  }
};

}  // namespace aurora
