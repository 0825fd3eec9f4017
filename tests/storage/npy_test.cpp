#include "aurora/storage/npy.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>

#include "aurora/core/errors.hpp"
#include "npy_file.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

class NpyTest : public ::testing::Test {
 protected:
  NpyTest() {
    std::string name = (fs::temp_directory_path() / "aurora_npy_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
    path_ = dir_ / "a.npy";
  }
  ~NpyTest() override { fs::remove_all(dir_); }

  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void set_bytes(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  /// The message with which the file is refused.
  std::string refusal() {
    try {
      read_npy<float>(path_);
    } catch (const DataError& error) {
      return error.what();
    }
    return "(accepted)";
  }

  fs::path dir_;
  fs::path path_;
};

/// A file with the given dictionary, as short as possible, and data.
std::string file_with(const std::string& dictionary, std::size_t data_bytes) {
  std::string bytes = "\x93NUMPY\x01\x00"s;
  bytes += static_cast<char>(dictionary.size() & 0xff);
  bytes += static_cast<char>(dictionary.size() >> 8);
  return bytes + dictionary + std::string(data_bytes, '\0');
}

constexpr const char* kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

TEST_F(NpyTest, TheBytesAreThoseNumpyWrites) {
  const std::vector<std::size_t> shape = {2};
  const std::vector<float> values = {1.0f, -2.0f};
  write_npy<float>(path_, shape, values);
  std::string expected = "\x93NUMPY\x01\x00\x76\x00"s;
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected += std::string(127 - expected.size(), ' ') + "\n" + "\x00\x00\x80\x3f\x00\x00\x00\xc0"s;
  EXPECT_EQ(bytes(), expected);
}

TEST_F(NpyTest, DataBeginsAtAMultipleOf64) {
  for (std::size_t axes = 0; axes < 200; ++axes) {
    const NpyHeader header{NpyType::uint8, std::vector<std::size_t>(axes, 10)};
    const std::string preamble = npy_preamble(header);
    EXPECT_EQ(preamble.size() % 64, 0u);
    EXPECT_EQ(preamble.back(), '\n');
  }
  EXPECT_THROW(npy_preamble({NpyType::uint8, std::vector<std::size_t>(30'000, 1)}), DataError);
}

template <class T>
void expect_round_trip(const fs::path& path, const std::vector<std::size_t>& shape) {
  const std::size_t count = NpyHeader{npy_type<T>(), shape}.count();
  std::vector<T> values(count);
  std::mt19937_64 random(count + 1);
  for (T& value : values) value = static_cast<T>(random());
  write_npy<T>(path, shape, values);
  const NpyArray<T> array = read_npy<T>(path);
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.values, values);
  EXPECT_EQ(read_npy_header(path), (NpyHeader{npy_type<T>(), shape}));
}

TEST_F(NpyTest, RoundTripOfEveryTypeAndRank) {
  const std::vector<std::vector<std::size_t>> shapes = {
      {}, {0}, {1}, {5}, {2, 3}, {0, 7}, {7, 0}, {3, 4, 5}, {2, 64, 64, 3}, {1, 1, 1, 1, 1, 1, 2}};
  for (const auto& shape : shapes) {
    expect_round_trip<float>(path_, shape);
    expect_round_trip<std::uint8_t>(path_, shape);
    expect_round_trip<std::uint64_t>(path_, shape);
    expect_round_trip<std::int64_t>(path_, shape);
  }
}

TEST_F(NpyTest, FloatsKeepTheirBits) {
  const std::vector<std::uint32_t> bits = {0x7fc00001, 0xff800000, 0x80000000, 0x00000001};
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), bits.data(), values.size() * sizeof(float));
  const std::vector<std::size_t> shape = {values.size()};
  write_npy<float>(path_, shape, values);
  const NpyArray<float> array = read_npy<float>(path_);
  EXPECT_EQ(std::memcmp(array.values.data(), bits.data(), 16), 0);
}

TEST_F(NpyTest, ReadsEveryWayToWriteAHeader) {
  for (const std::string dictionary :
       {kGood, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr':'<f4','fortran_order':False,'shape':(2,3,)}",
        "  { \"shape\" : ( 2 , 3 ) , 'fortran_order' : False , 'descr' : \"<f4\" , }   \n"}) {
    set_bytes(file_with(dictionary, 24));
    EXPECT_EQ(read_npy<float>(path_).shape, (std::vector<std::size_t>{2, 3})) << dictionary;
  }
}

TEST_F(NpyTest, BrokenHeadersAreRefused) {
  struct Case {
    std::string dictionary;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"", "'{' was expected"},
      {"{", "was expected"},
      {"{}", "lacks one of"},
      {"[]", "'{' was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ", "was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x", "the end was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }{}", "the end was expected"},
      {"{'descr': '<f4', 'fortran_order': False,, 'shape': (2, 3), }", "was expected"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }", "',' was expected"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (2, 3), }", "':' was expected"},
      {"{descr: '<f4', 'fortran_order': False, 'shape': (2, 3), }", "was expected"},
      {"{'descr': '<f4, }", "a closing quote was expected"},
      {"{'descr': '<\\x664', 'fortran_order': False, 'shape': (2, 3), }", "escapes"},
      {"{'descr': '<f4', 'fortran_order': False}", "lacks one of"},
      {"{'descr': '<f4', 'shape': (2, 3)}", "lacks one of"},
      {"{'fortran_order': False, 'shape': (2, 3)}", "lacks one of"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': ()}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "unknown key 'x'"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", "'>f4'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "'<f8'"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "'|O'"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "was expected"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6)}", "',' was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "'(' was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}", "was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}", "a whole number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}", "was expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "a whole number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616, 3)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
       "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 3)}", "but 24 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4)}", "takes 32 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}", "takes 0 bytes"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", "takes 6 bytes"},
  };
  for (const Case& c : cases) {
    set_bytes(file_with(c.dictionary, 24));
    const std::string message = refusal();
    EXPECT_NE(message.find(c.says), std::string::npos) << c.dictionary << "\n" << message;
    EXPECT_NE(message.find(path_.string()), std::string::npos) << message;
  }
}

TEST_F(NpyTest, MagicVersionAndLengthAreChecked) {
  const std::string good = file_with(kGood, 24);
  set_bytes(good);
  EXPECT_EQ(refusal(), "(accepted)");
  for (std::size_t i = 0; i < 6; ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    set_bytes(bad);
    EXPECT_NE(refusal().find("not a .npy file"), std::string::npos);
  }
  for (const auto& [at, value] : {std::pair{6, 2}, {6, 0}, {7, 1}}) {
    std::string bad = good;
    bad[at] = static_cast<char>(value);
    set_bytes(bad);
    EXPECT_NE(refusal().find("only 1.0"), std::string::npos);
  }
  for (const auto& [at, value] : {std::pair{8, 10}, {8, 58}, {8, 255}, {9, 1}, {9, 255}}) {
    std::string bad = good;
    bad[at] = static_cast<char>(value);
    set_bytes(bad);
    EXPECT_NE(refusal(), "(accepted)") << at << " " << value;
  }
}

TEST_F(NpyTest, EveryTruncationAndExtensionIsRefused) {
  const std::string good = npy_preamble({NpyType::float32, {2, 3}}) + std::string(24, 'x');
  set_bytes(good);
  for (std::size_t length = good.size(); length-- > 0;) {
    fs::resize_file(path_, length);
    EXPECT_NE(refusal(), "(accepted)") << length;
    EXPECT_THROW(read_npy_header(path_), DataError);
  }
  set_bytes(good + "x");
  EXPECT_NE(refusal(), "(accepted)");
  set_bytes(good);
  EXPECT_EQ(refusal(), "(accepted)");
}

std::string damaged(std::string text, std::mt19937& random) {
  for (unsigned n = 1 + random() % 3; n > 0; --n) {
    text[random() % text.size()] = static_cast<char>(random());
  }
  return text;
}

TEST_F(NpyTest, RandomDamageNeverDoesMoreThanThrow) {
  const unsigned seed = 20240607;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    set_bytes(damaged(file_with(kGood, 24), random));
    try {
      EXPECT_EQ(read_npy<float>(path_).values.size(), 6u);
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 500);

  refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    try {
      parse_npy_dictionary(damaged(kGood, random));
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50'000);
  EXPECT_LT(refused, 100'000);
}

TEST_F(NpyTest, AMissingFileIsAFileError) {
  EXPECT_THROW(read_npy<float>(path_), FileError);
}

}  // namespace
}  // namespace aurora
