// What every run counts of itself, whoever evaluates.
#pragma once

#include <cstddef>

#include "aurora/runs/plan.hpp"
#include "aurora/runs/records.hpp"

namespace aurora {

/// What a run is, as run.json has it.
inline void introduce(RunSummary& summary, const Plan& plan) {
  summary.task = plan.spec().name;
  summary.title = title_of(plan.spec());
  summary.variant = plan.variant;
  summary.label = plan.run.label;
  summary.seed = plan.run.seed;
  summary.threads = plan.run.threads;
  summary.evaluator = plan.evaluator.entry->name;
  summary.status = RunStatus::running;
}

/// Adds one iteration.
inline void count_step(RunRecord& record, const StepReport& step, std::size_t iteration,
                       std::size_t batch) {
  RunSummary& summary = record.summary;
  Counts& counts = record.since_row;
  summary.seconds.simulate += step.seconds.simulate;
  summary.seconds.encode += step.seconds.encode;
  summary.seconds.train += step.seconds.train;
  summary.seconds.container += step.seconds.container;
  summary.seconds.variation += step.seconds.variation;
  summary.iterations = iteration;
  summary.evaluations += batch;
  summary.simulations += step.simulated;
  summary.invalid += step.invalid;
  counts.added += step.added;
  counts.replaced += step.replaced;
  counts.rejected += step.rejected;
  counts.invalid += step.invalid;
  counts.lost += step.lost;
  record.lost += step.lost;
  record.container_updates += step.container_updated ? 1 : 0;
}

}  // namespace aurora
