#include "aurora/runs/repertoire.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/npy.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEncodedBytes = std::size_t{64} << 20;  // of sensory data at once

/// Those of a run that shall be tried, the best first.
std::vector<Source> candidates(const fs::path& run, std::optional<std::size_t> at) {
  std::vector<Source> found = sources_of(run);
  if (!at) return found;
  std::vector<std::string> iterations;
  for (const Source& source : found) iterations.push_back(std::to_string(source.iteration));
  std::erase_if(found, [&](const Source& source) { return source.iteration != *at; });
  if (found.empty()) {
    throw UsageError(fmt::format(
        "'{}' has nothing that was written after iteration {}; it has {}", run.string(), *at,
        iterations.empty() ? "nothing at all yet"
                           : fmt::format("{}", fmt::join(iterations, ", "))));
  }
  return found;
}

double length_of(const Axis& axis) {
  return axis.max > axis.min ? axis.max - axis.min : 1;
}

/// The nearest of `rows` rows by the squares of their distances.
template <class Squared>
std::vector<Nearby> nearest(std::size_t rows, std::size_t count, Squared squared) {
  if (count == 0) throw UsageError("the number of individuals must be at least 1");
  std::vector<Nearby> all(rows);
  for (std::size_t row = 0; row < rows; ++row) all[row] = {row, std::sqrt(squared(row))};
  count = std::min(count, rows);
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [](const Nearby& n) { return std::pair(n.distance, n.row); });
  all.resize(count);
  return all;
}

/// "an array of uint8 of the shape (rows, 64, 64, 3)"
std::string wanted_array(const SensoryShape& shape) {
  return fmt::format("an array of {} of the shape (rows, {})",
                     shape.element == ElementType::uint8 ? "uint8" : "float32",
                     fmt::join(shape.extents, ", "));
}

/// The number of rows in a file of observations, which then stands at the first of them.
std::size_t open_observations(InputFile& file, const TaskSpec& spec) {
  const SensoryShape& shape = spec.sensory;
  const std::string needs =
      fmt::format("encoding for the task '{}' needs {}", spec.name, wanted_array(shape));
  NpyHeader header;
  try {
    header = read_npy_header(file);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}; {}", error.what(), needs));
  }
  const NpyType type = shape.element == ElementType::uint8 ? NpyType::uint8 : NpyType::float32;
  const bool fits =
      header.type == type && header.shape.size() == shape.extents.size() + 1 &&
      std::equal(shape.extents.begin(), shape.extents.end(), header.shape.begin() + 1);
  if (!fits) {
    throw DataError(fmt::format("'{}' holds an array of {} of the shape ({}); {}",
                                file.path().string(), name_of(header.type),
                                fmt::join(header.shape, ", "), needs));
  }
  return header.shape[0];
}

void check_finite(const InputFile& file, SensoryView rows, std::size_t first) {
  if (rows.shape().element != ElementType::float32) return;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (all_finite(rows.row<float>(row))) continue;
    throw DataError(fmt::format("'{}' has values that are not finite in row {}",
                                file.path().string(), first + row));
  }
}

}  // namespace

void check_task(const Plan& plan, const SavedContainer& container, const fs::path& where) {
  const TaskSpec& spec = plan.spec();
  if (container.task == spec.name && container.individuals.genotypes.cols() == spec.genotype_size &&
      container.ground_truth.size() == spec.ground_truth.size()) {
    return;
  }
  throw DataError(fmt::format(
      "'{}' holds individuals of '{}' with {} genes and {} values of ground truth, but the task "
      "'{}' has {} and {}",
      where.string(), container.task, container.individuals.genotypes.cols(),
      container.ground_truth.size(), spec.name, spec.genotype_size, spec.ground_truth.size()));
}

Repertoire open_repertoire(const Parts& parts, const fs::path& run, std::optional<std::size_t> at) {
  Repertoire found{plan_of_run(parts, run), {}, {}, {}};
  std::string problem;
  for (const Source& candidate : candidates(run, at)) {
    try {
      found.container = load_source(run, candidate, found.plan.spec());
      found.source = candidate;
      break;
    } catch (const Error& error) {
      found.notes.push_back(fmt::format("cannot use {}: {}", candidate.name, error.what()));
      if (problem.empty()) problem = error.what();
    }
  }
  const std::string& source = found.source.name;
  if (source.empty() && !problem.empty()) throw DataError(problem);
  if (source.empty() || found.container.individuals.size() == 0) {
    throw DataError(fmt::format(
        "there is nothing to show in '{}' yet: a run writes its container when it ends, a snapshot "
        "every {} iterations (run.snapshot_every) and a checkpoint every {} seconds "
        "(run.checkpoint_seconds)",
        run.string(), found.plan.run.snapshot_every, found.plan.run.checkpoint_seconds));
  }
  check_task(found.plan, found.container, run / source);
  if (!found.container.has_sensory && !at) {
    found.notes.push_back(fmt::format("there is no whole container: this is {}", source));
  }
  return found;
}

