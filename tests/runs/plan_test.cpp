#include "aurora/runs/plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/processors.hpp"

namespace aurora {
namespace {

/// A task with given sensory data that nobody evaluates.
class Toy : public Task {
 public:
  Toy(std::string name, SensoryShape sensory) {
    spec_.name = std::move(name);
    spec_.genotype_size = 3;
    spec_.sensory = std::move(sensory);
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.defaults = {"run.iterations=321", "container.target_size=654", "variation.rate=0.15",
                      "threshold.vat_constant=17"};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float>, EvaluationView) const override {}

 private:
  TaskSpec spec_;
};

struct ToyConfig {
  std::size_t wheels = 4;
  std::string odd = "a\"b\\\n";
};

/// All parts, but tasks of our own.
const Parts& toy_parts() {
  static const Parts parts = [] {
    Parts all = builtin_parts();
    all.tasks = Registry<TaskEntry>("task");
    all.tasks.add(part<NoOptions>("maze", "a picture").made_by([](const NoOptions&, TaskContext&) {
      return std::make_unique<Toy>("maze", SensoryShape{{64, 64, 3}, ElementType::uint8});
    }));
    all.tasks.add(
        part<ToyConfig>("toy", "a short sequence")
            .option("wheels", &ToyConfig::wheels, 1, 8, "how many")
            .option("odd name", &ToyConfig::odd, std::vector<std::string>{"a\"b\\\n", "c"},
                    "anything")
            .made_by([](const ToyConfig&, TaskContext&) {
              return std::make_unique<Toy>("toy", SensoryShape{{4, 2}, ElementType::float32});
            }));
    all.tasks.add(
        part<ToyConfig>("cart", "the same without an odd name")
            .option("wheels", &ToyConfig::wheels, 1, 8, "how many")
            .made_by([](const ToyConfig&, TaskContext&) {
              return std::make_unique<Toy>("cart", SensoryShape{{4, 2}, ElementType::float32});
            }));
    all.tasks.add(part<NoOptions>("absent", "")
                      .missing("install its engine")
                      .made_by([](const NoOptions&, TaskContext&) -> std::unique_ptr<Task> {
                        return nullptr;
                      }));
    return all;
  }();
  return parts;
}

PlanRequest request_of(const std::string& task, std::vector<std::string> assignments = {}) {
  PlanRequest request;
  request.task = task;
  request.assignments = std::move(assignments);
  return request;
}

PlanRequest request_with(const std::string& task, const std::filesystem::path& file) {
  PlanRequest request = request_of(task);
  request.file = file;
  return request;
}

Plan resolved(const std::vector<std::string>& assignments, const std::string& task = "maze") {
  return resolve(toy_parts(), request_of(task, assignments));
}

/// The message of the UsageError that a request ends in; empty if there is none.
std::string complaint(const PlanRequest& request) {
  try {
    resolve(toy_parts(), request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(const std::string& assignment, const std::string& task = "maze") {
  return complaint(request_of(task, {assignment}));
}

/// The value of a key as TOML; empty if the key does not matter.
std::string value_of(const Settings& settings, const std::string& key) {
  for (const auto& [name, value] : settings) {
    if (name == key) return value;
  }
  return "";
}

double real_in(const Values& values, const std::string& name) {
  return real_of(values.at(name));
}

#define EXPECT_SAYS(message, part) \
  EXPECT_NE(std::string(message).find(part), std::string::npos) << message

/// A file that goes when the test ends.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& content) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("aurora_plan_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string at_line(int line) const { return path_.string() + ":" + std::to_string(line) + ": "; }

 private:
  std::filesystem::path path_;
};

std::string complaint_about_file(const std::string& content) {
  const ConfigFile file(content);
  return complaint(request_with("maze", file.path()));
}

struct KeyCase {
  std::string key;
  std::vector<std::string> good;  // texts that toml() writes as they stand
  std::vector<std::string> bad;
};

const std::vector<std::string> kNotIntegers = {
    "",   "-1",  "-5",  "1.5", "1e3", "ten",  "0x10",  "1 2",
    "+7", "nan", "inf", "[3]", "5,",  "true", "\"8\"", "99999999999999999999999"};
const std::vector<std::string> kNotReals = {"",    "nan", "inf",   "-inf",  "-0.1", "x",
                                            "1,5", "0x1", "1e999", "0.5 ,", "--1"};

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

std::vector<KeyCase> key_cases() {
  const std::string billion = "1000000000";
  const std::string above = "1000000001";
  return {
      {"run.task", {"\"maze\""}, {}},
      {"run.variant", {"\"hc-csc-uniform\"", "\"aurora-csc-novelty-4\""}, {}},
      {"run.iterations", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"run.batch", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"run.seed", {"0", "1", "9223372036854775807"}, with(kNotIntegers, {"9223372036854775808"})},
      {"run.threads", {"1", "4096"}, with(kNotIntegers, {"0", "4097"})},
      {"run.log_every", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"run.snapshot_every", {"0", billion}, with(kNotIntegers, {above})},
      {"run.checkpoint_seconds", {"0.0", "0.5", "1000000.0"}, with(kNotReals, {"1000001"})},
      {"run.failure_share", {"0.0", "0.5", "1.0"}, {"", "-0.1", "1.1", "nan", "x"}},
      {"run.evaluation_seconds", {"0.1", "60.0", "1000000.0"}, {"", "0", "-1", "1e7", "nan", "x"}},
      {"run.evaluator", {"\"threads\""}, {"", "thread", "1"}},
      {"run.label", {"\"ours, with less noise\""}, {}},
      {"descriptor.kind", {"\"learned\"", "\"hand-coded\""}, {"", "hand_coded", "Learned", "1"}},
      {"descriptor.dimension", {"1", "1000"}, with(kNotIntegers, {"0", "1001"})},
      {"encoder.kind", {"\"auto\"", "\"conv-ae\"", "\"mlp-ae\"", "\"pca\""}, {"", "ae", "PCA"}},
      {"algorithm.kind",
       {"\"quality-diversity\"", "\"taxons\"", "\"novelty-search\"", "\"cma-me\"", "\"ensemble\""},
       {"", "ns", "Taxons"}},
      {"algorithm.extinction_period", {"0", "50", billion}, with(kNotIntegers, {above})},
      {"algorithm.extinction_survivors", {"0.05", "1.0"}, with(kNotReals, {"0", "1.1"})},
      {"algorithm.recent", {"0", "5000"}, with(kNotIntegers, {"10000001"})},
      {"algorithm.emitters", {"1", "64"}, with(kNotIntegers, {"0", "10001"})},
      {"algorithm.sigma", {"0.2", "1.0"}, with(kNotReals, {"0", "1.1"})},
      {"algorithm.emitted", {"0.5", "1.0"}, with(kNotReals, {"0", "1.1"})},
      {"algorithm.encoders", {"1", "16"}, with(kNotIntegers, {"0", "17"})},
      {"algorithm.shares", {"true", "false"}, {"", "1", "yes"}},
      {"population.added", {"1", "100"}, with(kNotIntegers, {"0", "1000001"})},
      {"population.unvaried", {"0.0", "0.5", "1.0"}, {"", "-0.1", "1.1", "nan", "x"}},
      {"encoder.engine", {"\"native\"", "\"torch\""}, {"", "Torch", "libtorch"}},
      {"encoder.update_step", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"encoder.batch", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.epochs", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.patience", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.learning_rate", {"1.0", "0.001", "1e-300"}, with(kNotReals, {"0", "1.1"})},
      {"encoder.max_examples", {"1", "10000000"}, with(kNotIntegers, {"0", "10000001"})},
      {"encoder.channels", {"1", "4", "64"}, with(kNotIntegers, {"0", "65"})},
      {"encoder.hidden",
       {"[32, 8]", "[1]", "[]", "[100000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"},
       {"0", "32,", ",8", "32,,8", "-1", "32;8", "100001", "1.5", "x", "[3", "3]",
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"}},
      {"container.kind", {"\"unstructured\"", "\"grid\"", "\"cvt\""}, {"", "cells", "CVT"}},
      {"container.target_size", {"1", "10000000"}, with(kNotIntegers, {"0", "10000001"})},
      {"container.k", {"1", "1000"}, with(kNotIntegers, {"0", "1001"})},
      {"container.epsilon", {"0.0", "0.9999999999999999"}, with(kNotReals, {"1", "1.0"})},
      {"container.relevance", {"0.0", "0.9999999999999999"}, with(kNotReals, {"1", "1.0"})},
      {"container.update_period", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"threshold.kind", {"\"csc\"", "\"vat\"", "\"pid\"", "\"fixed\""}, {"", "CSC", "no", "none"}},
      {"threshold.gain", {"5e-06", "1.0"}, with(kNotReals, {"0", "1.5"})},
      {"threshold.vat_constant", {"1e-300", "25.0", "1000000.0"}, with(kNotReals, {"0", "1e7"})},
      {"threshold.proportional", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.integral", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.derivative", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.horizon", {"0.0", "2.5", "1000000.0"}, with(kNotReals, {"1000001"})},
      {"container.start", {"0.001", "1.0"}, with(kNotReals, {"0", "1.5"})},
      {"container.iterations", {"1.0", "1000000000.0"}, with(kNotReals, {"0.5", "1e10"})},
      {"threshold.value", {"1e-300", "0.1", "1e+30"}, with(kNotReals, {"0", "1e31"})},
      {"selection.kind",
       {"\"uniform\"", "\"novelty\"", "\"surprise\"", "\"novelty+surprise\"", "\"curiosity\"",
        "\"exploring\"", "\"tournament\"", "\"none\""},
       {"", "random", "0"}},
      {"selection.iterations", {"1.0", "2.5", "1000000000.0"}, with(kNotReals, {"0.5", "1e10"})},
      {"selection.reward", {"0.0", "100.0"}, with(kNotReals, {"101"})},
      {"selection.penalty", {"0.5", "100.0"}, with(kNotReals, {"101"})},
      {"selection.size", {"2", "1000"}, with(kNotIntegers, {"1", "1001"})},
      {"selection.criterion", {"\"fitness\"", "\"novelty\"", "\"both\""}, {"", "age", "Both"}},
      {"variation.kind", {"\"polynomial\"", "\"iso+line\""}, {"", "iso"}},
      {"variation.rate", {"0.0", "1.0", "0.1"}, with(kNotReals, {"1.0000001"})},
      {"variation.eta", {"0.0", "1000.0", "10.5"}, with(kNotReals, {"1000.1"})},
      {"variation.at_least_one", {"true", "false"}, {"", "1", "yes"}},
      {"variation.crossover", {"0.0", "1.0", "0.30000000000000004"}, with(kNotReals, {"1.01"})},
      {"variation.crossover_eta", {"0.0", "1000.0"}, with(kNotReals, {"1001"})},
      {"variation.iso_sigma", {"0.0", "10.0", "0.01"}, with(kNotReals, {"10.1"})},
      {"variation.line_sigma", {"0.0", "10.0", "0.2"}, with(kNotReals, {"11"})},
      {"metrics.also", {"[\"trajectory_diversity\"]"}, {"a b", "trajectory_diversity,", ",", "/"}},
      {"metrics.grid.resolution", {"1", "10000"}, with(kNotIntegers, {"0", "10001"})},
      {"metrics.descriptor_coverage.resolution",
       {"1", "10000"},
       with(kNotIntegers, {"0", "10001"})},
  };
}

std::string unquoted(const std::string& text) {
  return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

std::string toml_of(const std::string& key, const std::string& value) {
  const std::size_t dot = key.find('.');
  return "[" + key.substr(0, dot) + "]\n" + key.substr(dot + 1) + " = " + value + "\n";
}

TEST(Plan, EveryKeyThatBelongsToNoPartIsInTheTableOfThisTest) {
  std::set<std::string> tested;
  for (const KeyCase& c : key_cases()) tested.insert(c.key);
  std::set<std::string> known;
  for (const KeyHelp& option : key_help(toy_parts())) {
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_FALSE(option.values.empty()) << option.key;
    known.insert(option.key);
    if (option.part.empty()) {
      EXPECT_TRUE(tested.contains(option.key)) << option.key;
    }
  }
  for (const std::string& key : tested) EXPECT_TRUE(known.contains(key)) << key;
}

/// Whatever a key needs beside it to make sense with this value.
std::vector<std::string> company_of(const std::string& key, const std::string& value) {
  if (value == "\"cma-me\"") return {};
  if (key == "algorithm.kind") return {"selection.kind=novelty"};
  if (key == "algorithm.extinction_survivors") return {"algorithm.extinction_period=50"};
  if (value == "\"grid\"" || value == "\"cvt\"") {
    return {"run.variant=map-elites"};
  }
  if (key == "metrics.also") return {"run.task=toy", "descriptor.dimension=2"};
  if (key.starts_with("metrics.descriptor_coverage")) return {"metrics.also=descriptor_coverage"};
  if (key == "encoder.hidden") return {"encoder.kind=mlp-ae"};
  if (key == "container.start") return {"run.variant=dns"};
  if (key == "container.iterations") return {"run.variant=dns", "container.start=0.5"};
  // The first part that has the key.
  for (const KeyHelp& option : key_help(toy_parts())) {
    if (option.key != key || option.part.empty()) continue;
    std::vector<std::string> company = {option.part};
    const bool ranks = option.part.starts_with("algorithm.") && !option.part.ends_with("cma-me");
    if (ranks) company.emplace_back("selection.kind=novelty");
    return company;
  }
  return {};
}

PlanRequest request_beside(const std::vector<std::string>& company) {
  PlanRequest request;
  request.assignments = with({"run.task=maze"}, company);
  return request;
}

TEST(Plan, EveryKeyIsTakenFromBothSidesAndWrittenBack) {
  for (const KeyCase& c : key_cases()) {
    for (const std::string& value : c.good) {
      SCOPED_TRACE(c.key + "=" + value);
      const std::vector<std::string> company = company_of(c.key, value);
      PlanRequest by_assignment = request_beside(company);
      by_assignment.assignments.push_back(c.key + "=" + unquoted(value));
      const ConfigFile file(toml_of(c.key, value));
      PlanRequest by_file = request_beside(company);
      by_file.file = file.path();
      const Plan plan = resolve(toy_parts(), by_assignment);
      EXPECT_EQ(value_of(plan.settings(), c.key), value);
      std::string line = "\n";  // not in one expression: gcc 12 warns about "..." + std::string
      line += c.key.substr(c.key.find('.') + 1) + " = " + value + "\n";
      EXPECT_SAYS(plan.toml(), line);
      const Plan of_file = resolve(toy_parts(), by_file);
      EXPECT_EQ(plan.toml(), of_file.toml());
      EXPECT_TRUE(of_file.notes.empty());
    }
  }
}

TEST(Plan, EveryBadValueNamesKeyValueAndRange) {
  for (const KeyCase& c : key_cases()) {
    std::string range;
    for (const KeyHelp& option : key_help(toy_parts())) {
      if (option.key == c.key) range = option.values;
    }
    for (const std::string& value : c.bad) {
      SCOPED_TRACE(c.key + "=" + value);
      PlanRequest request = request_beside(company_of(c.key, value));
      request.assignments.push_back(c.key + "=" + value);
      EXPECT_SAYS(complaint(request), c.key + " must be " + range + ", not '");
    }
  }
}

TEST(Plan, WrittenOnesResolveToThemselves) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"maze", {}},
      {"maze", {"run.variant=hc-csc-uniform", "selection.kind=none"}},
      {"maze", {"run.variant=cvt-map-elites", "selection.kind=novelty"}},
      {"maze",
       {"threshold.gain=0.1", "variation.rate=0.30000000000000004", "run.seed=9223372036854775807",
        "encoder.kind=mlp-ae", "encoder.hidden=5,4,3", "descriptor.dimension=7"}},
      {"maze",
       {"threshold.kind=fixed", "threshold.value=2.5e-17", "encoder.kind=mlp-ae",
        "encoder.hidden="}},
      {"maze", {"run.variant=taxons-4", "variation.kind=iso+line", "metrics.grid.resolution=7"}},
      {"toy", {"task.wheels=3", "descriptor.dimension=8", "run.threads=3"}},
      {"toy", {"task.odd name=c", "descriptor.dimension=2"}},
      {"toy", {"descriptor.dimension=2", "metrics.also=trajectory_diversity"}},
  };
  for (const auto& [task, assignments] : cases) {
    const Plan first = resolved(assignments, task);
    const ConfigFile file(first.toml());
    PlanRequest request;
    request.file = file.path();
    const Plan second = resolve(toy_parts(), request);
    EXPECT_EQ(second.toml(), first.toml());
    EXPECT_EQ(second.settings(), first.settings());
    EXPECT_EQ(second.task_part.entry, first.task_part.entry);
    EXPECT_EQ(second.task_part.values, first.task_part.values);
    EXPECT_EQ(second.variant, first.variant);
    EXPECT_EQ(second.departures, first.departures);
    EXPECT_TRUE(second.notes.empty());
    EXPECT_EQ(second.threshold.has_value(), first.threshold.has_value());
    if (first.threshold) {
      EXPECT_EQ(second.threshold->values, first.threshold->values);
    }
    if (first.variation) {
      EXPECT_EQ(second.variation->values, first.variation->values);
    }
    if (first.encoder) {
      EXPECT_EQ(second.encoder->values, first.encoder->values);
    }
    EXPECT_EQ(second.run.seed, first.run.seed);
    EXPECT_EQ(second.run.metrics_also, first.run.metrics_also);
  }
}

TEST(Plan, ThatOfEveryVariantIsWrittenAndRead) {
  for (const Variant& variant : builtin_parts().variants) {
    const bool numbered = variant.name.ends_with("-n");
    const std::string name =
        variant.name.substr(0, variant.name.size() - (numbered ? 2 : 0)) + (numbered ? "-6" : "");
    SCOPED_TRACE(name);
    const Plan first = resolved({"run.variant=" + name, "run.threads=2"}, "toy");
    EXPECT_EQ(first.variant, name);
    const ConfigFile file(first.toml());
    for (const bool of_run : {false, true}) {
      PlanRequest request;
      request.file = file.path();
      request.file_is_of_run = of_run;
      const Plan second = resolve(toy_parts(), request);
      EXPECT_EQ(second.toml(), first.toml());
      EXPECT_TRUE(second.notes.empty());
      EXPECT_TRUE(second.departures.empty());
      check_same_run(toy_parts(), first.settings(), second);
    }
    // Every key that is written belongs to something that is there, and can be said again.
    PlanRequest again = request_of("toy");
    again.variant = name;
    for (const auto& [key, value] : first.settings()) {
      if (key.starts_with("task.") || key.starts_with("run.task")) continue;
      again.assignments.push_back(key + "=" + unquoted(value));
    }
    EXPECT_EQ(resolve(toy_parts(), again).toml(), first.toml());
  }
}

TEST(Plan, TaskVariantFileAndAssignmentsGoInThisOrder) {
  const Parts& parts = toy_parts();
  // The task's defaults.
  const Plan plain = resolved({});
  EXPECT_EQ(plain.run.iterations, 321U);
  EXPECT_EQ(plain.run.target_size, 654U);
  EXPECT_EQ(real_in(plain.variation->values, "rate"), 0.15);
  EXPECT_EQ(real_in(resolved({"threshold.kind=vat"}).threshold->values, "vat_constant"), 17);
  EXPECT_EQ(plain.variant, "aurora-csc-uniform-10");
  EXPECT_EQ(plain.run.dimension, 10U);
  EXPECT_EQ(plain.run.threads, processors());

  // The variant before the defaults, the file before the variant, assignments before the file.
  const ConfigFile file(
      "[run]\nvariant = 'hc-csc-uniform'\niterations = 5\nseed = 6\n[descriptor]\ndimension = 3\n");
  PlanRequest request = request_with("maze", file.path());
  Plan plan = resolve(parts, request);
  EXPECT_EQ(plan.variant, "hc-csc-uniform");
  EXPECT_EQ(plan.run.descriptor, DescriptorKind::hand_coded);
  EXPECT_FALSE(plan.encoder);
  EXPECT_EQ(plan.run.iterations, 5U);

  request.variant = "aurora-csc-novelty-4";
  request.assignments = {"run.seed=7", "run.seed=8"};
  plan = resolve(parts, request);
  EXPECT_EQ(plan.variant, "aurora-csc-novelty-4");
  EXPECT_EQ(plan.run.descriptor, DescriptorKind::learned);
  EXPECT_EQ(plan.selector.entry->name, "novelty");
  EXPECT_EQ(plan.run.dimension, 3U) << "the file goes before the variant";
  EXPECT_EQ(plan.run.seed, 8U) << "of two assignments the last one counts";

  // What is said for several runs at once stands between the variant and the file.
  request.where_they_matter = {"run.seed=9", "descriptor.dimension=2", "run.batch=11",
                               "selection.kind=uniform"};
  plan = resolve(parts, request);
  EXPECT_EQ(plan.run.seed, 8U);
  EXPECT_EQ(plan.run.dimension, 3U) << "the file goes before it";
  EXPECT_EQ(plan.run.batch, 11U);
  EXPECT_EQ(plan.selector.entry->name, "uniform") << "and the variant behind it";
  request.where_they_matter.clear();

  request.assignments = {"descriptor.dimension=2", "run.variant=hc-csc-uniform"};
  plan = resolve(parts, request);
  EXPECT_EQ(plan.run.dimension, 2U);
  EXPECT_EQ(plan.variant, "aurora-csc-novelty-4") << "the command line's own word goes first";

  request.variant = std::nullopt;
  request.assignments = {"run.variant=random-search"};
  EXPECT_EQ(resolve(parts, request).selector.entry->name, "none");
}

TEST(Plan, TheGainFollowsTheSizeOfTheContainerUnlessSaid) {
  const auto gain = [](const std::vector<std::string>& assignments) {
    return value_of(resolved(assignments).settings(), "threshold.gain");
  };
  EXPECT_EQ(gain({"container.target_size=500"}), "0.0001");
  EXPECT_EQ(gain({"container.target_size=10000"}), "5e-06") << "the paper's";
  EXPECT_EQ(gain({"container.target_size=500", "threshold.gain=0.25"}), "0.25");
  // The paper's tasks are the paper's, whatever their size.
  PlanRequest paper;
  paper.task = "hexapod";
  paper.variant = "aurora-csc-uniform-10";
  const Parts parts = builtin_parts();
  const auto names = parts.tasks.names();
  if (std::ranges::find(names, "hexapod") == names.end()) return;
  EXPECT_EQ(value_of(resolve(parts, paper).settings(), "threshold.gain"), "5e-06");
  EXPECT_EQ(value_of(resolve(parts, paper).settings(), "variation.at_least_one"), "false");
}

TEST(Plan, TheTaskMayBeNamedByAKey) {
  const ConfigFile file("[run]\ntask = 'toy'\n[descriptor]\ndimension = 2\n");
  PlanRequest request;
  request.file = file.path();
  EXPECT_EQ(resolve(toy_parts(), request).spec().name, "toy");
  request.assignments = {"run.task=maze"};
  EXPECT_EQ(resolve(toy_parts(), request).spec().name, "maze");
  request.task = "toy";
  EXPECT_EQ(resolve(toy_parts(), request).spec().name, "toy");
  EXPECT_SAYS(complaint(PlanRequest{}), "no task is named (known: maze, toy, cart, absent)");
}

TEST(Plan, TaskOptionsAreCompletedAndChecked) {
  const auto wheels = [](const Plan& plan) {
    return integer_of(plan.task_part.values.at("wheels"));
  };
  const std::vector<std::string> small = {"descriptor.dimension=2"};
  EXPECT_EQ(wheels(resolved(small, "toy")), 4U);
  EXPECT_EQ(wheels(resolved({small[0], "task.wheels=3"}, "toy")), 3U);
  EXPECT_SAYS(complaint("task.wheels=9", "toy"), "'9'");
  EXPECT_SAYS(complaint("task.whels=3", "toy"), "did you mean 'wheels'");
  EXPECT_SAYS(complaint("task.wheels=3", "maze"), "has no options");

  const ConfigFile good("[descriptor]\ndimension = 2\n[task]\nwheels = 3\n");
  EXPECT_EQ(wheels(resolve(toy_parts(), request_with("toy", good.path()))), 3U);
  const ConfigFile bad("[task]\n\nwheels = 9\n");
  EXPECT_SAYS(complaint(request_with("toy", bad.path())), bad.at_line(3));
}

TEST(Plan, UnknownNamesFindTheNearest) {
  EXPECT_SAYS(complaint("containr.target_size=5"), "did you mean 'container.target_size'?");
  EXPECT_SAYS(complaint("target_size=5"), "did you mean 'container.target_size'?");
  EXPECT_SAYS(complaint("run.iteration=5"), "did you mean 'run.iterations'?");
  EXPECT_SAYS(complaint("epochs=5"), "did you mean 'encoder.epochs'?");
  EXPECT_SAYS(complaint("task=maze"), "did you mean 'run.task'?");
  EXPECT_SAYS(complaint("encoder.latent=2"), "did you mean 'descriptor.dimension'?");
  EXPECT_SAYS(complaint("learning_rate=2"), "did you mean 'encoder.learning_rate'?");
  EXPECT_SAYS(complaint("batch=2"), "did you mean 'encoder.batch' or 'run.batch'?");
  EXPECT_SAYS(complaint("xyz.qqqqqq=2"), "no option 'xyz.qqqqqq' (aurora list options");
  EXPECT_SAYS(complaint("latent_dim=2"), "did you mean 'descriptor.dimension'?");
  EXPECT_SAYS(complaint("run.batch_size=2"), "did you mean 'run.batch'?");
  EXPECT_SAYS(complaint("mutation_rate=0.1"), "did you mean 'variation.rate'?");
  EXPECT_SAYS(complaint("selection.kind=novlty"), "did you mean 'novelty'?");
  EXPECT_SAYS(complaint("run.variant=hc-csc"), "did you mean 'hc-csc-uniform'?");
  EXPECT_SAYS(complaint("run.seed=1", "mase"), "did you mean 'maze'?");
  EXPECT_SAYS(complaint("run.seed=1", "absent"), "install its engine");
}

TEST(Plan, AssignmentsNeedAKeyAndAValue) {
  for (const std::string text : {"", "=", "=5", "run.seed", "  =3"}) {
    EXPECT_SAYS(complaint(text), "KEY=VALUE");
  }
  EXPECT_EQ(resolved({" run.seed = 5 "}).run.seed, 5U);
}

TEST(Plan, FilesAreCheckedWithTheirLine) {
  struct Case {
    std::string content;
    int line;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"[run]\nseed = 1\nitertions = 5\n", 3, "did you mean 'run.iterations'?"},
      {"[run]\nbatch = -5\n", 2, "run.batch must be an integer from 1 to 1000000, not '-5'"},
      {"[run]\nbatch = '128'\n", 2, "not '128' in quotes"},
      {"[run]\nbatch = 128.0\n", 2, "not '128.0'"},
      {"[run]\nbatch = true\n", 2, "not 'true'"},
      {"[run]\nbatch = [1, 2]\n", 2, "run.batch must be"},
      {"[run]\nbatch = {}\n", 2, "not 'a table'"},
      {"[run]\nbatch = 1979-05-27\n", 2, "run.batch must be"},
      {"[run.batch]\nx = 1\n", 2, "there is no option 'run.batch.x'"},
      {"[variation]\nrate = nan\n", 2, "not 'nan'"},
      {"[variation]\nrate = -inf\n", 2, "not '-inf'"},
      {"[variation]\nrate = '0.5'\n", 2, "in quotes"},
      {"[selection]\nkind = 5\n", 2, "selection.kind must be one of uniform"},
      {"[encoder]\nhidden = [32, 'x']\n", 2, "encoder.hidden must be a list"},
      {"[encoder]\nhidden = 32\n", 2, "encoder.hidden must be a list"},
      {"[run]\nvariant = 'nss'\n", 2, "there is no variant 'nss'"},
      {"[run]\nvariant = 5\n", 2, "run.variant must be a name"},
      {"[metrics]\nalso = 'x'\n", 2, "metrics.also must be a list of names"},
      {"[metrics]\nalso = ['coverag']\n", 2, "there is no metric 'coverag'"},
      {"seed = 5\n", 1, "did you mean 'run.seed'?"},
      {"task = 'maze'\n", 1, "did you mean 'run.task'?"},
      {"\n[[run]]\nseed = 5\n", 2, "there is no option 'run'"},
      {"[nothing]\n", 1, "there is no option 'nothing'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.content);
    const ConfigFile file(c.content);
    const std::string message = complaint(request_with("maze", file.path()));
    EXPECT_SAYS(message, file.at_line(c.line));
    EXPECT_SAYS(message, c.says);
  }
  EXPECT_EQ(complaint_about_file(""), "");
  EXPECT_EQ(complaint_about_file("# nothing\n[run]\n[task]\n"), "");
  EXPECT_EQ(complaint_about_file("run.seed = 3\n[variation]\neta = 10\n"), "")
      << "a real number may be written as an integer";
}

TEST(Plan, BrokenFilesAreDataErrorsWithTheirLine) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"[run]\nseed = 1\niterations =", 3},
      {"[run]\nseed = \"1", 2},
      {"[run\n", 1},
      {"[run]\nseed = 1\nseed = 2\n", 3},
      {"\n\nx = '\xff\xfe'\n", 3},
      {"[run]\nseed = 99999999999999999999\n", 2},
  };
  for (const auto& [content, line] : cases) {
    SCOPED_TRACE(content);
    const ConfigFile file(content);
    try {
      resolve(toy_parts(), request_with("maze", file.path()));
      ADD_FAILURE() << "was taken";
    } catch (const DataError& error) {
      EXPECT_SAYS(error.what(), file.at_line(line));
    }
  }
}

TEST(Plan, FilesThatAskForMoreDepthThanThereIsMemoryAreErrors) {
  std::string dots = "a";
  for (int i = 0; i < 50'000; ++i) dots += ".a";
  const std::string brackets(50'000, '[');
  std::string braces = "x = ";
  for (int i = 0; i < 50'000; ++i) braces += "{a=";
  for (const std::string& content :
       {dots + " = 1\n", "[" + dots + "]\n", "x = " + brackets + "\n", braces, "[" + brackets}) {
    const ConfigFile file(content);
    EXPECT_THROW(resolve(toy_parts(), request_with("maze", file.path())), DataError);
  }
}

TEST(Plan, FilesThatCannotBeReadAreErrors) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  for (const std::filesystem::path& path : {folder / "aurora_no_such_file.toml", folder}) {
    EXPECT_THROW(resolve(toy_parts(), request_with("maze", path)), FileError);
  }
  const ConfigFile huge(std::string((1 << 20) + 1, '#'));
  EXPECT_THROW(resolve(toy_parts(), request_with("maze", huge.path())), DataError);
}

TEST(Plan, MixesThatMakeNoSenseSayWhy) {
  const auto mix = [](const std::string& task, std::vector<std::string> assignments) {
    return complaint(request_of(task, std::move(assignments)));
  };
  for (const std::string kind : {"surprise", "novelty+surprise"}) {
    EXPECT_SAYS(mix("maze", {"descriptor.kind=hand-coded", "selection.kind=" + kind}),
                "surprise is the reconstruction error of an encoder");
  }
  EXPECT_SAYS(mix("toy", {"descriptor.dimension=9"}), "only 8 features");
  EXPECT_SAYS(mix("toy", {"descriptor.dimension=8", "encoder.kind=conv-ae"}), "no picture");
  EXPECT_EQ(mix("toy", {"descriptor.dimension=8", "encoder.kind=pca"}), "");
  EXPECT_SAYS(mix("toy", {"run.variant=hc-csc-uniform", "descriptor.dimension=9"}),
              "descriptor.dimension=9 means nothing here: hand-coded descriptors");
  EXPECT_EQ(mix("maze", {"descriptor.kind=hand-coded", "selection.kind=novelty"}), "");
  EXPECT_SAYS(mix("maze", {"run.variant=taxons", "selection.kind=uniform"}), "is ranked");
  EXPECT_SAYS(mix("maze", {"run.variant=ns", "run.batch=4"}), "no more children");
  EXPECT_SAYS(mix("maze", {"run.variant=ns", "selection.kind=surprise"}), "hand-coded");
  EXPECT_EQ(mix("maze", {"run.variant=taxons", "selection.kind=surprise"}), "");
  EXPECT_SAYS(mix("maze", {"container.kind=grid"}), "a learned descriptor has none");
  EXPECT_SAYS(mix("maze", {"run.variant=taxons", "container.kind=cvt"}), "a population appends");
  EXPECT_SAYS(mix("maze", {"run.variant=map-elites", "threshold.kind=csc"}), "no distance thresh");
  EXPECT_EQ(mix("maze", {"run.variant=map-elites", "container.kind=unstructured"}), "")
      << "its threshold is the default one";
  EXPECT_SAYS(mix("maze", {"run.variant=map-elites", "selection.kind=surprise"}), "hand-coded");
  EXPECT_EQ(mix("maze", {"run.variant=hc-csc-uniform", "container.kind=grid", "threshold.kind=none",
                         "selection.kind=novelty"}),
            "");
}

TEST(Plan, DeparturesFromTheVariantAreNamed) {
  EXPECT_TRUE(resolved({"run.seed=5", "run.variant=random-search"}).departures.empty());
  const std::vector<std::string> expected = {"descriptor.dimension = 3 instead of 10",
                                             "selection.kind = \"novelty\" instead of \"uniform\""};
  EXPECT_EQ(resolved({"selection.kind=novelty", "descriptor.dimension=3"}).departures, expected);
  EXPECT_TRUE(resolved({"descriptor.dimension=10"}).departures.empty()) << "that is no change";
  const ConfigFile file("[descriptor]\ndimension = 3\n[selection]\nkind = 'novelty'\n");
  EXPECT_EQ(resolve(toy_parts(), request_with("maze", file.path())).departures, expected);
}

// --- Keys of parts that are not in the mix -----------------------------------------------------

TEST(AKeyThatMeansNothing, IsRefusedWithTheReasonAndThePartsThatHaveIt) {
  struct Case {
    std::vector<std::string> assignments;  // the last one means nothing
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"threshold.value=2"},
       "threshold.value=2 means nothing here: threshold.kind=csc has no such option; it is an "
       "option of threshold.kind=fixed"},
      {{"threshold.kind=vat", "threshold.gain=0.1"},
       "threshold.kind=vat has no such option; it is an option of threshold.kind=csc"},
      {{"encoder.kind=pca", "encoder.epochs=3"},
       "encoder.kind=pca has no such option; it is an option of encoder.kind=auto, "
       "encoder.kind=conv-ae, encoder.kind=mlp-ae"},
      {{"variation.iso_sigma=0.1"},
       "variation.kind=polynomial has no such option; it is an option of variation.kind=iso+line"},
      {{"run.variant=hc-csc-uniform", "encoder.epochs=3"},
       "descriptor.kind=hand-coded: there is no encoder; it is an option of encoder.kind=auto"},
      {{"run.variant=map-elites", "threshold.gain=0.1"},
       "container.kind=grid: cells have no distance threshold; it is an option of "
       "threshold.kind=csc"},
      {{"run.variant=map-elites", "container.epsilon=0.2"},
       "container.kind=grid has no such option; it is an option of container.kind=unstructured"},
      {{"run.variant=ns", "container.update_period=3"},
       "a population appends its best children to a container that nobody leaves; it is an option "
       "of container.kind=unstructured"},
      {{"run.variant=ns", "population.unvaried=0.3"},
       "algorithm.kind=novelty-search has no such option; it is an option of "
       "algorithm.kind=taxons"},
      {{"population.added=3"},
       "algorithm.kind=quality-diversity has no such option; it is an option of "
       "algorithm.kind=taxons, algorithm.kind=novelty-search"},
      {{"run.variant=random-search", "variation.rate=0.3"},
       "selection.kind=none: every genotype is drawn afresh; it is an option of "
       "variation.kind=polynomial"},
      {{"run.variant=hc-csc-uniform", "encoder.kind=pca"},
       "encoder.kind=pca means nothing here: descriptor.kind=hand-coded: there is no encoder"},
      {{"run.variant=map-elites", "threshold.kind=vat"},
       "threshold.kind=vat means nothing here: container.kind=grid: cells have no distance"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.assignments.back());
    const std::string message = complaint(request_of("maze", c.assignments));
    EXPECT_SAYS(message, c.assignments.back() + " means nothing here: ");
    EXPECT_SAYS(message, c.says);
    std::vector<std::string> others = c.assignments;
    others.pop_back();
    EXPECT_EQ(complaint(request_of("maze", others)), "");
    // What is said of several runs at once is passed over, and changes nothing.
    PlanRequest request = request_of("maze", others);
    const std::string without = resolve(toy_parts(), request).toml();
    request.where_they_matter = {c.assignments.back()};
    const Plan plan = resolve(toy_parts(), request);
    EXPECT_EQ(plan.toml(), without);
    EXPECT_TRUE(plan.notes.empty());
  }
}

TEST(AKeyThatMeansNothing, DependsOnWhatIsSensedAndLearned) {
  EXPECT_SAYS(complaint(request_of("maze", {"encoder.hidden=5"})),
              "encoder.hidden=5 means nothing here: encoder.kind=auto takes convolutions for "
              "pictures, which have no hidden layers");
  EXPECT_SAYS(complaint(request_of("maze", {"encoder.kind=vae", "encoder.hidden=5"})),
              "encoder.kind=vae takes convolutions");
  EXPECT_SAYS(complaint(request_of("maze", {"encoder.training=none", "encoder.epochs=3"})),
              "encoder.epochs=3 means nothing here: encoder.training=none: nothing is trained");
  EXPECT_SAYS(complaint(request_of("cart", {"encoder.channels=6"})),
              "encoder.channels=6 means nothing here: encoder.kind=auto takes a dense network");
  EXPECT_EQ(complaint(request_of("cart", {"encoder.hidden=6", "descriptor.dimension=2"})), "");
  EXPECT_EQ(complaint(request_of("maze", {"encoder.channels=6"})), "");
}

TEST(AKeyThatMeansNothing, IsNoSettingOfTheRun) {
  const auto shared = [](const std::vector<std::string>& keys) {
    PlanRequest request = request_of("maze", {"run.variant=dns"});
    request.where_they_matter = keys;
    return resolve(toy_parts(), request).toml();
  };
  const std::string plain = shared({});
  EXPECT_EQ(plain.find("extinction_survivors"), std::string::npos);
  // Nor is its default, which would change with the length of the run.
  EXPECT_EQ(plain.find("iterations = 160.5"), std::string::npos);
  EXPECT_EQ(shared({"container.iterations=7", "algorithm.extinction_survivors=0.2"}), plain);
  EXPECT_NE(shared({"container.start=0.5"}).find("iterations = 160.5"), std::string::npos);
}

TEST(AKeyThatMeansNothing, IsStillMisspeltIfItIs) {
  PlanRequest request = request_of("maze");
  request.where_they_matter = {"threshold.gian=0.1"};
  EXPECT_SAYS(complaint(request), "did you mean 'threshold.gain'?");
  request.where_they_matter = {"threshold.gain=2"};
  EXPECT_SAYS(complaint(request), "threshold.gain must be") << "where it matters";
  request.where_they_matter = {"threshold.gain"};
  EXPECT_SAYS(complaint(request), "KEY=VALUE");
}

TEST(AKeyThatMeansNothing, OfPopulationsIsNotTheirNeighbours) {
  const Plan plan = resolved({"run.variant=ns", "container.k=7"});
  EXPECT_EQ(plan.loop.integer("container.k"), 7U);
  EXPECT_EQ(value_of(plan.settings(), "container.k"), "7");
  EXPECT_EQ(value_of(plan.settings(), "container.kind"), "");
  EXPECT_EQ(value_of(plan.settings(), "threshold.kind"), "");
}

TEST(AKeyThatMeansNothing, IsNotedIfAFileHasIt) {
  const ConfigFile file(
      "[run]\nvariant = 'map-elites'\n[threshold]\ngain = 0.25\n[container]\nepsilon = 0.1\n"
      "[encoder]\nepochs = 3\n");
  PlanRequest request = request_with("maze", file.path());
  const Plan plan = resolve(toy_parts(), request);
  // Not the tolerance, which is what it would be anyway.
  ASSERT_EQ(plan.notes.size(), 2U) << plan.notes.size();
  const std::string all = plan.notes[0] + "\n" + plan.notes[1];
  EXPECT_SAYS(all, file.at_line(4) + "threshold.gain=0.25 means nothing here: container.kind=grid");
  EXPECT_SAYS(all, file.at_line(8) + "encoder.epochs=3 means nothing here: descriptor.kind=");
  EXPECT_EQ(plan.toml(), resolved({"run.variant=map-elites"}).toml());

  request.file_is_of_run = true;
  EXPECT_TRUE(resolve(toy_parts(), request).notes.empty()) << "an older version wrote it";

  const ConfigFile none("[run]\nvariant = 'map-elites'\n[threshold]\nkind = 'none'\n");
  EXPECT_TRUE(resolve(toy_parts(), request_with("maze", none.path())).notes.empty());
  const ConfigFile csc("[run]\nvariant = 'map-elites'\n[threshold]\nkind = 'vat'\n");
  const Plan noted = resolve(toy_parts(), request_with("maze", csc.path()));
  ASSERT_EQ(noted.notes.size(), 1U);
  EXPECT_SAYS(noted.notes[0], csc.at_line(4) + "threshold.kind=vat means nothing here");
}

TEST(AKeyThatMeansNothing, MayBeOfAMetricThatIsNotMeasured) {
  struct Config {
    std::size_t bins = 5;
  };
  Parts parts = toy_parts();
  parts.metrics.add(part<Config>("spread", "how far apart")
                        .option("bins", &Config::bins, 1, 9, "how many")
                        .made_by([](const Config&, MetricContext& context) {
                          return fitness_metric().make({}, context);
                        }));
  PlanRequest request = request_of("maze", {"metrics.spread.bins=3"});
  const auto said = [&]() -> std::string {
    try {
      resolve(parts, request);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_SAYS(said(), "metrics.spread.bins=3 means nothing here: this metric is not measured");
  request.assignments.emplace_back("metrics.also=spread");
  EXPECT_EQ(said(), "");
}

// --- Runs of earlier versions --------------------------------------------------------------------

/// As version 0.1.0 wrote it: every key there is.
constexpr const char* kOldConfig =
    R"(# A complete configuration: a run with this file is the same run again.

[run]
task = "maze"
variant = "ns"
iterations = 20
batch = 8
seed = 2
threads = 1
log_every = 5
snapshot_every = 20
checkpoint_seconds = 60.0
failure_share = 0.5
evaluation_seconds = 60.0

[algorithm]
kind = "novelty-search"

[population]
added = 3
unvaried = 0.1

[descriptor]
kind = "hand-coded"
dimension = 10

[encoder]
kind = "auto"
engine = "native"
update_step = 10
batch = 32
epochs = 3
patience = 3
learning_rate = 0.001
max_examples = 10000
hidden = [32, 8]

[container]
kind = "unstructured"
target_size = 40
k = 15
epsilon = 0.1
update_period = 10

[threshold]
kind = "csc"
gain = 0.001
value = 1.0
vat_constant = 18.0
proportional = 1.0
integral = 0.1
derivative = 1.0

[selection]
kind = "novelty"

[variation]
kind = "polynomial"
rate = 0.15
eta = 10.0
crossover = 0.0
crossover_eta = 10.0
iso_sigma = 0.01
line_sigma = 0.2
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(AnOldConfiguration, StillResolves) {
  const ConfigFile file(kOldConfig);
  PlanRequest request;
  request.file = file.path();
  request.file_is_of_run = true;
  const Plan plan = resolve(toy_parts(), request);
  EXPECT_TRUE(plan.notes.empty());
  EXPECT_TRUE(plan.departures.empty());
  EXPECT_EQ(plan.variant, "ns");
  EXPECT_EQ(plan.loop.entry->name, "novelty-search");
  EXPECT_EQ(plan.loop.integer("population.added"), 3U);
  EXPECT_EQ(plan.run.target_size, 40U);
  EXPECT_FALSE(plan.encoder || plan.container || plan.threshold);
  EXPECT_EQ(plan.selector.entry->name, "novelty");
  EXPECT_EQ(real_in(plan.variation->values, "rate"), 0.15);

  // As anybody's file: what means nothing and is no default is noted.
  request.file_is_of_run = false;
  const Plan noted = resolve(toy_parts(), request);
  EXPECT_EQ(replaced(noted.toml(), "at_least_one = true", "at_least_one = false"), plan.toml());
  std::string all;
  for (const std::string& note : noted.notes) all += note + "\n";
  EXPECT_SAYS(all, "threshold.gain=0.001 means nothing here");
  EXPECT_EQ(all.find("container.epsilon"), std::string::npos) << all;
}

TEST(AnOldConfiguration, OfEveryContainerAndThresholdResolves) {
  const std::string cvt =
      replaced(replaced(replaced(replaced(replaced(kOldConfig, "\"ns\"", "\"cvt-map-elites\""),
                                          "\"novelty-search\"", "\"quality-diversity\""),
                                 "\"unstructured\"", "\"cvt\""),
                        "\"csc\"", "\"none\""),
               "\"novelty\"", "\"uniform\"");
  const std::string vat =
      replaced(replaced(replaced(replaced(kOldConfig, "\"ns\"", "\"aurora-vat-novelty-2\""),
                                 "\"novelty-search\"", "\"quality-diversity\""),
                        "\"hand-coded\"\ndimension = 10", "\"learned\"\ndimension = 2"),
               "\"csc\"", "\"vat\"");
  const std::vector<std::pair<std::string, std::string>> cases = {{cvt, "cvt"},
                                                                  {vat, "unstructured"}};
  for (const auto& [text, container] : cases) {
    const ConfigFile file(text);
    PlanRequest request;
    request.file = file.path();
    request.file_is_of_run = true;
    const Plan plan = resolve(toy_parts(), request);
    EXPECT_TRUE(plan.notes.empty());
    EXPECT_TRUE(plan.departures.empty());
    EXPECT_EQ(plan.container->entry->name, container);
    EXPECT_EQ(plan.threshold.has_value(), container == "unstructured");
  }
}

TEST(ARunsOwnFile, MayHaveAVariantThatNobodyKnows) {
  const ConfigFile file(replaced(kOldConfig, "\"ns\"", "\"my-search-3\""));
  PlanRequest request;
  request.file = file.path();
  EXPECT_SAYS(complaint(request), file.at_line(5) + "there is no variant 'my-search-3'");
  request.file_is_of_run = true;
  const Plan plan = resolve(toy_parts(), request);
  EXPECT_EQ(plan.variant, "my-search-3");
  EXPECT_EQ(plan.loop.entry->name, "novelty-search");
  EXPECT_TRUE(plan.departures.empty());
  request.variant = "my-other-search";
  EXPECT_SAYS(complaint(request), "there is no variant 'my-other-search'");
}

TEST(PlanOfRun, ComesFromItsConfiguration) {
  const std::filesystem::path run =
      std::filesystem::temp_directory_path() / ("aurora_plan_of_run_" + std::to_string(::getpid()));
  EXPECT_THROW(plan_of_run(toy_parts(), run), FileError);
  std::filesystem::create_directories(run);
  try {
    plan_of_run(toy_parts(), run);
    ADD_FAILURE() << "there is no config.toml";
  } catch (const FileError& error) {
    EXPECT_SAYS(error.what(), "no config.toml");
  }
  std::ofstream(run / "config.toml") << replaced(kOldConfig, "\"ns\"", "\"unknown\"");
  const Plan plan = plan_of_run(toy_parts(), run);
  EXPECT_EQ(plan.variant, "unknown");
  EXPECT_TRUE(plan.notes.empty());
  std::filesystem::remove_all(run);
}

// --- Going on with a run -----------------------------------------------------------------------

/// What is said against going on; empty if nothing is.
std::string against(const Settings& saved, const Plan& plan) {
  try {
    check_same_run(toy_parts(), saved, plan);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Settings without(Settings settings, const std::string& key) {
  EXPECT_NE(value_of(settings, key), "") << key;
  std::erase_if(settings, [&](const auto& setting) { return setting.first == key; });
  return settings;
}

TEST(CheckSameRun, NamesTheKeyAndBothValues) {
  const std::vector<std::string> base = {"descriptor.dimension=4"};
  const Plan plan = resolved(base, "cart");
  EXPECT_EQ(against(plan.settings(), plan), "");
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"run.seed=2", "run.seed was 2, now it is 1"},
      {"run.batch=9", "run.batch was 9, now it is 128"},
      {"descriptor.dimension=3", "descriptor.dimension was 3, now it is 4"},
      {"threshold.gain=0.5", "threshold.gain was 0.5, now it is 7.6"},
      {"selection.kind=novelty", "selection.kind was \"novelty\", now it is \"uniform\""},
      {"encoder.hidden=4", "encoder.hidden was [4], now it is [32, 8]"},
      {"task.wheels=3", "task.wheels was 3, now it is 4"},
      {"run.variant=aurora-csc-novelty-4", "run.variant was \"aurora-csc-novelty-4\""},
  };
  for (const auto& [assignment, says] : changes) {
    EXPECT_SAYS(against(resolved(with(base, {assignment}), "cart").settings(), plan), says);
  }
  EXPECT_SAYS(against(resolved({}).settings(), plan), "run.task was \"maze\"");
}

TEST(CheckSameRun, LetsARunGoOnLongerAndElsewhere) {
  const Plan plan = resolved({"descriptor.dimension=4"}, "cart");
  for (const std::string assignment :
       {"run.iterations=5", "run.threads=3", "run.log_every=3", "run.snapshot_every=0",
        "run.checkpoint_seconds=5", "run.failure_share=1", "run.evaluation_seconds=5",
        "metrics.also=trajectory_diversity", "metrics.grid.resolution=3"}) {
    const Plan other = resolved({"descriptor.dimension=4", assignment}, "cart");
    EXPECT_EQ(against(other.settings(), plan), "") << assignment;
    EXPECT_EQ(against(plan.settings(), other), "") << assignment;
  }
}

TEST(AnOldConfiguration, OfARobotStaysWithItsEngine) {
  struct Robot {
    std::string task, engine, needs;
  };
  for (const Robot& robot :
       {Robot{"hexapod", "dart", "DART"}, Robot{"air-hockey", "box2d", "Box2D"}}) {
    const ConfigFile file("[run]\ntask = \"" + robot.task + "\"\nvariant = \"ns\"\n");
    PlanRequest request;
    request.file = file.path();
    const Parts parts = builtin_parts();
    const Plan now = resolve(parts, request);
    EXPECT_EQ(value_of(now.settings(), "task.engine"), "\"lanes\"");
    request.file_is_of_run = true;
    try {
      const Plan old = resolve(parts, request);
      EXPECT_EQ(value_of(old.settings(), "task.engine"), "\"" + robot.engine + "\"");
      // What is not saved is what was, and nothing else goes on.
      Settings saved = old.settings();
      std::erase_if(saved, [](const auto& setting) { return setting.first == "task.engine"; });
      EXPECT_NO_THROW(check_same_run(parts, saved, old));
      EXPECT_THROW(check_same_run(parts, saved, now), UsageError);
    } catch (const UsageError& error) {
      EXPECT_SAYS(error.what(), robot.needs);  // which this build may not have
    }
  }
}

TEST(AnOldConfiguration, KeepsWhatItsVersionDid) {
  const ConfigFile file("[run]\ntask = \"toy\"\nvariant = \"ns\"\n");
  PlanRequest request;
  request.file = file.path();
  EXPECT_EQ(value_of(resolve(toy_parts(), request).settings(), "variation.at_least_one"), "true");
  request.file_is_of_run = true;
  EXPECT_EQ(value_of(resolve(toy_parts(), request).settings(), "variation.at_least_one"), "false");
  request.assignments = {"variation.at_least_one=true"};
  const Plan changed = resolve(toy_parts(), request);
  EXPECT_SAYS(against(without(changed.settings(), "variation.at_least_one"), changed),
              "variation.at_least_one was false, now it is true");
}

TEST(CheckSameRun, AKeyThatIsNotSavedMeansItsDefault) {
  for (const std::string variant : {"aurora-csc-uniform-4", "aurora-pid-uniform-4", "taxons-4",
                                    "hc-csc-uniform", "ns", "map-elites", "random-search"}) {
    SCOPED_TRACE(variant);
    const Plan plan = resolved({"run.variant=" + variant}, "cart");
    for (const auto& [key, value] : plan.settings()) {
      if (key == "run.task" || key == "run.variant" || key == "run.threads") continue;
      if (key.ends_with(".kind") || key == "descriptor.dimension") continue;
      if (key == "variation.at_least_one") continue;  // above
      EXPECT_EQ(against(without(plan.settings(), key), plan), "") << key;
    }
  }
  const Plan changed = resolved(
      {"descriptor.dimension=4", "threshold.gain=0.5", "variation.rate=0.7", "task.wheels=3"},
      "cart");
  EXPECT_SAYS(against(without(changed.settings(), "threshold.gain"), changed),
              "threshold.gain was 7.645259938837921e-05, now it is 0.5");
  EXPECT_SAYS(against(without(changed.settings(), "variation.rate"), changed),
              "variation.rate was 0.15, now it is 0.7")
      << "the task's default";
  EXPECT_SAYS(against(without(changed.settings(), "task.wheels"), changed),
              "task.wheels was 4, now it is 3");
}

TEST(CheckSameRun, WhatWasSavedAndMeansNothingNowIsPassedOver) {
  const Plan plan = resolved({"run.variant=map-elites"});
  Settings saved = plan.settings();
  saved.emplace_back("threshold.kind", "\"none\"");
  saved.emplace_back("threshold.gain", "0.25");
  EXPECT_EQ(against(saved, plan), "");
}

// --- A user's own ------------------------------------------------------------------------------

/// Counts the members, so to speak.
class Count final : public Metric {
 public:
  std::vector<MetricColumn> columns() const override { return {{"count", "pieces"}}; }
  void measure(const Individuals& members, std::span<double> out) const override {
    out[0] = static_cast<double>(members.size());
  }
};

TEST(ATaskOfOnesOwn, HasMetricsAndDefaultsOfItsOwn) {
  Parts parts = builtin_parts();
  parts.metrics.add(
      part<NoOptions>("count", "how many there are").made_by([](const NoOptions&, MetricContext&) {
        return std::make_unique<Count>();
      }));
  class Own final : public Task {
   public:
    Own() {
      spec_.name = "own";
      spec_.title = "My Robot";
      spec_.genotype_size = 2;
      spec_.sensory = {{3, 2}, ElementType::float32};
      spec_.ground_truth = {{"x", 0, 2, "m"}, {"y", 0, 1, "m", Direction::down}};
      spec_.metrics = {"count"};
      spec_.defaults = {"run.iterations=7", "threshold.kind=vat",      "variation.kind=iso+line",
                        "run.batch=3",      "variation.line_sigma=.5", "metrics.grid.resolution=4",
                        "encoder.epochs=2", "population.added=2",      "descriptor.dimension=2"};
    }
    const TaskSpec& spec() const override { return spec_; }
    void evaluate(MatrixView<const float>, EvaluationView) const override {}

   private:
    TaskSpec spec_;
  };
  parts.tasks.add(part<NoOptions>("own", "mine").made_by([](const NoOptions&, TaskContext&) {
    return std::make_unique<Own>();
  }));

  PlanRequest request = request_of("own");
  request.variant = "hc-csc-uniform";
  const Plan plan = resolve(parts, request);
  EXPECT_EQ(plan.run.iterations, 7U);
  EXPECT_EQ(plan.threshold->entry->name, "csc") << "the variant goes before the task";
  EXPECT_EQ(plan.variation->entry->name, "iso+line");
  EXPECT_EQ(real_in(plan.variation->values, "line_sigma"), 0.5);
  EXPECT_TRUE(plan.notes.empty()) << "what the task says of other mixes is no news";
  EXPECT_TRUE(plan.departures.empty());
  EXPECT_EQ(title_of(plan.spec()), "My Robot");
  std::vector<std::string> names;
  for (const auto& metric : plan.metrics) names.push_back(metric.entry->name);
  EXPECT_EQ(names, (std::vector<std::string>{"grid", "fitness", "count"}));
  EXPECT_EQ(plan.metrics[0].integer("resolution"), 4U);

  request.variant = "map-elites";
  EXPECT_FALSE(resolve(parts, request).threshold) << "nor does it bring a threshold to cells";
  request.variant = "ns";
  EXPECT_EQ(resolve(parts, request).loop.integer("population.added"), 2U);
  request.assignments = {"run.iterations=9", "metrics.grid.resolution=5"};
  EXPECT_EQ(resolve(parts, request).run.iterations, 9U);
  EXPECT_EQ(resolve(parts, request).metrics[0].integer("resolution"), 5U);

  // The metrics at work.
  const auto metrics = plan.make_metrics();
  ASSERT_EQ(metrics.size(), 3U);
  double value = 0;
  metrics[2]->measure(Individuals({2, 2, 2, plan.spec().sensory}, 5), std::span(&value, 1));
  EXPECT_EQ(value, 5);
}

TEST(MetricsAlso, AreMeasuredBesidesTheOthersAndOnce) {
  const auto names = [](const std::string& also) {
    std::vector<std::string> all;
    for (const auto& metric :
         resolved({"descriptor.dimension=2", "metrics.also=" + also}, "toy").metrics) {
      all.push_back(metric.entry->name);
    }
    return all;
  };
  const std::vector<std::string> plain = {"grid", "fitness"};
  const std::vector<std::string> more = {"grid", "fitness", "trajectory_diversity"};
  EXPECT_EQ(names(""), plain);
  EXPECT_EQ(names("trajectory_diversity"), more);
  EXPECT_EQ(names("trajectory_diversity,trajectory_diversity,grid"), more);
  EXPECT_EQ(names("[trajectory_diversity]"), more);
  EXPECT_SAYS(complaint("metrics.also=trajectory", "maze"), "did you mean 'trajectory_diversity'?");
  EXPECT_SAYS(complaint("metrics.also=trajectory_diversity", "maze"),
              "metrics.also=trajectory_diversity does not go with the task 'maze'");
  const ConfigFile file(
      "[descriptor]\ndimension = 2\n[metrics]\nalso = ['trajectory_diversity']\n");
  const Plan plan = resolve(toy_parts(), request_with("toy", file.path()));
  EXPECT_EQ(plan.run.metrics_also, std::vector<std::string>{"trajectory_diversity"});
  EXPECT_EQ(value_of(plan.settings(), "metrics.also"), "[\"trajectory_diversity\"]");
  EXPECT_EQ(value_of(resolved({}).settings(), "metrics.also"), "")
      << "not said where there are none";
}

TEST(KeyHelp, SaysWhoseAKeyIs) {
  std::map<std::string, std::set<std::string>> owners;
  for (const KeyHelp& key : key_help(toy_parts())) owners[key.key].insert(key.part);
  EXPECT_EQ(owners["run.batch"], std::set<std::string>{""});
  EXPECT_EQ(owners["threshold.gain"], std::set<std::string>{"threshold.kind=csc"});
  EXPECT_EQ(owners["population.added"],
            (std::set<std::string>{"algorithm.kind=taxons", "algorithm.kind=novelty-search"}));
  EXPECT_EQ(owners["task.wheels"], (std::set<std::string>{"run.task=toy", "run.task=cart"}));
  EXPECT_TRUE(owners["container.k"].contains("container.kind=grid"));
  EXPECT_TRUE(owners["container.k"].contains("algorithm.kind=taxons"));
}

TEST(Plan, LettersBeyondAsciiMayStandInCommentsOnly) {
  const auto resolve_file = [](const std::string& text) {
    const ConfigFile file(text);
    return resolve(toy_parts(), request_with("maze", file.path()));
  };
  EXPECT_EQ(resolve_file("# \xC3\xA9\n[run]\nbatch = 9 # \xEF\xB2\xBF '\n").run.batch, 9U);
  EXPECT_EQ(resolve_file("\xEF\xBB\xBF[run]\nbatch = 9\n").run.batch, 9U);
  // The library has no defined answer to some of these.
  for (const char* text :
       {"[r\xEF\xB2\xBF\nseed = \"", "[run]\nb\xC3\xA9 = 1\n", "[run]\nvariant = \"\xC3\xA9 # \"\n",
        "x = '\xC3'\n", "x = \"\\\xC3\xA9\"\n"}) {
    EXPECT_THROW(resolve_file(text), DataError) << text;
  }
}

}  // namespace
}  // namespace aurora
