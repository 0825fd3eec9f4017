// Parts of the library that need heavy third-party ones, in shared objects that are loaded on use.
#pragma once

namespace aurora {

/// The function called `symbol` in the shared object `file`, which lies beside this library; null
/// if this build does not have it.
void* find_in_plugin(const char* file, const char* symbol);

}  // namespace aurora
