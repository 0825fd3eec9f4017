// What a run has found, to be used: its individuals, those nearest to a place, and its encoder.
// Nothing is written. The run may be finished or going on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aurora/encoders/encoder.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/sources.hpp"

namespace aurora {

struct Repertoire {
  Plan plan;
  SavedContainer container;        // at least one individual
  Source source;                   // where it comes from
  std::vector<std::string> notes;  // what the user should know about it, a line each
};

/// Opens the newest that is whole: the container of a run or, while there is none, a snapshot or
/// the last checkpoint; with `at`, what was written after that iteration. FileError if there is no
/// such directory, DataError if nothing in it can be used, UsageError if there is nothing `at` that
/// iteration.
Repertoire open_repertoire(const Parts& parts, const std::filesystem::path& run,
                           std::optional<std::size_t> at = std::nullopt);

/// The encoder of a run, as it was at its end or, while it goes on, in its last checkpoint; nothing
/// if there is none, or none yet.
std::unique_ptr<Encoder> open_encoder(const Plan& plan, const std::filesystem::path& run,
                                      const Source& source = {});

/// DataError unless these are individuals of the plan's task; `where` is what to call them.
void check_task(const Plan& plan, const SavedContainer& container,
                const std::filesystem::path& where);

struct Nearby {
  std::size_t row = 0;
  double distance = 0;
};

/// The `count` individuals (or all, if there are fewer) nearest to values of the first axes of the
/// ground truth, the nearest first, the older of two that are equally near. Distances are in units
/// of the axes' lengths. UsageError unless there is a finite value for one axis or more.
std::vector<Nearby> nearest_to_goal(const SavedContainer& container, std::span<const double> goal,
                                    std::size_t count);

/// The same in the descriptor space: Euclidean distances, with a value for every dimension.
std::vector<Nearby> nearest_to_descriptor(const SavedContainer& container,
                                          std::span<const double> descriptor, std::size_t count);

/// "x -1 (0 to 600)" for each value that is outside the bounds of its axis; empty if none is.
std::string outside_bounds(std::span<const Axis> axes, std::span<const double> goal);

/// Descriptors of observations, a row each.
struct Encoded {
  Matrix<float> descriptors;
  std::vector<float> reconstruction_error;  // the surprise score
};

/// What the run's encoder makes of the rows of a .npy file: arrays of the task's sensory shape and
/// type. UsageError if the run's descriptors are hand-coded, DataError if it has no encoder yet, or
/// if the file does not hold what it should: another shape or type, values that are not finite.
Encoded encode_file(const Parts& parts, const std::filesystem::path& run,
                    const std::filesystem::path& file, std::size_t threads);

}  // namespace aurora
