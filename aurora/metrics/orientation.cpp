#include "aurora/metrics/orientation.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>
#include <vector>

#include "aurora/metrics/grid.hpp"

namespace aurora {

double orientation_coverage(MatrixView<const float> ground_truth, std::size_t pitch,
                            std::size_t roll) {
  assert(pitch < ground_truth.cols() && roll < ground_truth.cols());
  // The float nearest to pi is a little more than pi, and an angle may be that.
  constexpr double kPi = std::numbers::pi_v<float>;
  constexpr Grid kGrid{.x_min = -kPi, .x_max = kPi, .y_min = -kPi, .y_max = kPi, .resolution = 16};
  constexpr std::size_t kCells = kGrid.resolution * kGrid.resolution;
  std::vector<char> filled(kCells);
  for (std::size_t i = 0; i < ground_truth.rows(); ++i) {
    const std::size_t cell = kGrid.cell(ground_truth(i, pitch), ground_truth(i, roll));
    if (cell != Grid::kOutside) filled[cell] = 1;
  }
  return 100.0 * static_cast<double>(std::ranges::count(filled, 1)) / (kCells / 2.0);
}

}  // namespace aurora
