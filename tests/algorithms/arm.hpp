// A robot for tests of the loops.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aurora/evaluation/evaluator.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/tasks/task.hpp"

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

class ArmTask : public Task {
 public:
  explicit ArmTask(TaskSpec spec = arm_spec()) : spec_(std::move(spec)) {}
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
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
    }
  }

 private:
  TaskSpec spec_;
};

inline TaskEntry arm_task(const TaskSpec& spec = arm_spec()) {
  return part<NoOptions>("arm", "a planar arm with four joints")
      .made_by([spec](const NoOptions&, TaskContext&) { return std::make_unique<ArmTask>(spec); });
}

/// Everything that this build has, and the arm.
inline Parts arm_parts(const TaskSpec& spec = arm_spec()) {
  Parts parts = builtin_parts();
  parts.tasks.add(arm_task(spec));
  return parts;
}

/// A mix for the arm. What the assignments say of parts that are not in it is passed over.
inline Plan arm_plan(const std::string& variant, const std::vector<std::string>& assignments = {},
                     const Parts& parts = arm_parts()) {
  PlanRequest request;
  request.task = "arm";
  request.variant = variant;
  // As the paper has it: golden hashes are of such runs.
  request.where_they_matter = {"variation.at_least_one=false"};
  request.where_they_matter.insert(request.where_they_matter.end(), assignments.begin(),
                                   assignments.end());
  return resolve(parts, request);
}

/// Evaluates the arm, counts, and breaks some if asked to.
class Arm : public Evaluator {
 public:
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    task_.evaluate(genotypes, out);
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
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

 private:
  ArmTask task_;
};

}  // namespace aurora
