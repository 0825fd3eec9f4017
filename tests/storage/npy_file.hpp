// Whole .npy files, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <type_traits>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/storage/npy.hpp"

namespace aurora {

/// The NpyType of a C++ type.
template <class T>
constexpr NpyType npy_type() {
  if constexpr (std::is_same_v<T, float>) return NpyType::float32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return NpyType::uint8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return NpyType::uint64;
  if constexpr (std::is_same_v<T, std::int64_t>) return NpyType::int64;
}

template <class T>
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<T> values;
};

/// The whole file; DataError if it is broken or its elements are not of type T.
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  NpyHeader header = read_npy_header(file);
  if (header.type != npy_type<T>()) throw DataError("the elements are of another type");
  NpyArray<T> array{std::move(header.shape), std::vector<T>(file.left() / sizeof(T))};
  file.read(std::as_writable_bytes(std::span(array.values)));
  return array;
}

/// The product of `shape` is the number of values.
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const std::size_t> shape,
               std::span<const T> values) {
  write_file(path, [&](OutputFile& file) {
    file.write(npy_preamble({npy_type<T>(), {shape.begin(), shape.end()}}));
    file.write(std::as_bytes(values));
  });
}

}  // namespace aurora
