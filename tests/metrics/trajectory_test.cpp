#include "aurora/metrics/trajectory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/metrics/metric.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

using Cell = std::pair<int, int>;

SensoryData trajectories(const std::vector<std::vector<float>>& rows) {
  SensoryData data(SensoryShape{{rows.front().size() / 2, 2}, ElementType::float32}, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(rows[i], data.mutable_view().row<float>(i).begin());
  }
  return data;
}

double diversity(const std::vector<std::vector<float>>& rows) {
  const SensoryData data = trajectories(rows);
  return trajectory_diversity(data.view());
}

TEST(TrajectoryDiversity, OfNothingIsZero) {
  const SensoryData none(SensoryShape{{50, 2}, ElementType::float32}, 0);
  EXPECT_EQ(trajectory_diversity(none.view()), 0);
}

TEST(TrajectoryDiversity, IsTheMeanShareOfCellsVisitedOnTheWayToEachCell) {
  // Two ways to one place, which share two of five cells; then one to another.
  const std::vector<float> one = {-0.9F, -0.9F, -0.5F, 0.1F, 0.9F, 0.9F};
  const std::vector<float> other = {-0.9F, -0.9F, 0.5F, -0.7F, 0.85F, 0.95F};
  const std::vector<float> third = {0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F};
  EXPECT_DOUBLE_EQ(diversity({one}), 3.0 / 100);
  EXPECT_DOUBLE_EQ(diversity({one, other}), 4.0 / 100);
  EXPECT_DOUBLE_EQ(diversity({one, other, one, third}), 5.0 / 100);
}

TEST(TrajectoryDiversity, DropsWhatLiesOutside) {
  EXPECT_DOUBLE_EQ(diversity({{-0.9F, -0.9F, 1.5F, 0, 0.9F, 0.9F}}), 2.0 / 100);
  EXPECT_DOUBLE_EQ(diversity({{-0.9F, -0.9F, 0.9F, 0.9F, 1.1F, 0}}), 0);
}

TEST(TrajectoryDiversity, AgreesWithSetsOfCells) {
  Stream stream(2, Purpose::user);
  std::vector<std::vector<float>> rows(300, std::vector<float>(20));
  std::map<Cell, std::set<Cell>> visited;
  const auto cell = [](float x, float y) {
    return Cell(std::floor((x + 1.0) / 0.2), std::floor((y + 1.0) / 0.2));
  };
  for (auto& row : rows) {
    for (float& value : row) value = static_cast<float>(2 * stream.uniform() - 1);
    for (std::size_t p = 0; p < row.size(); p += 2) {
      visited[cell(row[18], row[19])].insert(cell(row[p], row[p + 1]));
    }
  }
  double sum = 0;
  for (const auto& [end, cells] : visited) sum += static_cast<double>(cells.size());
  EXPECT_NEAR(diversity(rows), sum / 100, 1e-9);
}

TEST(TrajectoryMetric, MeasuresTheSensoryData) {
  TaskSpec task;
  task.name = "arm";
  task.sensory = {{3, 2}, ElementType::float32};
  Individuals members({.sensory = task.sensory}, 1);
  members.sensory.mutable_view().set_row(0,
                                         std::vector<float>{-0.9F, -0.9F, -0.5F, 0.1F, 0.9F, 0.9F});
  const MetricEntry entry = trajectory_metric();
  EXPECT_FALSE(entry.standard);
  const auto metric = make_part(entry, {task});
  double out = 0;
  metric->measure(members, std::span(&out, 1));
  EXPECT_DOUBLE_EQ(out, 3.0 / 100);
  ASSERT_EQ(metric->columns().size(), 1U);
  EXPECT_EQ(metric->columns()[0].name, entry.name);
  EXPECT_EQ(metric->columns()[0].unit, "%");
}

TEST(TrajectoryMetric, NeedsPairsOfFloats) {
  const MetricEntry entry = trajectory_metric();
  Mix mix;
  mix.task.name = "arm";
  const auto refusal = [&](const SensoryShape& sensory) {
    mix.task.sensory = sensory;
    return entry.refuses({}, mix);
  };
  EXPECT_EQ(refusal({{50, 2}, ElementType::float32}), "");
  EXPECT_EQ(refusal({{100}, ElementType::float32}), "");
  const std::string odd = refusal({{3}, ElementType::float32});
  EXPECT_EQ(odd.find("the task 'arm': "), 0U) << odd;
  EXPECT_NE(odd.find("not 3 floats"), std::string::npos) << odd;
  const std::string bytes = refusal({{50, 2}, ElementType::uint8});
  EXPECT_NE(bytes.find("not 50 x 2 bytes"), std::string::npos) << bytes;
}

}  // namespace
}  // namespace aurora
