// aurora experiment with others at the same folder, and on terminals of several widths.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class AnExperiment : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "aurora_experiment_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write_study(const std::string& iterations, const std::string& replications) {
    std::ofstream(folder_ / "study.toml")
        << "[settings]\nrun.batch = 32\nrun.log_every = 7\ncontainer.target_size = 300\n"
           "run.iterations = "
        << iterations
        << "\n[[study]]\nname = \"some\"\ntasks = [\"maze\"]\nreplications = " << replications
        << "\nvariants = [\"hc-csc-uniform\", \"ns\"]\n"
           "[[study]]\nname = \"more\"\ntasks = [\"maze\"]\n"
           "variants = [\"aurora-csc-uniform-2\"]\nretrain = true\n"
           "settings = { encoder.epochs = 2, container.target_size = 60 }\n";
  }

  /// In a group of its own; what it says goes to the file `name`.out and `name`.err, or to `tty`.
  pid_t start(const std::string& out, const std::string& name, int tty = -1) const {
    const std::string study = (folder_ / "study.toml").string();
    const std::string runs = (folder_ / out).string();
    const std::string said = (folder_ / name).string();
    const pid_t child = fork();
    setpgid(child, child == 0 ? 0 : child);
    if (child == 0) {
      const int in = open("/dev/null", O_RDONLY);
      const int to = open((said + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int err =
          tty >= 0 ? tty : open((said + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (dup2(in, 0) >= 0 && dup2(to, 1) >= 0 && dup2(err, 2) >= 0) {
        execl(AURORA_PROGRAM, "aurora", "experiment", study.c_str(), "--jobs", "2", "--out",
              runs.c_str(), nullptr);
      }
      _exit(99);
    }
    return child;
  }

  int status_of(pid_t child) const {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  /// By the name of the run: its hash, its metrics, its re-training.
  std::map<std::string, std::string> results_of(const std::string& out) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / out)) {
      if (entry.path().filename() != "run.json") continue;
      const fs::path run = entry.path().parent_path();
      const auto json = nlohmann::json::parse(content_of(entry.path()));
      all[fs::relative(run, folder_ / out).string()] =
          json.at("status").get<std::string>() + json.at("container_hash").get<std::string>() +
          content_of(run / "metrics.csv") + content_of(run / "retrained" / "manifest.json");
    }
    return all;
  }

  /// The runs that it has finished, as its log has them.
  std::vector<std::string> finished_by(const std::string& name) const {
    std::vector<std::string> runs;
    for (const std::string& line : lines_of(content_of(folder_ / (name + ".err")))) {
      const std::size_t end = line.find(": coverage ");
      if (end == std::string::npos) continue;
      const std::size_t begin = line.find("] ") + 2;
      runs.push_back(line.substr(begin, end - begin));
    }
    return runs;
  }

  fs::path folder_;
};

TEST_F(AnExperiment, IsSharedByTwoProcesses) {
  write_study("120", "3");
  ASSERT_EQ(status_of(start("alone", "alone")), 0) << content_of(folder_ / "alone.err");
  const pid_t one = start("shared", "one");
  const pid_t other = start("shared", "other");
  EXPECT_EQ(status_of(one), 0) << content_of(folder_ / "one.err");
  EXPECT_EQ(status_of(other), 0) << content_of(folder_ / "other.err");
  const auto alone = results_of("alone");
  EXPECT_EQ(alone.size(), 7U);
  EXPECT_EQ(results_of("shared"), alone);

  std::vector<std::string> all = finished_by("one");
  EXPECT_FALSE(all.empty());
  const std::vector<std::string> others = finished_by("other");
  EXPECT_FALSE(others.empty());
  all.insert(all.end(), others.begin(), others.end());
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 7U);
  EXPECT_EQ(all.size(), 7U) << "each run is finished once, by one of them";
  for (const char* name : {"one.err", "other.err"}) {
    EXPECT_EQ(content_of(folder_ / name).find("FAILED"), std::string::npos);
  }
  // Nothing of theirs stays beside the runs.
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "shared")) {
    EXPECT_NE(entry.path().extension(), ".lock") << entry.path();
    EXPECT_NE(entry.path().filename(), "errors");
  }
}

