// Real runs, killed outright at random moments and resumed until they are done, end as the
// uninterrupted one.
//
// A few kills of three variants here; with AURORA_KILLS=200 in the environment as many as it says,
// of a variant of every family.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Arguments = std::vector<std::string>;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t start(const Arguments& arguments, const fs::path& errors) {
  const std::string err = errors.string();
  std::vector<char*> argv = {const_cast<char*>("aurora")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    const int log = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (dup2(null, 1) >= 0 && dup2(log, 2) >= 0) execv(AURORA_PROGRAM, argv.data());
    _exit(99);
  }
  return child;
}

struct Outcome {
  std::string hash;
  std::string metrics;
};

Outcome outcome_of(const fs::path& run) {
  const auto json = nlohmann::json::parse(content_of(run / "run.json"));
  EXPECT_EQ(json.at("status"), "finished");
  return {json.at("container_hash"), content_of(run / "metrics.csv")};
}

bool is_long() {
  return std::getenv("AURORA_KILLS") != nullptr;
}

/// A run of about a second.
struct Case {
  std::string task;
  std::string variant;
  std::string iterations = "400";
  std::string batch = "32";
};

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"maze", "hc-csc-uniform"}, {"maze", "aurora-csc-novelty-4"}, {"maze", "taxons-4"}};
  if (!is_long()) return all;
  for (const char* variant :
       {"aurora-pid-uniform-4", "aurora-vat-uniform-4", "aurora-csc-surprise-4", "ns", "map-elites",
        "cvt-map-elites", "random-search"}) {
    all.push_back({"maze", variant});
  }
#ifdef AURORA_WITH_BOX2D
  all.push_back({"air-hockey", "aurora-csc-uniform-4", "40", "16"});
#endif
#ifdef AURORA_WITH_DART
  all.push_back({"hexapod", "aurora-csc-uniform-4", "15", "8"});
#endif
  return all;
}

class KilledRuns : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "aurora_kill_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A run that saves itself as often as it can.
  Arguments arguments(const fs::path& out) const {
    return {"run",
            GetParam().task,
            "--variant",
            GetParam().variant,
            "--iterations",
            GetParam().iterations,
            "--threads",
            "2",
            "--out",
            out.string(),
            "--resume",
            "--quiet",
            "run.batch=" + GetParam().batch,
            "run.checkpoint_seconds=0.02",
            "run.log_every=7",
            "run.snapshot_every=100",
            "encoder.epochs=3",
            "container.target_size=300"};
  }

  fs::path folder_;
};

TEST_P(KilledRuns, EndAsTheUninterruptedOne) {
  const int all = is_long() ? std::atoi(std::getenv("AURORA_KILLS")) : 6;
  const int families = static_cast<int>(cases().size());
  const int kills = (all + families - 1) / families;
  const auto begin = Clock::now();
  int status = 0;
  waitpid(start(arguments(folder_ / "whole"), folder_ / "err"), &status, 0);
  ASSERT_EQ(status, 0) << content_of(folder_ / "err");
  const double whole_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const Outcome whole = outcome_of(folder_ / "whole");

  std::mt19937 random(7);
  // Long enough to get somewhere, short enough for several kills a run.
  std::uniform_real_distribution<double> moment(0, 0.7 * whole_seconds);
  int killed = 0;
  for (int number = 0; killed < kills; ++number) {
    const fs::path out = folder_ / std::to_string(number);
    for (bool done = false; !done;) {
      const pid_t child = start(arguments(out), folder_ / "err");
      if (killed < kills) {
        std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
        kill(child, SIGKILL);
      }
      waitpid(child, &status, 0);
      done = WIFEXITED(status);
      if (!done) ++killed;
    }
    ASSERT_EQ(WEXITSTATUS(status), 0) << content_of(folder_ / "err");
    const Outcome resumed = outcome_of(out);
    EXPECT_EQ(resumed.hash, whole.hash) << "run " << number;
    EXPECT_EQ(resumed.metrics, whole.metrics) << "run " << number;
    fs::remove_all(out);
  }
  RecordProperty("kills", killed);
}

INSTANTIATE_TEST_SUITE_P(Every, KilledRuns, testing::ValuesIn(cases()), [](const auto& instance) {
  std::string name = instance.param.task + instance.param.variant;
  std::erase(name, '-');
  return name;
});

}  // namespace
