#include "apps/aurora/python.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "aurora/core/errors.hpp"
#include "aurora/runs/installation.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInterpreters[] = {"python3", "/usr/bin/python3"};

// Neither program looks for modules in the current directory, an empty entry of the path: what lies
// there is the user's.

/// Ends with 0 where the modules are there. Finding is quick; importing takes a second.
constexpr const char* kProbe =
    "import sys, importlib.util as u; sys.path = [p for p in sys.path if p]; "
    "sys.exit(sys.version_info < (3, 9) or "
    "any(u.find_spec(m) is None for m in ('numpy', 'pandas', 'scipy', 'matplotlib')))";

/// The package's command line; the folder of the package is the first word.
constexpr const char* kProgram =
    "import sys; sys.path = [sys.argv.pop(1)] + [p for p in sys.path if p]; "
    "from aurora_qd.__main__ import main; sys.exit(main())";

/// Replaces this process; returns only if there is no such interpreter.
void execute(const char* interpreter, const std::vector<std::string>& words) {
  std::vector<char*> argv = {const_cast<char*>(interpreter)};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(interpreter, argv.data());
}

bool has_modules(const char* interpreter) {
  const pid_t child = fork();
  if (child < 0) throw FileError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
      for (const int descriptor : {0, 1, 2}) dup2(nowhere, descriptor);
    }
    execute(interpreter, {"-c", kProbe});
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<fs::path> python_package_folder() {
  std::error_code error;
  std::vector<fs::path> places;
  const auto add = [&](fs::path folder, int above) {
    for (; !folder.empty() && above >= 0; --above, folder = folder.parent_path()) {
      places.push_back(folder);
    }
  };
  add(fs::read_symlink("/proc/self/exe", error).parent_path(), 1);
  add(library_folder(), 2);  // a library may lie in lib/ARCHITECTURE
  places.emplace_back(AURORA_INSTALL_PREFIX);
  for (const fs::path& place : places) {
    fs::path found = place / "share" / "aurora" / "python";
    if (fs::is_regular_file(found / "aurora_qd" / "__main__.py", error)) return found;
  }
  return std::nullopt;
}

void become_python(const std::vector<std::string>& words) {
  const std::optional<fs::path> folder = python_package_folder();
  if (!folder) {
    throw FileError(
        "the Python package of AURORA is not there: it belongs in share/aurora/python beside the "
        "program or the library, where cmake --install puts it");
  }
  for (const char* interpreter : kInterpreters) {
    if (!has_modules(interpreter)) continue;
    std::vector<std::string> all = {"-c", kProgram, folder->string()};
    all.insert(all.end(), words.begin(), words.end());
    std::fflush(nullptr);
    execute(interpreter, all);
  }
  throw FileError(
      "this needs a python3 with NumPy, pandas, SciPy and Matplotlib: apt-get install "
      "python3-numpy "
      "python3-pandas python3-scipy python3-matplotlib");
}

}  // namespace aurora
