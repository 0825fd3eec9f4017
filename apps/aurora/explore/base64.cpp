#include "apps/aurora/explore/base64.hpp"

#include <cstddef>
#include <cstdint>

#include "aurora/core/errors.hpp"

namespace aurora::explore {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kDigits[(group >> (18 - 6 * j)) & 63U] : '=';
    }
  }
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  if (text.size() % 4 != 0) throw DataError("a base64 text has a multiple of 4 characters");
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t padding = !last ? 0 : text[i + 2] == '=' ? 2 : text[i + 3] == '=' ? 1 : 0;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t digit = kDigits.find(text[i + j]);
      if (digit == std::string_view::npos && (j < 4 - padding || text[i + j] != '=')) {
        throw DataError("there is a character in a base64 text that does not belong there");
      }
      group = group << 6 | (j < 4 - padding ? static_cast<std::uint32_t>(digit) : 0U);
    }
    for (std::size_t j = 0; j < 3 - padding; ++j) {
      bytes += static_cast<char>((group >> (16 - 8 * j)) & 0xffU);
    }
  }
  return bytes;
}

}  // namespace aurora::explore
