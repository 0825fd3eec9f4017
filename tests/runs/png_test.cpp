#include "aurora/runs/png.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

class PngTest : public ::testing::Test {
 protected:
  PngTest() {
    std::string name = (fs::temp_directory_path() / "aurora_png_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
    path_ = dir_ / "p.png";
  }
  ~PngTest() override { fs::remove_all(dir_); }

  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path dir_;
  fs::path path_;
};

struct Decoded {
  std::size_t width = 0;
  std::size_t height = 0;
  png_uint_32 stored_format = 0;
  std::vector<std::uint8_t> rgb;
};

Decoded decode(const fs::path& path) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
  Decoded decoded{image.width, image.height, image.format, {}};
  image.format = PNG_FORMAT_RGB;
  decoded.rgb.resize(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.rgb.data(), 0, nullptr), 0);
  return decoded;
}

std::vector<std::uint8_t> pattern(std::size_t values) {
  std::vector<std::uint8_t> pixels(values);
  for (std::size_t i = 0; i < values; ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 + i / 50);
  return pixels;
}

TEST_F(PngTest, AColourPictureComesBack) {
  const auto pixels = pattern(64 * 48 * 3);
  write_png(path_, {pixels, 48, 64, 3});
  const Decoded decoded = decode(path_);
  EXPECT_EQ(decoded.width, 64u);
  EXPECT_EQ(decoded.height, 48u);
  EXPECT_EQ(decoded.stored_format, static_cast<png_uint_32>(PNG_FORMAT_RGB));
  EXPECT_EQ(decoded.rgb, pixels);
}

TEST_F(PngTest, AGreyPictureComesBack) {
  const auto pixels = pattern(5 * 7);
  write_png(path_, {pixels, 5, 7, 1});
  const Decoded decoded = decode(path_);
  EXPECT_EQ(decoded.stored_format, static_cast<png_uint_32>(PNG_FORMAT_GRAY));
  ASSERT_EQ(decoded.rgb.size(), 3 * pixels.size());
  for (std::size_t i = 0; i < decoded.rgb.size(); ++i) EXPECT_EQ(decoded.rgb[i], pixels[i / 3]);
}

TEST_F(PngTest, PixelsBecomeSquares) {
  const auto pixels = pattern(3 * 4 * 3);
  write_png(path_, {pixels, 3, 4, 3}, 5);
  const Decoded decoded = decode(path_);
  ASSERT_EQ(decoded.width, 20u);
  ASSERT_EQ(decoded.height, 15u);
  for (std::size_t y = 0; y < 15; ++y) {
    for (std::size_t x = 0; x < 20; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(decoded.rgb[(y * 20 + x) * 3 + c], pixels[(y / 5 * 4 + x / 5) * 3 + c]);
      }
    }
  }
}

TEST_F(PngTest, EqualPicturesGiveEqualBytes) {
  const auto pixels = pattern(64 * 64 * 3);
  write_png(path_, {pixels, 64, 64, 3}, 2);
  const std::string first = bytes();
  write_png(path_, {pixels, 64, 64, 3}, 2);
  EXPECT_EQ(bytes(), first);
}

TEST_F(PngTest, SizesAreChecked) {
  const auto pixels = pattern(12);
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(write_png(path_, {pixels, 2, 2, 2}), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 2, 3, 3}), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 0, 2, 3}), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 2, 0, 3}), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 2, 2, 3}, 0), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 2, 2, 3}, 10'000), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, 2, 2, 3}, huge), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, huge, 2, 3}), UsageError);
  EXPECT_THROW(write_png(path_, {pixels, huge / 2 + 1, 2, 3}), UsageError);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(PngTest, WhatCannotBeWrittenIsAFileError) {
  const auto pixels = pattern(12);
  EXPECT_THROW(write_png("/dev/full", {pixels, 2, 2, 3}), FileError);
  EXPECT_THROW(write_png(dir_ / "none" / "p.png", {pixels, 2, 2, 3}), FileError);
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace aurora
