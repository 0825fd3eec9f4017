// All the parts that a program knows, by kind and name. A value, not a global: builtin_parts()
// gives ours, and a program that brings its own adds them before it hands the value on.
//
//   aurora::Parts parts = aurora::builtin_parts();
//   parts.tasks.add(my_robot());
//   return aurora::command_line(argc, argv, parts);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/containers/container.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/evaluation/evaluator.hpp"
#include "aurora/evolution/selector.hpp"
#include "aurora/evolution/variation.hpp"
#include "aurora/metrics/metric.hpp"
#include "aurora/runs/variants.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

struct Parts {
  Registry<TaskEntry> tasks{"task"};
  Registry<LoopEntry> loops{"loop"};
  Registry<EncoderEntry> encoders{"encoder"};
  Registry<ContainerEntry> containers{"container"};
  Registry<ThresholdEntry> thresholds{"threshold"};
  Registry<SelectorEntry> selectors{"selector"};
  Registry<VariationEntry> variations{"variation"};
  Registry<MetricEntry> metrics{"metric"};
  Registry<EvaluatorEntry> evaluators{"evaluator"};
  std::vector<Variant> variants;
  /// What a command takes that names no task; empty if it must.
  std::string usual_task;

  Parts();

  /// A task with these options, made once and then shared: tasks are pure, and some take a while to
  /// make. UsageError if it is missing from this build, its specification makes no sense, or calls
  /// it by another name.
  std::shared_ptr<const Task> task(const std::shared_ptr<const TaskEntry>& entry,
                                   const Values& values) const;

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;  // tasks that were made; copies of the parts share it
};

/// Everything that this build has.
Parts builtin_parts();

}  // namespace aurora
