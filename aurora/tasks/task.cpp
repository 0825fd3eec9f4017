#include "aurora/tasks/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "aurora/core/errors.hpp"

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
  const auto has_axis = [&](const char* name) {
    return std::ranges::find(spec.ground_truth, name, &Axis::name) != spec.ground_truth.end();
  };
  require(!spec.name.empty(), "must have a name");
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
  require(std::isfinite(spec.worst_fitness), "must have a finite worst_fitness");
  for (const TaskMetric metric : spec.metrics) {
    switch (metric) {
      case TaskMetric::orientation_coverage:
        require(has_axis("pitch") && has_axis("roll"),
                "must have ground-truth axes 'pitch' and 'roll' for its orientation coverage");
        break;
      case TaskMetric::trajectory_diversity:
        require(spec.sensory.element == ElementType::float32 && spec.sensory.size() % 2 == 0,
                "must sense (x, y) in floats for its trajectory diversity, not " +
                    describe(spec.sensory));
        break;
    }
  }
}

}  // namespace aurora
