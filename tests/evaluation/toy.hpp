// A task for tests of the evaluators: what it gives of a genotype (a, b) is easy to say.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "aurora/tasks/task.hpp"

namespace aurora {

class Toy : public Task {
 public:
  /// `wild` is asked before every genotype and may throw, wait, or say false: then nothing of it is
  /// written.
  using Wild = std::function<bool(std::span<const float>)>;

  explicit Toy(Wild wild = {}, std::size_t preferred_batch = 4) : wild_(std::move(wild)) {
    spec_.name = "toy";
    spec_.genotype_size = 2;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.preferred_batch = preferred_batch;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      if (wild_ && !wild_(genes)) continue;
      out.fitness[i] = -genes[1];
      out.ground_truth(i, 0) = genes[0];
      out.ground_truth(i, 1) = genes[1];
      out.sensory.set_row(i, std::vector<float>{genes[0], genes[1], genes[0] + genes[1]});
    }
  }

 private:
  TaskSpec spec_;
  Wild wild_;
};

/// Genotypes (i, i / 2).
inline Matrix<float> numbered_genotypes(std::size_t rows) {
  Matrix<float> genotypes(rows, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    genotypes(i, 0) = static_cast<float>(i);
    genotypes(i, 1) = static_cast<float>(i) / 2;
  }
  return genotypes;
}

/// Whether a row of such genotypes has its results.
inline bool is_right(Evaluation& evaluation, std::size_t row) {
  const auto a = static_cast<float>(row);
  const auto sensory = evaluation.sensory.view().row<float>(row);
  return evaluation.fitness[row] == -a / 2 && evaluation.ground_truth(row, 0) == a &&
         evaluation.ground_truth(row, 1) == a / 2 && sensory[0] == a && sensory[1] == a / 2 &&
         sensory[2] == a + a / 2;
}

}  // namespace aurora
