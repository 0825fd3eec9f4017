// A task: a robot, its controller and its world, seen as a pure function of the genotype.
//
// This file is all that somebody who brings a robot needs: derive from Task, fill in a TaskSpec,
// write evaluate(). See examples/ for a complete one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/sensory_data.hpp"
#include "aurora/pictures/image.hpp"

namespace aurora {

/// One value of the ground truth and the bounds within which metrics look at it.
struct Axis {
  std::string name;
  double min = 0;
  double max = 1;
};

/// What the search starts from when the user says nothing (specification, section 8).
struct TaskDefaults {
  std::size_t iterations = 1000;
  std::size_t target_size = 1000;  // N, the container size aimed at
  double mutation_rate = 0.05;     // probability that a gene mutates
  double vat_constant = 18;        // K_VAT
};

/// What metrics.csv holds for some tasks besides what it holds for all (specification, section 7).
enum class TaskMetric {
  orientation_coverage,  // the ground truth has axes called pitch and roll
  trajectory_diversity,  // the sensory data is a sequence of (x, y) that ends at the ground truth's
};

struct TaskSpec {
  std::string name;
  /// Raise it when a genotype's evaluation changes: a run never goes on with another version.
  std::size_t version = 1;
  /// Number of genes; genes lie in [0, 1] and the task maps them to what it needs.
  std::size_t genotype_size = 0;
  SensoryShape sensory;
  /// The true state at the end of the episode. The first two axes are the hand-coded descriptor.
  std::vector<Axis> ground_truth;
  /// No fitness is below this; the QD score counts from here.
  double worst_fitness = 0;
  /// Genotypes handed to one call of evaluate() should be a multiple of this (SIMD lanes).
  std::size_t preferred_batch = 1;
  std::vector<TaskMetric> metrics;
  TaskDefaults defaults;
};

/// UsageError, with the reason, if no search can be made of it.
void check(const TaskSpec& spec);

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
  EvaluationView view() { return {fitness, sensory.view(), ground_truth.view()}; }
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
};

}  // namespace aurora
