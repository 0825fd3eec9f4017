// A task: a robot, its controller and its world, seen as a pure function of the genotype.
//
// This file is all that somebody who brings a robot needs: derive from Task, fill in a TaskSpec,
// write evaluate(). See examples/ for a complete one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/part.hpp"
#include "aurora/core/sensory_data.hpp"
#include "aurora/core/task_spec.hpp"
#include "aurora/pictures/image.hpp"

namespace aurora {

/// Where a task writes its results: row i belongs to genotype i.
struct EvaluationView {
  std::span<float> fitness;
  MutableSensoryView sensory;
  MatrixView<float> ground_truth;

  EvaluationView slice(std::size_t begin, std::size_t count) const {
    return {fitness.subspan(begin, count), sensory.slice(begin, count),
            ground_truth.slice(begin, count)};
  }
};

/// Storage for the evaluation of a batch.
struct Evaluation {
  std::vector<float> fitness;
  SensoryData sensory;
  Matrix<float> ground_truth;

  Evaluation(const TaskSpec& spec, std::size_t rows)
      : fitness(rows), sensory(spec.sensory, rows), ground_truth(rows, spec.ground_truth.size()) {}
  EvaluationView view() { return {fitness, sensory.mutable_view(), ground_truth.view()}; }
};

class Task {
 public:
  virtual ~Task() = default;
  virtual const TaskSpec& spec() const = 0;
  /// Evaluates every row of `genotypes` (genes in [0, 1]). Pure: the same genotype gives the same
  /// bits in any batch, at any place in it, on any thread. Called from several threads at once.
  /// Every value of its row must be written: an individual with a number left out, not finite, or
  /// with an exception is counted as a failure and left out.
  virtual void evaluate(MatrixView<const float> genotypes, EvaluationView out) const = 0;
  /// How the episode of one genotype looks, for `aurora show`: a picture, a film, or both. A task
  /// that does not draw is shown by its sensory data alone.
  virtual Drawing draw(std::span<const float> /*genotype*/) const { return {}; }
  /// The world from above, for `aurora explore`: a picture that spans the bounds of the first two
  /// axes of the ground truth, on which individuals are points. Empty if there is nothing to see.
  virtual Image backdrop() const { return {}; }
};

/// What a task is made with: its options say it all.
struct TaskContext {};

using TaskEntry = Entry<Task, TaskContext>;

TaskEntry maze_task();
TaskEntry hexapod_task();
TaskEntry hexapod_walking_task();
TaskEntry air_hockey_task();
TaskEntry vases_task();

}  // namespace aurora
