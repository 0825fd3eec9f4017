#include "aurora/runs/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

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
    spec_.defaults = {
        .iterations = 321, .target_size = 654, .mutation_rate = 0.15, .vat_constant = 17};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float>, EvaluationView) const override {}

 private:
  TaskSpec spec_;
};

TaskRegistry toy_tasks() {
  TaskRegistry tasks;
  tasks.add(
      {.name = "maze",
       .summary = "a picture",
       .options = {},
       .make =
           [](const TaskOptions&) {
             return std::make_unique<Toy>("maze", SensoryShape{{64, 64, 3}, ElementType::uint8});
           },
       .missing = {}});
  tasks.add({.name = "toy",
             .summary = "a short sequence",
             .options = {{"wheels", "how many", {"4", "3"}}, {"odd name", "", {"a\"b\\\n", "c"}}},
             .make =
                 [](const TaskOptions&) {
                   return std::make_unique<Toy>("toy", SensoryShape{{4, 2}, ElementType::float32});
                 },
             .missing = {}});
  tasks.add({.name = "absent",
             .summary = "",
             .options = {},
             .make = nullptr,
             .missing = "install its engine"});
  return tasks;
}

RunConfig resolved(const std::vector<std::string>& assignments, const std::string& task = "maze") {
  return resolve(toy_tasks(),
                 {.task = task, .variant = {}, .file = {}, .assignments = assignments});
}

