#include "aurora/runs/installation.hpp"

#include <dlfcn.h>

namespace aurora {

std::filesystem::path library_folder() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &here) == 0) return {};
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(here.dli_fname, error);
  return error ? std::filesystem::path() : file.parent_path();
}

}  // namespace aurora
