// The Air-Hockey task (paper, section VI): an arm with four joints pushes a puck around a table.
#pragma once

#include <span>
#include <vector>

#include "aurora/tasks/air_hockey/episode.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// 8 genes are the joints' target angles in two phases of 5 s; the puck appears with the second.
/// The sensory data is the puck's trajectory (50 points), the ground truth its end, and the fitness
/// minus the sum of squared joint velocities, as commanded.
class AirHockey : public Task {
 public:
  AirHockey();

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  Drawing draw(std::span<const float> genotype) const override;
  Image backdrop() const override;

  /// Every step of one individual's episode; the same code as evaluate() runs.
  std::vector<air_hockey::Moment> trace(std::span<const float> genotype) const;

 private:
  TaskSpec spec_;
};

}  // namespace aurora
