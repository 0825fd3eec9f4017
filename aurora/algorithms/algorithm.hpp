// An algorithm: one iteration is propose(), the evaluations, absorb(). No input or output inside.
//
// Whoever drives it evaluates genotypes() into evaluation() between the two: threads of this
// process, other machines, or a user who asks and tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aurora/algorithms/encoder_schedule.hpp"
#include "aurora/algorithms/offspring.hpp"
#include "aurora/algorithms/recent.hpp"
#include "aurora/containers/container.hpp"
#include "aurora/core/individuals.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/stopwatch.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/evolution/selector.hpp"
#include "aurora/evolution/variation.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

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
  std::size_t extinct = 0;    // individuals that an extinction took
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
  Individuals container;            // row by row, as selection sees them
  PartState container_state;        // of the container's policy
  PartState loop_state;             // of the loop itself
  Individuals population;           // who else the loop keeps: its population, recent ones
  std::vector<NamedArray> encoder;  // none if descriptors are hand-coded
};

/// What an algorithm is made with.
struct LoopContext {
  TaskSpec task;
  std::size_t batch = 128;               // B
  std::uint64_t seed = 1;                // of everything random
  std::size_t encoder_step = 10;         // T_E: encoder updates at T_E, 3 T_E, 6 T_E, 10 T_E, ...
  std::size_t descriptor_size = 0;       // n
  std::unique_ptr<Encoder> encoder;      // null: descriptors are hand-coded
  std::unique_ptr<Container> container;  // null if the loop keeps one of its own
  std::unique_ptr<Selector> selector;
  std::unique_ptr<Variation> variation;  // null if the selector selects nobody
  Workers& workers;                      // must outlive the algorithm
};

/// Columns of the individuals that a mix makes.
IndividualsLayout layout_of(const TaskSpec& task, std::size_t descriptor_size,
                            const Selector& selector);

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Begins an iteration: new genotypes, 128 by default. `given` ones, as many as the batch at
  /// most, come in place of children; the rest of the batch is then drawn.
  void propose(MatrixView<const float> given = {});
  /// Those that are to be evaluated; the others of the batch are clones, whose evaluation is known.
  MatrixView<const float> genotypes() const { return offspring_.genotypes(); }
  /// Where their results belong.
  EvaluationView evaluation() { return offspring_.evaluation(); }
  /// Ends the iteration: descriptors, the container, the encoder.
  StepReport absorb();

  /// All three: `evaluator.evaluate(genotypes, evaluation)` does what is between.
  template <class Evaluator>
  StepReport step(Evaluator& evaluator) {
    propose();
    {
      const Stopwatch watch(proposed_.seconds.simulate);
      if (genotypes().rows() > 0) evaluator.evaluate(genotypes(), evaluation());
    }
    return absorb();
  }

  /// Iterations begun so far.
  std::size_t iteration() const { return iteration_; }
  /// The content of the container.
  virtual const Individuals& individuals() const = 0;
  /// What the container says of itself.
  virtual std::vector<NamedNumber> numbers() const { return {}; }
  /// What the container depends on, besides its individuals.
  virtual PartState container_state() const { return {}; }
  /// The encoder, or null if descriptors are hand-coded.
  const Encoder* encoder() const { return encoder_.get(); }

  /// Copies the state between two iterations into `out`, whose memory is reused.
  void save(AlgorithmState& out) const;
  /// Takes over the state of an algorithm of the same task and configuration: every iteration from
  /// here on is, bit for bit, what it would have been there. DataError if that cannot be such a
  /// state; the algorithm is then of no use.
  void restore(AlgorithmState state);

 protected:
  /// UsageError for a batch or an encoder step of 0.
  explicit Algorithm(LoopContext& context);

  bool reads_errors() const { return selector_->reads_errors(); }

  std::uint64_t seed_;
  Workers& workers_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Selector> selector_;
  std::unique_ptr<Variation> variation_;
  EncoderSchedule schedule_;
  Offspring offspring_;
  std::size_t iteration_ = 0;

 private:
  /// Fills the offspring with genotypes: with those that are given, if any are.
  virtual void breed(MatrixView<const float> given) = 0;
  /// Offers the offspring, evaluated and described, to the container.
  virtual void take(StepReport& report) = 0;
  /// Whether the calendar of encoder updates counts (it does not while there is nobody).
  virtual bool has_calendar() const = 0;
  /// What the encoder learns from.
  virtual Examples examples() const { return {individuals().sensory, individuals().fitness}; }
  /// Gives everybody the descriptors of an encoder that has changed.
  virtual void describe_again(StepReport& report) = 0;
  /// The end of the iteration.
  virtual void tidy(const IterationEnd& /*end*/, StepReport& /*report*/) {}
  virtual void save_members(AlgorithmState& out) const = 0;
  virtual void restore_members(AlgorithmState& state) = 0;
  /// What the loop depends on from here on, besides its individuals.
  virtual PartState loop_state() const { return {}; }
  /// DataError if that cannot be such a state. An older version may have saved less.
  virtual void restore_loop(const PartState& /*state*/) {}

  StepReport proposed_;  // of the iteration that has begun
};

using LoopEntry = Entry<Algorithm, LoopContext>;

/// A loop with an option of this name is made with so many encoders and containers, as an
/// EncoderEnsemble and a ContainerEnsemble.
inline constexpr const char* kEncodersOption = "encoders";

LoopEntry quality_diversity_loop();
LoopEntry cma_me_loop();
LoopEntry ensemble_loop();
LoopEntry taxons_loop();
LoopEntry novelty_search_loop();

}  // namespace aurora
