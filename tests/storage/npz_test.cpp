#include "aurora/storage/npz.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <vector>

namespace aurora {
namespace {

template <class T>
T at(const std::string& bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(value));
  return value;
}

TEST(Npz, IsAZipArchiveOfNpyFiles) {
  const std::vector<float> values = {1, 2, 3};
  const std::uint64_t id = 7;
  const std::string bytes = npz_bytes(
      std::vector<NpzArray>{{"values", {NpyType::float32, {3}}, std::as_bytes(std::span(values))},
                            {"id", {NpyType::uint64, {}}, std::as_bytes(std::span(&id, 1))}});
  // From the end, as programs that unpack read it: the directory, and through it the files.
  const std::size_t end = bytes.size() - 22;
  ASSERT_EQ(at<std::uint32_t>(bytes, end), 0x06054b50u);
  EXPECT_EQ(at<std::uint16_t>(bytes, end + 10), 2u);
  std::size_t entry = at<std::uint32_t>(bytes, end + 16);
  EXPECT_EQ(entry + at<std::uint32_t>(bytes, end + 12), end);
  const std::pair<std::string, std::string> expected[] = {
      {"values.npy", npy_preamble({NpyType::float32, {3}}) +
                         std::string(reinterpret_cast<const char*>(values.data()), 12)},
      {"id.npy",
       npy_preamble({NpyType::uint64, {}}) + std::string(reinterpret_cast<const char*>(&id), 8)}};
  for (const auto& [name, content] : expected) {
    ASSERT_EQ(at<std::uint32_t>(bytes, entry), 0x02014b50u);
    EXPECT_EQ(bytes.substr(entry + 46, at<std::uint16_t>(bytes, entry + 28)), name);
    const std::size_t file = at<std::uint32_t>(bytes, entry + 42);
    ASSERT_EQ(at<std::uint32_t>(bytes, file), 0x04034b50u);
    EXPECT_EQ(bytes.substr(file + 4, 26), bytes.substr(entry + 6, 26));
    const std::size_t length = at<std::uint32_t>(bytes, file + 22);
    EXPECT_EQ(at<std::uint32_t>(bytes, file + 18), length);
    EXPECT_EQ(bytes.substr(file + 30, name.size()), name);
    EXPECT_EQ(bytes.substr(file + 30 + name.size(), length), content);
    EXPECT_EQ(at<std::uint32_t>(bytes, file + 14),
              crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                    static_cast<uInt>(content.size())));
    entry += 46 + name.size();
  }
  EXPECT_EQ(entry, end);
}

TEST(Npz, MayBeEmpty) {
  EXPECT_EQ(npz_bytes({}).size(), 22u);
}

}  // namespace
}  // namespace aurora
