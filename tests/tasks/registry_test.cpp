#include "aurora/tasks/registry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
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

class NoTask : public Task {
 public:
  explicit NoTask(TaskSpec spec) : spec_(std::move(spec)) {}
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float>, EvaluationView) const override {}

 private:
  TaskSpec spec_;
};

/// A registry with one task whose first axis shows the options that it was made with.
TaskRegistry registry_with_arm() {
  TaskRegistry registry;
  registry.add({.name = "arm",
                .summary = "an arm",
                .options = {{"actuators", "what moves the joints", {"servo", "velocity"}},
                            {"floor", "what it stands on", {"hard", "soft", "none"}}},
                .make =
                    [](const TaskOptions& options) {
                      TaskSpec spec = arm_spec();
                      spec.ground_truth[0].name =
                          options.at("actuators") + "/" + options.at("floor");
                      return std::make_unique<NoTask>(spec);
                    },
                .missing = {}});
  return registry;
}

std::string usage_error(const auto& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expect_mentions(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(TaskRegistry, BuiltinTasksHaveTheMazeAndMakeIt) {
  const TaskRegistry registry = builtin_tasks();
  ASSERT_FALSE(registry.names().empty());
  EXPECT_EQ(registry.names().front(), "maze");
  EXPECT_EQ(registry.make("maze")->spec().name, "maze");
}

TEST(TaskRegistry, EveryBuiltinEntryIsCompleteAndItsTaskHasItsName) {
  const TaskRegistry registry = builtin_tasks();
  for (const TaskEntry& entry : registry.entries()) {
    SCOPED_TRACE(entry.name);
    EXPECT_FALSE(entry.summary.empty());
    if (!entry.missing.empty()) continue;
    ASSERT_TRUE(entry.make);
    EXPECT_EQ(registry.make(entry.name)->spec().name, entry.name);
  }
}

TEST(TaskRegistry, KeepsTheOrderInWhichTasksWereAdded) {
  TaskRegistry registry = registry_with_arm();
  registry.add({.name = "aardvark", .summary = {}, .options = {}, .make = {}, .missing = "legs"});
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"arm", "aardvark"}));
}

TEST(TaskRegistry, AnUnknownNameIsAnsweredWithTheNearestOne) {
  TaskRegistry registry = builtin_tasks();
  registry.add({.name = "walker", .summary = {}, .options = {}, .make = {}, .missing = "legs"});
  expect_mentions(usage_error([&] { registry.find("mase"); }), "did you mean 'maze'?");
  expect_mentions(usage_error([&] { registry.make("wakler"); }), "did you mean 'walker'?");
  expect_mentions(usage_error([&] { registry.complete("mase", {}); }), "'mase'");
}

TEST(TaskRegistry, RefusesANameThatIsTakenOrEmpty) {
  TaskRegistry registry = registry_with_arm();
  const auto add = [&](const std::string& name) {
    registry.add({.name = name, .summary = {}, .options = {}, .make = {}, .missing = {}});
  };
  expect_mentions(usage_error([&] { add("arm"); }), "'arm' is already registered");
  expect_mentions(usage_error([&] { add(""); }), "needs a name");
  EXPECT_EQ(registry.entries().size(), 1U);
}

TEST(TaskRegistry, RefusesToMakeATaskThatIsMissingAndSaysWhatIsMissing) {
  TaskRegistry registry;
  bool made = false;
  registry.add({.name = "walker",
                .summary = {},
                .options = {},
                .make =
                    [&made](const TaskOptions&) {
                      made = true;
                      return std::make_unique<NoTask>(arm_spec());
                    },
                .missing = "configure with -DAURORA_LEGS=ON"});
  const std::string message = usage_error([&] { registry.make("walker"); });
  expect_mentions(message, "'walker'");
  expect_mentions(message, "configure with -DAURORA_LEGS=ON");
  EXPECT_FALSE(made);
}

TEST(TaskRegistry, OptionsLeftOutTakeTheirFirstValue) {
  const TaskRegistry registry = registry_with_arm();
  const auto made_with = [&](const TaskOptions& options) {
    return registry.make("arm", options)->spec().ground_truth[0].name;
  };
  EXPECT_EQ(made_with({}), "servo/hard");
  EXPECT_EQ(made_with({{"floor", "soft"}}), "servo/soft");
  EXPECT_EQ(registry.complete("arm", {{"actuators", "velocity"}}),
            (TaskOptions{{"actuators", "velocity"}, {"floor", "hard"}}));
}

TEST(TaskRegistry, RefusesUnknownOptionsAndValuesWithTheNearest) {
  const TaskRegistry registry = registry_with_arm();
  expect_mentions(usage_error([&] {
                    registry.make("arm", {{"flor", "soft"}});
                  }),
                  "did you mean 'floor'?");
  const std::string message = usage_error([&] { registry.make("arm", {{"floor", "sift"}}); });
  expect_mentions(message, "task.floor");
  expect_mentions(message, "did you mean 'soft'?");
}

TEST(TaskRegistry, ATaskWithoutOptionsRefusesAnyOption) {
  const std::string message = usage_error([&] {
    builtin_tasks().make("maze", {{"actuators", "servo"}});
  });
  expect_mentions(message, "task.actuators");
  expect_mentions(message, "no options");
}

/// What the registry says of an arm whose specification was changed.
std::string refusal(const std::function<void(TaskSpec&)>& change) {
  TaskSpec spec = arm_spec();
  change(spec);
  TaskRegistry registry;
  registry.add({.name = "arm",
                .summary = {},
                .options = {},
                .make = [=](const TaskOptions&) { return std::make_unique<NoTask>(spec); },
                .missing = {}});
  return usage_error([&] { registry.make("arm"); });
}

TEST(TaskRegistry, RefusesASpecificationThatMakesNoSense) {
  const double nan = std::nan("");
  EXPECT_EQ(refusal([](TaskSpec&) {}), "nothing was thrown");
  expect_mentions(refusal([](TaskSpec& s) { s.name = ""; }), "name");
  expect_mentions(refusal([](TaskSpec& s) { s.name = "leg"; }), "calls itself 'leg'");
  expect_mentions(refusal([](TaskSpec& s) { s.genotype_size = 0; }), "gene");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents = {}; }), "sensory data");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents = {50, 0}; }), "50 x 0 floats");
  expect_mentions(refusal([](TaskSpec& s) { s.sensory.extents.assign(2, SIZE_MAX / 2); }),
                  "features at most");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth.pop_back(); }), "two ground-truth axes");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].name = "x"; }), "'x'");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].name = ""; }), "name of its own");
  expect_mentions(refusal([](TaskSpec& s) { s.ground_truth[1].max = -2; }), "'y', not -1 and -2");
  expect_mentions(refusal([=](TaskSpec& s) { s.ground_truth[0].min = nan; }), "'x', not nan");
  expect_mentions(refusal([=](TaskSpec& s) { s.worst_fitness = nan; }), "worst_fitness");
  expect_mentions(refusal([](TaskSpec& s) { s.metrics = {TaskMetric::orientation_coverage}; }),
                  "'pitch' and 'roll'");
  EXPECT_EQ(refusal([](TaskSpec& s) { s.metrics = {TaskMetric::trajectory_diversity}; }),
            "nothing was thrown");
  expect_mentions(refusal([](TaskSpec& s) {
                    s.metrics = {TaskMetric::trajectory_diversity};
                    s.sensory = {{3}, ElementType::float32};
                  }),
                  "not 3 floats");
}

}  // namespace
}  // namespace aurora
