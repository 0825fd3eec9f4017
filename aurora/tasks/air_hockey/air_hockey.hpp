// The Air-Hockey task (paper, section VI): an arm with four joints pushes a puck around a table.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aurora/tasks/air_hockey/simulation.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// 8 genes are the joints' target angles in two phases of 5 s; the puck appears with the second.
/// The sensory data is the puck's trajectory (50 points), the ground truth its end, and the fitness
/// minus the sum of squared joint velocities, as commanded.
class AirHockey : public Task {
 public:
  /// UsageError if this build does not have the engine.
  explicit AirHockey(air_hockey::Engine engine = air_hockey::Engine::lanes);

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  Drawing draw(std::span<const float> genotype) const override;
  Image backdrop() const override;

  /// Every step of one individual's episode; the same bits as evaluate() gives.
  std::vector<air_hockey::Moment> trace(std::span<const float> genotype) const;

 private:
  TaskSpec spec_;
  std::unique_ptr<air_hockey::Simulator> simulator_;
};

}  // namespace aurora
