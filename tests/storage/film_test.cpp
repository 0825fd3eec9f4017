#include "aurora/storage/film.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

std::size_t number(const std::string& bytes, std::size_t at, std::size_t count = 4) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(bytes.at(at + i));
  }
  return value;
}

std::string big_endian(std::size_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

struct Chunk {
  std::string type;
  std::string data;
};

/// All chunks, with their checksums looked at.
std::vector<Chunk> chunks_of(const std::string& file) {
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = number(file, at);
    const std::string body = file.substr(at + 4, 4 + length);
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    EXPECT_EQ(number(file, at + 8 + length), checksum);
    chunks.push_back({body.substr(0, 4), body.substr(4)});
    at += 12 + length;
  }
  return chunks;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  return big_endian(data.size()) + body +
         big_endian(
             crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

/// What libpng makes of a file in memory.
Image decode(const std::string& file) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Image decoded(image.width, image.height);
  EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.pixels.data(), 0, nullptr), 0)
      << image.message;
  return decoded;
}

struct Film {
  std::vector<Image> frames;
  std::vector<std::size_t> milliseconds;
};

/// Plays an animation: every frame's chunks as a picture of its own, put where it belongs.
Film play(const std::string& file) {
  Film film;
  std::size_t sequence = 0;
  std::string control;
  for (const Chunk& part : chunks_of(file)) {
    if (part.type == "fcTL") {
      EXPECT_EQ(number(part.data, 0), sequence++);
      control = part.data;
    }
    if (part.type == "fdAT") {
      EXPECT_EQ(number(part.data, 0), sequence++);
    }
    if (part.type != "IDAT" && part.type != "fdAT") continue;
    const std::string header =
        control.substr(4, 8) + std::string("\x08\x02\0\0\0", 5);  // width and height
    const Image piece = decode(
        file.substr(0, 8) + chunk("IHDR", header) +
        chunk("IDAT", part.type == "IDAT" ? part.data : part.data.substr(4)) + chunk("IEND", ""));
    Image frame = film.frames.empty() ? piece : film.frames.back();
    EXPECT_LE(number(control, 12) + piece.width, frame.width);
    EXPECT_LE(number(control, 16) + piece.height, frame.height);
    paste(frame, piece, number(control, 12), number(control, 16));
    film.frames.push_back(frame);
    film.milliseconds.push_back(1000 * number(control, 20, 2) / number(control, 22, 2));
  }
  return film;
}

Image pattern(std::size_t width, std::size_t height, std::size_t seed) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>((i * i + seed) * 37 / 11);
  }
  return image;
}

class FilmTest : public testing::Test {
 protected:
  FilmTest() { fs::create_directories(dir_); }
  ~FilmTest() override { fs::remove_all(dir_); }

  std::string content() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path dir_ = fs::temp_directory_path() / ("aurora-film-" + std::to_string(getpid()));
  fs::path path_ = dir_ / "film.png";
};

TEST_F(FilmTest, OneFrameIsAnOrdinaryPng) {
  const Image image = pattern(61, 40, 1);
  write_film(path_, std::span(&image, 1), 0.05, "what it is");
  EXPECT_EQ(decode(content()), image);
  for (const Chunk& part : chunks_of(content())) EXPECT_NE(part.type, "acTL");
  EXPECT_EQ(film_description(path_), "what it is");
}

TEST_F(FilmTest, FramesComeBackOneAfterTheOther) {
  std::vector<Image> frames = {pattern(50, 30, 1), pattern(50, 30, 1), pattern(50, 30, 2)};
  frames.push_back(frames.back());
  frames.back().set(0, 0, kBlack);
  frames.push_back(frames.back());
  frames.back().set(49, 29, {1, 2, 3});
  frames.back().set(17, 29, {1, 2, 3});
  frames.push_back(frames.back());  // as the one before
  frames.push_back(Image(50, 30));
  write_film(path_, frames, 0.04, "");
  EXPECT_EQ(decode(content()), frames[0]);  // what a program that knows no animation shows
  const Film film = play(content());
  ASSERT_EQ(film.frames.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(film.frames[i], frames[i]) << i;
  EXPECT_EQ(film.milliseconds, (std::vector<std::size_t>{40, 40, 40, 40, 40, 40, 1000}));
  bool said = false;
  for (const Chunk& part : chunks_of(content())) {
    if (part.type == "acTL") said = number(part.data, 0) == frames.size();
  }
  EXPECT_TRUE(said);
}

TEST_F(FilmTest, LittleChangeTakesLittleSpace) {
  std::vector<Image> frames(100, pattern(200, 200, 1));
  write_film(path_, std::span(frames).first(1), 0.05, "");
  const std::size_t one = content().size();
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].set(i, i, kBlack);
  write_film(path_, frames, 0.05, "");
  EXPECT_LT(content().size(), one + 100 * 150);
}

TEST_F(FilmTest, OtherFilesHaveNoDescription) {
  EXPECT_EQ(film_description(path_), "");
  EXPECT_EQ(film_description(dir_), "");
  const Image image = pattern(5, 5, 1);
  write_film(path_, std::span(&image, 1), 0.05, "what it is");
  const std::string good = content();
  for (std::size_t length = 0; length < good.size(); ++length) {  // every way to be cut short
    std::ofstream(path_, std::ios::binary) << good.substr(0, length);
    const std::string text = film_description(path_);
    EXPECT_TRUE(text.empty() || text == "what it is") << length;
  }
  std::string huge = good;
  huge[33] = '\x7f';  // the text's length
  std::ofstream(path_, std::ios::binary) << huge;
  EXPECT_EQ(film_description(path_), "");
  std::string none = good;
  none.replace(33, 4, std::string(4, '\0'));
  std::ofstream(path_, std::ios::binary) << none;
  EXPECT_EQ(film_description(path_), "");
}

TEST_F(FilmTest, WhatMakesNoSenseIsRefused) {
  const std::vector<Image> good = {Image(4, 4), Image(4, 4)};
  const std::vector<Image> uneven = {Image(4, 4), Image(4, 5)};
  const std::vector<Image> nothing = {Image()};
  Image broken(4, 4);
  broken.pixels.pop_back();
  EXPECT_THROW(write_film(path_, {}, 0.05, ""), UsageError);
  EXPECT_THROW(write_film(path_, uneven, 0.05, ""), UsageError);
  EXPECT_THROW(write_film(path_, nothing, 0.05, ""), UsageError);
  EXPECT_THROW(write_film(path_, std::span(&broken, 1), 0.05, ""), UsageError);
  EXPECT_THROW(write_film(path_, good, -1, ""), UsageError);
  EXPECT_THROW(write_film(path_, good, 61, ""), UsageError);
  EXPECT_THROW(write_film(path_, good, 0.05, std::string(2000, 'x')), UsageError);
  EXPECT_THROW(write_film(dir_ / "none" / "x.png", good, 0.05, ""), FileError);
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace aurora
