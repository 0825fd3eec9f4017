// An algorithm: step() does one iteration and says what happened. No input or output inside.
#pragma once

#include <cstddef>
#include <optional>

#include "aurora/containers/individuals.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// Turns genotypes into evaluations, on threads or elsewhere; the algorithm cannot tell which.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void evaluate(MatrixView<const float> genotypes, EvaluationView out) = 0;
};

/// Wall-clock seconds spent in each phase.
struct PhaseSeconds {
  double simulate = 0;
  double encode = 0;
  double train = 0;
  double container = 0;  // adding, updating, novelty, the threshold
  double variation = 0;  // selection and variation
};

/// What one iteration did.
struct StepReport {
  std::size_t added = 0;
  std::size_t replaced = 0;
  std::size_t rejected = 0;
  std::size_t invalid = 0;    // NaN or infinite somewhere: never enters the container
  std::size_t simulated = 0;  // the rest of the batch were clones, whose evaluation is known
  std::size_t lost = 0;       // individuals that a container update did not take back
  bool container_updated = false;
  std::optional<TrainingReport> training;  // set if the encoder was updated
  PhaseSeconds seconds;
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// One iteration: 128 new genotypes, by default.
  virtual StepReport step() = 0;
  /// Iterations done so far.
  virtual std::size_t iteration() const = 0;
  /// The content of the container.
  virtual const Individuals& individuals() const = 0;
  /// d_min; 0 while there is none.
  virtual double threshold() const = 0;
  /// The encoder, or null if descriptors are hand-coded.
  virtual const Encoder* encoder() const = 0;
};

}  // namespace aurora
