#include "aurora/storage/npz.hpp"

#include <zlib.h>

#include <cassert>
#include <cstdint>
#include <limits>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

/// Little-endian, as everything in a ZIP archive.
std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

/// What the two headers of a file have in common: version 2.0, no flags, stored, 1980-01-01.
std::string common(const std::string& name, const std::string& content) {
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  return number(20, 2) + number(0, 2) + number(0, 2) + number(0, 2) + number(0x21, 2) +
         number(checksum, 4) + number(content.size(), 4) + number(content.size(), 4) +
         number(name.size(), 2) + number(0, 2);
}

}  // namespace

std::string npz_bytes(std::span<const NpzArray> arrays) {
  std::string archive;
  std::string directory;
  for (const NpzArray& array : arrays) {
    assert(array.data.size() == array.header.data_bytes());
    const std::string name = array.name + ".npy";
    std::string content = npy_preamble(array.header);
    content.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    if (archive.size() + content.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      throw DataError("the arrays are too large for one .npz file");
    }
    const std::string header = common(name, content);
    directory += number(0x02014b50, 4) + number(20, 2) + header + number(0, 2) + number(0, 2) +
                 number(0, 2) + number(0, 4) + number(archive.size(), 4) + name;
    archive += number(0x04034b50, 4) + header + name + content;
  }
  const std::uint64_t begin = archive.size();
  archive += directory;
  return archive + number(0x06054b50, 4) + number(0, 4) + number(arrays.size(), 2) +
         number(arrays.size(), 2) + number(directory.size(), 4) + number(begin, 4) + number(0, 2);
}

}  // namespace aurora
