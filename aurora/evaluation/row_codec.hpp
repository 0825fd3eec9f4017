// Rows of sensory data on their way to another process, in fewer bytes where that can be.
//
// The first row of a connection travels as it is, and both ends keep it. Of a later one only the
// 8-byte words that differ from it do, unless that would be more. A Maze picture is the empty maze
// but for a few pixels, and becomes a hundred times smaller; trajectories mostly stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aurora {

/// Every row begins with its length, 4 bytes: the highest bit says that it is as it was. A row of
/// differences is runs of (words that are equal: 2 bytes, words that follow: 2 bytes, these words);
/// behind the last run all words are equal.
class RowEncoder {
 public:
  explicit RowEncoder(std::size_t row_bytes);
  /// Appends a row to a message.
  void encode(std::span<const std::byte> row, std::vector<std::byte>& message);

 private:
  std::size_t row_bytes_;
  std::vector<std::byte> reference_;  // padded to whole words; empty before the first row
  std::vector<std::byte> runs_;
};

class RowDecoder {
 public:
  explicit RowDecoder(std::size_t row_bytes);
  /// Takes a row from the front of a message. DataError if no encoder can have written it.
  void decode(std::span<const std::byte>& message, std::span<std::byte> row);

 private:
  std::size_t row_bytes_;
  std::vector<std::byte> reference_;
};

}  // namespace aurora
