// What is at a path. "No" is said only of what is surely not there: whatever the operating system
// refuses to tell is a FileError with the path and its reason, as in files.hpp.
#pragma once

#include <filesystem>
#include <vector>

namespace aurora {

/// Whether there is anything; links are followed.
bool path_exists(const std::filesystem::path& path);

/// Whether there is a directory.
bool directory_exists(const std::filesystem::path& path);

/// What is in a directory, in order of the names; nothing if it is not there.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& directory);

}  // namespace aurora
