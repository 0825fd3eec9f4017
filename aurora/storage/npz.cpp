#include "aurora/storage/npz.hpp"

#include <zlib.h>

#include <cassert>
#include <cstdint>
#include <limits>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

/// Little-endian, as everything in a ZIP archive.
std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

/// What the two headers of a file have in common: version 2.0, no flags, stored, 1980-01-01.
std::string common(const std::string& name, const std::string& content) {
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  return little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) +
         little(checksum, 4) + little(content.size(), 4) + little(content.size(), 4) +
         little(name.size(), 2) + little(0, 2);
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
    directory += little(0x02014b50, 4) + little(20, 2) + header + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(archive.size(), 4) + name;
    archive += little(0x04034b50, 4) + header + name + content;
  }
  const std::uint64_t begin = archive.size();
  archive += directory;
  return archive + little(0x06054b50, 4) + little(0, 4) + little(arrays.size(), 2) +
         little(arrays.size(), 2) + little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

}  // namespace aurora
