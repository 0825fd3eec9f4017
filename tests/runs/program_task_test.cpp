// Robots that are programs: what they say, and what becomes of it when they say nonsense or die.
#include "aurora/runs/program_task.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "aurora/core/errors.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/evaluation/guard.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/runs/parts.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDescription =
    R"({"task": "plain", "genes": 2, "sensory": [2, 2], "ground_truth": {"b": [0, 1, "m"], "a": [-1, 2]}, "worst_fitness": -1})";

/// Answers with the genes; `extra` runs before each answer, where `genes` and `count` are known.
std::string robot(const std::string& extra, const std::string& description = kDescription) {
  return "import json, os, sys\nprint('" + description +
         "', flush=True)\n"
         "for count, line in enumerate(sys.stdin):\n"
         "    genes = [float(word) for word in line.split()]\n"
         "    answer = {'fitness': -genes[0], 'ground_truth': genes, 'sensory': [genes, [1, "
         "2]]}\n" +
         extra + "\n    print(json.dumps(answer), flush=True)\n";
}

class ProgramTask : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "aurora_program_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Task> make(const std::string& script) {
    std::ofstream(folder_ / "robot.py") << script;
    const TaskEntry entry = program_task("python3 '" + (folder_ / "robot.py").string() + "'");
    TaskContext context;
    return entry.make({}, context);
  }

  /// The message of an error; empty if there is none.
  template <class Act>
  static std::string error_of(Act act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  static Matrix<float> genotypes(std::size_t rows) {
    Matrix<float> genes(rows, 2);
    for (std::size_t i = 0; i < rows; ++i) {
      genes(i, 0) = static_cast<float>(i) / static_cast<float>(rows);
      genes(i, 1) = 0.1F;
    }
    return genes;
  }

  fs::path folder_;
};

TEST_F(ProgramTask, DescribesItself) {
  const auto task = make(robot(""));
  const TaskSpec& spec = task->spec();
  EXPECT_EQ(spec.name, "plain");
  EXPECT_EQ(spec.genotype_size, 2u);
  EXPECT_EQ(spec.sensory, (SensoryShape{{2, 2}, ElementType::float32}));
  ASSERT_EQ(spec.ground_truth.size(), 2u);
  EXPECT_EQ(spec.ground_truth[0].name, "b");  // in its own order
  EXPECT_EQ(spec.ground_truth[0].unit, "m");
  EXPECT_EQ(spec.ground_truth[1].min, -1);
  EXPECT_EQ(spec.worst_fitness, -1);
}

TEST_F(ProgramTask, GenesAndResultsAreExact) {
  const auto task = make(robot(""));
  const Matrix<float> genes = genotypes(7);
  Evaluation evaluation(task->spec(), 7);
  task->evaluate(genes, evaluation.view());
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(evaluation.fitness[i], -genes(i, 0));
    EXPECT_EQ(evaluation.ground_truth(i, 1), genes(i, 1));
    const auto sensed = evaluation.sensory.view().row<float>(i);
    EXPECT_EQ(std::vector<float>(sensed.begin(), sensed.end()),
              (std::vector<float>{genes(i, 0), 0.1F, 1, 2}));
  }
}

TEST_F(ProgramTask, SeveralThreadsHaveSeveralPrograms) {
  const auto task = make(robot("    answer['ground_truth'] = [os.getpid() % 997, 0]"));
  Matrix<float> genes = genotypes(64);
  Evaluation evaluation(task->spec(), 64);
  Workers workers(4);
  ThreadEvaluator evaluator(*task, workers);
  evaluator.evaluate(genes, evaluation.view());
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(evaluation.fitness[i], -genes(i, 0));
}

TEST_F(ProgramTask, OneThatDiesIsStartedAgain) {
  const auto task = make(robot("    if count == 3: os._exit(7)"));
  const Matrix<float> genes = genotypes(20);
  Evaluation evaluation(task->spec(), 20);
  task->evaluate(genes, evaluation.view());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(evaluation.fitness[i], -genes(i, 0));
}