/// The message of the UsageError that a request ends in; empty if there is none.
std::string complaint(const ConfigRequest& request) {
  try {
    resolve(toy_tasks(), request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(const std::string& assignment, const std::string& task = "maze") {
  return complaint({.task = task, .variant = {}, .file = {}, .assignments = {assignment}});
}

#define EXPECT_SAYS(message, part) \
  EXPECT_NE(std::string(message).find(part), std::string::npos) << message

/// A file that goes when the test ends.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& content) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("aurora_config_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
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
  return complaint({.task = "maze", .variant = {}, .file = file.path(), .assignments = {}});
}

struct KeyCase {
  std::string key;
  std::vector<std::string> good;  // texts that to_toml writes as they stand
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
      {"descriptor.kind", {"\"learned\"", "\"hand-coded\""}, {"", "hand_coded", "Learned", "1"}},
      {"descriptor.dimension", {"1", "1000"}, with(kNotIntegers, {"0", "1001"})},
      {"encoder.kind", {"\"auto\"", "\"conv-ae\"", "\"mlp-ae\"", "\"pca\""}, {"", "ae", "PCA"}},
      {"algorithm.kind",
       {"\"quality-diversity\"", "\"taxons\"", "\"novelty-search\""},
       {"", "ns", "Taxons"}},
      {"population.added", {"1", "100"}, with(kNotIntegers, {"0", "1000001"})},
      {"population.unvaried", {"0.0", "0.5", "1.0"}, {"", "-0.1", "1.1", "nan", "x"}},
      {"encoder.engine", {"\"native\"", "\"torch\""}, {"", "Torch", "libtorch"}},
      {"encoder.update_step", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"encoder.batch", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.epochs", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.patience", {"1", "1000000"}, with(kNotIntegers, {"0", "1000001"})},
      {"encoder.learning_rate", {"1.0", "0.001", "1e-300"}, with(kNotReals, {"0", "1.1"})},
      {"encoder.max_examples", {"1", "10000000"}, with(kNotIntegers, {"0", "10000001"})},
      {"encoder.hidden",
       {"[32, 8]", "[1]", "[]", "[100000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"},
       {"0", "32,", ",8", "32,,8", "-1", "32;8", "100001", "1.5", "x", "[3", "3]",
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"}},
      {"container.kind", {"\"unstructured\"", "\"grid\"", "\"cvt\""}, {"", "cells", "CVT"}},
      {"container.target_size", {"1", "10000000"}, with(kNotIntegers, {"0", "10000001"})},
      {"container.k", {"1", "1000"}, with(kNotIntegers, {"0", "1001"})},
      {"container.epsilon", {"0.0", "0.9999999999999999"}, with(kNotReals, {"1", "1.0"})},
      {"container.update_period", {"1", billion}, with(kNotIntegers, {"0", above})},
      {"threshold.kind",
       {"\"csc\"", "\"vat\"", "\"pid\"", "\"fixed\"", "\"none\""},
       {"", "CSC", "no"}},
      {"threshold.gain", {"5e-06", "1.0"}, with(kNotReals, {"0", "1.5"})},
      {"threshold.vat_constant", {"1e-300", "25.0", "1000000.0"}, with(kNotReals, {"0", "1e7"})},
      {"threshold.proportional", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.integral", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.derivative", {"0.0", "10.0"}, with(kNotReals, {"11"})},
      {"threshold.value", {"1e-300", "0.1", "1e+30"}, with(kNotReals, {"0", "1e31"})},
      {"selection.kind",
       {"\"uniform\"", "\"novelty\"", "\"surprise\"", "\"novelty+surprise\"", "\"none\""},
       {"", "random", "0"}},
      {"variation.kind", {"\"polynomial\"", "\"iso+line\""}, {"", "iso"}},
      {"variation.rate", {"0.0", "1.0", "0.1"}, with(kNotReals, {"1.0000001"})},
      {"variation.eta", {"0.0", "1000.0", "10.5"}, with(kNotReals, {"1000.1"})},
      {"variation.crossover", {"0.0", "1.0", "0.30000000000000004"}, with(kNotReals, {"1.01"})},
      {"variation.crossover_eta", {"0.0", "1000.0"}, with(kNotReals, {"1001"})},
      {"variation.iso_sigma", {"0.0", "10.0", "0.01"}, with(kNotReals, {"10.1"})},
      {"variation.line_sigma", {"0.0", "10.0", "0.2"}, with(kNotReals, {"11"})},
  };
}

std::string unquoted(const std::string& text) {
  return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

std::string toml_of(const std::string& key, const std::string& value) {
  const std::size_t dot = key.find('.');
  return "[" + key.substr(0, dot) + "]\n" + key.substr(dot + 1) + " = " + value + "\n";
}

TEST(Config, EveryKeyIsInTheTableOfThisTest) {
  std::set<std::string> tested;
  for (const KeyCase& c : key_cases()) tested.insert(c.key);
  std::set<std::string> known;
  for (const OptionHelp& option : option_help()) {
    known.insert(option.key);
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_FALSE(option.values.empty()) << option.key;
  }
  EXPECT_EQ(tested, known);
}

/// Whatever a key needs beside it to make sense with this value.
std::vector<std::string> company_of(const std::string& key, const std::string& value) {
  if (key == "algorithm.kind") return {"selection.kind=novelty"};
  if (value == "\"grid\"" || value == "\"cvt\"") return {"run.variant=map-elites"};
  if (key == "threshold.kind" && value == "\"none\"") return {"run.variant=map-elites"};
  return {};
}

TEST(Config, EveryKeyIsTakenFromBothSidesAndWrittenBack) {
  for (const KeyCase& c : key_cases()) {
    for (const std::string& value : c.good) {
      SCOPED_TRACE(c.key + "=" + value);
      const std::vector<std::string> company = company_of(c.key, value);
      const std::vector<std::string> assignments = with(company, {c.key + "=" + unquoted(value)});
      const ConfigRequest by_assignment{
          .task = "maze", .variant = {}, .file = {}, .assignments = assignments};
      const ConfigFile file(toml_of(c.key, value));
      const ConfigRequest by_file{
          .task = "maze", .variant = {}, .file = file.path(), .assignments = company};
      std::string line = "\n";  // not in one expression: gcc 12 warns about "..." + std::string
      line += c.key.substr(c.key.find('.') + 1) + " = " + value + "\n";
      const std::string written = to_toml(resolve(toy_tasks(), by_assignment));
      EXPECT_SAYS(written, line);
      EXPECT_EQ(written, to_toml(resolve(toy_tasks(), by_file)));
    }
  }
}

TEST(Config, EveryBadValueNamesKeyValueAndRange) {
  for (const KeyCase& c : key_cases()) {
    std::string range;
    for (const OptionHelp& option : option_help()) {
      if (option.key == c.key) range = option.values;
    }
    for (const std::string& value : c.bad) {
      SCOPED_TRACE(c.key + "=" + value);
      EXPECT_SAYS(complaint(c.key + "=" + value), c.key + " must be " + range + ", not '");
    }
  }
}

TEST(Config, WrittenConfigurationsResolveToThemselves) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"maze", {}},
      {"maze", {"run.variant=hc-csc-uniform", "selection.kind=none"}},
      {"maze", {"run.variant=cvt-map-elites", "selection.kind=novelty"}},
      {"maze",
       {"threshold.gain=0.1", "variation.rate=0.30000000000000004", "threshold.value=2.5e-17",
        "run.seed=9223372036854775807", "encoder.hidden=5,4,3", "descriptor.dimension=7"}},
      {"toy", {"task.wheels=3", "descriptor.dimension=8", "run.threads=3"}},
      {"toy", {"task.odd name=c", "descriptor.dimension=2"}},
      {"toy", {"descriptor.dimension=2"}},
  };
  for (const auto& [task, assignments] : cases) {
    const RunConfig first = resolved(assignments, task);
    const ConfigFile file(to_toml(first));
    const RunConfig second =
        resolve(toy_tasks(), {.task = {}, .variant = {}, .file = file.path(), .assignments = {}});
    EXPECT_EQ(to_toml(second), to_toml(first));
    EXPECT_EQ(second.task, first.task);
    EXPECT_EQ(second.task_options, first.task_options);
    EXPECT_EQ(second.variant, first.variant);
    EXPECT_EQ(second.algorithm.threshold.gain, first.algorithm.threshold.gain);
    EXPECT_EQ(second.algorithm.threshold.value, first.algorithm.threshold.value);
    EXPECT_EQ(second.algorithm.variation.rate, first.algorithm.variation.rate);
    EXPECT_EQ(second.algorithm.seed, first.algorithm.seed);
    EXPECT_EQ(second.algorithm.encoder.hidden, first.algorithm.encoder.hidden);
  }
}

TEST(Config, TaskVariantFileAndAssignmentsGoInThisOrder) {
  const TaskRegistry tasks = toy_tasks();
  // The task's defaults.
  const RunConfig plain = resolved({});
  EXPECT_EQ(plain.iterations, 321U);
  EXPECT_EQ(plain.algorithm.target_size, 654U);
  EXPECT_EQ(plain.algorithm.variation.rate, 0.15);
  EXPECT_EQ(plain.algorithm.threshold.vat_constant, 17);
  EXPECT_EQ(plain.variant, "aurora-csc-uniform-10");
  EXPECT_EQ(plain.algorithm.dimension, 10U);
  EXPECT_GE(plain.threads, 1U);

  // The variant before the defaults, the file before the variant, assignments before the file.
  const ConfigFile file(
      "[run]\nvariant = 'hc-csc-uniform'\niterations = 5\nseed = 6\n[descriptor]\ndimension = 3\n");
  ConfigRequest request{.task = "maze", .variant = {}, .file = file.path(), .assignments = {}};
  RunConfig config = resolve(tasks, request);
  EXPECT_EQ(config.variant, "hc-csc-uniform");
  EXPECT_EQ(config.algorithm.descriptor, DescriptorKind::hand_coded);
  EXPECT_EQ(config.iterations, 5U);

  request.variant = "aurora-csc-novelty-4";
  request.assignments = {"run.seed=7", "run.seed=8"};
  config = resolve(tasks, request);
  EXPECT_EQ(config.variant, "aurora-csc-novelty-4");
  EXPECT_EQ(config.algorithm.descriptor, DescriptorKind::learned);
  EXPECT_EQ(config.algorithm.selection, SelectionKind::novelty);
  EXPECT_EQ(config.algorithm.dimension, 3U) << "the file goes before the variant";
  EXPECT_EQ(config.algorithm.seed, 8U) << "of two assignments the last one counts";

  request.assignments = {"descriptor.dimension=2", "run.variant=hc-csc-uniform"};
  config = resolve(tasks, request);
  EXPECT_EQ(config.algorithm.dimension, 2U);
  EXPECT_EQ(config.variant, "aurora-csc-novelty-4") << "the command line's own word goes first";

  request.variant = std::nullopt;
  request.assignments = {"run.variant=random-search"};
  EXPECT_EQ(resolve(tasks, request).algorithm.selection, SelectionKind::none);
}

TEST(Config, TheTaskMayBeNamedByAKey) {
  const ConfigFile file("[run]\ntask = 'toy'\n[descriptor]\ndimension = 2\n");
  ConfigRequest request{.task = {}, .variant = {}, .file = file.path(), .assignments = {}};
  EXPECT_EQ(resolve(toy_tasks(), request).task, "toy");
  request.assignments = {"run.task=maze"};
  EXPECT_EQ(resolve(toy_tasks(), request).task, "maze");
  request.task = "toy";
  EXPECT_EQ(resolve(toy_tasks(), request).task, "toy");
  EXPECT_SAYS(complaint(ConfigRequest{}), "no task is named (known: maze, toy, absent)");
}

TEST(Config, TaskOptionsAreCompletedAndChecked) {
  const std::vector<std::string> small = {"descriptor.dimension=2"};
  EXPECT_EQ(resolved(small, "toy").task_options.at("wheels"), "4");
  EXPECT_EQ(resolved({small[0], "task.wheels=3"}, "toy").task_options.at("wheels"), "3");
  EXPECT_SAYS(complaint("task.wheels=5", "toy"), "'5'");
  EXPECT_SAYS(complaint("task.whels=3", "toy"), "did you mean 'wheels'");
  EXPECT_SAYS(complaint("task.wheels=3", "maze"), "has no options");

  const ConfigFile good("[descriptor]\ndimension = 2\n[task]\nwheels = 3\n");
  const RunConfig config =
      resolve(toy_tasks(), {.task = "toy", .variant = {}, .file = good.path(), .assignments = {}});
  EXPECT_EQ(config.task_options.at("wheels"), "3") << "a number in a file is as good as its text";
  const ConfigFile bad("[task]\n\nwheels = 9\n");
  EXPECT_SAYS(complaint({.task = "toy", .variant = {}, .file = bad.path(), .assignments = {}}),
              bad.at_line(3));
}

TEST(Config, UnknownNamesFindTheNearest) {
  EXPECT_SAYS(complaint("containr.target_size=5"), "did you mean 'container.target_size'?");
  EXPECT_SAYS(complaint("target_size=5"), "did you mean 'container.target_size'?");
  EXPECT_SAYS(complaint("run.iteration=5"), "did you mean 'run.iterations'?");
  EXPECT_SAYS(complaint("epochs=5"), "did you mean 'encoder.epochs'?");
  EXPECT_SAYS(complaint("task=maze"), "did you mean 'run.task'?");
  EXPECT_SAYS(complaint("selection.kind=novlty"), "did you mean 'novelty'?");
  EXPECT_SAYS(complaint("run.variant=hc-csc"), "did you mean 'hc-csc-uniform'?");
  EXPECT_SAYS(complaint("run.seed=1", "mase"), "did you mean 'maze'?");
  EXPECT_SAYS(complaint("run.seed=1", "absent"), "install its engine");
}

TEST(Config, AssignmentsNeedAKeyAndAValue) {
  for (const std::string text : {"", "=", "=5", "run.seed", "  =3"}) {
    EXPECT_SAYS(complaint(text), "KEY=VALUE");
  }
  EXPECT_EQ(resolved({" run.seed = 5 "}).algorithm.seed, 5U);
}

TEST(Config, FilesAreCheckedWithTheirLine) {
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
      {"seed = 5\n", 1, "did you mean 'run.seed'?"},
      {"task = 'maze'\n", 1, "did you mean 'run.task'?"},
      {"\n[[run]]\nseed = 5\n", 2, "there is no option 'run'"},
      {"[nothing]\n", 1, "there is no option 'nothing'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.content);
    const ConfigFile file(c.content);
    const std::string message =
        complaint({.task = "maze", .variant = {}, .file = file.path(), .assignments = {}});
    EXPECT_SAYS(message, file.at_line(c.line));
    EXPECT_SAYS(message, c.says);
  }
  EXPECT_EQ(complaint_about_file(""), "");
  EXPECT_EQ(complaint_about_file("# nothing\n[run]\n[task]\n"), "");
  EXPECT_EQ(complaint_about_file("run.seed = 3\n[variation]\neta = 10\n"), "")
      << "a real number may be written as an integer";
}

TEST(Config, BrokenFilesAreDataErrorsWithTheirLine) {
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
      resolve(toy_tasks(), {.task = "maze", .variant = {}, .file = file.path(), .assignments = {}});
      ADD_FAILURE() << "was taken";
    } catch (const DataError& error) {
      EXPECT_SAYS(error.what(), file.at_line(line));
    }
  }
}

