// What the fuzz targets share. A target reads bytes as one kind of file, written into a directory
// of its own; bad content must give an Error of ours, and nothing else.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora::fuzz {

/// A directory for this process, removed at its end.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() /
              ("aurora-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline const std::filesystem::path& scratch() {
  static const Scratch directory;
  return directory.path();
}

inline void write(const std::filesystem::path& file, const std::uint8_t* data, std::size_t size) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

inline void expect_error_of_ours(const std::function<void()>& load) {
  try {
    load();
  } catch (const Error&) {
  }
}

}  // namespace aurora::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