class Log final : public FailureLog {
 public:
  void failed(std::span<const float> genotype, const std::string& reason) override {
    failures.emplace_back(genotype[0], reason);
  }
  void hangs(MatrixView<const float>, double) override {}
  std::vector<std::pair<float, std::string>> failures;
};

TEST_F(ProgramTask, AGenotypeThatKillsItFailsAlone) {
  const auto task =
      make(robot("    if genes[0] == 0.5: os.kill(os.getpid(), 9)\n"
                 "    if genes[0] == 0.25: answer = {'error': 'fell over'}"));
  const Matrix<float> genes = genotypes(8);
  Evaluation evaluation(task->spec(), 8);
  Workers workers(2);
  ThreadEvaluator evaluator(*task, workers);
  Log log;
  Guard(evaluator, log, 1000).evaluate(genes, evaluation.view());
  ASSERT_EQ(log.failures.size(), 2u);
  EXPECT_EQ(log.failures[0], std::pair(0.25F, std::string("fell over")));
  EXPECT_EQ(log.failures[1].first, 0.5F);
  EXPECT_NE(log.failures[1].second.find("was ended by signal 9"), std::string::npos)
      << log.failures[1].second;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == 2 || i == 4) continue;
    EXPECT_EQ(evaluation.fitness[i], -genes(i, 0));
  }
}

TEST_F(ProgramTask, NonsenseIsSaid) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"    print('hello', flush=True)", "'hello', which is no JSON"},
      {"    answer = [1]", "an object was expected"},
      {"    del answer['fitness']", "'fitness' is missing"},
      {"    answer['fitness'] = 'good'", "the fitness is not made of numbers"},
      {"    answer['ground_truth'] = [1]", "the ground truth should be 2 numbers"},
      {"    answer['ground_truth'] = {'a': 1, 'c': 2}", "there is no 'b' in the ground truth"},
      {"    answer['sensory'] = [1, 2, 3]", "2 x 2 floats"},
      {"    answer['sensory'] = [1, 2, 3, 4, 5]", "2 x 2 floats"},
      {"    answer['sensory'] = [[[[1]]]]", "2 x 2 floats"},
      {"    answer['sensory'] = [1, 2, 3, 'x']", "the sensory data is not made of numbers"},
      {"    print('9' * 70000)", "a line of more than"},
      {"    answer['sensory'] = 'npy'\n    print(json.dumps(answer) + '\\n' + 'x' * 100, end='')",
       "no array in numpy's format"},
  };
  for (const auto& [extra, wanted] : cases) {
    const auto task = make(robot(extra));
    Evaluation evaluation(task->spec(), 1);
    const std::string message = error_of([&] { task->evaluate(genotypes(1), evaluation.view()); });
    EXPECT_NE(message.find(wanted), std::string::npos) << extra << "\nsays: " << message;
  }
}

TEST_F(ProgramTask, ByNameAndNotFinite) {
  const auto task =
      make(robot("    answer['ground_truth'] = {'a': 3, 'b': 4}\n"
                 "    answer['fitness'] = None"));
  Evaluation evaluation(task->spec(), 1);
  task->evaluate(genotypes(1), evaluation.view());
  EXPECT_EQ(evaluation.ground_truth(0, 0), 4);
  EXPECT_EQ(evaluation.ground_truth(0, 1), 3);
  EXPECT_TRUE(std::isnan(evaluation.fitness[0]));
}

