#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aurora/metrics/metric.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Numbers = std::vector<double>;

TEST(FitnessMetric, IsTheBestAndTheMean) {
  const TaskSpec task;
  const auto metric = make_part(fitness_metric(), {task});
  const auto measure = [&](const std::vector<float>& fitness) {
    Individuals members;
    members.fitness = fitness;
    Numbers out(2, -1);
    metric->measure(members, out);
    return out;
  };
  EXPECT_EQ(measure({}), (Numbers{0, 0}));
  EXPECT_EQ(measure({-3}), (Numbers{-3, -3}));
  EXPECT_EQ(measure({-3, -1, -5}), (Numbers{-1, -3}));
  // Summed in double: in float the first one would swallow the others.
  std::vector<float> many(1001, 1);
  many[0] = 16777216;
  EXPECT_EQ(measure(many), (Numbers{16777216, (16777216.0 + 1000) / 1001}));
}

TEST(FitnessMetric, IsMeasuredInEveryRun) {
  const MetricEntry entry = fitness_metric();
  EXPECT_EQ(entry.name, "fitness");
  EXPECT_TRUE(entry.standard);
  EXPECT_FALSE(entry.refuses);
  std::vector<std::string> columns;
  for (const MetricColumn& column : make_part(entry, {TaskSpec{}})->columns()) {
    columns.push_back(column.name + ":" + column.unit);
  }
  EXPECT_EQ(columns, (std::vector<std::string>{"best_fitness:", "mean_fitness:"}));
}

}  // namespace
}  // namespace aurora