TEST(Config, FilesThatCannotBeReadAreErrors) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  for (const std::filesystem::path& path : {folder / "aurora_no_such_file.toml", folder}) {
    EXPECT_THROW(
        resolve(toy_tasks(), {.task = "maze", .variant = {}, .file = path, .assignments = {}}),
        FileError);
  }
  const ConfigFile huge(std::string((1 << 20) + 1, '#'));
  EXPECT_THROW(
      resolve(toy_tasks(), {.task = "maze", .variant = {}, .file = huge.path(), .assignments = {}}),
      DataError);
}

TEST(Config, MixesThatMakeNoSenseSayWhy) {
  const auto mix = [](const std::string& task, std::vector<std::string> assignments) {
    return complaint(
        {.task = task, .variant = {}, .file = {}, .assignments = std::move(assignments)});
  };
  for (const std::string kind : {"surprise", "novelty+surprise"}) {
    EXPECT_SAYS(mix("maze", {"descriptor.kind=hand-coded", "selection.kind=" + kind}),
                "surprise is the reconstruction error of an encoder");
  }
  EXPECT_SAYS(mix("toy", {"descriptor.dimension=9"}), "only 8 features");
  EXPECT_SAYS(mix("toy", {"descriptor.dimension=8", "encoder.kind=conv-ae"}), "no picture");
  EXPECT_EQ(mix("toy", {"descriptor.dimension=8", "encoder.kind=pca"}), "");
  EXPECT_EQ(mix("toy", {"run.variant=hc-csc-uniform", "descriptor.dimension=9"}), "");
  EXPECT_EQ(mix("maze", {"descriptor.kind=hand-coded", "selection.kind=novelty"}), "");
  EXPECT_SAYS(mix("maze", {"run.variant=taxons", "selection.kind=uniform"}), "is ranked");
  EXPECT_SAYS(mix("maze", {"run.variant=ns", "run.batch=4"}), "no more children");
  EXPECT_SAYS(mix("maze", {"run.variant=ns", "selection.kind=surprise"}), "hand-coded");
  EXPECT_EQ(mix("maze", {"run.variant=taxons", "selection.kind=surprise"}), "");
  EXPECT_SAYS(mix("maze", {"container.kind=grid"}), "a learned descriptor has none");
  EXPECT_SAYS(mix("maze", {"run.variant=taxons", "container.kind=cvt"}), "a population appends");
  EXPECT_SAYS(mix("maze", {"run.variant=map-elites", "threshold.kind=csc"}), "no distance thresh");
  EXPECT_SAYS(mix("maze", {"run.variant=map-elites", "container.kind=unstructured"}),
              "keeps its members apart");
  EXPECT_SAYS(mix("maze", {"run.variant=map-elites", "selection.kind=surprise"}), "hand-coded");
  EXPECT_EQ(mix("maze", {"run.variant=hc-csc-uniform", "container.kind=grid", "threshold.kind=none",
                         "selection.kind=novelty"}),
            "");
}