std::unique_ptr<Encoder> open_encoder(const Plan& plan, const fs::path& run, const Source& source) {
  if (!plan.encoder) return nullptr;
  const std::vector<NamedArray> state = load_encoder_of(run, source);
  if (state.empty()) return nullptr;
  Stream weights(plan.run.seed, Purpose::encoder_weights);
  std::unique_ptr<Encoder> encoder = plan.make_encoder(plan.run.dimension, weights);
  encoder->set_state(state);
  return encoder;
}

std::vector<Nearby> nearest_to_goal(const SavedContainer& container, std::span<const double> goal,
                                    std::size_t count) {
  const std::vector<Axis>& axes = container.ground_truth;
  if (goal.empty() || goal.size() > axes.size() || !all_finite(goal)) {
    std::vector<std::string> names;
    names.reserve(axes.size());
    for (const Axis& axis : axes) names.push_back(axis.name);
    throw UsageError(
        fmt::format("a place in the ground truth is 1 to {} finite numbers, for {}, not {}",
                    axes.size(), fmt::join(names, ","), fmt::join(goal, ",")));
  }
  const Matrix<float>& truth = container.individuals.ground_truth;
  return nearest(container.individuals.size(), count, [&](std::size_t row) {
    double squared = 0;
    for (std::size_t i = 0; i < goal.size(); ++i) {
      const double offset = (truth(row, i) - goal[i]) / length_of(axes[i]);
      squared += offset * offset;
    }
    return squared;
  });
}

std::vector<Nearby> nearest_to_descriptor(const SavedContainer& container,
                                          std::span<const double> descriptor, std::size_t count) {
  const Matrix<float>& descriptors = container.individuals.descriptors;
  if (descriptor.size() != descriptors.cols() || !all_finite(descriptor)) {
    throw UsageError(fmt::format("a descriptor of this run is {} finite numbers, not {}",
                                 descriptors.cols(), fmt::join(descriptor, ",")));
  }
  return nearest(container.individuals.size(), count, [&](std::size_t row) {
    double squared = 0;
    for (std::size_t i = 0; i < descriptor.size(); ++i) {
      const double offset = descriptors(row, i) - descriptor[i];
      squared += offset * offset;
    }
    return squared;
  });
}

std::string outside_bounds(std::span<const Axis> axes, std::span<const double> goal) {
  std::vector<std::string> outside;
  for (std::size_t i = 0; i < std::min(axes.size(), goal.size()); ++i) {
    if (goal[i] >= axes[i].min && goal[i] <= axes[i].max) continue;
    outside.push_back(
        fmt::format("{} {} ({} to {})", axes[i].name, goal[i], axes[i].min, axes[i].max));
  }
  return fmt::format("{}", fmt::join(outside, ", "));
}

Encoded encode_file(const Parts& parts, const fs::path& run, const fs::path& file,
                    std::size_t threads) {
  const Plan plan = plan_of_run(parts, run);
  if (!plan.encoder) {
    throw UsageError(
        fmt::format("the descriptors of '{}' are hand-coded: there is no encoder; choose a run of "
                    "a variant that learns them, as aurora-csc-uniform-10 does",
                    run.string()));
  }
  const std::unique_ptr<Encoder> encoder = open_encoder(plan, run);
  if (!encoder) {
    throw DataError(
        fmt::format("there is no encoder in '{}' yet: a run writes it when it ends", run.string()));
  }
  const SensoryShape& shape = plan.spec().sensory;
  InputFile input(file);
  const std::size_t rows = open_observations(input, plan.spec());
  Encoded encoded{Matrix<float>(rows, encoder->dimension()), std::vector<float>(rows)};
  const std::size_t most =
      std::max<std::size_t>(kEncodedBytes / std::max<std::size_t>(shape.row_bytes(), 1), 1);
  Workers workers(threads);
  SensoryData piece(shape);
  for (std::size_t first = 0; first < rows; first += piece.rows()) {
    piece.resize_rows(std::min(most, rows - first));
    for (std::size_t row = 0; row < piece.rows(); ++row)
      input.read(piece.mutable_view().bytes(row));
    const SensoryView data = piece.view();
    check_finite(input, data, first);
    encoder->encode(data, encoded.descriptors.view().slice(first, piece.rows()),
                    std::span(encoded.reconstruction_error).subspan(first, piece.rows()), workers);
  }
  return encoded;
}

}  // namespace aurora
