// Vases, a task without a robot: shapes, each known by its picture.
#pragma once

#include <span>

#include "aurora/tasks/task.hpp"

namespace aurora {

/// 24 genes are the profile of a vase. The sensory data is its outline, 32 x 32 grey pixels; the
/// ground truth is how much it holds, how high its centre of mass is, and on how steep a slope it
/// stands; the fitness is minus the clay that it takes.
class Vases : public Task {
 public:
  Vases();

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  Drawing draw(std::span<const float> genotype) const override;

 private:
  TaskSpec spec_;
};

}  // namespace aurora
