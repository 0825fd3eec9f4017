// Arrays in NumPy's .npy format, version 1.0: little endian, C order, any number of axes.
//
// The data begins at a multiple of 64 bytes, so numpy.load(..., mmap_mode='r') and SIMD loads work.
// A file is checked before memory is taken for it: what its header promises must be what follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {

enum class NpyType { float32, uint8, uint64, int64 };

template <>
struct Names<NpyType> {
  static constexpr std::pair<NpyType, std::string_view> entries[] = {{NpyType::float32, "float32"},
                                                                     {NpyType::uint8, "uint8"},
                                                                     {NpyType::uint64, "uint64"},
                                                                     {NpyType::int64, "int64"}};
};

/// Bytes of one element.
std::size_t element_bytes(NpyType type);

struct NpyHeader {
  NpyType type = NpyType::float32;
  std::vector<std::size_t> shape;  // empty: a single number

  /// Number of elements, and the bytes they take. Headers that were read do not overflow.
  std::size_t count() const;
  std::size_t data_bytes() const { return count() * element_bytes(type); }

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// The bytes in front of the data. DataError if there are so many axes that format 1.0 cannot say.
std::string npy_preamble(const NpyHeader& header);

/// Reads the text of a header, a Python dictionary. DataError (without the file's name) if it is
/// not one, has other keys than descr, fortran_order and shape, or says what we do not read.
NpyHeader parse_npy_dictionary(std::string_view text);

/// Reads a header; `file` then stands at the data, whose length is what the header says.
/// DataError otherwise.
NpyHeader read_npy_header(InputFile& file);
NpyHeader read_npy_header(const std::filesystem::path& path);

}  // namespace aurora
