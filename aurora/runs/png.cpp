#include "aurora/runs/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/runs/files.hpp"

namespace aurora {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 28;
constexpr std::size_t kMaxSide = 1'000'000;  // libpng's own limit

void check(const PictureView& picture, std::size_t enlarge) {
  const auto [pixels, height, width, channels] = picture;
  if (channels != 1 && channels != 3) {
    throw UsageError(fmt::format("a picture has 1 or 3 channels, not {}", channels));
  }
  if (height == 0 || width == 0 || enlarge == 0) {
    throw UsageError(
        fmt::format("a picture of {} x {} pixels cannot be written {} times as large; all three "
                    "must be at least 1",
                    width, height, enlarge));
  }
  // Divisions first, so that nothing overflows.
  if (height > kMaxSide / enlarge || width > kMaxSide / enlarge ||
      height * enlarge > kMaxBytes / (width * enlarge * channels)) {
    throw UsageError(
        fmt::format("a picture of {} x {} pixels is too large to be written {} times "
                    "as large; at most {} MiB are possible",
                    width, height, enlarge, kMaxBytes >> 20));
  }
  if (pixels.size() != height * width * channels) {
    throw UsageError(
        fmt::format("a picture of {} x {} pixels and {} channels has {} values, not {}", width,
                    height, channels, height * width * channels, pixels.size()));
  }
}

/// Nearest neighbour: every pixel becomes a square.
std::vector<std::uint8_t> enlarged(const PictureView& picture, std::size_t times) {
  const std::size_t channels = picture.channels;
  const std::size_t row_bytes = picture.width * times * channels;
  std::vector<std::uint8_t> out(picture.height * times * row_bytes);
  for (std::size_t y = 0; y < picture.height; ++y) {
    std::uint8_t* first = out.data() + y * times * row_bytes;
    for (std::size_t x = 0; x < picture.width * times; ++x) {
      const std::size_t from = (y * picture.width + x / times) * channels;
      std::copy_n(picture.pixels.data() + from, channels, first + x * channels);
    }
    for (std::size_t copy = 1; copy < times; ++copy) {
      std::copy_n(first, row_bytes, first + copy * row_bytes);
    }
  }
  return out;
}

}  // namespace

void write_png(const std::filesystem::path& path, const PictureView& picture, std::size_t enlarge) {
  check(picture, enlarge);
  const std::vector<std::uint8_t> pixels = enlarged(picture, enlarge);

  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width * enlarge);
  image.height = static_cast<png_uint_32>(picture.height * enlarge);
  image.format = picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;

  // Into memory first: the file is then written in one go, with our checks.
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> file(bytes);
  const int done =
      png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr);
  if (done == 0) {
    throw FileError(fmt::format("cannot write '{}': {}", path.string(), image.message));
  }
  file.resize(bytes);
  write_file(path, file);
}

}  // namespace aurora
