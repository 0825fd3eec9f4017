#include "aurora/algorithms/quality_diversity.hpp"

#include <utility>

#include "aurora/algorithms/containers.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/stopwatch.hpp"

namespace aurora {

QualityDiversity::QualityDiversity(const TaskSpec& task, const AlgorithmConfig& config,
                                   Evaluator& evaluator, Workers& workers)
    : config_(config),
      evaluator_(evaluator),
      workers_(workers),
      encoder_(encoder_of(task, config)),
      schedule_(config.encoder_step),
      offspring_(layout_of(task, config), config),
      container_(container_of(task, config, workers)),
      threshold_(config.threshold, config.target_size, config.archive) {
  if (config.update_period == 0) throw UsageError("the update period T_C must be at least 1");
}

StepReport QualityDiversity::step() {
  ++iteration_;
  StepReport report;
  {
    const Stopwatch watch(report.seconds.variation);
    propose();
  }
  offspring_.realise(evaluator_, encoder_.get(), reads_surprise(config_.selection), workers_,
                     report);
  {
    const Stopwatch watch(report.seconds.container);
    add(report);
  }
  // Hand-coded descriptors follow the same calendar, with nothing to train.
  const bool update_due = container_->size() > 0 && schedule_.due(iteration_);
  if (update_due && encoder_) update_encoder(report);

  const Stopwatch watch(report.seconds.container);
  update_threshold(update_due);
  if (container_update_due(update_due)) {
    report.lost += container_->update(threshold_.for_update(*container_), workers_);
    report.container_updated = true;
  }
  return report;
}

void QualityDiversity::save(AlgorithmState& out) const {
  out.iteration = iteration_;
  out.encoder_updates = schedule_.updates();
  out.threshold = threshold_.state();
  out.container = container_->individuals();
  out.population.resize(0);
  out.encoder = encoder_ ? encoder_->state() : std::vector<NamedArray>();
}

void QualityDiversity::restore(AlgorithmState state) {
  if (state.population.size() > 0) throw DataError("this loop has no population");
  restore_encoder(encoder_.get(), state.encoder);
  threshold_.restore(state.threshold);
  schedule_.restore(state.encoder_updates, state.iteration);
  container_->restore(std::move(state.container));
  iteration_ = state.iteration;
}

void QualityDiversity::propose() {
  if (container_->size() == 0 || config_.selection == SelectionKind::none) {
    offspring_.draw(iteration_, workers_);
    return;
  }
  const std::vector<std::uint32_t> parents = select(0);
  offspring_.breed(iteration_, container_->individuals(), parents,
                   needs_mate(config_.variation) ? select(1) : parents);
}

std::vector<std::uint32_t> QualityDiversity::select(std::uint32_t draw) {
  std::vector<std::uint32_t> parents(offspring_.size());
  Stream stream(config_.seed, Purpose::selection, address(iteration_), draw);
  const Individuals& members = container_->individuals();
  const SelectionKind kind = toss(config_.selection, config_.seed, address(iteration_));
  if (kind == SelectionKind::novelty) {
    select_proportional(container_->novelty(workers_), parents, stream);
  } else if (kind == SelectionKind::surprise) {
    select_proportional(members.reconstruction_error, parents, stream);
  } else {
    select_uniform(members.size(), parents, stream);
  }
  return parents;
}

void QualityDiversity::add(StepReport& report) {
  std::vector<Outcome> outcomes(offspring_.size());
  container_->add_all(offspring_.individuals(), offspring_.rows(), threshold_.value(), workers_,
                      outcomes);
  for (const Outcome outcome : outcomes) {
    switch (outcome) {
      case Outcome::added:
        ++report.added;
        break;
      case Outcome::replaced:
        ++report.replaced;
        break;
      case Outcome::rejected:
        ++report.rejected;
        break;
      case Outcome::invalid:
        ++report.invalid;
        break;
    }
  }
}

void QualityDiversity::update_encoder(StepReport& report) {
  const SensoryView data = container_->individuals().sensory.view();
  {
    const Stopwatch watch(report.seconds.train);
    Stream stream(config_.seed, Purpose::encoder_training, address(iteration_));
    report.training = encoder_->train(data, stream, workers_);
  }
  const Stopwatch watch(report.seconds.encode);
  Matrix<float> descriptors(data.rows(), encoder_->dimension());
  std::vector<float> errors(reads_surprise(config_.selection) ? data.rows() : 0);
  encoder_->encode(data, descriptors, errors, workers_);
  report.lost += container_->set_descriptors(descriptors, errors);
}

void QualityDiversity::update_threshold(bool update_due) {
  if (container_->size() == 0) return;
  if (schedule_.updates() == 0) return threshold_.start(*container_);
  if (update_due) threshold_.encoder_updated(*container_, workers_);
  const bool first = update_due && schedule_.updates() == 1;
  if (!first) threshold_.follow(container_->size());
}

bool QualityDiversity::container_update_due(bool update_due) const {
  switch (config_.threshold.kind) {
    case ThresholdKind::vat:
      return update_due;
    case ThresholdKind::fixed:
      return update_due && encoder_;
    case ThresholdKind::none:
      return false;
    case ThresholdKind::csc:
    case ThresholdKind::pid:
      break;
  }
  return (update_due && encoder_) || iteration_ % config_.update_period == 0;
}

}  // namespace aurora
