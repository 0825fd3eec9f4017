// The arrows of the house: which room may include which, and who may see a third-party engine.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Rooms = std::set<std::string>;

const std::map<std::string, Rooms> kMayInclude = {
    {"core", {}},
    {"pictures", {"core"}},
    {"tasks", {"core", "pictures"}},
    {"encoders", {"core"}},
    {"containers", {"core"}},
    {"evolution", {"core"}},
    {"metrics", {"core"}},
    {"algorithms", {"core", "pictures", "tasks", "encoders", "containers", "evolution", "metrics"}},
    {"runs",
     {"core", "pictures", "tasks", "encoders", "containers", "evolution", "metrics", "algorithms"}},
};

/// Headers of an engine, and the folder outside which nobody may include them.
const std::vector<std::pair<std::regex, std::string>> kEngines = {
    {std::regex("^(torch|ATen|c10)/"), "aurora/encoders/"},
    {std::regex("^dart/"), "aurora/tasks/hexapod/"},
    {std::regex("^box2d/"), "aurora/tasks/air_hockey/"},
    {std::regex("^mpi"), "aurora/runs/"},
};

/// Third-party headers may not appear in our headers: users of the library don't have them.
const std::regex kStandardHeader("^[a-z_0-9]+$");

struct Include {
  std::string what;
  bool ours;
};

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> found;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) {
      found.push_back({match[2], match[2].str().starts_with("aurora/")});
    }
  }
  return found;
}

/// Complaints about one file, whose path is relative to the repository.
std::vector<std::string> complaints(const std::string& path, const std::vector<Include>& includes) {
  std::vector<std::string> found;
  const std::string room = path.substr(7, path.find('/', 7) - 7);
  const auto allowed = kMayInclude.find(room);
  if (allowed == kMayInclude.end()) return {path + ": unknown room '" + room + "'"};
  for (const Include& include : includes) {
    if (include.ours) {
      const std::string other = include.what.substr(7, include.what.find('/', 7) - 7);
      if (other != room && !allowed->second.contains(other)) {
        found.push_back(path + ": '" + room + "' may not include " + include.what);
      }
      continue;
    }
    for (const auto& [engine, home] : kEngines) {
      if (std::regex_search(include.what, engine) && !path.starts_with(home)) {
        found.push_back(path + ": only " + home + " may include " + include.what);
      }
    }
  }
  return found;
}

TEST(Architecture, ArrowsGoOneWay) {
  std::size_t files = 0;
  const fs::path root = AURORA_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "aurora")) {
    const std::string extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".cpp") continue;
    ++files;
    const std::string path = fs::relative(entry.path(), root);
    for (const std::string& complaint : complaints(path, includes_of(entry.path()))) {
      ADD_FAILURE() << complaint;
    }
  }
  EXPECT_GT(files, 20u);
}

TEST(Architecture, AWrongArrowIsSeen) {
  EXPECT_EQ(complaints("aurora/containers/x.cpp", {{"aurora/encoders/encoder.hpp", true}}).size(),
            1u);
  EXPECT_EQ(complaints("aurora/core/x.hpp", {{"aurora/tasks/task.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/algorithms/x.cpp", {{"aurora/runs/run.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"torch/torch.h", false}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/kitchen/x.cpp", {}).size(), 1u);
  EXPECT_TRUE(complaints("aurora/algorithms/x.cpp", {{"aurora/tasks/task.hpp", true}}).empty());
}

TEST(Architecture, InstalledHeadersNeedOnlyTheStandardLibrary) {
  const fs::path root = AURORA_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "aurora")) {
    const std::string path = fs::relative(entry.path(), root);
    // Headers of the native engine, and those for the sources of a room alone, are not installed.
    if (entry.path().extension() != ".hpp" || path.starts_with("aurora/encoders/native/") ||
        path.find("/internal/") != std::string::npos) {
      continue;
    }
    for (const Include& include : includes_of(entry.path())) {
      EXPECT_TRUE(include.ours || std::regex_match(include.what, kStandardHeader))
          << path << " includes " << include.what;
    }
  }
}

}  // namespace