TEST_F(ProgramTask, PicturesAsListsAndAsArrays) {
  const std::string description =
      R"({"task": "p", "genes": 2, "sensory": [2, 3, 1], "type": "uint8", "ground_truth": {"x": [0, 1], "y": [0, 1]}, "worst_fitness": -1})";
  const std::string array =
      "    answer['sensory'] = 'npy'\n"
      "    print(json.dumps(answer), flush=True)\n"
      "    header = b\"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 1), }\"\n"
      "    header = header.ljust(117) + b'\\n'\n"
      "    front = b'\\x93NUMPY\\x01\\x00' + len(header).to_bytes(2, 'little')\n"
      "    sys.stdout.buffer.write(front + header + bytes([1, 2, 3, 4, 10, 255]))\n"
      "    sys.stdout.flush()\n"
      "    continue";
  for (const std::string& extra :
       {std::string("    answer['sensory'] = [[1, 2, 3], [4, 10, 255]]"), array}) {
    const auto task = make(robot(extra, description));
    Evaluation evaluation(task->spec(), 3);
    task->evaluate(genotypes(3), evaluation.view());
    const auto row = evaluation.sensory.view().row<std::uint8_t>(2);
    EXPECT_EQ(std::vector<std::uint8_t>(row.begin(), row.end()),
              (std::vector<std::uint8_t>{1, 2, 3, 4, 10, 255}));
  }
  const auto wrong = make(robot("    answer['sensory'] = [1, 2, 3, 4, 10, 256]", description));
  Evaluation evaluation(wrong->spec(), 1);
  EXPECT_NE(error_of([&] { wrong->evaluate(genotypes(1), evaluation.view()); }).find("0 to 255"),
            std::string::npos);
}

TEST_F(ProgramTask, DescriptionsThatMakeNoSense) {
  const auto says = [&](const std::string& line) {
    return error_of(
        [&] { make("print('" + line + "', flush=True)\nimport sys\nsys.stdin.read()"); });
  };
  const std::string rest = R"("sensory": [2], "ground_truth": {"x": [0, 1], "y": [0, 1]}, )";
  const auto expect = [&](const std::string& line, const std::string& wanted) {
    EXPECT_NE(says(line).find(wanted), std::string::npos) << line << "\nsays: " << says(line);
  };
  expect("hello", "which is no JSON");
  expect("[]", "an object was expected");
  expect("{}", "'task' is missing");
  expect(R"({"task": "a", "genes": -1})", "a whole number");
  expect(R"({"task": "a", "genes": 0, )" + rest + R"("worst_fitness": 0})", "gene");
  expect(R"({"task": "a", "genes": 1, )" + rest + R"("worst_fitness": 0, "gens": 2})", "'gens'");
  expect(R"({"task": "a", "genes": 1, )" + rest + R"("worst_fitness": 0, "hand_coded_size": 3})",
         "of 1 to 2 values, not 3");
  expect(
      R"({"task": "a", "genes": 1, "sensory": [2], "ground_truth": {"x": 1}, "worst_fitness": 0})",
      "LOWER, UPPER");
  EXPECT_NE(error_of([] { program_task("exit 3"); }).find("ended with status 3"),
            std::string::npos);
  EXPECT_NE(error_of([] { program_task("no-such-program 2>/dev/null"); }).find("status 127"),
            std::string::npos);
}

TEST_F(ProgramTask, OneThatChangesItsMindIsNotTrusted) {
  const auto task = make(
      "import os, sys\n"
      "name = sys.argv[0] + '.seen'\n"
      "again = os.path.exists(name)\n"
      "open(name, 'w').close()\n" +
      std::string("line = '") + kDescription +
      "'\nprint(line.replace('plain', 'other') if again else line, flush=True)\n"
      "sys.stdin.readline()\n");
  Evaluation evaluation(task->spec(), 1);
  EXPECT_NE(error_of([&] { task->evaluate(genotypes(1), evaluation.view()); }).find("otherwise"),
            std::string::npos);
}

TEST_F(ProgramTask, NothingOfItIsLeft) {
  const fs::path file = folder_ / "pid";
  {
    // One that ignores the end of its input, behind a shell.
    const auto task = make(robot("") + "open('" + file.string() +
                           "', 'w').write(str(os.getpid()))\nimport time\ntime.sleep(1000)\n");
    Evaluation evaluation(task->spec(), 1);
    task->evaluate(genotypes(1), evaluation.view());
  }
  int process = 0;
  std::ifstream(file) >> process;
  ASSERT_GT(process, 0);
  for (int i = 0; i < 100 && fs::exists("/proc/" + std::to_string(process)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(process)));
}

}  // namespace
}  // namespace aurora
