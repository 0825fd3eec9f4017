// A robot for tests of the loops.
#pragma once

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"

namespace aurora {

/// A planar arm with four joints: cheap, smooth, and its path (the sensory data) says more than its
/// end (the ground truth).
inline TaskSpec arm_spec() {
  TaskSpec spec;
  spec.name = "arm";
  spec.genotype_size = 4;
  spec.sensory = {{4, 2}, ElementType::float32};
  spec.ground_truth = {{"x", -1, 1}, {"y", -1, 1}};
  spec.worst_fitness = -1;
  return spec;
}

class Arm : public Evaluator {
 public:
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      double x = 0, y = 0, angle = 0, bend = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        const double turn = 2 * static_cast<double>(genotypes(i, j)) - 1;
        angle += 3 * turn;
        bend += turn * turn / 4;
        x += std::cos(angle) / 4;
        y += std::sin(angle) / 4;
        out.sensory.row<float>(i)[2 * j] = static_cast<float>(x);
        out.sensory.row<float>(i)[2 * j + 1] = static_cast<float>(y);
      }
      out.fitness[i] = static_cast<float>(-bend);
      out.ground_truth(i, 0) = static_cast<float>(x);
      out.ground_truth(i, 1) = static_cast<float>(y);
      const std::vector<float> genes(genotypes.row(i).begin(), genotypes.row(i).end());
      if (!seen.insert(genes).second) ++repeated;
      if (break_every > 0 && ++evaluations % break_every == 0) {
        out.fitness[i] = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }

  std::set<std::vector<float>> seen;
  std::size_t repeated = 0;
  std::size_t break_every = 0;
  std::size_t evaluations = 0;
};

}  // namespace aurora