TEST(Config, DeparturesFromTheVariantAreNamed) {
  EXPECT_TRUE(
      departures_from_variant(resolved({"run.seed=5", "run.variant=random-search"})).empty());
  const std::vector<std::string> expected = {"descriptor.dimension = 3 instead of 10",
                                             "selection.kind = \"novelty\" instead of \"uniform\""};
  EXPECT_EQ(departures_from_variant(resolved({"selection.kind=novelty", "descriptor.dimension=3"})),
            expected);
}

TEST(Config, LettersBeyondAsciiMayStandInCommentsOnly) {
  const auto resolve_file = [](const std::string& text) {
    const ConfigFile file(text);
    return resolve(toy_tasks(),
                   {.task = "maze", .variant = {}, .file = file.path(), .assignments = {}});
  };
  EXPECT_EQ(resolve_file("# \xC3\xA9\n[run]\nbatch = 9 # \xEF\xB2\xBF '\n").algorithm.batch, 9U);
  EXPECT_EQ(resolve_file("\xEF\xBB\xBF[run]\nbatch = 9\n").algorithm.batch, 9U);
  // The library has no defined answer to some of these.
  for (const char* text :
       {"[r\xEF\xB2\xBF\nseed = \"", "[run]\nb\xC3\xA9 = 1\n", "[run]\nvariant = \"\xC3\xA9 # \"\n",
        "x = '\xC3'\n", "x = \"\\\xC3\xA9\"\n"}) {
    EXPECT_THROW(resolve_file(text), DataError) << text;
  }
}

}  // namespace
}  // namespace aurora
