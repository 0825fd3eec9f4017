// A run outlives the version that made it: run directories of earlier versions are whole, can be
// looked at, and go on to the bits that the version which made them would have given.
//
// tests/data/README.md says what the runs are and how they were made.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "aurora/tasks/air_hockey/simulation.hpp"
#include "tests/runs/run_fixture.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

struct OldRun {
  std::string version = "0.1.0";  // that made it
  std::string name;
  std::string task;
  std::string hash;     // of the container after 40 iterations, by the version that made the run
  bool trains = false;  // a native auto-encoder: its bits need fused multiply-adds
  bool killed = false;  // by SIGKILL; the others finished their 20 iterations
};

/// The versions with an archive, tests/data/runs-VERSION.tar.gz, which unpacks to runs-VERSION/.
const std::vector<std::string>& old_versions() {
  static const std::vector<std::string> all = {"0.1.0", "0.2.0"};
  return all;
}

/// The runs of one version. Those that both have come to the same bits.
std::vector<OldRun> runs_of(const std::string& version) {
  std::vector<OldRun> runs = {
      {.name = "csc-surprise-pca", .task = "air-hockey", .hash = "8f52fefde19ce9a9"},
      {.name = "csc-uniform", .task = "air-hockey", .hash = "b324187744297be8", .trains = true},
      {.name = "cvt", .task = "air-hockey", .hash = "95416bf17c84a6d9"},
      {.name = "hand-coded", .task = "air-hockey", .hash = "56d25a6173837b12"},
      {.name = "killed",
       .task = "air-hockey",
       .hash = "0f9bce6cf8e69ab8",
       .trains = true,
       .killed = true},
      {.name = "maze", .task = "maze", .hash = "93a6371260d2643a"},
      {.name = "ns", .task = "air-hockey", .hash = "f1c4762eeabbf83c"},
      {.name = "pid-uniform", .task = "air-hockey", .hash = "8c59879bc5dcc916", .trains = true},
      {.name = "taxons", .task = "air-hockey", .hash = "b17017d847aa7e28", .trains = true},
      {.name = "vat-novelty", .task = "air-hockey", .hash = "3db5db9d884d6c88", .trains = true}};
  if (version != "0.1.0") {
    runs.push_back(
        {.name = "dns", .task = "air-hockey", .hash = "35926b185da01cc5", .trains = true});
  }
  for (OldRun& run : runs) run.version = version;
  return runs;
}

