// The arrows of the house: which room may include which, who may see a third-party engine, and that
// the library knows nothing of the program around it: no flag of its command line, no terminal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
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
    {"storage", {"core", "pictures"}},
    {"evaluation", {"core", "pictures", "tasks"}},
    {"runs",
     {"core", "pictures", "tasks", "encoders", "containers", "evolution", "metrics", "algorithms",
      "storage", "evaluation"}},
    {"experiments",
     {"core", "pictures", "tasks", "encoders", "containers", "evolution", "metrics", "algorithms",
      "storage", "evaluation", "runs"}},
};

/// Headers of an engine, and the folder outside which nobody may include them.
const std::vector<std::pair<std::regex, std::string>> kEngines = {
    {std::regex("^(torch|ATen|c10)/"), "aurora/encoders/"},
    {std::regex("^dart/"), "aurora/tasks/hexapod/"},
    {std::regex("^box2d/"), "aurora/tasks/air_hockey/"},
    {std::regex("^mpi"), "aurora/evaluation/"},
    {std::regex("^httplib"), "apps/aurora/explore/"},
};

/// What is built around the library, and knows it, but not the other way round.
const std::regex kAround("^(apps|bench|examples|tests)/|^\\.");

/// Third-party headers may not appear in our headers: users of the library don't have them.
const std::regex kStandardHeader("^[a-z_0-9]+$");

struct Include {
  std::string what;
  bool ours;  // of the library
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
    if (std::regex_search(include.what, kAround)) {
      found.push_back(path + ": the library may not include " + include.what);
    }
    for (const auto& [engine, home] : kEngines) {
      if (std::regex_search(include.what, engine) && !path.starts_with(home)) {
        found.push_back(path + ": only " + home + " may include " + include.what);
      }
    }
  }
  return found;
}

/// The sources and headers of the library.
std::vector<fs::path> files_of_the_library() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(AURORA_SOURCE_DIR) / "aurora")) {
    const std::string extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
  }
  EXPECT_GT(files.size(), 100u);
  return files;
}

std::string path_of(const fs::path& file) {
  return fs::relative(file, AURORA_SOURCE_DIR);
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A source taken apart; what is a comment is in neither.
struct Taken {
  std::string code;      // strings are empty there
  std::string literals;  // a line each
};

Taken taken_apart(const std::string& text) {
  Taken taken;
  const auto at = [&](std::size_t i, std::string_view what) {
    return text.compare(i, what.size(), what) == 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (at(i, "//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (at(i, "/*")) {
      i = text.find("*/", i + 2) + 2;
    } else if (at(i, "R\"")) {
      const std::size_t open = text.find('(', i);
      const std::string end = ")" + text.substr(i + 2, open - i - 2) + "\"";
      const std::size_t close = text.find(end, open);
      taken.literals += text.substr(open + 1, close - open - 1) + "\n";
      taken.code += "\"\"";
      i = close + end.size();
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !std::isalnum(text[i - 1])))) {
      const char quote = text[i++];
      std::string literal;
      for (; text[i] != quote; ++i) {
        if (text[i] == '\\') literal += text[i++];
        literal += text[i];
      }
      ++i;
      if (quote == '"') taken.literals += literal + "\n";
      taken.code += std::string(2, quote);
    } else {
      taken.code += text[i++];
    }
  }
  return taken;
}

/// A flag of a command line in a message; those of a job for Slurm are not ours.
std::string flag_in(const std::string& text) {
  static const std::regex flag(R"((#SBATCH)?(^|[^-[:alnum:]])--[a-z][-a-z]*)");
  const std::string literals = taken_apart(text).literals;
  for (std::sregex_iterator i(literals.begin(), literals.end(), flag), end; i != end; ++i) {
    if (!i->str().starts_with("#SBATCH")) return i->str();
  }
  return "";
}

/// Something that writes to a terminal.
std::string print_in(const std::string& text) {
  static const std::regex print(
      R"(\b(v?f?printf|puts|fputs|putchar|perror|cout|cerr|clog|stdout|stderr|fmt::v?print)\b)");
  const std::string code = taken_apart(text).code;
  std::smatch match;
  return std::regex_search(code, match, print) ? match.str() : "";
}

