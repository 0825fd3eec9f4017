// An algorithm: step() does one iteration and says what happened. No input or output inside.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "aurora/containers/individuals.hpp"
#include "aurora/containers/threshold.hpp"
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

/// Everything that the next iterations depend on, besides the configuration: random numbers are
/// addressed by (seed, purpose, iteration, index), so no stream has a state of its own, and the ids
/// of the next children follow from the iteration.
struct AlgorithmState {
  std::size_t iteration = 0;
  std::size_t encoder_updates = 0;
  Threshold::State threshold;       // of the quality-diversity loop
  Individuals container;            // row by row, as selection sees them
  Individuals population;           // of the population loops; no rows elsewhere
  std::vector<NamedArray> encoder;  // none if descriptors are hand-coded
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

  /// Copies the state between two iterations into `out`, whose memory is reused.
  virtual void save(AlgorithmState& out) const = 0;
  /// Takes over the state of an algorithm of the same task and configuration: every iteration from
  /// here on is, bit for bit, what it would have been there. DataError if that cannot be such a
  /// state; the algorithm is then of no use.
  virtual void restore(AlgorithmState state) = 0;
};

}  // namespace aurora
