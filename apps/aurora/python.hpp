// Commands that the Python package does: `aurora report`, `aurora export`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace aurora {

/// The folder that holds our Python package: share/aurora/python beside the program or above it,
/// which is so where it is installed and in a build tree; else near the library, for programs that
/// lie elsewhere; else where this was configured to be installed.
std::optional<std::filesystem::path> python_package_folder();

/// Becomes the Python package's command line with these words, and does not return. The interpreter
/// is the python3 that comes first on the PATH, or /usr/bin/python3 if that one has not the modules
/// we need. FileError if neither has them.
[[noreturn]] void become_python(const std::vector<std::string>& words);

}  // namespace aurora
