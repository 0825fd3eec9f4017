#include "aurora/storage/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <limits>
#include <optional>

#include "aurora/core/errors.hpp"

namespace aurora {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrefixBytes = 10;  // magic, version (2 bytes), length of the dictionary (2)
constexpr std::size_t kAlignment = 64;

struct Description {
  NpyType type;
  std::string_view code;  // as NumPy writes it: byte order, kind, bytes
};
constexpr std::array<Description, 4> kDescriptions = {{{NpyType::float32, "<f4"},
                                                       {NpyType::uint8, "|u1"},
                                                       {NpyType::uint64, "<u8"},
                                                       {NpyType::int64, "<i8"}}};

/// A reader of the little of Python's syntax that stands in a header.
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    std::optional<NpyType> type;
    std::optional<bool> fortran;
    std::optional<std::vector<std::size_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        set(type, description(), key);
      } else if (key == "fortran_order") {
        set(fortran, boolean(), key);
      } else if (key == "shape") {
        set(shape, tuple(), key);
      } else {
        throw DataError(fmt::format("the header has an unknown key '{}'", key));
      }
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ != text_.size()) wrong("the end");
    if (!type || !fortran || !shape) {
      throw DataError("the header lacks one of descr, fortran_order and shape");
    }
    if (*fortran) throw DataError("the array is in Fortran order; only C order is read");
    return {*type, std::move(*shape)};
  }

 private:
  template <class T>
  static void set(std::optional<T>& field, T value, std::string_view key) {
    if (field) throw DataError(fmt::format("the header has the key '{}' twice", key));
    field = std::move(value);
  }

  [[noreturn]] void wrong(std::string_view wanted) const {
    throw DataError(
        fmt::format("the header is malformed: {} was expected at its byte {}", wanted, at_));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) wrong(fmt::format("'{}'", c));
  }

  /// Between single or double quotes, without escapes.
  std::string_view string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) wrong("a closing quote");
    const std::string_view content = text_.substr(at_, end - at_);
    if (content.find('\\') != std::string_view::npos) wrong("a string without escapes");
    at_ = end + 1;
    return content;
  }

  NpyType description() {
    const std::string_view code = string();
    for (const Description& known : kDescriptions) {
      if (known.code == code) return known.type;
    }
    throw DataError(
        fmt::format("elements of type '{}' are not read; only <f4, |u1, <u8 and <i8", code));
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    wrong("True or False");
  }

  std::size_t whole_number() {
    skip_space();
    std::size_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) throw DataError("the shape is too large");
    if (error != std::errc{}) wrong("a whole number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  /// (), (3,) or (3, 4) with or without a comma at the end; (3) is no tuple in Python.
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(whole_number());
      if (values.size() > 1 && accept(')')) break;
      expect(',');
    }
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Extents of zero count as one here: what remains of the shape must make sense without them too.
void check_product(const NpyHeader& header) {
  std::size_t bytes = element_bytes(header.type);
  for (const std::size_t extent : header.shape) {
    if (extent == 0) continue;
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 / extent) {
      throw DataError("the shape is too large");
    }
    bytes *= extent;
  }
}

/// As read_npy_header, but the messages do not say which file.
NpyHeader read_checked(InputFile& file) {
  std::array<unsigned char, kPrefixBytes> prefix;
  if (file.left() < prefix.size()) throw DataError("too short for a .npy file");
  file.read(std::as_writable_bytes(std::span(prefix)));
  if (!std::equal(kMagic.begin(), kMagic.end(), reinterpret_cast<const char*>(prefix.data()))) {
    throw DataError("not a .npy file");
  }
  if (prefix[6] != 1 || prefix[7] != 0) {
    throw DataError(fmt::format(".npy format {}.{} is not read; only 1.0", prefix[6], prefix[7]));
  }
  const std::size_t length = prefix[8] + 256u * prefix[9];
  if (length > file.left()) {
    throw DataError(fmt::format("truncated: a header of {} bytes is announced, {} bytes follow",
                                length, file.left()));
  }
  std::string text(length, '\0');
  file.read(std::as_writable_bytes(std::span(text)));

  NpyHeader header = parse_npy_dictionary(text);
  if (header.data_bytes() != file.left()) {
    throw DataError(fmt::format("{} array of shape ({}) takes {} bytes, but {} bytes follow",
                                name_of(header.type), fmt::join(header.shape, ", "),
                                header.data_bytes(), file.left()));
  }
  return header;
}

}  // namespace

std::size_t element_bytes(NpyType type) {
  switch (type) {
    case NpyType::float32:
      return 4;
    case NpyType::uint8:
      return 1;
    case NpyType::uint64:
    case NpyType::int64:
      return 8;
  }
  assert(false);
  return 0;
}

std::size_t NpyHeader::count() const {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  return n;
}

std::string npy_preamble(const NpyHeader& header) {
  std::string_view code;
  for (const Description& known : kDescriptions) {
    if (known.type == header.type) code = known.code;
  }
  const std::string shape =
      fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", code, shape);

  // Spaces and a line break fill up to where the data may begin.
  const std::size_t used = kPrefixBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  if (dictionary.size() > 0xffff) {
    throw DataError(fmt::format("{} axes do not fit into a .npy file", header.shape.size()));
  }

  std::string preamble(kMagic);
  preamble += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
               static_cast<char>(dictionary.size() >> 8)};
  return preamble + dictionary;
}

NpyHeader parse_npy_dictionary(std::string_view text) {
  NpyHeader header = DictionaryParser(text).parse();
  check_product(header);
  return header;
}

NpyHeader read_npy_header(InputFile& file) {
  try {
    return read_checked(file);
  } catch (const DataError& error) {
    throw DataError(fmt::format("'{}': {}", file.path().string(), error.what()));
  }
}

NpyHeader read_npy_header(const fs::path& path) {
  InputFile file(path);
  return read_npy_header(file);
}

}  // namespace aurora
