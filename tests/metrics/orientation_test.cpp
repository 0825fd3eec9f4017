#include "aurora/metrics/orientation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "aurora/core/random.hpp"
#include "aurora/metrics/metric.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

TEST(OrientationCoverage, OfNothingIsZero) {
  EXPECT_EQ(orientation_coverage(Matrix<float>(0, 2), 0, 1), 0);
}

TEST(OrientationCoverage, CountsCellsAndNotIndividuals) {
  Matrix<float> truth(4, 3);
  const float pitch[] = {0.1F, 0.2F, -1.0F, kPi};  // the first two share a cell
  for (std::size_t i = 0; i < 4; ++i) truth(i, 1) = truth(i, 2) = pitch[i];
  EXPECT_DOUBLE_EQ(orientation_coverage(truth, 1, 2), 100.0 * 3 / 128);
  EXPECT_DOUBLE_EQ(orientation_coverage(truth, 0, 1), 100.0 * 3 / 128);
  truth(1, 2) = -0.2F;
  EXPECT_DOUBLE_EQ(orientation_coverage(truth, 1, 2), 100.0 * 4 / 128);
  EXPECT_DOUBLE_EQ(orientation_coverage(truth, 0, 1), 100.0 * 3 / 128);
}

TEST(OrientationCoverage, AgreesWithASetOfCells) {
  Stream stream(1, Purpose::user);
  Matrix<float> truth(150, 6);
  std::set<std::pair<int, int>> cells;
  for (std::size_t i = 0; i < truth.rows(); ++i) {
    truth(i, 3) = static_cast<float>(1.5 * stream.normal());
    truth(i, 4) = static_cast<float>(1.5 * stream.normal());
    if (std::abs(truth(i, 3)) > kPi || std::abs(truth(i, 4)) > kPi) continue;
    cells.emplace(std::floor(truth(i, 3) / (kPi / 8)), std::floor(truth(i, 4) / (kPi / 8)));
  }
  EXPECT_DOUBLE_EQ(orientation_coverage(truth, 3, 4),
                   100.0 * static_cast<double>(cells.size()) / 128);
}

TEST(OrientationMetric, LooksAtPitchAndRollWhereverTheyAre) {
  TaskSpec task;
  task.name = "robot";
  task.ground_truth = {{"x"}, {"roll"}, {"y"}, {"pitch"}};
  Individuals members({.ground_truth_size = 4, .sensory = {}}, 100);
  Stream draw(3, Purpose::user);
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (float& value : members.ground_truth.row(i)) value = static_cast<float>(draw.normal());
    members.ground_truth(i, 1) *= 0.1F;
  }
  const MetricEntry entry = orientation_metric();
  EXPECT_FALSE(entry.standard);
  const auto metric = make_part(entry, {task});
  double out = 0;
  metric->measure(members, std::span(&out, 1));
  EXPECT_EQ(out, orientation_coverage(members.ground_truth, 3, 1));
  EXPECT_NE(out, orientation_coverage(members.ground_truth, 0, 2));
  ASSERT_EQ(metric->columns().size(), 1U);
  EXPECT_EQ(metric->columns()[0].name, entry.name);
  EXPECT_EQ(metric->columns()[0].unit, "%");

  Mix mix;
  mix.task = task;
  EXPECT_EQ(entry.refuses({}, mix), "");
  for (const std::size_t axis : {1U, 3U}) {
    mix.task = task;
    mix.task.ground_truth[axis].name = "yaw";
    const std::string refusal = entry.refuses({}, mix);
    EXPECT_NE(refusal.find("'pitch' and 'roll'"), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find("the task 'robot': "), 0U) << refusal;
  }
}

}  // namespace
}  // namespace aurora
