// Hexapod Straight Walking (Cully et al. 2015, Cully and Demiris 2018; the paper's section VII):
// the robot of the Hexapod task is to come as far ahead as it can, in as many gaits as there are.
#pragma once

#include <memory>
#include <span>

#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// The Hexapod's 36 genes and 3 s. The ground truth is the share of all steps in which the robot
/// stands on each of its six legs, and all six are the hand-coded descriptor; the sensory data are
/// the 18 joint angles and the 6 contacts at 50 moments; the fitness is how far ahead it came less
/// how far to the side.
class HexapodWalking : public Task {
 public:
  HexapodWalking();

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  /// The Hexapod's, with a line for each leg below the picture.
  Drawing draw(std::span<const float> genotype) const override;

  /// Every step of one individual's episode.
  hexapod::Walk walk(std::span<const float> genotype) const;

 private:
  TaskSpec spec_;
  std::unique_ptr<hexapod::Simulator> simulator_;
};

}  // namespace aurora