TEST_F(AnExperiment, IsFinishedByTheOtherIfOneIsKilled) {
  write_study("250", "2");
  ASSERT_EQ(status_of(start("alone", "alone")), 0) << content_of(folder_ / "alone.err");
  const pid_t one = start("shared", "one");
  const pid_t other = start("shared", "other");
  // In the middle: somebody has got something done.
  const auto end = Clock::now() + std::chrono::seconds(120);
  while (finished_by("one").empty() && finished_by("other").empty() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(waitpid(one, nullptr, WNOHANG), 0) << "too late";
  kill(-one, SIGKILL);  // with its runs
  EXPECT_EQ(status_of(one), 1000 + SIGKILL);
  EXPECT_EQ(status_of(other), 0) << content_of(folder_ / "other.err");
  EXPECT_EQ(results_of("shared"), results_of("alone"));
  EXPECT_EQ(content_of(folder_ / "other.err").find("FAILED"), std::string::npos);
}

// `kill` reaches the experiment alone; its runs are told by it.
TEST_F(AnExperiment, EndsWithItsRunsSavedWhenItAloneIsTold) {
  write_study("1000000", "1");  // more than anybody waits for
  const pid_t child = start("runs", "log");
  const auto under_way = [&] {
    std::size_t count = 0;
    if (!fs::exists(folder_ / "runs")) return false;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "runs")) {
      count += entry.path().filename() == "metrics.csv" && entry.file_size() > 0 ? 1 : 0;
    }
    return count == 2;
  };
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (!under_way() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(kill(child, SIGTERM), 0);
  EXPECT_EQ(status_of(child), 128 + SIGTERM);
  const std::string log = content_of(folder_ / "log.err");
  EXPECT_EQ(log.find("FAILED"), std::string::npos) << log;
  EXPECT_NE(log.find("aurora: stopped; the same command goes on"), std::string::npos) << log;
  const auto results = results_of("runs");
  EXPECT_EQ(results.size(), 2U);
  for (const auto& [name, result] : results) {
    EXPECT_TRUE(result.starts_with("interrupted")) << name << ": " << result.substr(0, 40);
  }
}

/// What a terminal has got by now.
std::string read_all(int master) {
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = read(master, bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<std::size_t>(n));
  }
  return text;
}

TEST_F(AnExperiment, ShowsItsRunsOnATerminalFromTheFirstSecond) {
  write_study("100000", "1");  // more than anybody waits for
  for (const unsigned short columns : {40, 80, 140}) {
    int master = 0;
    int slave = 0;
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    fcntl(master, F_SETFL, O_NONBLOCK);
    const pid_t child = start("runs" + std::to_string(columns), "tty", slave);
    close(slave);
    std::string text;
    const auto end = Clock::now() + std::chrono::seconds(60);
    const auto numbers = [&] {  // a line with a coverage
      const auto lines = lines_of(text);
      return std::ranges::count_if(lines, [](const std::string& line) {
        return line.find(" % ") != std::string::npos && line.find("-seed1") != std::string::npos;
      });
    };
    while (numbers() < 4 && Clock::now() < end) {
      text += read_all(master);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kill(-child, SIGKILL);
    status_of(child);
    close(master);
    EXPECT_GE(numbers(), 4) << text;
    EXPECT_NE(text.find("0 of 3 runs have ended"), std::string::npos) << text;
    EXPECT_EQ(text.find("iteration  run") != std::string::npos, columns >= 80) << text;
    for (std::string line : lines_of(text)) {
      for (std::size_t at; (at = line.find('\x1b')) != std::string::npos;) {
        line.erase(at, line.find_first_of("AKJ", at) + 1 - at);
      }
      std::erase(line, '\r');
      EXPECT_LT(line.size(), columns) << line;
    }
  }
}

}  // namespace
