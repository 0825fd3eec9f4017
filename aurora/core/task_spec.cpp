#include "aurora/core/task_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/core/options.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMostFeatures = 1 << 28;  // of an individual: nobody means more

bool sensible(const SensoryShape& shape) {
  std::size_t features = 1;
  for (const std::size_t extent : shape.extents) {
    if (extent == 0 || extent > kMostFeatures / features) return false;
    features *= extent;
  }
  return !shape.extents.empty();
}

}  // namespace

void check(const TaskSpec& spec) {
  const auto require = [&](bool holds, const std::string& reason) {
    if (!holds) throw UsageError(fmt::format("the task '{}' {}", spec.name, reason));
  };
  require(is_plain_name(spec.name), "must have a name of letters, digits, '-', '_' and '+'");
  require(spec.genotype_size > 0, "must have at least one gene (genotype_size)");
  require(
      sensible(spec.sensory),
      fmt::format("must have sensory data with extents of at least 1 and {} features at most, "
                  "not {}",
                  kMostFeatures, spec.sensory.extents.empty() ? "none" : describe(spec.sensory)));
  require(spec.ground_truth.size() >= 2,
          "must have at least two ground-truth axes: metrics need them");
  std::set<std::string> names;
  for (const Axis& axis : spec.ground_truth) {
    require(!axis.name.empty() && names.insert(axis.name).second,
            fmt::format("must have a name of its own for every ground-truth axis; '{}' is not",
                        axis.name));
    require(std::isfinite(axis.min) && std::isfinite(axis.max) && axis.min < axis.max,
            fmt::format("must have finite bounds, the lower one first, for the ground-truth axis "
                        "'{}', not {} and {}",
                        axis.name, axis.min, axis.max));
  }
  require(
      spec.hand_coded_size >= 1 && spec.hand_coded_size <= spec.ground_truth.size(),
      fmt::format("must have a hand-coded descriptor (hand_coded_size) of 1 to {} values, not {}",
                  spec.ground_truth.size(), spec.hand_coded_size));
  require(std::isfinite(spec.worst_fitness), "must have a finite worst_fitness");
}

std::string fingerprint(const TaskSpec& spec) {
  std::string text =
      fmt::format("{} version {}: {} genes, senses {}, worst fitness {}", spec.name, spec.version,
                  spec.genotype_size, describe(spec.sensory), spec.worst_fitness);
  for (const Axis& axis : spec.ground_truth) {
    text += fmt::format(", {} from {} to {}", axis.name, axis.min, axis.max);
  }
  if (spec.hand_coded_size != kHandCodedSize) {
    text += fmt::format(", hand-coded: the first {}", spec.hand_coded_size);
  }
  return text;
}

const std::string& title_of(const TaskSpec& spec) {
  return spec.title.empty() ? spec.name : spec.title;
}

}  // namespace aurora
