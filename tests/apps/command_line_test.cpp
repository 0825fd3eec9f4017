// The built program as a user meets it: words and files in; stdout, stderr, exit status and files
// out.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "aurora/runs/plan.hpp"
#include "aurora/runs/run_directory.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

struct Result {
  int status = -1;  // exit status, or 1000 + the signal that ended it
  std::string out;
  std::string err;
};

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << text

/// One folder a test, which is the program's working folder and goes when the test ends.
class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "aurora_command_line_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "io");
    fs::create_directory(work());
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Where the program runs. Nothing but the program and the test itself writes there.
  fs::path work() const { return folder_ / "work"; }

  /// Starts the program and returns its process id.
  pid_t start(const Arguments& arguments, const std::string& input = "",
              const std::string& out = "") {
    write(folder_ / "io" / "in", input);
    write(folder_ / "io" / "err", "");  // nothing of the one before
    const std::string in_path = (folder_ / "io" / "in").string();
    const std::string out_path = out.empty() ? (folder_ / "io" / "out").string() : out;
    const std::string err_path = (folder_ / "io" / "err").string();
    const std::string work_path = work().string();
    std::vector<char*> argv = {const_cast<char*>("aurora")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const auto redirect = [](const std::string& path, int flags, int descriptor) {
        const int file = open(path.c_str(), flags, 0600);
        return file >= 0 && dup2(file, descriptor) >= 0;
      };
      if (redirect(in_path, O_RDONLY, 0) && redirect(out_path, O_WRONLY | O_CREAT | O_TRUNC, 1) &&
          redirect(err_path, O_WRONLY | O_CREAT | O_TRUNC, 2) && chdir(work_path.c_str()) == 0 &&
          (!nobody_ || (setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0))) {
        execv(AURORA_PROGRAM, argv.data());
      }
      _exit(99);
    }
    return child;
  }

  Result wait_for(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
            .out = content_of(folder_ / "io" / "out"),
            .err = content_of(folder_ / "io" / "err")};
  }

  Result aurora(const Arguments& arguments, const std::string& input = "") {
    return wait_for(start(arguments, input));
  }

  /// The same by a user who is nobody; for tests that root runs.
  Result aurora_as_nobody(const Arguments& arguments) {
    nobody_ = true;
    const Result result = aurora(arguments);
    nobody_ = false;
    return result;
  }

  /// The same at a terminal, where `answer` is typed. The exit status.
  int at_terminal(const Arguments& arguments, const std::string& answer) {
    std::vector<char*> argv = {const_cast<char*>("aurora")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (chdir(work().c_str()) == 0) execv(AURORA_PROGRAM, argv.data());
      _exit(99);
    }
    EXPECT_EQ(::write(terminal, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    char said[4096];
    while (read(terminal, said, sizeof said) > 0) {
    }
    close(terminal);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  /// The program under a shell, which opens and closes what the test wants: "$1" is the program.
  int shell(const std::string& script) {
    const std::string command =
        "cd '" + work().string() + "' && set -- '" AURORA_PROGRAM "' && " + script;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  /// Expects one line of complaint, nothing on stdout, and no file made.
  void expect_refused(const Arguments& arguments, int status, const std::string& says,
                      const std::string& input = "") {
    std::string command = "aurora";
    for (const std::string& argument : arguments) command += " " + argument;
    SCOPED_TRACE(command);
    const std::size_t before = files();
    const Result result = aurora(arguments, input);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("aurora: error: ")) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_SAYS(result.err, says);
    EXPECT_EQ(files(), before) << "something was written";
  }

  std::size_t files() const {
    const auto all = fs::recursive_directory_iterator(work());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  fs::path folder_;
  bool nobody_ = false;
};

/// A genotype of the maze with all parameters 0 but the last two, the outputs' biases.
std::string maze_genes(const std::string& bias = "0.5") {
  std::string line;
  for (int i = 0; i < 40; ++i) line += "0.5 ";
  return line + bias + " " + bias + "\n";
}

/// A run that takes a moment and needs no encoder.
Arguments small_run(const Arguments& more) {
  Arguments arguments = {"run",          "maze", "--variant",    "hc-csc-uniform",
                         "--iterations", "3",    "run.batch=16", "container.target_size=50"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// --- Descriptors and signals ---------------------------------------------------------------------

const std::string kShortRun =
    "\"$1\" run maze --variant hc-csc-uniform --iterations 40 run.batch=8 "
    "container.target_size=20 run.log_every=1 --out ";

TEST_F(CommandLine, ALogThatCannotBeWrittenEndsNothing) {
  EXPECT_EQ(shell(kShortRun + "full >/dev/null 2>/dev/full"), 0);
  EXPECT_EQ(shell("(" + kShortRun +
                  "pipe 2>&1 >/dev/null; echo $? >status) | true; "
                  "while [ ! -s status ]; do sleep 0.1; done; exit $(cat status)"),
            0);
  EXPECT_EQ(shell("\"$1\" list >/dev/full 2>&1"), 1);
  EXPECT_EQ(shell("\"$1\" nonsense 2>/dev/full"), 2);
}

TEST_F(CommandLine, ClosedDescriptorsGetNothingThatIsForATerminal) {
  ASSERT_EQ(shell(kShortRun + "open >/dev/null 2>/dev/null"), 0);
  ASSERT_EQ(shell(kShortRun + "closed <&- >&- 2>&-"), 0);
  EXPECT_EQ(content_of(work() / "open" / "metrics.csv"),
            content_of(work() / "closed" / "metrics.csv"));
}

TEST_F(CommandLine, ALimitOnTheSizeOfFilesIsAnErrorOfTheWriteThatMeetsIt) {
  const int status = shell("ulimit -f 8; " + kShortRun + "limited >/dev/null 2>err");
  EXPECT_EQ(status, 1);
  EXPECT_SAYS(content_of(work() / "err"), "File too large");
}

TEST_F(CommandLine, NumbersOfJobsThatMakeNoSenseAreRefused) {
  write(work() / "study.toml", "[[study]]\ntasks = ['maze']\nvariants = ['ns']\n");
  for (const char* jobs : {"-1", "0", "99999999999999999999", "many"}) {
    const Result result = aurora({"experiment", "study.toml", "--jobs", jobs, "--dry-run"});
    EXPECT_EQ(result.status, 2) << jobs << result.out << result.err;
  }
  write(work() / "huge.toml",
        "replications = 99999999\n[[study]]\ntasks = ['maze']\nvariants = ['ns']\n");
  expect_refused({"experiment", "huge.toml"}, 2, "describes 99999999 runs");
}

// --- Help ----------------------------------------------------------------------------------------

const char* const kCommands[] = {"run",    "evaluate",   "list",    "show",   "nearest",
                                 "encode", "verify",     "retrain", "report", "digest",
                                 "export", "experiment", "help"};

/// The longest line of a text.
std::size_t width_of(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST_F(CommandLine, EveryCommandHasHelpWithExamples) {
  std::vector<Arguments> all = {{"--help"}, {"-h"}};
  for (const char* command : kCommands) all.push_back({command, "--help"});
  for (const Arguments& arguments : all) {
    SCOPED_TRACE(arguments[0]);
    const Result result = aurora(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_SAYS(result.out, "Examples:\n  aurora ");
    EXPECT_SAYS(result.out, "Usage: aurora");
  }
  EXPECT_SAYS(aurora({"run", "--help"}).out, "--iterations");
  EXPECT_SAYS(aurora({"evaluate", "--help"}).out, "--genes");
}

TEST_F(CommandLine, HelpIsACommandToo) {
  EXPECT_EQ(aurora({"help"}).out, aurora({"--help"}).out);
  for (const char* command : kCommands) {
    const Result result = aurora({"help", command});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, aurora({command, "--help"}).out);
    EXPECT_SAYS(aurora({"help"}).out, std::string("\n  ") + command + " ");
  }
  expect_refused({"help", "shwo"}, 2, "did you mean 'show'?");
}

TEST_F(CommandLine, HelpExplainsTheStudyFile) {
  const Result result = aurora({"help", "study"});
  EXPECT_EQ(result.status, 0);
  EXPECT_LE(width_of(result.out), 80u);
  for (const char* key : {"replications", "first_seed", "[settings]", "[variant.NAME]", "name",
                          "label", "tasks", "variants", "settings", "sweep", "retrain"}) {
    EXPECT_SAYS(result.out, std::string("\n  ") + key + " ");
  }
  // The example is one.
  const std::size_t begin = result.out.find("  replications = 20");
  const std::size_t end = result.out.find("\n\n", begin);
  std::string study = result.out.substr(begin, end - begin);
  study.replace(study.find("\"hexapod\""), 9, "\"maze\"");  // not in every build
  write(work() / "study.toml", study);
  const Result plan = aurora({"experiment", "study.toml", "--dry-run"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_SAYS(plan.out, "periods/maze-mine-update_period=50-seed20");
}

TEST_F(CommandLine, ListsOptionsIn80Columns) {
  const Result result = aurora({"list", "options"});
  EXPECT_EQ(result.status, 0);
  EXPECT_LE(width_of(result.out), 80u);
  for (const char* part : {"[run]\n", "\n[container]\n",
                           "\n  run.batch = 128 (an integer from 1 to 1000000)\n"
                           "      new genotypes in an iteration (B)\n",
                           "\n      for threshold.kind=vat\n"}) {
    EXPECT_SAYS(result.out, part);
  }
}

TEST_F(CommandLine, SaysItsVersion) {
  const Result result = aurora({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("aurora ")) << result.out;
  EXPECT_NE(result.out.find_first_of("0123456789"), std::string::npos);
}

TEST_F(CommandLine, WithoutWordsItShowsTheHelpAndFails) {
  const Result result = aurora({});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_SAYS(result.err, "Usage: aurora");
}

TEST_F(CommandLine, ListsTasksVariantsAndOptions) {
  EXPECT_SAYS(aurora({"list", "tasks"}).out, "42 genes");
  EXPECT_SAYS(aurora({"list", "variants"}).out, "aurora-csc-uniform-n");
  EXPECT_SAYS(aurora({"list", "variants"}).out, "selection.kind=surprise");
  EXPECT_SAYS(aurora({"list", "options"}).out, "an integer from 1 to 10000000");
  const Result all = aurora({"list"});
  EXPECT_EQ(all.status, 0);
  for (const std::string part : {"maze", "hc-csc-uniform", "container.target_size"}) {
    EXPECT_SAYS(all.out, part);
  }
}

TEST_F(CommandLine, SaysWhichPluginIsMissingOrDoesNotLoad) {
  // The library alone in a folder, without the plugins that lie beside it in the build.
  fs::create_directory(work() / "lib");
  fs::copy_file(AURORA_LIBRARY, work() / "lib" / fs::path(AURORA_LIBRARY).filename());
  const std::string there = "LD_LIBRARY_PATH=\"$PWD/lib\" \"$1\" ";
  for (const char* what : {"evaluators", ""}) {
    ASSERT_EQ(shell(there + "list " + what + " >out 2>err"), 0) << content_of(work() / "err");
    EXPECT_SAYS(content_of(work() / "out"), "not in this build: libaurora_mpi.so is not there");
  }
  // Tasks need none, but their other engines do.
  ASSERT_EQ(shell(there + "list tasks >out 2>err"), 0) << content_of(work() / "err");
  EXPECT_SAYS(content_of(work() / "out"), "an arm with four joints");
  EXPECT_EQ(content_of(work() / "out").find("not in this build"), std::string::npos);
  const std::string on_box2d = there + "run air-hockey task.engine=box2d >out 2>err";
  EXPECT_EQ(shell(on_box2d), 2);
  EXPECT_SAYS(content_of(work() / "err"), "task.engine=box2d needs Box2D");

  write(work() / "lib" / "libaurora_box2d.so", "no library");
  write(work() / "lib" / "libaurora_mpi.so", "no library");
  EXPECT_EQ(shell(on_box2d), 2);
  EXPECT_SAYS(content_of(work() / "err"), "libaurora_box2d.so is not there or does not load");
  ASSERT_EQ(shell(there + "list tasks >out 2>err"), 0) << content_of(work() / "err");
  EXPECT_SAYS(content_of(work() / "out"), "42 genes");
}

TEST_F(CommandLine, ListsThePartsOfEveryKind) {
  const Result all = aurora({"list"});
  struct List {
    std::string name;
    std::vector<std::string> parts;
    std::string option;
  };
  for (const List& list : std::vector<List>{
           {"loops",
            {"quality-diversity", "taxons", "novelty-search", "cma-me", "ensemble"},
            "population.added"},
           {"encoders", {"conv-ae", "mlp-ae", "pca"}, "encoder.epochs = "},
           {"containers", {"unstructured", "grid", "cvt"}, "container.update_period = "},
           {"thresholds", {"fixed", "csc", "pid", "vat"}, "threshold.gain = "},
           {"selectors",
            {"uniform", "novelty", "surprise", "novelty+surprise", "curiosity", "exploring",
             "tournament", "none"},
            "selection.reward = "},
           {"variations", {"polynomial", "iso+line"}, "variation.rate = "},
           {"metrics", {"grid", "fitness", "trajectory_diversity"}, ""},
           {"evaluators", {"threads"}, ""}}) {
    SCOPED_TRACE(list.name);
    const Result one = aurora({"list", list.name});
    EXPECT_EQ(one.status, 0) << one.err;
    for (const std::string& part : list.parts) {
      EXPECT_SAYS(one.out, "  " + part + " ");
      EXPECT_SAYS(all.out, "  " + part + " ");
    }
    EXPECT_SAYS(one.out, list.option);
    EXPECT_EQ(one.out.find("42 genes"), std::string::npos) << "the tasks are another list";
  }
}

TEST_F(CommandLine, UnknownWordsFindTheNearest) {
  expect_refused({"rnu", "maze"}, 2, "did you mean 'run'?");
  expect_refused({"maze"}, 2, "did you mean 'aurora run maze'?");
  expect_refused({"--versoin"}, 2, "did you mean '--version'?");
  expect_refused({"list", "variant"}, 2, "did you mean 'variants'?");
  expect_refused({"list", "container"}, 2, "did you mean 'containers'?");
  expect_refused({"run", "maze", "--iteration", "5"}, 2, "did you mean '--iterations'?");
  expect_refused({"run", "mase"}, 2, "did you mean 'maze'?");
  expect_refused({"run", "maze", "--variant", "hc-csc-unifrom"}, 2, "'hc-csc-uniform'");
  expect_refused({"run", "maze", "container.target_sze=5"}, 2, "'container.target_size'");
  expect_refused({"run", "maze", "selection.kind=novlty"}, 2, "did you mean 'novelty'?");
  expect_refused({"evaluate", "mase", "--genes", "-"}, 2, "did you mean 'maze'?");
}

// --- aurora run ----------------------------------------------------------------------------------

TEST_F(CommandLine, RefusesRequestsThatMakeNoSense) {
  expect_refused({"run"}, 2, "Known: maze");
  expect_refused({"report"}, 2, "DIR is required");
  expect_refused({"export", "somewhere"}, 2, "--csv or --npz");
  expect_refused({"export", "somewhere", "--csv", "--npz"}, 2, "--csv or --npz");
  expect_refused({"run", "run.seed=5"}, 2, "Known: maze");
  expect_refused({"run", "maze", "maze"}, 2, "KEY=VALUE");
  expect_refused({"run", "maze", "--seed"}, 2, "--seed");
  expect_refused({"run", "maze", "-x"}, 2, "-x");
  expect_refused({"run", "maze", "--iterations", "-5"}, 2,
                 "run.iterations must be an integer from 1 to 1000000000, not '-5'");
  expect_refused({"run", "maze", "--iterations", "0"}, 2, "run.iterations");
  expect_refused({"run", "maze", "--threads", "99999"}, 2, "from 1 to 4096");
  expect_refused({"run", "maze", "--seed", "abc"}, 2, "run.seed");
  expect_refused({"run", "maze", "container.target_size=-1"}, 2, "not '-1'");
  expect_refused({"run", "maze", "container.target_size=100000000000"}, 2, "from 1 to 10000000");
  expect_refused({"run", "maze", "variation.rate=nan"}, 2, "not 'nan'");
  expect_refused({"run", "maze", "task.colour=red"}, 2, "'colour'");
  expect_refused({"run", "maze", "--ranks", "4"}, 2, "--ranks goes with --dry-run");
  expect_refused({"run", "maze", "--dry-run", "--ranks", "0"}, 2, "--ranks");
  expect_refused({"run", "maze", "metrics.also=nothing"}, 2, "nothing");
  expect_refused({"run", "maze", "--variant", "hc-csc-uniform", "selection.kind=surprise"}, 2,
                 "reconstruction error");
  expect_refused({"run", "maze", "descriptor.dimension=1000", "--variant", "aurora-csc-uniform-0"},
                 2, "from 1 to 1000");
}

// What the mix has no part for is refused where it is said for one run.
TEST_F(CommandLine, RefusesKeysThatMeanNothing) {
  expect_refused(small_run({"encoder.epochs=3"}), 2, "encoder.epochs=3 means nothing here: ");
  expect_refused(small_run({"encoder.kind=pca"}), 2, "encoder.kind=pca means nothing here: ");
  expect_refused(small_run({"threshold.kind=fixed", "threshold.gain=1"}), 2,
                 "threshold.gain=1 means nothing here: ");
  expect_refused({"run", "maze", "--variant", "map-elites", "threshold.value=1"}, 2,
                 "threshold.value=1 means nothing here: ");
  expect_refused({"run", "maze", "--variant", "ns", "container.kind=grid"}, 2,
                 "container.kind=grid means nothing here: ");
  // A file may be for several kinds of runs.
  write(work() / "both.toml", "[encoder]\nepochs = 3\n[run]\nbatch = 16\n");
  const Result result = aurora(small_run({"--config", "both.toml", "--out", "run"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.err, "aurora: note: ");
  EXPECT_SAYS(result.err, "encoder.epochs=3 means nothing here: ");
  // The file that it leaves has none of it.
  EXPECT_EQ(content_of(work() / "run" / "config.toml").find("epochs"), std::string::npos);
  const Result again = aurora({"run", "--config", "run/config.toml", "--out", "again"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.err.find("means nothing"), std::string::npos) << again.err;
}

TEST_F(CommandLine, TakesVariantsFromAFile) {
  write(work() / "mine.toml",
        "[variant.far]\nsummary = \"seeks what is far\"\nbase = \"hc-csc-uniform\"\n"
        "settings = { selection.kind = \"novelty\" }\n");
  EXPECT_SAYS(aurora({"list", "variants", "--variants", "mine.toml"}).out, "seeks what is far");
  EXPECT_SAYS(aurora({"list", "--variants", "mine.toml"}).out, "seeks what is far");
  EXPECT_EQ(aurora({"list", "variants"}).out.find("seeks what is far"), std::string::npos);

  const Arguments run = {"run",          "maze", "--variant",    "far",
                         "--iterations", "3",    "run.batch=16", "container.target_size=50"};
  Arguments known = run;
  known.insert(known.end(), {"--variants", "mine.toml"});
  Arguments named = known;
  named.insert(named.end(), {"--out", "here"});
  expect_refused(run, 2, "far");
  const Result result = aurora(named);
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string config = content_of(work() / "here" / "config.toml");
  EXPECT_SAYS(config, "variant = \"far\"");
  EXPECT_SAYS(config, "kind = \"novelty\"");
  EXPECT_EQ(Json::parse(content_of(work() / "here" / "run.json")).at("variant"), "far");
  ASSERT_EQ(aurora(known).status, 0);
  EXPECT_TRUE(fs::exists(work() / "runs" / "maze-far-seed1" / "run.json"));

  // The run knows what it is without the file.
  fs::remove(work() / "mine.toml");
  EXPECT_EQ(aurora({"verify", "here"}).status, 0);
  EXPECT_EQ(aurora({"show", "here"}).status, 0);
  const Result longer = aurora({"run", "--resume", "--out", "here", "--iterations", "5"});
  EXPECT_EQ(longer.status, 0) << longer.err;
  EXPECT_EQ(Json::parse(content_of(work() / "here" / "run.json")).at("variant"), "far");

  expect_refused(known, 1, "mine.toml");
  write(work() / "mine.toml", "[run]\nseed = 1\n");
  expect_refused(known, 2, "'mine.toml' has no [variant.NAME]");
  write(work() / "mine.toml", "[variant.hc-csc-uniform]\nsettings = { run.batch = 3 }\n");
  expect_refused(known, 2, "is there already, with other settings");
  write(work() / "mine.toml", "[variant.far]\ncolour = 1\n");
  expect_refused(known, 2, "[variant.far] has 'colour'");
  write(work() / "mine.toml", "[variant.far]\nbase = \"hc-csc-unifrom\"\n");
  expect_refused(known, 2, "'hc-csc-uniform'");
  write(work() / "mine.toml", "[variant.far]\nsettings = { run.bach = 3 }\n");
  expect_refused(known, 2, "'run.batch'");
  write(work() / "mine.toml", "[variant.far\n");
  expect_refused({"list", "--variants", "mine.toml"}, 1, "mine.toml:1: ");
}

TEST_F(CommandLine, RefusesBrokenConfigurationFiles) {
  write(work() / "truncated.toml", "[run]\nseed = 1\niterations =");
  write(work() / "typo.toml", "[run]\nsed = 1\n");
  expect_refused({"run", "maze", "--config", "truncated.toml"}, 1, "truncated.toml:3: ");
  expect_refused({"run", "maze", "--config", "typo.toml"}, 2, "did you mean 'run.seed'?");
  expect_refused({"run", "maze", "--config", "none.toml"}, 1, "none.toml");
  expect_refused({"run", "maze", "--config", "."}, 1, ".");
}

TEST_F(CommandLine, RunsAndSumsUp) {
  const Result result = aurora(small_run({"--seed", "3", "--out", "here"}));
  ASSERT_EQ(result.status, 0) << result.err;
  for (const std::string part : {"finished after 3 iterations", "target 50", "coverage",
                                 "grid mean fitness", "threshold", "per second", "here"}) {
    EXPECT_SAYS(result.out, part);
  }
  const Json run = Json::parse(content_of(work() / "here" / "run.json"));
  EXPECT_EQ(run.at("status"), "finished");
  EXPECT_EQ(run.at("iterations"), 3);
  EXPECT_SAYS(content_of(work() / "here" / "config.toml"), "target_size = 50");

  // The file that a run leaves repeats it, with any number of threads.
  const Result again = aurora(
      {"run", "--config", "here/config.toml", "--threads", "3", "--out", "there", "--quiet"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.err, "");
  const Json repeated = Json::parse(content_of(work() / "there" / "run.json"));
  EXPECT_EQ(repeated.at("container_hash"), run.at("container_hash"));

  const Result other = aurora(small_run({"--seed", "4", "--out", "other"}));
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_NE(Json::parse(content_of(work() / "other" / "run.json")).at("container_hash"),
            run.at("container_hash"));
}

TEST_F(CommandLine, EstimatesARunAndWhatRanksMakeOfIt) {
  const Result one =
      aurora({"run", "maze", "--variant", "hc-csc-uniform", "--dry-run", "--threads", "1"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_SAYS(one.out, "iterations of 128 with 1 thread(s), about ");
  EXPECT_EQ(one.out.find("ranks"), std::string::npos);
  // Nothing but simulation, and eight pieces.
  const Result many = aurora({"run", "maze", "--variant", "hc-csc-uniform", "--dry-run",
                              "--threads", "1", "--ranks", "64"});
  EXPECT_SAYS(many.out, "with 64 ranks of as many threads");
  EXPECT_SAYS(many.out, "8.0 times as fast");
  EXPECT_SAYS(many.out, "8 piece(s) of 16");
  EXPECT_FALSE(fs::exists(work() / "runs")) << "nothing is written";
}

TEST_F(CommandLine, FindsAFreeFolderUnlessOneIsNamed) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aurora(small_run({})).status, 0);
  for (const std::string end : {"", "-2", "-3"}) {
    EXPECT_TRUE(fs::exists(work() / "runs" / ("maze-hc-csc-uniform-seed1" + end) / "run.json"));
  }
}

TEST_F(CommandLine, NeverTouchesAFolderThatIsInUse) {
  fs::create_directory(work() / "full");
  write(work() / "full" / "thesis.txt", "precious");
  write(work() / "file", "precious too");
  expect_refused(small_run({"--out", "full"}), 1, "full");
  expect_refused(small_run({"--out", "file"}), 1, "file");
  expect_refused(small_run({"--out", "file/below"}), 1, "file");
  expect_refused(small_run({"--out", ""}), 2, "--out");
  EXPECT_EQ(content_of(work() / "full" / "thesis.txt"), "precious");
  EXPECT_EQ(content_of(work() / "file"), "precious too");
}

TEST_F(CommandLine, SaysWhereAMixLeavesItsVariant) {
  const Result result = aurora(small_run({"selection.kind=novelty", "--out", "mix"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.err,
              "hc-csc-uniform with selection.kind = \"novelty\" instead of \"uniform\"");
}

/// A run that does not end by itself.
Arguments endless_run(const std::string& out) {
  return {"run",
          "maze",
          "--variant",
          "hc-csc-uniform",
          "--iterations",
          "1000000",
          "run.batch=16",
          "container.target_size=50",
          "run.log_every=1",
          "--out",
          out};
}

/// Waits for something to happen, a minute at most.
template <class Condition>
void wait_until(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(CommandLine, InterruptedRunsSaveWhatTheyHave) {
  for (const auto& [signal, status] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    const std::string out = "run" + std::to_string(status);
    const pid_t child = start(endless_run(out));
    // Wait for the first row, so that the run is under way.
    wait_until([&] { return !content_of(work() / out / "metrics.csv").empty(); });
    kill(child, signal);
    const Result result = wait_for(child);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_SAYS(result.out, "interrupted after");
    EXPECT_SAYS(result.out, "aurora run --resume --out '" + out + "'");
    EXPECT_EQ(Json::parse(content_of(work() / out / "run.json")).at("status"), "interrupted");
    EXPECT_TRUE(fs::exists(work() / out / "container" / "manifest.json"));

    // It goes on, and ends as if it had never stopped.
    const Json stopped = Json::parse(content_of(work() / out / "run.json"));
    const std::string end = std::to_string(stopped.at("iterations").get<int>() + 10);
    const Result resumed = aurora({"run", "--resume", "--out", out, "--iterations", end});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_SAYS(resumed.err, "resumed at iteration ");
    const Result whole = aurora({"run", "--config", out + "/config.toml", "--out", out + "-whole"});
    ASSERT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(content_of(work() / out / "metrics.csv"),
              content_of(work() / (out + "-whole") / "metrics.csv"));
    EXPECT_EQ(Json::parse(content_of(work() / out / "run.json")).at("container_hash"),
              Json::parse(content_of(work() / (out + "-whole") / "run.json")).at("container_hash"));
  }
}

/// Of the last checkpoint; 0 if there is none.
int saved_iteration(const fs::path& run) {
  const Json manifest =
      Json::parse(content_of(run / "checkpoint" / "manifest.json"), nullptr, false);
  return manifest.is_object() ? manifest.at("iteration").get<int>() : 0;
}

TEST_F(CommandLine, AFailedRunSaysWhatIsSaved) {
  const pid_t child = start(endless_run("run"));
  wait_until([&] { return !content_of(work() / "run" / "metrics.csv").empty(); });
  const auto saved = [&] { return saved_iteration(work() / "run"); };
  for (int times = 0; times < 2; ++times) {  // when it begins the second it knows of the first
    const int before = saved();
    kill(child, SIGUSR1);
    wait_until([&] { return saved() > before; });
  }
  fs::remove(work() / "run" / "metrics.csv");
  const Result failed = wait_for(child);
  EXPECT_EQ(failed.status, 1) << failed.err;
  EXPECT_SAYS(failed.err, "aurora: error: ");
  EXPECT_SAYS(failed.err, "the run is saved up to iteration ");
  EXPECT_SAYS(failed.err, "aurora run --resume --out 'run' goes on");
  const std::string end = std::to_string(saved() + 10);
  const Result resumed = aurora({"run", "--resume", "--out", "run", "--iterations", end});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(CommandLine, SavesOnRequestAndKeepsOthersOut) {
  const pid_t child = start(endless_run("run"));
  wait_until([&] { return !content_of(work() / "run" / "metrics.csv").empty(); });
  const auto saved = [&] { return saved_iteration(work() / "run"); };
  EXPECT_EQ(saved(), 0);
  for (int times = 0; times < 2; ++times) {
    const int before = saved();
    kill(child, SIGUSR1);
    wait_until([&] { return saved() > before; });
    EXPECT_GT(saved(), before);
  }
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it goes on";

  // Nobody else may write there meanwhile.
  EXPECT_TRUE(content_of(work() / "run" / ".lock").starts_with(std::to_string(child) + " on "));
  const pid_t other = fork();
  if (other == 0) {
    const std::string out = (work() / "run").string();
    const std::string err = (folder_ / "io" / "other").string();
    const int file = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, 2);
    execl(AURORA_PROGRAM, "aurora", "run", "--resume", "--out", out.c_str(), nullptr);
    _exit(99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 75) << "to be tried again later";
  EXPECT_SAYS(content_of(folder_ / "io" / "other"),
              "is in use by process " + std::to_string(child));

  // Killed outright; its lock is no lock any more.
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child).status, 1000 + SIGKILL);
  EXPECT_TRUE(fs::exists(work() / "run" / ".lock"));
  const Result result =
      aurora({"run", "--resume", "--out", "run", "--iterations", std::to_string(saved() + 5)});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(fs::exists(work() / "run" / ".lock"));
}

/// Whether a process has a handler of its own for a signal (Linux).
bool handles(pid_t process, int signal) {
  const std::string status = content_of("/proc/" + std::to_string(process) + "/status");
  const std::size_t mask = status.find("SigCgt:");
  return mask != std::string::npos &&
         (std::stoull(status.substr(mask + 7), nullptr, 16) >> (signal - 1) & 1) != 0;
}

TEST_F(CommandLine, ASecondInterruptOfEitherKindEndsAtOnce) {
  for (const auto& [first, second] : {std::pair{SIGINT, SIGINT}, std::pair{SIGTERM, SIGTERM},
                                      std::pair{SIGINT, SIGTERM}, std::pair{SIGHUP, SIGINT}}) {
    // The first iteration takes seconds.
    const std::string out = std::to_string(first) + "-" + std::to_string(second);
    const pid_t child = start({"run", "hexapod", "--variant", "hc-csc-uniform", "run.batch=20000",
                               "--threads", "1", "--out", out});
    wait_until([&] { return fs::exists(work() / out / "run.json"); });
    ASSERT_TRUE(handles(child, SIGINT));
    kill(child, first);
    wait_until([&] { return !handles(child, SIGINT); });  // two at once would count as one
    kill(child, second);
    EXPECT_EQ(wait_for(child).status, 1000 + second);
    EXPECT_FALSE(fs::exists(work() / out / "container"));
  }
}

// A terminal that goes tells its programs, and its shell does so, too.
TEST_F(CommandLine, AnyNumberOfHangUpsSaves) {
  const pid_t child = start(endless_run("run"));
  wait_until([&] { return !content_of(work() / "run" / "metrics.csv").empty(); });
  kill(child, SIGHUP);
  wait_until([&] { return !handles(child, SIGINT); });
  kill(child, SIGHUP);
  EXPECT_EQ(wait_for(child).status, 129);
  EXPECT_EQ(Json::parse(content_of(work() / "run" / "run.json")).at("status"), "interrupted");
}

// nohup has it ignored from the beginning.
TEST_F(CommandLine, GoesOnWithoutItsTerminalUnderNohup) {
  const auto before = signal(SIGHUP, SIG_IGN);
  const pid_t child = start(endless_run("run"));
  signal(SIGHUP, before);
  const auto rows = [&] {
    const std::string table = content_of(work() / "run" / "metrics.csv");
    return std::ranges::count(table, '\n');
  };
  wait_until([&] { return rows() > 1; });
  kill(child, SIGHUP);
  const auto then = rows();
  wait_until([&] { return rows() > then + 2; });
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child).status, 143);
}

TEST_F(CommandLine, IsInterruptedWhileAContainerIsMade) {
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const pid_t child = start({"run", "maze", "--variant", "cvt-map-elites", "--out", "run",
                               "container.target_size=1000000"});
    wait_until([&] {
      return content_of(folder_ / "io" / "err").find("making Voronoi cells") != std::string::npos;
    });
    const auto begin = std::chrono::steady_clock::now();
    kill(child, signal);
    const Result result = wait_for(child);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    EXPECT_EQ(result.status, status);
    EXPECT_SAYS(result.err, "making Voronoi cells  0 %");
    EXPECT_SAYS(result.err, "interrupted before the first iteration: nothing was written");
    EXPECT_FALSE(fs::exists(work() / "run"));
  }
}

TEST_F(CommandLine, VerifiesAllRunsOfAFolder) {
  for (const char* out : {"all/a", "all/deep/b"}) {
    ASSERT_EQ(aurora(small_run({"--out", out})).status, 0);
  }
  const Result whole = aurora({"verify", "all"});
  EXPECT_EQ(whole.status, 0);
  EXPECT_EQ(whole.out, "all/a is whole.\nall/deep/b is whole.\n2 runs, 0 of them damaged.\n");
  std::ofstream(work() / "all" / "deep" / "b" / "metrics.csv", std::ios::app) << "1,2,3\n";
  const Result damaged = aurora({"verify", "all"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_SAYS(damaged.out, "BAD");
  EXPECT_SAYS(damaged.out, "2 runs, 1 of them damaged.\n");
  fs::create_directories(work() / "nothing");
  expect_refused({"verify", "nothing"}, 2, "is no run");
}

TEST_F(CommandLine, ResumesOnlyWhatCanBeResumed) {
  expect_refused({"run", "--resume"}, 2, "--resume needs --out DIR");
  expect_refused({"run", "--resume", "--out", "none"}, 2, "there is no config.toml in 'none'");
  ASSERT_EQ(aurora(small_run({"--resume", "--out", "run"})).status, 0) << "begins it";
  expect_refused({"run", "--resume", "--out", "run", "--seed", "9"}, 2,
                 "run.seed was 1, now it is 9");
  expect_refused({"run", "--resume", "--out", "run", "--iterations", "2"}, 2,
                 "has done 3 iterations already");
  expect_refused(small_run({"--out", "run"}), 1, "not empty");
  const std::string before = content_of(work() / "run" / "run.json");
  EXPECT_EQ(aurora({"run", "--resume", "--out", "run"}).status, 0);
  EXPECT_EQ(content_of(work() / "run" / "run.json"), before) << "a finished run is left alone";

  fs::remove_all(work() / "run" / "checkpoint");
  EXPECT_EQ(aurora({"run", "--resume", "--out", "run"}).status, 0) << "there is nothing to do";
  EXPECT_EQ(content_of(work() / "run" / "run.json"), before);
  const Result result = aurora({"run", "--resume", "--out", "run", "--iterations", "9"});
  EXPECT_EQ(result.status, 1);
  EXPECT_SAYS(result.err, "'run/checkpoint' is missing");
}

// --- aurora evaluate -----------------------------------------------------------------------------

TEST_F(CommandLine, EvaluatesTheGoldenControllers) {
  const Result result =
      aurora({"evaluate", "maze", "--genes", "-"}, "# golden\n\n" + maze_genes() + maze_genes("1"));
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  std::string line;

  // All parameters 0: the robot stays where it is.
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(line.starts_with(
      R"({"fitness": 0.0, "ground_truth": {"x": 60.0, "y": 450.0, "heading": 0.785)"))
      << line;

  // Both motors forward until a wall (specification, tasks, section 1).
  ASSERT_TRUE(std::getline(lines, line));
  const Json forward = Json::parse(line);
  EXPECT_NEAR(forward.at("fitness").get<double>(), -3999.387, 0.01);
  EXPECT_NEAR(forward.at("ground_truth").at("x").get<double>(), 187.268, 0.01);
  EXPECT_NEAR(forward.at("ground_truth").at("y").get<double>(), 577.268, 0.01);
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(CommandLine, EvaluatesManyLinesInOrderWithAnyNumberOfThreads) {
  std::string genes;
  for (int i = 0; i < 1500; ++i) {
    std::string line = maze_genes(i % 2 == 0 ? "0.5" : "0.75");
    if (i % 3 == 0) std::ranges::replace(line, ' ', ',');
    genes += line;
  }
  write(work() / "genes.txt", genes);
  const Result one = aurora({"evaluate", "maze", "--genes", "genes.txt", "--threads", "1"});
  const Result three = aurora({"evaluate", "maze", "--genes", "genes.txt", "--threads", "3"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, three.out);
  std::istringstream lines(one.out);
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    const double fitness = Json::parse(line).at("fitness");
    EXPECT_EQ(fitness == 0.0, count % 2 == 0) << "line " << count;
  }
  EXPECT_EQ(count, 1500);
}

TEST_F(CommandLine, RefusesBadGenes) {
  const Arguments arguments = {"evaluate", "maze", "--genes", "-"};
  const std::string good = maze_genes();
  expect_refused(arguments, 1, "standard input:2: 1 genes, but the task's genotypes have 42",
                 good + "0.5\n");
  expect_refused(arguments, 1, "standard input:1: gene 41 is '1.5'", maze_genes("1.5"));
  expect_refused(arguments, 1, "gene 41 is '-0.1'", maze_genes("-0.1"));
  expect_refused(arguments, 1, "standard input:4: gene 41 is 'nan'",
                 "\n# comment\n" + good + maze_genes("nan"));
  expect_refused(arguments, 1, "gene 41 is 'x'", maze_genes("x"));
  expect_refused(arguments, 1, "no genotype", "");
  expect_refused(arguments, 1, "standard input:1: there is no column gene_1", "id,gene_0\n0,0.5\n");
  expect_refused({"evaluate", "maze", "--genes", "none.txt"}, 1, "none.txt");
  expect_refused({"evaluate", "maze"}, 2, "--genes");
  expect_refused({"evaluate", "--genes", "-"}, 2, "Known: maze", good);
  expect_refused({"evaluate", "maze", "--genes", "-", "run.seed=5"}, 2, "run.seed=5", good);
  expect_refused({"evaluate", "maze", "--genes", "-", "--threads", "0"}, 2, "--threads", good);
  expect_refused({"evaluate", "maze", "--genes", "-", "--threads", "-1"}, 2, "--threads", good);
}

TEST_F(CommandLine, WritesThePictureOfTheFirstAndReplacesNothingUnasked) {
  const Arguments arguments = {"evaluate", "maze", "--genes", "-", "--image", "maze.png"};
  Result result = aurora(arguments, maze_genes());
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string picture = content_of(work() / "maze.png");
  EXPECT_TRUE(picture.starts_with("\x89PNG")) << "no PNG";

  write(work() / "maze.png", "precious");
  expect_refused(arguments, 1, "--force", maze_genes());
  EXPECT_EQ(content_of(work() / "maze.png"), "precious");

  Arguments forced = arguments;
  forced.push_back("--force");
  result = aurora(forced, maze_genes());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(content_of(work() / "maze.png"), picture);

  expect_refused({"evaluate", "maze", "--genes", "-", "--image", "no/such/folder.png"}, 1,
                 "no/such/folder.png", maze_genes());
}

// --- aurora show ---------------------------------------------------------------------------------

TEST_F(CommandLine, ShowsTheBestUnlessSaid) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  const Result best = aurora({"show", "here"});
  ASSERT_EQ(best.status, 0) << best.err;
  EXPECT_EQ(best.err, "");
  EXPECT_SAYS(best.out, "evaluated again: the same to the bit");
  EXPECT_SAYS(best.out, "  here/show/individual-");
  std::size_t pictures = 0;
  for (const auto& file : fs::directory_iterator(work() / "here" / "show")) {
    EXPECT_TRUE(content_of(file.path()).starts_with("\x89PNG\r\n")) << file.path();
    const bool moves = content_of(file.path()).find("acTL") != std::string::npos;
    EXPECT_EQ(file.path().extension(), moves ? ".apng" : ".png");
    ++pictures;
  }
  EXPECT_EQ(pictures, 3u);
  EXPECT_EQ(aurora({"show", "here", "--best"}).out, best.out);  // its own files are replaced
}

TEST_F(CommandLine, ShowsSeveralAndTheNearest) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  const Result several = aurora({"show", "here", "--random", "2", "--out", "pictures"});
  ASSERT_EQ(several.status, 0) << several.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(work() / "pictures"), {}), 6);
  const Result nearest = aurora({"show", "here", "--ground-truth", "60,450", "--film", "none"});
  EXPECT_EQ(nearest.status, 0) << nearest.err;
  EXPECT_SAYS(nearest.out, "  goal x 60, y 450: distance ");
  EXPECT_SAYS(nearest.out, " of the axes' lengths; off by x ");
  const Result outside = aurora({"show", "here", "--ground-truth", "-1,700", "--film", "none"});
  EXPECT_EQ(outside.status, 0);
  EXPECT_SAYS(outside.out, "goal x -1, y 700, outside the bounds, x -1 (0 to 600), y 700 (0 to ");
}

TEST_F(CommandLine, ShowsFilmsOfTheKindThatIsSaid) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  const Result gif = aurora({"show", "here", "--film", "gif"});
  EXPECT_EQ(gif.status, 0) << gif.err;
  EXPECT_SAYS(gif.out, "-film.gif\n");
  const Result none = aurora({"show", "here", "--film", "none", "--out", "still"});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out.find("film"), std::string::npos);
  expect_refused({"show", "here", "--film", "giff"}, 2, "did you mean 'gif'?");
  EXPECT_EQ(shell("PATH=/nowhere \"$1\" show here --film mp4 --out films 2>err"), 1);
  EXPECT_SAYS(content_of(work() / "err"), "films as MP4 need the program ffmpeg");
  EXPECT_FALSE(fs::exists(work() / "films"));
}

TEST_F(CommandLine, ManyIndividualsAreShownOnlyToWhoWantsThem) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  expect_refused({"show", "here", "--random", "21", "--out", "many"}, 2, "add --yes");
  // Who is asked and says yes gets as far as the first one: there is no room for its pictures.
  write(work() / "file", "in the way");
  Arguments words = {"show", "here", "--random", "21", "--film", "none", "--out", "file/below"};
  EXPECT_EQ(at_terminal(words, "n\n"), 2);
  EXPECT_EQ(at_terminal(words, "\n"), 2);
  EXPECT_EQ(at_terminal(words, "y\n"), 1);
  words.push_back("--yes");
  expect_refused(words, 1, "file/below");
  words[3] = "20";
  words.pop_back();
  expect_refused(words, 1, "file/below");
}

// --- aurora nearest ------------------------------------------------------------------------------

TEST_F(CommandLine, FindsTheNearest) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  const Result result = aurora({"nearest", "here", "300,80", "--count", "3"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const ::aurora::SavedContainer saved = ::aurora::load_container(work() / "here" / "container");
  std::istringstream lines(result.out);
  double last = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    const auto row = static_cast<std::size_t>(
        std::ranges::find(saved.individuals.ids, json.at("id").get<std::uint64_t>()) -
        saved.individuals.ids.begin());
    ASSERT_LT(row, saved.individuals.size());
    EXPECT_GE(json.at("distance").get<double>(), last);
    last = json.at("distance");
    // To the bit, though it is text.
    EXPECT_EQ(json.at("fitness").get<float>(), saved.individuals.fitness[row]);
    EXPECT_EQ(json.at("ground_truth").at("y").get<float>(), saved.individuals.ground_truth(row, 1));
    EXPECT_EQ(json.at("ground_truth").size(), 3u);
    const auto genes = saved.individuals.genotypes.row(row);
    EXPECT_EQ(json.at("genotype").get<std::vector<float>>(),
              std::vector<float>(genes.begin(), genes.end()));
    EXPECT_EQ(json.at("descriptor").get<std::vector<float>>(),
              std::vector<float>(saved.individuals.descriptors.row(row).begin(),
                                 saved.individuals.descriptors.row(row).end()));
  }
  EXPECT_EQ(count, 3);

  const Result outside = aurora({"nearest", "here", "-1,80"});
  EXPECT_EQ(outside.status, 0);
  EXPECT_SAYS(outside.err, "aurora: note: the goal is outside the bounds: x -1 (0 to 600)\n");
  const auto place = saved.individuals.descriptors.row(5);
  const Result alike = aurora({"nearest", "here", "--descriptor",
                               std::to_string(place[0]) + "," + std::to_string(place[1])});
  ASSERT_EQ(alike.status, 0) << alike.err;
  EXPECT_NEAR(Json::parse(alike.out).at("distance").get<double>(), 0, 1e-4);

  expect_refused({"nearest", "here"}, 2, "nearest to what?");
  expect_refused({"nearest", "here", "1,2", "--descriptor", "1,2"}, 2, "nearest to what?");
  expect_refused({"nearest", "here", "1,2,3,4"}, 2, "x,y,heading");
  expect_refused({"nearest", "here", "--descriptor", "1"}, 2, "2 finite numbers");
  expect_refused({"nearest", "here", "north"}, 2, "PLACE");
  expect_refused({"nearest", "here", "1,2", "--count", "0"}, 2, "--count");
  expect_refused({"nearest", "nowhere", "1,2"}, 1, "there is no run directory 'nowhere'");
}

// --- aurora encode -------------------------------------------------------------------------------

TEST_F(CommandLine, EncodesObservations) {
  ASSERT_EQ(aurora({"run", "maze", "--variant", "aurora-csc-uniform-2", "--iterations", "10",
                    "run.batch=16", "container.target_size=50", "--out", "here", "--quiet"})
                .status,
            0);
  const std::string sensory = "here/container/sensory.npy";
  const Result csv = aurora({"encode", "here", sensory});
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_TRUE(csv.out.starts_with("descriptor_1,descriptor_2,reconstruction_error\n"));
  const ::aurora::SavedContainer saved = ::aurora::load_container(work() / "here" / "container");
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  for (std::size_t row = 0; row < saved.individuals.size(); ++row) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(std::stof(line), saved.individuals.descriptors(row, 0));  // to the bit
    EXPECT_EQ(std::stof(line.substr(line.find(',') + 1)), saved.individuals.descriptors(row, 1));
  }
  EXPECT_FALSE(std::getline(lines, line));

  const Result npy = aurora({"encode", "here", sensory, "--out", "d.npy"});
  ASSERT_EQ(npy.status, 0) << npy.err;
  EXPECT_EQ(npy.out, "d.npy\n");
  EXPECT_EQ(content_of(work() / "d.npy").size(), 128 + 12 * saved.individuals.size());
  expect_refused({"encode", "here", sensory, "--out", "d.npy"}, 1, "--force");
  EXPECT_EQ(aurora({"encode", "here", sensory, "--out", "d.npy", "--force"}).status, 0);
  expect_refused({"encode", "here", sensory, "--out", "d.csv"}, 2, "is a .npy file");
  expect_refused({"encode", "here", "d.npy"}, 1, "needs an array of uint8 of the shape (rows, 64");
  expect_refused({"encode", "here", "none.npy"}, 1, "none.npy");
  expect_refused({"encode", "here"}, 2, "FILE");
  ASSERT_EQ(aurora(small_run({"--out", "coded"})).status, 0);
  expect_refused({"encode", "coded", sensory}, 2, "hand-coded");
}

// --- What may not be read ------------------------------------------------------------------------

TEST_F(CommandLine, SaysWhatMayNotBeReadInItsOwnWords) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody who may not read";
  ASSERT_EQ(aurora({"run", "maze", "--variant", "aurora-csc-uniform-2", "--iterations", "10",
                    "run.batch=16", "container.target_size=50", "run.snapshot_every=5", "--out",
                    "all/here", "--quiet"})
                .status,
            0);
  write(work() / "genes.txt", maze_genes());
  write(work() / "study.toml", "[[study]]\ntasks = ['maze']\nvariants = ['ns']\n");
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(folder_ / "io", fs::perms::all);
  const std::vector<Arguments> commands = {{"show", "all/here", "--out", "/nowhere"},
                                           {"nearest", "all/here", "1,2"},
                                           {"encode", "all/here", "all/here/container/sensory.npy"},
                                           {"verify", "all/here"},
                                           {"verify", "all"},
                                           {"retrain", "all/here", "--out", "/nowhere/x"},
                                           {"run", "--resume", "--out", "all/here"},
                                           {"run", "--config", "all/here/config.toml"},
                                           {"export", "all/here", "--csv"},
                                           {"report", "all", "--out", "/nowhere"}};
  for (const char* closed :
       {"all/here", "all/here/config.toml", "all/here/run.json", "all/here/container",
        "all/here/container/fitness.npy", "all/here/container/manifest.json", "all/here/encoder",
        "all/here/metrics.csv", "all/here/snapshots", "all"}) {
    const fs::path path = work() / closed;
    const fs::perms before = fs::status(path).permissions();
    fs::permissions(path, fs::perms::none);
    for (const Arguments& words : commands) {
      const bool python = words[0] == "report" || words[0] == "export";  // takes its time
      if (python && path != work() / "all" && path.filename() != "run.json") continue;
      SCOPED_TRACE(std::string(closed) + ": " + words[0] + " " + words[1]);
      const Result result = aurora_as_nobody(words);
      ASSERT_NE(result.status, 99) << "the program itself may not be read";
      const std::string said = result.out + result.err;
      for (const char* foreign : {"filesystem error", "Traceback", "[Errno", "terminate called"}) {
        EXPECT_EQ(said.find(foreign), std::string::npos) << said;
      }
    }
    const Result shown = aurora_as_nobody({"nearest", "all/here", "1,2"});
    if (shown.status != 0) {
      EXPECT_SAYS(shown.err, "Permission denied");
    }
    fs::permissions(path, before);
  }
  fs::permissions(work() / "genes.txt", fs::perms::none);
  EXPECT_SAYS(aurora_as_nobody({"evaluate", "maze", "--genes", "genes.txt"}).err,
              "cannot read genes.txt: Permission denied");
  fs::permissions(work() / "study.toml", fs::perms::none);
  EXPECT_SAYS(aurora_as_nobody({"experiment", "study.toml"}).err, "Permission denied");
}

TEST_F(CommandLine, ShowsARunThatIsGoingOn) {
  const pid_t child =
      start({"run", "maze", "--variant", "hc-csc-uniform", "--iterations", "1000000",
             "run.batch=16", "run.snapshot_every=5", "--out", "here", "--quiet"});
  wait_until([&] { return fs::exists(work() / "here" / "snapshots" / "000005"); });
  const Result shown = aurora({"show", "here", "--out", "pictures"});
  kill(child, SIGKILL);
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_SAYS(shown.err, "there is no whole container: this is snapshots/");
  EXPECT_SAYS(shown.out, "the same to the bit");
  int status = 0;
  waitpid(child, &status, 0);
}

TEST_F(CommandLine, ShowFailsIfWhatIsStoredDoesNotComeBack) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  ::aurora::SavedContainer saved = ::aurora::load_container(work() / "here" / "container");
  for (float& fitness : saved.individuals.fitness) fitness -= 1;
  ::aurora::RunDirectory::create(work() / "other")
      .write_container(saved.individuals, saved.state,
                       ::aurora::plan_of_run(::aurora::builtin_parts(), work() / "here").spec());
  fs::remove_all(work() / "here" / "container");
  fs::rename(work() / "other" / "container", work() / "here" / "container");
  const Result result = aurora({"show", "here"});
  EXPECT_EQ(result.status, 1);
  EXPECT_SAYS(result.out, "evaluated again: NOT the same: fitness is ");
  EXPECT_SAYS(result.out, ".png");  // what it does now is drawn all the same
}

TEST_F(CommandLine, RefusesToShowWhatIsNotThere) {
  ASSERT_EQ(aurora(small_run({"--out", "here"})).status, 0);
  expect_refused({"show"}, 2, "RUN");
  expect_refused({"show", "nowhere"}, 1, "nowhere");
  expect_refused({"show", "here", "--id", "99999"}, 2, "the nearest id is ");
  expect_refused({"show", "here", "--id", "-1"}, 2, "--id");
  expect_refused({"show", "here", "--id", "1", "--best"}, 2, "exclude each other");
  expect_refused({"show", "here", "--random", "-2"}, 2, "--random");
  expect_refused({"show", "here", "--random", "0"}, 2, "at least 1");
  expect_refused({"show", "here", "--ground-truth", "1,2,3,4"}, 2, "x,y,heading");
  expect_refused({"show", "here", "--ground-truth", "one,two"}, 2, "--ground-truth");
  expect_refused({"show", "here", "--ids", "1"}, 2, "did you mean '--id'?");
}

// --- aurora retrain ------------------------------------------------------------------------------

TEST_F(CommandLine, RetrainsOnceAndSaysSo) {
  ASSERT_EQ(aurora({"run", "maze", "--variant", "aurora-csc-uniform-2", "--iterations", "10",
                    "run.batch=16", "container.target_size=50", "--out", "run"})
                .status,
            0);
  const Result first = aurora({"retrain", "run", "--epochs", "2"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_SAYS(first.out, "run/retrained: 2 latent dimension(s), 2 epochs on ");
  const std::string manifest = content_of(work() / "run" / "retrained" / "manifest.json");
  const Result second = aurora({"retrain", "run", "--epochs", "2", "--threads", "1"});
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_SAYS(second.out, "it was there already");
  expect_refused({"retrain", "run", "--epochs", "3"}, 1, "replace it by force");
  EXPECT_EQ(content_of(work() / "run" / "retrained" / "manifest.json"), manifest);
  EXPECT_EQ(aurora({"retrain", "run", "--epochs", "3", "--force"}).status, 0);
  EXPECT_EQ(aurora({"verify", "run"}).status, 0);
}

TEST_F(CommandLine, RefusesToRetrainWhatHasNoEncoder) {
  ASSERT_EQ(aurora(small_run({"--out", "run"})).status, 0);
  expect_refused({"retrain", "run"}, 2, "are hand-coded");
  expect_refused({"retrain", "nowhere"}, 1, "there is no run directory 'nowhere'");
  expect_refused({"retrain"}, 2, "RUN");
  expect_refused({"retrain", "run", "--dimension", "0"}, 2, "--dimension");
  expect_refused({"retrain", "run", "--epochs", "-1"}, 2, "--epochs");
}

// --- aurora experiment ---------------------------------------------------------------------------

TEST_F(CommandLine, EstimatesAnExperimentWithItsEncoders) {
  write(work() / "study.toml",
        "[[study]]\ntasks = [\"maze\"]\nvariants = [\"aurora-csc-uniform-2\"]\nretrain = true\n"
        "settings = { run.iterations = 10, run.batch = 16, container.target_size = 50 }\n");
  const Result before = aurora({"experiment", "study.toml", "--dry-run"});
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_SAYS(before.out, "to do          study1/maze-aurora-csc-uniform-2-seed1\n");
  EXPECT_SAYS(before.out, "training and encoding");
  EXPECT_SAYS(before.out, "from timing a few evaluations and one epoch");
  EXPECT_SAYS(before.out, " MB of memory for a run, ");
  ASSERT_EQ(aurora({"experiment", "study.toml"}).status, 0);
  const fs::path run = work() / "runs" / "study" / "study1" / "maze-aurora-csc-uniform-2-seed1";
  EXPECT_TRUE(fs::exists(run / "retrained" / "manifest.json"));
  EXPECT_SAYS(aurora({"experiment", "study.toml", "--dry-run"}).out, "finished       study1/");
  fs::remove_all(run / "retrained");
  EXPECT_SAYS(aurora({"experiment", "study.toml", "--dry-run"}).out, "to re-train    study1/");
}

TEST_F(CommandLine, AnExperimentMayHaveVariantsOfItsOwn) {
  write(work() / "mine.toml",
        "[variant.far]\nbase = \"hc-csc-uniform\"\nsettings = { selection.kind = \"novelty\" }\n");
  write(work() / "study.toml",
        "[variant.bold]\nbase = \"hc-csc-uniform\"\nsettings = { variation.rate = 0.5 }\n"
        "[settings]\nencoder.epochs = 3\n"  // of those that have an encoder: none here
        "[[study]]\ntasks = [\"maze\"]\nvariants = [\"bold\", \"far\"]\n"
        "settings = { run.iterations = 3, run.batch = 16, container.target_size = 50 }\n");
  expect_refused({"experiment", "study.toml"}, 2, "far");
  const Result result = aurora({"experiment", "study.toml", "--variants", "mine.toml"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.out, "2 runs: 2 finished now, 0 before, 0 failed");
  const fs::path runs = work() / "runs" / "study" / "study1";
  EXPECT_SAYS(content_of(runs / "maze-bold-seed1" / "config.toml"), "rate = 0.5");
  EXPECT_SAYS(content_of(runs / "maze-far-seed1" / "config.toml"), "kind = \"novelty\"");
  const Result again = aurora({"experiment", "study.toml", "--variants", "mine.toml"});
  EXPECT_SAYS(again.out, "2 runs: 0 finished now, 2 before, 0 failed");
}

TEST_F(CommandLine, AnExperimentSaysWhichRunsFailed) {
  write(work() / "study.toml",
        "[[study]]\ntasks = [\"maze\"]\nvariants = [\"hc-csc-uniform\", \"ns\"]\n"
        "settings = { run.iterations = 3, run.batch = 16 }\n");
  const fs::path runs = work() / "runs" / "study" / "study1";
  fs::create_directories(runs);
  write(runs / "maze-ns-seed1", "in the way");
  const Result result = aurora({"experiment", "study.toml"});
  EXPECT_EQ(result.status, 1);
  EXPECT_SAYS(result.out, "2 runs: 1 finished now, 0 before, 1 failed");
  EXPECT_SAYS(result.out, "  failed: study1/maze-ns-seed1: aurora: error: ");
  EXPECT_SAYS(result.err, "study1/maze-hc-csc-uniform-seed1: coverage ");
  EXPECT_SAYS(result.err, "[2/2");
}

/// The jobs of a script, started one after the other.
TEST_F(CommandLine, BecomesASlurmScriptThatRunsTheExperiment) {
  write(work() / "it's.toml",
        "[variant.bold]\nbase = \"aurora-csc-uniform-2\"\nsettings = { variation.rate = 0.5 }\n"
        "[[study]]\ntasks = [\"maze\"]\nvariants = [\"bold\", \"aurora-csc-uniform-2\"]\n"
        "retrain = true\n"
        "settings = { run.iterations = 3, run.batch = 16, container.target_size = 50 }\n");
  const Result script = aurora({"experiment", "it's.toml", "--slurm", "--out", "the runs"});
  ASSERT_EQ(script.status, 0) << script.err;
  EXPECT_SAYS(script.out, "#SBATCH --array=0-1\n");
  EXPECT_SAYS(script.out, "#SBATCH --job-name=it_s\n");
  const fs::path logs = fs::canonical(work()) / "the runs" / "logs";
  EXPECT_SAYS(script.out, "#SBATCH --output=\"" + (logs / "%x-%A_%a.out").string() + "\"\n");
  EXPECT_TRUE(fs::is_empty(work() / "the runs" / "logs")) << "Slurm does not make it";
  write(folder_ / "io" / "job.sh", script.out);
  const std::string job = (folder_ / "io" / "job.sh").string();
  for (const std::string number : {"0", "1"}) {
    // Somewhere else: all paths are complete.
    const std::string command = "cd / && SLURM_ARRAY_TASK_ID=" + number + " bash '" + job +
                                "' > '" + (folder_ / "io" / "said").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  const Result done = aurora({"experiment", "it's.toml", "--dry-run", "--out", "the runs"});
  EXPECT_SAYS(done.out, "finished       study1/maze-bold-seed1\n");
  EXPECT_SAYS(done.out, "finished       study1/maze-aurora-csc-uniform-2-seed1\n");
}

TEST_F(CommandLine, AnExperimentForgetsTheErrorsOfFinishedRuns) {
  write(work() / "study.toml",
        "[[study]]\ntasks = [\"maze\"]\nvariants = [\"hc-csc-uniform\"]\n"
        "settings = { run.iterations = 10, run.batch = 16, container.target_size = 50 }\n");
  ASSERT_EQ(aurora({"experiment", "study.toml"}).status, 0);
  // As it stands if the experiment is killed between the end of a run and taking note of it.
  const fs::path errors = work() / "runs" / "study" / "errors";
  fs::create_directories(errors);
  write(errors / "0.txt", "");
  ASSERT_EQ(aurora({"experiment", "study.toml"}).status, 0);
  EXPECT_FALSE(fs::exists(errors));
}

TEST_F(CommandLine, AFullDiskBehindStdoutIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Result result =
      wait_for(start({"evaluate", "maze", "--genes", "-"}, maze_genes(), "/dev/full"));
  EXPECT_EQ(result.status, 1);
  EXPECT_SAYS(result.err, "cannot write to standard output: No space left on device");
}

}  // namespace
