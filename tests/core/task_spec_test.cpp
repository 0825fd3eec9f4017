#include "aurora/core/task_spec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

TaskSpec arm_spec() {
  TaskSpec spec;
  spec.name = "arm";
  spec.genotype_size = 4;
  spec.sensory = {{50, 2}, ElementType::float32};
  spec.ground_truth = {{"x", -1, 1}, {"y", -1, 1}};
  return spec;
}

/// What is said of an arm whose specification was changed.
std::string refusal(const std::function<void(TaskSpec&)>& change) {
  TaskSpec spec = arm_spec();
  change(spec);
  try {
    check(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expect_mentions(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(TaskSpec, ThatMakesSenseIsAccepted) {
  EXPECT_EQ(refusal([](TaskSpec&) {}), "nothing was thrown");
  EXPECT_EQ(refusal([](TaskSpec& s) {
              s.genotype_size = 1;
              s.sensory = {{1}, ElementType::uint8};
              s.ground_truth.push_back({"heading", 0, 1e-9, "rad", Direction::down});
              s.worst_fitness = -1e300;
            }),
            "nothing was thrown");
}

TEST(TaskSpec, MustHaveAPlainName) {
  for (const char* name : {"arm-2", "arm_2", "a+b", "7", "arm.v2"}) {
    EXPECT_EQ(refusal([&](TaskSpec& s) { s.name = name; }), "nothing was thrown") << name;
  }
  for (const char* name : {"", ".x", "-x", "../../evil", "a/b", "a b", "arm\n", "\xC3\xA4rm"}) {
    expect_mentions(refusal([&](TaskSpec& s) { s.name = name; }), "must have a name of letters");
  }
  expect_mentions(refusal([](TaskSpec& s) { s.name = "a/b"; }), "the task 'a/b'");
}

TEST(TaskSpec, MustHaveGenesAndSensoryData) {
  expect_mentions(refusal([](TaskSpec& s) { s.genotype_size = 0; }), "gene");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents = {}; }), "sensory data");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents = {}; }), "not none");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents = {50, 0}; }), "50 x 0 floats");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents.assign(2, SIZE_MAX / 2); }),
                  "features at most");
  constexpr std::size_t kMost = 1 << 28;
  EXPECT_EQ(refusal([](TaskSpec& s) { s.sensory.extents = {kMost / 4, 4}; }), "nothing was thrown");
  expect_mentions(refusal([](TaskSpec& s) {
                    s.sensory.extents = {kMost / 4, 5};
                  }),
                  "features at most");
}

TEST(TaskSpec, MustHaveTwoAxesWithNamesAndBounds) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth.pop_back(); }), "two ground-truth axes");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].name = "x"; }), "'x'");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].name = ""; }), "name of its own");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].max = -2; }), "'y', not -1 and -2");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].max = -1; }), "'y', not -1 and -1");
  expect_mentions(refusal([=](TaskSpec& s) { s.ground_truth[0].min = nan; }), "'x', not nan");
  expect_mentions(refusal([=](TaskSpec& s) { s.ground_truth[0].max = infinity; }),
                  "'x', not -1 and inf");
}

TEST(TaskSpec, MustHaveAHandCodedDescriptorWithinTheGroundTruth) {
  expect_mentions(refusal([](TaskSpec& s) { s.hand_coded_size = 0; }), "hand_coded_size");
  expect_mentions(refusal([](TaskSpec& s) { s.hand_coded_size = s.ground_truth.size() + 1; }),
                  "hand_coded_size");
  TaskSpec spec = arm_spec();
  EXPECT_EQ(spec.hand_coded_size, 2U);
  const std::string before = fingerprint(spec);
  spec.hand_coded_size = 1;
  EXPECT_EQ(fingerprint(spec), before + ", hand-coded: the first 1");
}

TEST(TaskSpec, MustHaveAWorstFitnessToCountFrom) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    expect_mentions(refusal([=](TaskSpec& s) { s.worst_fitness = bad; }), "worst_fitness");
  }
}

TEST(TaskSpec, IsCalledByItsTitleOrElseByItsName) {
  TaskSpec spec = arm_spec();
  EXPECT_EQ(title_of(spec), "arm");
  spec.title = "The Arm";
  EXPECT_EQ(title_of(spec), "The Arm");
}

TEST(TaskSpec, AxesGoUpAndHaveNoUnitUnlessTheySaySo) {
  const Axis axis{"x", -1, 1};
  EXPECT_EQ(axis.direction, Direction::up);
  EXPECT_EQ(axis.unit, "");
}

}  // namespace
}  // namespace aurora
