#include "aurora/core/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// Empty if there is no such plugin.
fs::path path_of(const char* file) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&find_in_plugin), &here) == 0) return {};
  const fs::path folder = fs::path(here.dli_fname).parent_path();
  std::error_code error;
  for (const fs::path& path : {folder / file, folder / "aurora" / file}) {
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace

void* find_in_plugin(const char* file, const char* symbol) {
  const fs::path path = path_of(file);
  if (path.empty()) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, symbol) : nullptr;
}

std::string missing_plugin(const char* file, const std::string& remedy) {
  if (!path_of(file).empty()) return {};
  return std::string(file) + " is not there; " + remedy;
}

}  // namespace aurora
