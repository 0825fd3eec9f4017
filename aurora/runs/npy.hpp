// Arrays in NumPy's .npy format, version 1.0: little endian, C order, any number of axes.
//
// The data begins at a multiple of 64 bytes, so numpy.load(..., mmap_mode='r') and SIMD loads work.
// A file is checked before memory is taken for it: what its header promises must be what follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/runs/files.hpp"

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

/// The NpyType of a C++ type.
template <class T>
constexpr NpyType npy_type() {
  if constexpr (std::is_same_v<T, float>) return NpyType::float32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return NpyType::uint8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return NpyType::uint64;
  if constexpr (std::is_same_v<T, std::int64_t>) return NpyType::int64;
}

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

template <class T>
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<T> values;
};

/// The whole file; DataError if it is broken or its elements are not of type T.
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path);

/// Writes the whole file (see write_file); the product of `shape` is the number of values.
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const std::size_t> shape,
               std::span<const T> values);

}  // namespace aurora
