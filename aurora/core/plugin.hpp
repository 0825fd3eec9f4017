// Parts of the library that need heavy third-party ones, in shared objects that are loaded on use.
// A plugin lies beside this library (in a build) or in the folder aurora/ beside it (installed).
#pragma once

#include <string>

namespace aurora {

/// The function called `symbol` in the plugin `file`; null if it is not there or does not load.
void* find_in_plugin(const char* file, const char* symbol);

/// Empty if the plugin `file` is there; otherwise that it is not, and the remedy. Loads nothing.
std::string missing_plugin(const char* file, const std::string& remedy);

}  // namespace aurora