TEST(Architecture, ArrowsGoOneWay) {
  std::set<std::string> rooms;
  for (const fs::path& file : files_of_the_library()) {
    const std::string path = path_of(file);
    rooms.insert(path.substr(7, path.find('/', 7) - 7));
    for (const std::string& complaint : complaints(path, includes_of(file))) {
      ADD_FAILURE() << complaint;
    }
  }
  for (const auto& [room, others] : kMayInclude) EXPECT_TRUE(rooms.contains(room)) << room;
}

TEST(Architecture, TheLibraryKnowsNoFlagsAndPrintsNothing) {
  for (const fs::path& file : files_of_the_library()) {
    const std::string text = content_of(file);
    EXPECT_EQ(flag_in(text), "") << path_of(file);
    EXPECT_EQ(print_in(text), "") << path_of(file);
  }
}

TEST(Architecture, FlagsAndPrintsAreSeen) {
  EXPECT_EQ(flag_in(R"(throw UsageError("choose another --out");)"), " --out");
  EXPECT_EQ(flag_in(R"(f(1, "x", "--resume");)"), "\n--resume");
  EXPECT_EQ(flag_in("f('\"'); g(\"a \\\" --dry-run\");"), " --dry-run");
  EXPECT_EQ(flag_in("R\"re(a --b)re\""), " --b");
  EXPECT_EQ(flag_in("x = 1'000'000; y = \"use --force\";"), " --force");
  EXPECT_EQ(flag_in("// as --version has it\n/* --out */ --count; i--; \"a--b ---c -- d\";"), "");
  EXPECT_EQ(flag_in(R"("#SBATCH --array=0-{}\n")"), "");
  EXPECT_EQ(print_in("std::printf(\"x\");"), "printf");
  EXPECT_EQ(print_in("fmt::print(file, \"x\");"), "fmt::print");
  EXPECT_EQ(print_in("std::cerr << 1;"), "cerr");
  EXPECT_EQ(print_in("f(stderr);"), "stderr");
  EXPECT_EQ(print_in("std::snprintf(b, 1, \"printf\"); // stdout\nSTDOUT_FILENO; footprint"), "");
}

TEST(Architecture, AWrongArrowIsSeen) {
  EXPECT_EQ(complaints("aurora/containers/x.cpp", {{"aurora/encoders/encoder.hpp", true}}).size(),
            1u);
  EXPECT_EQ(complaints("aurora/core/x.hpp", {{"aurora/tasks/task.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/algorithms/x.cpp", {{"aurora/runs/run.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"torch/torch.h", false}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/storage/x.cpp", {{"aurora/tasks/task.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/evaluation/x.cpp", {{"aurora/runs/run.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"aurora/experiments/slurm.hpp", true}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"apps/aurora/progress.hpp", false}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"../apps/aurora/progress.hpp", false}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/runs/x.cpp", {{"mpi.h", false}}).size(), 1u);
  EXPECT_EQ(complaints("aurora/kitchen/x.cpp", {}).size(), 1u);
  EXPECT_TRUE(complaints("aurora/algorithms/x.cpp", {{"aurora/tasks/task.hpp", true}}).empty());
}

TEST(Architecture, InstalledHeadersNeedOnlyTheStandardLibrary) {
  for (const fs::path& file : files_of_the_library()) {
    const std::string path = path_of(file);
    // Headers of the native engine, those that are compiled once per instruction set, and those for
    // the sources of a room alone are not installed.
    if (file.extension() != ".hpp" || path.starts_with("aurora/encoders/native/") ||
        path.ends_with("_inl.hpp") || path.find("/internal/") != std::string::npos) {
      continue;
    }
    for (const Include& include : includes_of(file)) {
      EXPECT_TRUE(include.ours || std::regex_match(include.what, kStandardHeader))
          << path << " includes " << include.what;
    }
  }
}

}  // namespace
