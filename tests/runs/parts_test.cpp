#include "aurora/runs/parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "aurora/core/errors.hpp"
#include "aurora/runs/plan.hpp"

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

TaskEntry missing_task(const std::string& name, const std::string& missing = "legs") {
  return part<NoOptions>(name, "").missing(missing).made_by([](const NoOptions&, TaskContext&) {
    ADD_FAILURE() << "was made";
    return std::make_unique<NoTask>(arm_spec());
  });
}

TaskEntry task_of(const std::string& name, const TaskSpec& spec) {
  return part<NoOptions>(name, "").made_by(
      [spec](const NoOptions&, TaskContext&) { return std::make_unique<NoTask>(spec); });
}

struct ArmConfig {
  std::string actuators = "servo";
  std::string floor = "hard";
  std::size_t joints = 4;
};

/// A task whose first axis shows the options that it was made with.
TaskEntry arm() {
  using Names = std::vector<std::string>;
  return part<ArmConfig>("arm", "an arm")
      .option("actuators", &ArmConfig::actuators, Names{"servo", "velocity"},
              "what moves the joints")
      .option("floor", &ArmConfig::floor, Names{"hard", "soft", "none"}, "what it stands on")
      .option("joints", &ArmConfig::joints, 1, 9, "how many")
      .made_by([](const ArmConfig& config, TaskContext&) {
        TaskSpec spec = arm_spec();
        spec.ground_truth[0].name =
            config.actuators + "/" + config.floor + "/" + std::to_string(config.joints);
        return std::make_unique<NoTask>(spec);
      });
}

