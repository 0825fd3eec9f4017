#include "aurora/algorithms/algorithm.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

IndividualsLayout layout_of(const TaskSpec& task, std::size_t descriptor_size,
                            const Selector& selector) {
  check(task);
  for (const std::string& name : selector.columns()) {
    constexpr std::string_view kTaken[] = {"ids",          "genotypes", "fitness",
                                           "descriptors",  "sensory",   "reconstruction_error",
                                           "ground_truth", "manifest"};
    if (!is_plain_name(name) || std::ranges::find(kTaken, name) != std::end(kTaken)) {
      throw UsageError("individuals cannot carry a column '" + name +
                       "': the name is taken, or cannot be that of a file");
    }
  }
  return {.genotype_size = task.genotype_size,
          .descriptor_size = descriptor_size,
          .ground_truth_size = task.ground_truth.size(),
          .sensory = task.sensory,
          .extra = selector.columns()};
}

Algorithm::Algorithm(LoopContext& context)
    : seed_(context.seed),
      workers_(context.workers),
      encoder_(std::move(context.encoder)),
      selector_(std::move(context.selector)),
      variation_(std::move(context.variation)),
      schedule_(context.encoder_step),
      offspring_(layout_of(context.task, context.descriptor_size, *selector_), context.batch,
                 context.seed) {}

void Algorithm::propose(MatrixView<const float> given) {
  offspring_.check(given);
  ++iteration_;
  proposed_ = {};
  const Stopwatch watch(proposed_.seconds.variation);
  breed(given);
  proposed_.simulated = offspring_.simulated();
}

StepReport Algorithm::absorb() {
  StepReport report = std::move(proposed_);
  {
    const Stopwatch watch(report.seconds.encode);
    offspring_.describe(encoder_.get(), reads_errors(), workers_);
  }
  {
    const Stopwatch watch(report.seconds.container);
    take(report);
  }
  const bool due = has_calendar() && schedule_.due(iteration_);
  if (due && encoder_) {
    {
      const Stopwatch watch(report.seconds.train);
      Stream stream(seed_, Purpose::encoder_training, address(iteration_));
      const Examples from = examples();
      report.training = encoder_->train({from.sensory.view(), from.fitness}, stream, workers_);
    }
    describe_again(report);
  }
  const Stopwatch watch(report.seconds.container);
  tidy({.iteration = iteration_,
        .encoder_updates = schedule_.updates(),
        .update_due = due,
        .descriptors_changed = due && encoder_},
       report);
  return report;
}

void Algorithm::save(AlgorithmState& out) const {
  out.iteration = iteration_;
  out.encoder_updates = schedule_.updates();
  out.encoder = encoder_ ? encoder_->state() : std::vector<NamedArray>();
  out.container_state = container_state();
  out.loop_state = loop_state();
  save_members(out);
}

void Algorithm::restore(AlgorithmState state) {
  if (encoder_) {
    encoder_->set_state(state.encoder);
  } else if (!state.encoder.empty()) {
    throw DataError("there is the state of an encoder, but no encoder");
  }
  schedule_.restore(state.encoder_updates, state.iteration);
  restore_members(state);
  restore_loop(state.loop_state);
  iteration_ = state.iteration;
}

}  // namespace aurora
