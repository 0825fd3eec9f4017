// What a task says of itself: sizes, axes, what is measured, what a search starts from. Every room
// may look at it; the task itself lives in aurora/tasks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "aurora/core/sensory_data.hpp"

namespace aurora {

/// Which way larger values are drawn.
enum class Direction { up, down };

/// One value of the ground truth and the bounds within which metrics look at it.
struct Axis {
  std::string name;
  double min = 0;
  double max = 1;
  std::string unit = {};  // "m"; empty if it has none
  Direction direction = Direction::up;
};

/// The plane that coverage is measured in: the first two values of the ground truth. Hand-coded
/// descriptors are these two, unless a task has more to say.
inline constexpr std::size_t kHandCodedSize = 2;

struct TaskSpec {
  std::string name;
  /// For people: "Air-Hockey". The name, if left empty.
  std::string title = {};
  /// Raise it when a genotype's evaluation changes: a run never goes on with another version.
  std::size_t version = 1;
  /// Number of genes; genes lie in [0, 1] and the task maps them to what it needs.
  std::size_t genotype_size = 0;
  SensoryShape sensory;
  /// The true state at the end of the episode.
  std::vector<Axis> ground_truth;
  /// So many of its first axes are the hand-coded descriptor.
  std::size_t hand_coded_size = kHandCodedSize;
  /// No fitness is below this; the QD score counts from here.
  double worst_fitness = 0;
  /// Genotypes handed to one call of evaluate() should be a multiple of this (SIMD lanes).
  std::size_t preferred_batch = 1;
  /// Metrics to measure besides those that every run has, by name (`aurora list metrics`).
  std::vector<std::string> metrics;
  /// KEY=VALUE: what a run starts from when the user says nothing, as in "run.iterations=15000".
  /// A key of a part that is not in the mix is passed over.
  std::vector<std::string> defaults;
};

/// UsageError, with the reason, if no search can be made of it.
void check(const TaskSpec& spec);

/// Everything that a run depends on, in words: equal texts mean that a run may go on. Title, units,
/// directions, metrics and defaults may change.
std::string fingerprint(const TaskSpec& spec);

/// The title, or the name if there is none.
const std::string& title_of(const TaskSpec& spec);

}  // namespace aurora