Parts parts_with_arm() {
  Parts parts = builtin_parts();
  parts.tasks.add(arm());
  return parts;
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

Plan plan_of(const Parts& parts, const std::string& task,
             const std::vector<std::string>& assignments = {}) {
  PlanRequest request;
  request.task = task;
  request.assignments = assignments;
  return resolve(parts, request);
}

TEST(Parts, BuiltinTasksHaveTheMazeAndMakeIt) {
  const Parts parts = builtin_parts();
  ASSERT_FALSE(parts.tasks.names().empty());
  EXPECT_EQ(parts.tasks.names().front(), "maze");
  EXPECT_EQ(parts.task(parts.tasks.find("maze"), {})->spec().name, "maze");
}

/// What can be asked of an entry of any kind.
template <class EntryType>
void expect_complete(const Registry<EntryType>& registry) {
  EXPECT_FALSE(registry.entries().empty());
  for (const auto& entry : registry.entries()) {
    SCOPED_TRACE(entry->name);
    EXPECT_FALSE(entry->summary.empty());
    std::set<std::string> names;
    for (const Option& option : entry->options) {
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
      EXPECT_FALSE(option.values.empty()) << option.name;
      EXPECT_EQ(option.read(option.fallback), option.fallback) << option.name;
    }
    if (entry->missing.empty()) {
      EXPECT_TRUE(entry->make);
    }
  }
}

TEST(Parts, EveryBuiltinEntryIsCompleteAndATaskHasItsName) {
  const Parts parts = builtin_parts();
  expect_complete(parts.tasks);
  expect_complete(parts.loops);
  expect_complete(parts.encoders);
  expect_complete(parts.containers);
  expect_complete(parts.thresholds);
  expect_complete(parts.selectors);
  expect_complete(parts.variations);
  expect_complete(parts.metrics);
  expect_complete(parts.evaluators);
  for (const auto& entry : parts.tasks.entries()) {
    if (!entry->missing.empty()) continue;
    EXPECT_EQ(parts.task(entry, {})->spec().name, entry->name);
  }
}

TEST(Parts, KeepTheOrderInWhichTheyWereAdded) {
  Parts parts;
  parts.tasks.add(arm());
  parts.tasks.add(missing_task("aardvark"));
  EXPECT_EQ(parts.tasks.names(), (std::vector<std::string>{"arm", "aardvark"}));
}

TEST(Parts, AnUnknownNameIsAnsweredWithTheNearestOne) {
  Parts parts = builtin_parts();
  parts.tasks.add(missing_task("walker"));
  expect_mentions(usage_error([&] { parts.tasks.find("mase"); }), "did you mean 'maze'?");
  expect_mentions(usage_error([&] { plan_of(parts, "wakler"); }), "did you mean 'walker'?");
  expect_mentions(usage_error([&] { plan_of(parts, "mase"); }), "'mase'");
  expect_mentions(usage_error([&] { parts.selectors.find("novelt"); }),
                  "there is no selector 'novelt'");
}

TEST(Parts, RefuseANameThatIsTakenOrCannotBeAFiles) {
  Parts parts;
  parts.tasks.add(arm());
  const auto add = [&](const std::string& name) {
    return usage_error([&] { parts.tasks.add(missing_task(name)); });
  };
  expect_mentions(add("arm"), "'arm' is already registered");
  for (const char* name : {"", "a b", "../x", ".hidden", "-x", "a/b"}) {
    expect_mentions(add(name), "can be called '" + std::string(name) + "'");
  }
  EXPECT_EQ(parts.tasks.entries().size(), 1U);
}

TEST(Parts, RefuseToMakeWhatIsMissingAndSayWhatIsMissing) {
  Parts parts = builtin_parts();
  parts.tasks.add(missing_task("walker", "configure with -DAURORA_LEGS=ON"));
  const std::string message = usage_error([&] { parts.task(parts.tasks.find("walker"), {}); });
  expect_mentions(message, "'walker'");
  expect_mentions(message, "configure with -DAURORA_LEGS=ON");
  EXPECT_EQ(usage_error([&] { plan_of(parts, "walker"); }), message);

  // The same for a part of another kind.
  parts.variations.add(part<NoOptions>("quantum", "")
                           .missing("a lab")
                           .made_by([](const NoOptions&, VariationContext& context) {
                             return polynomial_variation().make({}, context);
                           }));
  expect_mentions(usage_error([&] { plan_of(parts, "maze", {"variation.kind=quantum"}); }),
                  "variation.kind=quantum is not in this build: a lab");
}

TEST(Parts, TaskOptionsLeftOutTakeTheirDefault) {
  const Parts parts = parts_with_arm();
  const auto made_with = [&](const std::vector<std::string>& assignments) {
    return plan_of(parts, "arm", assignments).spec().ground_truth[0].name;
  };
  EXPECT_EQ(made_with({}), "servo/hard/4");
  EXPECT_EQ(made_with({"task.floor=soft"}), "servo/soft/4");
  EXPECT_EQ(made_with({"task.joints=7"}), "servo/hard/7");
  const Values values = plan_of(parts, "arm", {"task.actuators=velocity"}).task_part.values;
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(values.at("actuators").text, "velocity");
  EXPECT_EQ(values.at("floor").text, "hard");
}

TEST(Parts, UnknownTaskOptionsAndValuesAreAnsweredWithTheNearest) {
  const Parts parts = parts_with_arm();
  expect_mentions(usage_error([&] { plan_of(parts, "arm", {"task.flor=soft"}); }),
                  "did you mean 'floor'?");
  const std::string message = usage_error([&] { plan_of(parts, "arm", {"task.floor=sift"}); });
  expect_mentions(message, "task.floor");
  expect_mentions(message, "did you mean 'soft'?");
  expect_mentions(usage_error([&] { plan_of(parts, "arm", {"task.joints=10"}); }),
                  "task.joints must be an integer from 1 to 9, not '10'");
}

TEST(Parts, ATaskWithoutOptionsRefusesAnyOption) {
  const std::string message =
      usage_error([&] { plan_of(builtin_parts(), "vases", {"task.actuators=servo"}); });
  expect_mentions(message, "'vases'");
  expect_mentions(message, "no options");
}

TEST(Parts, MakeATaskOnceForTheSameOptions) {
  const Parts parts = parts_with_arm();
  const auto task = plan_of(parts, "arm").task;
  EXPECT_EQ(plan_of(parts, "arm", {"task.floor=hard"}).task, task);
  EXPECT_EQ(plan_of(Parts(parts), "arm").task, task);
  EXPECT_NE(plan_of(parts, "arm", {"task.floor=soft"}).task, task);
  EXPECT_NE(plan_of(parts_with_arm(), "arm").task, task);
}

TEST(Parts, CopiesWithDifferentTasksOfOneNameDoNotMixThemUp) {
  const Parts parts = builtin_parts();
  Parts one = parts, other = parts;
  TaskSpec spec = arm_spec();
  one.tasks.add(task_of("arm", spec));
  spec.genotype_size = 7;
  other.tasks.add(task_of("arm", spec));
  EXPECT_EQ(plan_of(one, "arm").spec().genotype_size, 4U);
  EXPECT_EQ(plan_of(other, "arm").spec().genotype_size, 7U);
}

/// What is said of an arm whose specification was changed.
std::string refusal(const std::function<void(TaskSpec&)>& change) {
  TaskSpec spec = arm_spec();
  change(spec);
  Parts parts = builtin_parts();
  parts.tasks.add(task_of("arm", spec));
  return usage_error([&] { plan_of(parts, "arm"); });
}

TEST(Parts, RefuseASpecificationThatMakesNoSense) {
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
  expect_mentions(refusal([](TaskSpec& s) { s.metrics = {"orientation_coverage"}; }),
                  "'pitch' and 'roll'");
  expect_mentions(refusal([](TaskSpec& s) { s.metrics = {"orientation"}; }),
                  "did you mean 'orientation_coverage'?");
  EXPECT_EQ(refusal([](TaskSpec& s) { s.metrics = {"trajectory_diversity"}; }),
            "nothing was thrown");
  expect_mentions(refusal([](TaskSpec& s) {
                    s.metrics = {"trajectory_diversity"};
                    s.sensory = {{13}, ElementType::float32};
                  }),
                  "not 13 floats");
  expect_mentions(refusal([](TaskSpec& s) { s.defaults = {"run.iteration=5"}; }),
                  "the task 'arm': there is no option 'run.iteration'");
  expect_mentions(refusal([](TaskSpec& s) { s.defaults = {"run.iterations=0"}; }),
                  "the task 'arm': run.iterations must be");
  expect_mentions(refusal([](TaskSpec& s) { s.defaults = {"fast"}; }), "KEY=VALUE");
}

}  // namespace
}  // namespace aurora