std::vector<OldRun> old_runs() {
  std::vector<OldRun> all;
  for (const std::string& version : old_versions()) {
    const std::vector<OldRun> runs = runs_of(version);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

/// Runs of the Air-Hockey arm were on Box2D, and go on there.
bool has_engine_of(const OldRun& run) {
  using aurora::air_hockey::Engine;
  return run.task != "air-hockey" || aurora::air_hockey::has_engine(Engine::box2d);
}

/// For the name of a test: letters and digits.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
  return text;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One folder a test, with the runs of one version in it, which goes when the test ends.
class OldRuns : public testing::Test {
 protected:
  void unpack(const std::string& version) {
    std::string name = (fs::temp_directory_path() / "aurora_old_runs_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    runs_ = folder_ / ("runs-" + version);
    const std::string archive =
        std::string(AURORA_TEST_DATA) + "/" + runs_.filename().string() + ".tar.gz";
    ASSERT_EQ(call("tar", {"tar", "-xzf", archive, "-C", name}), 0) << said();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The exit status, or 1000 + the signal that ended it.
  int call(const char* program, const Arguments& words) {
    const std::string log = (folder_ / "said").string();
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (file >= 0 && dup2(file, 1) >= 0 && dup2(file, 2) >= 0) execvp(program, argv.data());
      _exit(99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  void expect_good(Arguments words) {
    words.insert(words.begin(), "aurora");
    std::string command;
    for (const std::string& word : words) command += word + " ";
    EXPECT_EQ(call(AURORA_PROGRAM, words), 0) << command << "\n" << said();
  }

  /// What the last program wrote, on stdout and stderr.
  std::string said() const { return content_of(folder_ / "said"); }

  const fs::path& runs() const { return runs_; }

  /// run.json, or an empty object.
  static Json summary_of(const fs::path& run) {
    const Json json = Json::parse(content_of(run / "run.json"), nullptr, false);
    EXPECT_TRUE(json.is_object()) << run;
    return json.is_object() ? json : Json::object();
  }

  /// Goes on to iteration 40, and expects the old version's result there.
  void expect_to_go_on(const OldRun& old) {
    const fs::path run = runs() / old.name;
    expect_good({"run", "--resume", "--out", run.string(), "--iterations", "40", "--quiet"});
    const Json after = summary_of(run);
    EXPECT_EQ(after.value("status", ""), "finished");
    EXPECT_EQ(after.value("iterations", 0), 40);
    if (aurora::encoders_have_golden_bits() || !old.trains) {
      EXPECT_EQ(after.value("container_hash", ""), old.hash);
    }
    expect_good({"verify", run.string(), "--replay", "5"});
  }

  fs::path folder_;
  fs::path runs_;  // the folder of the archive
};

class EveryOldRun : public OldRuns, public testing::WithParamInterface<OldRun> {
 protected:
  void SetUp() override {
    if (!has_engine_of(GetParam())) GTEST_SKIP();
    unpack(GetParam().version);
  }
};

TEST_P(EveryOldRun, IsWholeAndCanBeLookedAt) {
  const fs::path run = runs() / GetParam().name;
  const Json before = summary_of(run);
  EXPECT_EQ(before.value("version", ""), GetParam().version);
  EXPECT_EQ(before.value("status", ""), GetParam().killed ? "running" : "finished");
  EXPECT_EQ(before.value("iterations", -1), GetParam().killed ? 0 : 20);
  expect_good({"verify", run.string(), "--replay", "5"});
  const fs::path pictures = folder_ / "pictures";
  expect_good({"show", run.string(), "--best", "--out", pictures.string()});
  EXPECT_TRUE(fs::is_directory(pictures) && !fs::is_empty(pictures));
}

TEST_P(EveryOldRun, GoesOnToTheSameBits) {
  expect_to_go_on(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, EveryOldRun, testing::ValuesIn(old_runs()), [](const auto& instance) {
  return plain(instance.param.version + instance.param.name);
});

class EveryOldVersion : public OldRuns, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { unpack(GetParam()); }
};

TEST_P(EveryOldVersion, HasAllItsRunsInTheTableAbove) {
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator(runs())) {
    there.insert(entry.path().filename().string());
  }
  std::set<std::string> known;
  for (const OldRun& old : runs_of(GetParam())) known.insert(old.name);
  EXPECT_EQ(there, known);
}

TEST_P(EveryOldVersion, GoesOnFromThePreviousCheckpointIfTheLastIsDamaged) {
  const std::vector<OldRun> all = runs_of(GetParam());
  const auto old = std::ranges::find(all, true, &OldRun::killed);
  ASSERT_NE(old, all.end());
  if (!has_engine_of(*old)) GTEST_SKIP();
  const fs::path run = runs() / old->name;
  ASSERT_TRUE(fs::exists(run / "checkpoint.previous" / "manifest.json"));
  fs::resize_file(run / "checkpoint" / "container.fitness.npy", 100);
  expect_to_go_on(*old);
  EXPECT_TRUE(fs::exists(run / "checkpoint.damaged"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryOldVersion, testing::ValuesIn(old_versions()),
                         [](const auto& instance) { return plain(instance.param); });

TEST(OldVersions, AreAllOfTheArchives) {
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator(AURORA_TEST_DATA)) {
    if (entry.path().extension() == ".gz") there.insert(entry.path().filename().string());
  }
  std::set<std::string> known;
  for (const std::string& version : old_versions()) known.insert("runs-" + version + ".tar.gz");
  EXPECT_EQ(there, known);
}

}  // namespace
