#include "aurora/core/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace aurora {

void* find_in_plugin(const char* file, const char* symbol) {
  std::filesystem::path path = file;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&find_in_plugin), &here) != 0) {
    path = std::filesystem::path(here.dli_fname).parent_path() / file;
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, symbol) : nullptr;
}

}  // namespace aurora
