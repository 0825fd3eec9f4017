// Input scaling: per feature (x - mean) / (std + 0.001), fitted on the container at every encoder
// update and frozen in between (docs/algorithms.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/core/parallel.hpp"
#include "aurora/core/sensory_data.hpp"

namespace aurora {

struct InputScaling {
  std::vector<float> mean;   // per feature, in the units of the data (bytes as value / 255)
  std::vector<float> scale;  // 1 / (std + 0.001)

  static InputScaling identity(std::size_t features);
  /// Population mean and standard deviation over the rows. Exact integer sums for bytes,
  /// fixed-order double sums for floats: the same bits for any number of threads.
  static InputScaling fit(SensoryView data, Workers& workers);

  /// Writes row `i` of `data`, scaled, to `out` (one value per feature).
  void apply(SensoryView data, std::size_t i, std::span<float> out) const;
};

}  // namespace aurora
