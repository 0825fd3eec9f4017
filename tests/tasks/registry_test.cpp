#include "aurora/tasks/registry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

class NoTask : public Task {
 public:
  explicit NoTask(std::string name) { spec_.name = std::move(name); }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float>, EvaluationView) const override {}

 private:
  TaskSpec spec_;
};

/// A registry with one task whose spec's name shows the options that it was made with.
TaskRegistry registry_with_arm() {
  TaskRegistry registry;
  registry.add({.name = "arm",
                .summary = "an arm",
                .options = {{"actuators", "what moves the joints", {"servo", "velocity"}},
                            {"floor", "what it stands on", {"hard", "soft", "none"}}},
                .make =
                    [](const TaskOptions& options) {
                      return std::make_unique<NoTask>(options.at("actuators") + "/" +
                                                      options.at("floor"));
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
                      return std::make_unique<NoTask>("walker");
                    },
                .missing = "configure with -DAURORA_LEGS=ON"});
  const std::string message = usage_error([&] { registry.make("walker"); });
  expect_mentions(message, "'walker'");
  expect_mentions(message, "configure with -DAURORA_LEGS=ON");
  EXPECT_FALSE(made);
}

TEST(TaskRegistry, OptionsLeftOutTakeTheirFirstValue) {
  const TaskRegistry registry = registry_with_arm();
  EXPECT_EQ(registry.make("arm")->spec().name, "servo/hard");
  EXPECT_EQ(registry.make("arm", {{"floor", "soft"}})->spec().name, "servo/soft");
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

}  // namespace
}  // namespace aurora
