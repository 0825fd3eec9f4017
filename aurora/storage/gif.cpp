#include "aurora/storage/gif.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/frames.hpp"

namespace aurora {
namespace {

constexpr std::string_view kGifSignature = "GIF89a";
constexpr std::string_view kComment = "\x21\xfe";
constexpr std::size_t kGifHeaderBytes = 13;  // signature and screen
constexpr std::size_t kGifMaxSide = 65'535;
constexpr std::size_t kMaxColours = 256;
constexpr std::size_t kMaxCodes = 4096;  // of 12 bits
constexpr std::size_t kMaxBlock = 255;   // bytes

/// Little-endian, as everything in a GIF.
std::string two_bytes(std::size_t value) {
  return {static_cast<char>(value & 0xff), static_cast<char>(value >> 8)};
}

/// Data in blocks, each behind its length; an empty one ends it.
std::string blocks(std::string_view data) {
  std::string text;
  while (!data.empty()) {
    const std::string_view block = data.substr(0, kMaxBlock);
    text += static_cast<char>(block.size());
    text += block;
    data.remove_prefix(block.size());
  }
  return text + '\0';
}

/// Colours with the number of pixels that have them.
struct Shade {
  std::array<std::uint8_t, 3> channels{};
  std::size_t pixels = 0;
};

std::uint32_t key_of(const std::uint8_t* pixel) {
  return static_cast<std::uint32_t>(pixel[0] << 16 | pixel[1] << 8 | pixel[2]);
}

int squared_distance(const Shade& a, const Shade& b) {
  int sum = 0;
  for (std::size_t c = 0; c < a.channels.size(); ++c) {
    const int offset = a.channels[c] - b.channels[c];
    sum += offset * offset;
  }
  return sum;
}

/// A part of all shades, and its widest channel.
struct Box {
  std::span<Shade> shades;
  std::size_t channel = 0;
  double weight = 0;  // how much is to be gained by cutting it

  explicit Box(std::span<Shade> all) : shades(all) {
    std::size_t pixels = 0;
    for (const Shade& shade : shades) pixels += shade.pixels;
    int widest = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto [low, high] =
          std::ranges::minmax(shades, {}, [c](const Shade& shade) { return shade.channels[c]; });
      const int width = high.channels[c] - low.channels[c];
      if (width > widest) channel = c;
      widest = std::max(widest, width);
    }
    // The background is one shade with most of the pixels: their number alone says too little.
    weight = widest * std::sqrt(static_cast<double>(pixels));
  }

  /// Cuts at the median of the widest channel; this box keeps the lower half.
  Box cut() {
    std::ranges::sort(shades, {}, [this](const Shade& s) { return s.channels[channel]; });
    std::size_t all = 0;
    for (const Shade& shade : shades) all += shade.pixels;
    std::size_t middle = 0;
    for (std::size_t below = 0; 2 * below < all; ++middle) below += shades[middle].pixels;
    middle = std::clamp<std::size_t>(middle, 1, shades.size() - 1);
    Box upper(shades.subspan(middle));
    *this = Box(shades.first(middle));
    return upper;
  }

  /// Of its shades the one with most pixels, so that large areas keep their colours.
  Shade commonest() const { return *std::ranges::max_element(shades, {}, &Shade::pixels); }
};

/// The colours of a film, and which of them a pixel gets.
class Palette {
 public:
  Palette(std::span<const Image> frames, std::span<const Rectangle> parts) {
    std::unordered_map<std::uint32_t, std::size_t> counts;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      each_pixel(frames[i], parts[i], [&](std::uint32_t key) { ++counts[key]; });
    }
    std::vector<Shade> shades;
    for (const auto& [key, pixels] : counts) shades.push_back({channels_of(key), pixels});
    std::ranges::sort(shades, {}, &Shade::channels);  // a table of hashes has no order of its own
    std::vector<Shade> sorted = shades;
    std::vector<Box> boxes = {Box(sorted)};
    while (boxes.size() < std::min(kMaxColours, shades.size())) {
      auto widest = std::ranges::max_element(boxes, {}, &Box::weight);
      const Box upper = widest->cut();
      boxes.push_back(upper);
    }
    for (const Box& box : boxes) colours_.push_back(box.commonest());
    for (const Shade& shade : shades) {
      const auto nearest = std::ranges::min_element(
          colours_, {}, [&](const Shade& colour) { return squared_distance(colour, shade); });
      index_[key_of(shade.channels.data())] = static_cast<std::uint8_t>(nearest - colours_.begin());
    }
  }

  /// Bits of an index; 1 at least.
  int bits() const { return std::max(1, static_cast<int>(std::bit_width(colours_.size() - 1))); }

  std::string table() const {
    std::string text;
    for (const Shade& colour : colours_)
      text.append(colour.channels.begin(), colour.channels.end());
    text.resize(3 * (std::size_t{1} << bits()), '\0');
    return text;
  }

  std::vector<std::uint8_t> indices(const Image& image, const Rectangle& part) const {
    std::vector<std::uint8_t> all;
    each_pixel(image, part, [&](std::uint32_t key) { all.push_back(index_.at(key)); });
    return all;
  }

 private:
  static std::array<std::uint8_t, 3> channels_of(std::uint32_t key) {
    return {static_cast<std::uint8_t>(key >> 16), static_cast<std::uint8_t>(key >> 8),
            static_cast<std::uint8_t>(key)};
  }

