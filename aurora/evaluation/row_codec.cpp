#include "aurora/evaluation/row_codec.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kBlock = 8;  // words
constexpr std::uint32_t kAsItWas = 0x8000'0000;
constexpr std::size_t kMostWords = 0xFFFF;  // of either half of a run

struct Run {
  std::uint16_t equal;
  std::uint16_t other;
};

std::uint64_t word(const std::byte* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, kWord);
  return value;
}

/// The words of a row; those behind its end are zero.
class Words {
 public:
  explicit Words(std::span<const std::byte> row) : row_(row), whole_(row.size() / kWord) {
    if (const std::size_t rest = row.size() % kWord; rest > 0) {
      std::memcpy(&last_, row.data() + whole_ * kWord, rest);
    }
  }
  std::size_t size() const { return (row_.size() + kWord - 1) / kWord; }
  /// Whether the next words, from word i on, are those of the other row; a block at a time.
  bool block_is_equal(std::size_t i, const std::byte* other) const {
    if (i + kBlock > whole_) return false;
    std::uint64_t differences = 0;
    for (std::size_t k = i; k < i + kBlock; ++k) {
      differences |= word(row_.data() + k * kWord) ^ word(other + k * kWord);
    }
    return differences == 0;
  }
  std::uint64_t operator[](std::size_t i) const {
    return i < whole_ ? word(row_.data() + i * kWord) : last_;
  }

 private:
  std::span<const std::byte> row_;
  std::size_t whole_;
  std::uint64_t last_ = 0;
};

std::vector<std::byte> padded(std::span<const std::byte> row) {
  std::vector<std::byte> words((row.size() + kWord - 1) / kWord * kWord);
  std::ranges::copy(row, words.begin());
  return words;
}

void append(std::vector<std::byte>& message, const void* bytes, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  message.insert(message.end(), begin, begin + count);
}

/// Writes the runs of differences into `runs`, which has room for a row; the bytes they take, or
/// nothing less than a row if they are no fewer.
std::size_t differences(const Words& row, const std::byte* reference, std::size_t limit,
                        std::byte* runs) {
  const std::size_t words = row.size();
  std::size_t used = 0;
  std::size_t i = 0;
  for (;;) {
    const std::size_t begin = i;
    while (row.block_is_equal(i, reference)) i += kBlock;
    while (i < words && row[i] == word(reference + i * kWord)) ++i;
    if (i == words) return used;
    std::size_t equal = i - begin;
    for (; equal > kMostWords; equal -= kMostWords) {
      if (used + sizeof(Run) >= limit) return limit;
      const Run skip{kMostWords, 0};
      std::memcpy(runs + used, &skip, sizeof(Run));
      used += sizeof(Run);
    }
    const std::size_t head = used;
    if (used + sizeof(Run) >= limit) return limit;
    used += sizeof(Run);
    std::uint16_t other = 0;
    for (; i < words && other < kMostWords; ++i, ++other) {
      const std::uint64_t value = row[i];
      if (value == word(reference + i * kWord)) break;
      if (used + kWord >= limit) return limit;
      std::memcpy(runs + used, &value, kWord);
      used += kWord;
    }
    const Run run{static_cast<std::uint16_t>(equal), other};
    std::memcpy(runs + head, &run, sizeof(Run));
  }
}

[[noreturn]] void broken(const char* what) {
  throw DataError(std::string("a row of sensory data from another process is broken: ") + what);
}

std::span<const std::byte> take(std::span<const std::byte>& message, std::size_t count) {
  if (message.size() < count) broken("it ends too early");
  const auto taken = message.first(count);
  message = message.subspan(count);
  return taken;
}

}  // namespace

RowEncoder::RowEncoder(std::size_t row_bytes) : row_bytes_(row_bytes), runs_(row_bytes) {}

void RowEncoder::encode(std::span<const std::byte> row, std::vector<std::byte>& message) {
  assert(row.size() == row_bytes_);
  std::size_t used = row_bytes_;
  if (reference_.empty()) {
    reference_ = padded(row);
  } else {
    used = differences(Words(row), reference_.data(), row_bytes_, runs_.data());
  }
  const bool as_it_was = used >= row_bytes_;
  const auto length = static_cast<std::uint32_t>(used) | (as_it_was ? kAsItWas : 0);
  append(message, &length, sizeof(length));
  append(message, as_it_was ? row.data() : runs_.data(), used);
}

RowDecoder::RowDecoder(std::size_t row_bytes) : row_bytes_(row_bytes) {}

void RowDecoder::decode(std::span<const std::byte>& message, std::span<std::byte> row) {
  assert(row.size() == row_bytes_);
  std::uint32_t length = 0;
  std::memcpy(&length, take(message, sizeof(length)).data(), sizeof(length));
  std::span<const std::byte> bytes = take(message, length & ~kAsItWas);
  if ((length & kAsItWas) != 0) {
    if (bytes.size() != row_bytes_) broken("it has another length");
    std::ranges::copy(bytes, row.begin());
    if (reference_.empty()) reference_ = padded(row);
    return;
  }
  if (reference_.empty() && row_bytes_ > 0) broken("nothing came before that it could differ from");
  std::memcpy(row.data(), reference_.data(), row_bytes_);
  std::size_t place = 0;
  while (!bytes.empty()) {
    Run run{};
    std::memcpy(&run, take(bytes, sizeof(run)).data(), sizeof(run));
    place += run.equal * kWord;
    const auto words = take(bytes, run.other * kWord);
    if (place + words.size() > reference_.size()) broken("it goes beyond its end");
    const std::size_t inside = std::min(words.size(), row_bytes_ - std::min(place, row_bytes_));
    std::memcpy(row.data() + std::min(place, row_bytes_), words.data(), inside);
    place += words.size();
  }
}

}  // namespace aurora
