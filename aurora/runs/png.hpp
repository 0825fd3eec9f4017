// Pictures as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace aurora {

/// A picture that somebody else owns: rows from the top, channels last, 8 bits each.
struct PictureView {
  std::span<const std::uint8_t> pixels;  // height * width * channels
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 3;  // 3: red, green, blue; 1: grey
};

/// Writes a picture, each pixel as a square of `enlarge` x `enlarge`. The file appears whole or not
/// at all (FileError). UsageError if sizes are zero or do not fit together, or if the enlarged
/// picture would take more than 256 MiB.
void write_png(const std::filesystem::path& path, const PictureView& picture,
               std::size_t enlarge = 1);

}  // namespace aurora