  template <class Visit>
  static void each_pixel(const Image& image, const Rectangle& part, Visit visit) {
    for (std::size_t y = part.top; y < part.top + part.height; ++y) {
      const std::uint8_t* row = &image.pixels[(y * image.width + part.left) * Image::kChannels];
      for (std::size_t x = 0; x < part.width; ++x) visit(key_of(row + x * Image::kChannels));
    }
  }

  std::vector<Shade> colours_;
  std::unordered_map<std::uint32_t, std::uint8_t> index_;
};

/// Codes of growing width, one behind the other from the lowest bit of the first byte on.
class BitWriter {
 public:
  void write(std::size_t code, int width) {
    held_ |= code << count_;
    for (count_ += width; count_ >= 8; count_ -= 8, held_ >>= 8) flush_byte();
  }
  std::string finish() {
    if (count_ > 0) flush_byte();
    return std::move(bytes_);
  }

 private:
  void flush_byte() { bytes_ += static_cast<char>(held_ & 0xff); }

  std::string bytes_;
  std::size_t held_ = 0;
  int count_ = 0;
};

/// Lempel, Ziv and Welch's compression of indices of `bits` bits, as GIF has it: codes begin one
/// bit wider and grow up to 12, two of them mean "begin anew" and "the end".
std::string compressed(const std::vector<std::uint8_t>& indices, int bits) {
  const std::size_t symbols = std::size_t{1} << bits;
  const std::size_t anew = symbols;
  const std::size_t end = symbols + 1;
  // The code of what a code stands for with one more symbol behind it; 0 if there is none yet.
  std::vector<std::uint16_t> longer(kMaxCodes * symbols);
  std::size_t next = end + 1;
  int width = bits + 1;
  const auto take_code = [&] {
    // Who reads it knows a code one step later than who writes it.
    if (next == std::size_t{1} << width && next < kMaxCodes) ++width;
    return next++;
  };
  BitWriter out;
  out.write(anew, width);
  std::size_t code = indices.front();
  for (const std::uint8_t symbol : std::span(indices).subspan(1)) {
    std::uint16_t& known = longer[code * symbols + symbol];
    if (known != 0) {
      code = known;
      continue;
    }
    out.write(code, width);
    if (next < kMaxCodes) {
      known = static_cast<std::uint16_t>(take_code());
    } else {
      out.write(anew, width);
      std::ranges::fill(longer, std::uint16_t{0});
      next = end + 1;
      width = bits + 1;
    }
    code = symbol;
  }
  out.write(code, width);
  take_code();
  out.write(end, width);
  return out.finish();
}

/// How long the frame stays; what the next one leaves out stays, too.
std::string frame_control(double seconds) {
  const auto hundredths = static_cast<std::size_t>(std::max(2L, std::lround(100 * seconds)));
  return std::string("\x21\xf9\x04\x04", 4) + two_bytes(hundredths) + std::string(2, '\0');
}

}  // namespace

std::string gif_bytes(std::span<const Image> frames, double seconds_per_frame,
                      const std::string& description) {
  check_film(frames, seconds_per_frame, description, kGifMaxSide);
  const Image& first = frames.front();
  std::vector<Rectangle> parts = {{0, 0, first.width, first.height}};
  for (std::size_t i = 1; i < frames.size(); ++i) {
    parts.push_back(changed(frames[i - 1], frames[i]));
  }
  const Palette palette(frames, parts);
  const int bits = std::max(2, palette.bits());  // GIF compresses nothing smaller
  std::string file(kGifSignature);
  // One table of colours for all frames; no background and no aspect ratio of the pixels.
  file += two_bytes(first.width) + two_bytes(first.height) +
          static_cast<char>(0xf0 | (palette.bits() - 1)) + std::string(2, '\0');
  file += palette.table();
  file += std::string(kComment) + blocks(description);
  if (frames.size() > 1) {  // for ever
    file += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool last = i + 1 == frames.size();
    file +=
        frame_control(last ? std::max(seconds_per_frame, kLastFrameSeconds) : seconds_per_frame);
    const Rectangle& part = parts[i];
    file += "," + two_bytes(part.left) + two_bytes(part.top) + two_bytes(part.width) +
            two_bytes(part.height) + '\0' + static_cast<char>(bits);
    file += blocks(compressed(palette.indices(frames[i], part), bits));
  }
  return file + ";";
}

void write_gif(const std::filesystem::path& path, std::span<const Image> frames,
               double seconds_per_frame, const std::string& description) {
  write_file(path, gif_bytes(frames, seconds_per_frame, description));
}

std::string gif_description(const std::filesystem::path& path) {
  try {
    InputFile file(path);
    std::string start(std::min<std::uint64_t>(
                          file.size(), kGifHeaderBytes + 3 * kMaxColours + 2 * kMaxDescription),
                      '\0');
    file.read(std::as_writable_bytes(std::span(start)));
    if (start.size() < kGifHeaderBytes || !start.starts_with(kGifSignature)) return {};
    std::size_t at = kGifHeaderBytes + 3 * (std::size_t{2} << (start[10] & 7));
    if (at > start.size() || start.compare(at, kComment.size(), kComment) != 0) return {};
    at += kComment.size();
    std::string text;
    for (;;) {
      if (at >= start.size()) return {};
      const std::size_t length = static_cast<std::uint8_t>(start[at]);
      if (length == 0) return text;
      if (at + 1 + length > start.size()) return {};
      text += start.substr(at + 1, length);
      at += 1 + length;
    }
  } catch (const Error&) {
    return {};
  }
}

}  // namespace aurora
