// Real runs, killed outright at random moments and resumed until they are done, end as the
// uninterrupted one.
//
// The same for an experiment: the program that starts the runs is killed, with them or alone.
//
// A few kills of four variants here; with AURORA_KILLS=200 in the environment as many as it says,
// of a variant of every family.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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

/// In a process group of its own, which can be killed with all that it has started.
pid_t start(const Arguments& arguments, const fs::path& errors) {
  const std::string err = errors.string();
  std::vector<char*> argv = {const_cast<char*>("aurora")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  setpgid(child, child == 0 ? 0 : child);  // both do it: whoever comes first
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

/// A run of about half a second.
struct Case {
  std::string task;
  std::string variant;
  std::string iterations = "200";
  std::string batch = "32";
  std::string more = "run.seed=1";  // as it is anyway
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"maze", "hc-csc-uniform"},
                           {"maze", "aurora-csc-novelty-4"},
                           {"maze", "taxons-4"},
                           {"maze", "cma-me", "200", "32", "algorithm.extinction_period=30"}};
  if (!is_long()) return all;
  for (const char* variant :
       {"aurora-pid-uniform-4", "aurora-vat-uniform-4", "aurora-csc-surprise-4", "ns", "map-elites",
        "cvt-map-elites", "random-search", "aurora-ensemble-4"}) {
    all.push_back({"maze", variant});
  }
  all.push_back({"air-hockey", "aurora-csc-uniform-4", "200", "16"});
  all.push_back({"hexapod", "aurora-csc-uniform-4", "100", "16"});
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
    const std::string& variant = GetParam().variant;
    Arguments all = {"run",
                     GetParam().task,
                     "--variant",
                     variant,
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
                     "container.target_size=300",
                     GetParam().more};
    const bool learns = variant.starts_with("aurora-") || variant.starts_with("taxons-");
    if (learns) all.push_back("encoder.epochs=3");
    return all;
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

/// What an experiment leaves that does not tell the time: by name, everything in the containers,
/// the encoders and what comes of them, and the metrics.
std::map<std::string, std::string> results_of(const fs::path& experiment) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(experiment)) {
    const std::string name = fs::relative(entry.path(), experiment).string();
    if (!entry.is_regular_file() || name.find("/checkpoint") != std::string::npos) continue;
    const std::string file = entry.path().filename().string();
    if (file == "run.json" || file == "encoder.csv") continue;  // seconds and dates
    const bool of_run = fs::exists(entry.path().parent_path() / "run.json");
    if (of_run && file == "manifest.json") continue;  // has checksums of those
    files[name] = content_of(entry.path());
  }
  return files;
}

std::vector<std::string> names_of(const std::map<std::string, std::string>& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  return names;
}

TEST(KilledExperiments, EndAsTheUninterruptedOne) {
  constexpr int kKills = 5;
  std::string name = (fs::temp_directory_path() / "aurora_kill_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  std::ofstream(folder / "study.toml")
      << "[settings]\n"
         "run.iterations = 100\nrun.batch = 32\nrun.checkpoint_seconds = 0.02\n"
         "run.log_every = 7\nrun.snapshot_every = 50\nencoder.epochs = 3\n"
         "container.target_size = 100\n"  // which 200 epochs are trained on
         "[[study]]\nname = \"some\"\ntasks = [\"maze\"]\nreplications = 2\n"
         "variants = [\"aurora-csc-uniform-2\", \"hc-csc-uniform\"]\n"
         "[[study]]\nname = \"more\"\ntasks = [\"maze\"]\n"
         "variants = [\"aurora-csc-uniform-2\"]\nretrain = true\n";
  // What the killed experiment had started becomes ours, to be waited for.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const auto begin = [&](const char* out) {
    return start({"experiment", (folder / "study.toml").string(), "--jobs", "2", "--out",
                  (folder / out).string()},
                 folder / "err");
  };
  int status = 0;
  const auto since = Clock::now();
  waitpid(begin("whole"), &status, 0);
  ASSERT_EQ(status, 0) << content_of(folder / "err");
  const double whole_seconds = std::chrono::duration<double>(Clock::now() - since).count();

  std::mt19937 random(11);
  std::uniform_real_distribution<double> moment(0, 0.4 * whole_seconds);
  int killed = 0;
  for (int starts = 0; starts < 100; ++starts) {
    const pid_t child = begin("cut");
    if (killed < kKills) {
      std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
      // Together with its runs, or alone: they end by themselves then.
      kill(killed % 2 == 0 ? -child : child, SIGKILL);
    }
    waitpid(child, &status, 0);
    while (waitpid(-child, nullptr, 0) > 0) {
    }
    if (WIFSIGNALED(status)) {
      ++killed;
    } else if (killed == kKills) {
      break;
    } else {  // it was done before all the kills: begin again
      fs::remove_all(folder / "cut");
    }
  }
  ASSERT_EQ(status, 0) << content_of(folder / "err");
  EXPECT_EQ(killed, kKills);
  const auto whole = results_of(folder / "whole");
  const auto cut = results_of(folder / "cut");
  EXPECT_EQ(names_of(cut), names_of(whole));
  for (const auto& [file, text] : whole) {
    const auto found = cut.find(file);
    EXPECT_TRUE(found != cut.end() && found->second == text) << file;
  }
  EXPECT_GT(whole.size(), 40U);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Every, KilledRuns, testing::ValuesIn(cases()), [](const auto& instance) {
  std::string name = instance.param.task + instance.param.variant;
  std::erase(name, '-');
  return name;
});

}  // namespace
