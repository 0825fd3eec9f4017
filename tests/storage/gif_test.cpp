#include "aurora/storage/gif.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

struct Film {
  std::vector<Image> frames;
  std::vector<std::size_t> hundredths;
  std::string comment;
  bool for_ever = false;
};

/// A reader of GIF that knows nothing of the writer: from the description of the format.
class Player {
 public:
  explicit Player(std::string bytes) : bytes_(std::move(bytes)) {}

  Film play() {
    if (take(6) != "GIF89a") throw std::runtime_error("no GIF");
    const std::size_t width = number(), height = number();
    screen_ = Image(width, height);
    const std::size_t flags = byte();
    take(2);
    palette_ = take(3 * (std::size_t{2} << (flags & 7)));
    for (;;) {
      const char kind = take(1)[0];
      if (kind == ';') break;
      if (kind == '!') {
        read_extension();
      } else if (kind == ',') {
        read_frame();
      } else {
        throw std::runtime_error("no block");
      }
    }
    if (at_ != bytes_.size()) throw std::runtime_error("there is more");
    return film_;
  }

 private:
  std::string take(std::size_t count) {
    if (at_ + count > bytes_.size()) throw std::runtime_error("too short");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::size_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::size_t number() {
    const std::size_t low = byte();
    return low | byte() << 8;
  }
  std::string blocks() {
    std::string all;
    for (std::size_t length = byte(); length > 0; length = byte()) all += take(length);
    return all;
  }

  void read_extension() {
    const std::size_t label = byte();
    const std::string data = blocks();
    if (label == 0xfe) film_.comment = data;
    if (label == 0xff) film_.for_ever = data == std::string("NETSCAPE2.0\x01\0\0", 14);
    if (label == 0xf9) {
      EXPECT_EQ(data.at(0), 4);  // what is not drawn over stays
      film_.hundredths.push_back(static_cast<std::uint8_t>(data.at(1)) |
                                 static_cast<std::size_t>(static_cast<std::uint8_t>(data.at(2)))
                                     << 8);
    }
  }

  void read_frame() {
    const std::size_t left = number(), top = number(), width = number(), height = number();
    EXPECT_EQ(byte(), 0u);
    const auto bits = static_cast<int>(byte());
    const std::vector<std::size_t> indices = unpacked(blocks(), bits);
    if (indices.size() != width * height) throw std::runtime_error("another number of pixels");
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto* colour = reinterpret_cast<const std::uint8_t*>(palette_.data()) + 3 * indices[i];
      if (3 * indices[i] + 3 > palette_.size()) throw std::runtime_error("no such colour");
      screen_.set(left + i % width, top + i / width, {colour[0], colour[1], colour[2]});
    }
    film_.frames.push_back(screen_);
  }

  static std::vector<std::size_t> unpacked(const std::string& data, int bits) {
    using String = std::vector<std::size_t>;
    const std::size_t anew = std::size_t{1} << bits;
    std::vector<String> table;
    const auto reset = [&] {
      table.assign(anew + 2, {});
      for (std::size_t i = 0; i < anew; ++i) table[i] = {i};
    };
    reset();
    std::vector<std::size_t> out;
    String before;
    int width = bits + 1;
    std::size_t position = 0;
    for (;;) {
      std::size_t code = 0;
      for (int i = 0; i < width; ++i, ++position) {
        const auto piece = static_cast<std::uint8_t>(data.at(position / 8));
        code |= static_cast<std::size_t>(piece >> position % 8 & 1) << i;
      }
      if (code == anew) {
        reset();
        width = bits + 1;
        before.clear();
        continue;
      }
      if (code == anew + 1) break;
      String entry;
      if (code < table.size()) {
        entry = table[code];
      } else {
        if (code != table.size() || before.empty()) throw std::runtime_error("no such code");
        entry = before;
        entry.push_back(before.front());
      }
      out.insert(out.end(), entry.begin(), entry.end());
      if (!before.empty() && table.size() < 4096) {
        before.push_back(entry.front());
        table.push_back(before);
      }
      before = entry;
      if (table.size() == std::size_t{1} << width && width < 12) ++width;
    }
    EXPECT_EQ(position / 8 + (position % 8 > 0 ? 1 : 0), data.size());
    return out;
  }

  std::string bytes_;
  std::size_t at_ = 0;
  Image screen_;
  std::string palette_;
  Film film_;
};

class GifTest : public testing::Test {
 protected:
  GifTest() { fs::create_directories(dir_); }
  ~GifTest() override { fs::remove_all(dir_); }

  std::string content() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  Film written(std::span<const Image> frames, double seconds = 0.05) {
    write_gif(path_, frames, seconds, "what it is");
    return Player(content()).play();
  }

  fs::path dir_ = fs::temp_directory_path() / ("aurora-gif-" + std::to_string(getpid()));
  fs::path path_ = dir_ / "film.gif";
};

/// Pixels of `colours` colours, at random or in runs.
Image noise(std::size_t width, std::size_t height, std::size_t colours, unsigned seed,
            std::size_t run = 1) {
  std::mt19937 random(seed);
  Image image(width, height);
  std::size_t colour = 0;
  for (std::size_t i = 0; i < width * height; ++i) {
    if (i % run == 0) colour = random() % colours;
    image.set(i % width, i / width,
              {static_cast<std::uint8_t>(colour), static_cast<std::uint8_t>(255 - colour),
               static_cast<std::uint8_t>(colour * 7)});
  }
  return image;
}

