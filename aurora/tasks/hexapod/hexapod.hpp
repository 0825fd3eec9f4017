// The Hexapod task (paper, section VI): a six-legged robot walks on a floor, seen from above at the
// end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aurora/tasks/hexapod/simulation.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// 36 genes are the amplitudes, phases and duty cycles of the joints' periodic signals; after 3 s
/// the ground truth is the base's x, y, z, pitch, roll and yaw, the sensory data a 64 x 64 picture,
/// and the fitness says how well the robot looks along the circular arc to where it is.
class Hexapod : public Task {
 public:
  /// UsageError if this build does not have the engine.
  explicit Hexapod(hexapod::Engine engine = hexapod::Engine::lanes,
                   hexapod::Actuators actuators = hexapod::Actuators::servo);

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  Drawing draw(std::span<const float> genotype) const override;

  /// The bodies after every step of one individual's episode; the same bits as evaluate()
  /// gives.
  std::vector<hexapod::Bodies> trace(std::span<const float> genotype) const;

 private:
  TaskSpec spec_;
  std::unique_ptr<hexapod::Simulator> simulator_;
};

}  // namespace aurora
