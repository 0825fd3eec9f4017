// Arrays in NumPy's .npz format: .npy files in a ZIP archive, not compressed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "aurora/storage/npy.hpp"

namespace aurora {

struct NpzArray {
  std::string name;
  NpyHeader header;
  std::span<const std::byte> data;  // as many bytes as the header says
};

/// The bytes of such a file, the same for equal arrays. DataError if it would have 4 GB or more.
std::string npz_bytes(std::span<const NpzArray> arrays);

}  // namespace aurora
