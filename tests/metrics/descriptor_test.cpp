#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/metrics/metric.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

/// Axes a, b, c in [0, 1] and d in [-2, 2]; the first three are the descriptor.
TaskSpec task() {
  TaskSpec spec;
  spec.name = "robot";
  spec.ground_truth = {{"a", 0, 1}, {"b", 0, 1}, {"c", 0, 1}, {"d", -2, 2}};
  spec.hand_coded_size = 3;
  return spec;
}

Individuals members_at(const std::vector<std::vector<float>>& places) {
  Individuals members({.ground_truth_size = 4, .sensory = {}}, places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::ranges::copy(places[i], members.ground_truth.row(i).begin());
  }
  return members;
}

double coverage(const Individuals& members, const TaskSpec& spec = task(),
                const std::vector<std::string>& options = {}) {
  double out = -1;
  make_part(descriptor_metric(), {spec}, options)->measure(members, std::span(&out, 1));
  return out;
}

TEST(DescriptorCoverage, CountsCellsOfAllItsAxesAndOfNoOther) {
  EXPECT_EQ(coverage(members_at({})), 0);
  EXPECT_DOUBLE_EQ(coverage(members_at({{0, 0, 0, 0}})), 100.0 / 125);
  // The same cell, the same but for what is no descriptor, and another along the third axis.
  EXPECT_DOUBLE_EQ(coverage(members_at({{0, 0, 0, 0}, {0.19F, 0, 0, 0}})), 100.0 / 125);
  EXPECT_DOUBLE_EQ(coverage(members_at({{0, 0, 0, 0}, {0, 0, 0, 2}})), 100.0 / 125);
  EXPECT_DOUBLE_EQ(coverage(members_at({{0, 0, 0, 0}, {0, 0, 0.21F, 0}})), 200.0 / 125);
  // Bounds belong to the grid; what is outside, or nowhere, does not count.
  EXPECT_DOUBLE_EQ(coverage(members_at({{1, 1, 1, 0}, {0.81F, 0.9F, 0.99F, 0}})), 100.0 / 125);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(coverage(members_at({{1.01F, 0, 0, 0}, {0, -0.01F, 0, 0}, {0, 0, nan, 0}})), 0);
}

TEST(DescriptorCoverage, AgreesWithASetOfCellsForAnyResolution) {
  Stream stream(5, Purpose::user);
  std::vector<std::vector<float>> places(300, std::vector<float>(4));
  for (auto& place : places) {
    for (float& value : place) value = static_cast<float>(2.4 * stream.uniform() - 1.2);
  }
  TaskSpec spec = task();
  for (Axis& axis : spec.ground_truth) axis.min = -1;
  spec.hand_coded_size = 4;
  spec.ground_truth[3].max = 1;
  for (const std::size_t resolution : {1U, 2U, 5U, 7U}) {
    std::set<std::vector<int>> cells;
    for (const auto& place : places) {
      std::vector<int> cell;
      bool inside = true;
      for (const float value : place) {
        inside = inside && std::abs(value) <= 1;
        cell.push_back(static_cast<int>((value + 1.0) / 2 * static_cast<double>(resolution)));
      }
      if (inside) cells.insert(cell);
    }
    EXPECT_DOUBLE_EQ(
        coverage(members_at(places), spec, {"resolution=" + std::to_string(resolution)}),
        100.0 * static_cast<double>(cells.size()) / std::pow(resolution, 4));
  }
}

TEST(DescriptorCoverage, RefusesMoreCellsThanCanBeCounted) {
  const MetricEntry entry = descriptor_metric();
  EXPECT_FALSE(entry.standard);
  Mix mix;
  mix.task = task();
  EXPECT_EQ(entry.refuses(values_of(entry), mix), "");
  EXPECT_EQ(entry.refuses(values_of(entry, {"resolution=10000"}), mix), "");
  mix.task.hand_coded_size = 4;
  const std::string refusal = entry.refuses(values_of(entry, {"resolution=10000"}), mix);
  EXPECT_EQ(refusal.find("the task 'robot': 10000 cells along each of 4 axes are too many"), 0U)
      << refusal;
  ASSERT_EQ(make_part(entry, {mix.task})->columns().size(), 1U);
  EXPECT_EQ(make_part(entry, {mix.task})->columns()[0].name, entry.name);
  EXPECT_EQ(make_part(entry, {mix.task})->columns()[0].unit, "%");
}

}  // namespace
}  // namespace aurora
