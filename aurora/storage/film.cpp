#include "aurora/storage/film.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/frames.hpp"

namespace aurora {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kKeyword = "Description";
constexpr std::size_t kMaxSide = 1'000'000;  // libpng's limit
constexpr std::size_t kChunkOverhead = 12;   // length, type and checksum
constexpr std::size_t kHeaderBytes = 13;     // of IHDR

/// Big-endian, as everything in a PNG.
std::string big(std::size_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>((value >> shift) & 0xff);
  }
  return text;
}

std::string chunk(std::string_view type, std::string_view data) {
  std::string body = std::string(type) + std::string(data);
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(data.size(), 4) + body + big(checksum, 4);
}

enum class Filter : char { none = 0, up = 2 };  // PNG's numbers

/// The rows of a part of a picture, each after the number of its filter; `up` has the differences
/// from the row above.
std::string filtered(const Image& image, const Rectangle& part, Filter filter) {
  std::string rows;
  const std::size_t row_bytes = part.width * Image::kChannels;
  const std::size_t pitch = image.width * Image::kChannels;
  rows.reserve(part.height * (row_bytes + 1));
  for (std::size_t y = 0; y < part.height; ++y) {
    rows += static_cast<char>(filter);
    const std::uint8_t* row = &image.pixels[(part.top + y) * pitch + part.left * Image::kChannels];
    const bool subtract = filter == Filter::up && y > 0;
    for (std::size_t i = 0; i < row_bytes; ++i) {
      rows += static_cast<char>(subtract ? row[i] - (row - pitch)[i] : row[i]);
    }
  }
  return rows;
}

/// zlib's usual one. Its best makes films a little shorter and takes many times as long: large
/// plain areas are what it is slow at.
constexpr int kLevel = 6;

std::string deflated(const std::string& rows, int level) {
  uLongf size = compressBound(rows.size());
  std::string data(size, '\0');
  const int done = compress2(reinterpret_cast<Bytef*>(data.data()), &size,
                             reinterpret_cast<const Bytef*>(rows.data()), rows.size(), level);
  if (done != Z_OK) throw Error("zlib cannot compress a picture: it is out of memory");
  data.resize(size);
  return data;
}

/// With whichever filter is shorter: drawings are without, shaded bodies with. Which one it is, a
/// quick try tells.
std::string compressed(const Image& image, const Rectangle& part) {
  const std::string plain = filtered(image, part, Filter::none);
  const std::string up = filtered(image, part, Filter::up);
  const auto tried = [](const std::string& rows) { return deflated(rows, Z_BEST_SPEED).size(); };
  return deflated(tried(up) < tried(plain) ? up : plain, kLevel);
}

/// The chunk that says where a frame belongs and how long it stays; it replaces what is there.
std::string frame_control(std::size_t sequence, const Rectangle& part, double seconds) {
  const auto milliseconds = static_cast<std::size_t>(std::lround(1000 * seconds));
  return chunk("fcTL", big(sequence, 4) + big(part.width, 4) + big(part.height, 4) +
                           big(part.left, 4) + big(part.top, 4) + big(milliseconds, 2) +
                           big(1000, 2) + big(0, 2));
}

/// What stands before the description in every file of ours, but for the numbers of IHDR.
constexpr std::size_t kTextAt = 8 + kHeaderBytes + kChunkOverhead;

}  // namespace

std::string film_bytes(std::span<const Image> frames, double seconds_per_frame,
                       const std::string& description) {
  check_film(frames, seconds_per_frame, description, kMaxSide);
  const Image& first = frames.front();
  const bool moves = frames.size() > 1;
  std::string file(kSignature);
  // 8 bits a channel, red, green, blue; compression, filter and interlacing as usual.
  file +=
      chunk("IHDR", big(first.width, 4) + big(first.height, 4) + std::string("\x08\x02\0\0\0", 5));
  file += chunk("tEXt", std::string(kKeyword) + '\0' + description);
  if (moves) file += chunk("acTL", big(frames.size(), 4) + big(0, 4));  // for ever
  std::size_t sequence = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Rectangle part =
        i == 0 ? Rectangle{0, 0, first.width, first.height} : changed(frames[i - 1], frames[i]);
    const bool last = i + 1 == frames.size();
    if (moves) {
      const double seconds =
          last ? std::max(seconds_per_frame, kLastFrameSeconds) : seconds_per_frame;
      file += frame_control(sequence++, part, seconds);
    }
    const std::string data = compressed(frames[i], part);
    file += i == 0 ? chunk("IDAT", data) : chunk("fdAT", big(sequence++, 4) + data);
  }
  return file + chunk("IEND", "");
}

void write_film(const std::filesystem::path& path, std::span<const Image> frames,
                double seconds_per_frame, const std::string& description) {
  write_file(path, film_bytes(frames, seconds_per_frame, description));
}

std::string film_description(const std::filesystem::path& path) {
  try {
    InputFile file(path);
    std::string start(
        std::min<std::uint64_t>(file.size(),
                                kTextAt + kChunkOverhead + kKeyword.size() + 1 + kMaxDescription),
        '\0');
    file.read(std::as_writable_bytes(std::span(start)));
    const std::string expected = std::string("tEXt") + std::string(kKeyword) + '\0';
    if (!start.starts_with(kSignature) || start.size() < kTextAt + 4 + expected.size() ||
        start.compare(kTextAt + 4, expected.size(), expected) != 0) {
      return {};
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | static_cast<std::uint8_t>(start[kTextAt + i]);
    }
    const std::size_t begin = kTextAt + 4 + expected.size();
    const std::size_t end = kTextAt + 8 + length;
    return end < begin || end > start.size() ? std::string() : start.substr(begin, end - begin);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace aurora
