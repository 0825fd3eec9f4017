// Metrics: numbers that say how good a container is. Each is a column of metrics.csv, or several.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aurora/core/individuals.hpp"
#include "aurora/core/part.hpp"

namespace aurora {

struct MetricColumn {
  std::string name;
  std::string unit = {};  // "%"; empty if it has none
};

class Metric {
 public:
  virtual ~Metric() = default;
  /// What it measures, always the same.
  virtual std::vector<MetricColumn> columns() const = 0;
  /// A number for each column, of a container that may be empty.
  virtual void measure(const Individuals& members, std::span<double> out) const = 0;
};

/// What a metric is made with.
struct MetricContext {
  const TaskSpec& task;
};

using MetricEntry = Entry<Metric, MetricContext>;

MetricEntry grid_metric();
MetricEntry fitness_metric();
MetricEntry descriptor_metric();
MetricEntry orientation_metric();
MetricEntry trajectory_metric();

}  // namespace aurora