// Every width of codes, full tables, and every number of bits of a colour.
TEST_F(GifTest, UpTo256ColoursComeBackExactly) {
  for (const std::size_t colours : {1U, 2U, 3U, 4U, 5U, 16U, 17U, 128U, 200U, 256U}) {
    for (const std::size_t run : {1U, 7U, 400U}) {
      for (const std::size_t side : {1U, 2U, 3U, 31U, 150U}) {
        SCOPED_TRACE(testing::Message() << colours << ' ' << run << ' ' << side);
        const Image image = noise(side, side + 1, colours, 5, run);
        const Film film = written(std::span(&image, 1));
        ASSERT_EQ(film.frames.size(), 1u);
        EXPECT_EQ(film.frames[0], image);
        EXPECT_FALSE(film.for_ever);
      }
    }
  }
}

// The last code may be the one that makes codes wider: every length of the data.
TEST_F(GifTest, EveryLengthComesBack) {
  for (std::size_t length = 1; length < 400; ++length) {
    const Image image = noise(length, 1, 3, 1, 1 + length % 3);
    ASSERT_EQ(written(std::span(&image, 1)).frames.at(0), image) << length;
  }
}

TEST_F(GifTest, FramesComeBackOneAfterTheOther) {
  std::vector<Image> frames = {noise(50, 30, 9, 1), noise(50, 30, 9, 1), noise(50, 30, 9, 2)};
  frames.push_back(frames.back());
  frames.back().set(17, 29, {1, 2, 3});
  frames.emplace_back(50, 30);
  const Film film = written(frames, 0.04);
  EXPECT_EQ(film.frames, frames);
  EXPECT_EQ(film.hundredths, (std::vector<std::size_t>{4, 4, 4, 4, 100}));
  EXPECT_TRUE(film.for_ever);
  EXPECT_EQ(film.comment, "what it is");
  EXPECT_EQ(gif_description(path_), "what it is");
  EXPECT_EQ(written(frames, 0.001).hundredths[0], 2u);
}

TEST_F(GifTest, MoreColoursBecomeTheNearestOf256) {
  // Half of it is one colour, which stays; the rest is every shade of a plane of colours.
  Image image(256, 256, {10, 20, 30});
  for (std::size_t i = 0; i < 128 * 256; ++i) {
    image.set(i % 256, i / 256,
              {static_cast<std::uint8_t>(i % 256), static_cast<std::uint8_t>(i / 128), 90});
  }
  const Image found = written(std::span(&image, 1)).frames.at(0);
  std::set<std::tuple<int, int, int>> colours;
  double squares = 0;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const double offset = image.pixels[i] - found.pixels[i];
    EXPECT_LT(std::abs(offset), 40);
    squares += offset * offset;
  }
  for (std::size_t i = 0; i < 256 * 256; ++i) {
    const Colour colour = found.at(i % 256, i / 256);
    colours.insert({colour.red, colour.green, colour.blue});
  }
  EXPECT_EQ(colours.size(), 256u);
  EXPECT_LT(squares / static_cast<double>(image.pixels.size()), 40);
  EXPECT_EQ(found.at(100, 200), (Colour{10, 20, 30}));
}

TEST_F(GifTest, LittleChangeTakesLittleSpace) {
  std::vector<Image> frames(100, noise(200, 200, 100, 1));
  write_gif(path_, std::span(frames).first(1), 0.05, "");
  const std::size_t one = content().size();
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].set(i, i, kBlack);
  write_gif(path_, frames, 0.05, "");
  EXPECT_LT(content().size(), one + 100 * 50);
}

TEST_F(GifTest, OtherFilesHaveNoDescription) {
  EXPECT_EQ(gif_description(path_), "");
  EXPECT_EQ(gif_description(dir_), "");
  const Image image = noise(5, 5, 3, 1);
  const std::string text(700, 'x');  // more than a block of it
  write_gif(path_, std::span(&image, 1), 0.05, text);
  EXPECT_EQ(gif_description(path_), text);
  const std::string good = content();
  for (std::size_t length = 0; length < good.size(); ++length) {  // every way to be cut short
    std::ofstream(path_, std::ios::binary) << good.substr(0, length);
    const std::string found = gif_description(path_);
    EXPECT_TRUE(found.empty() || found == text) << length;
  }
  std::ofstream(path_, std::ios::binary) << "GIF89a, so they say";
  EXPECT_EQ(gif_description(path_), "");
}

TEST_F(GifTest, WhatMakesNoSenseIsRefused) {
  const std::vector<Image> good = {Image(4, 4), Image(4, 4)};
  const std::vector<Image> uneven = {Image(4, 4), Image(4, 5)};
  const Image wide(65'536, 1);
  EXPECT_THROW(write_gif(path_, {}, 0.05, ""), UsageError);
  EXPECT_THROW(write_gif(path_, uneven, 0.05, ""), UsageError);
  EXPECT_THROW(write_gif(path_, std::span(&wide, 1), 0.05, ""), UsageError);
  EXPECT_THROW(write_gif(path_, good, -1, ""), UsageError);
  EXPECT_THROW(write_gif(path_, good, 0.05, std::string(2000, 'x')), UsageError);
  EXPECT_THROW(write_gif(dir_ / "none" / "x.gif", good, 0.05, ""), FileError);
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace aurora
