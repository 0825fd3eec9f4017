#include "aurora/evaluation/row_codec.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

using Bytes = std::vector<std::byte>;

std::size_t draw(Stream& stream, std::size_t below) {
  return static_cast<std::size_t>(stream.uniform() * static_cast<double>(below));
}

Bytes random_bytes(Stream& stream, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw(stream, 256));
  return bytes;
}

/// Sends rows in messages of a few, and holds what arrives against them. The bytes that travelled.
std::size_t through(std::size_t row_bytes, const std::vector<Bytes>& rows, std::size_t at_a_time) {
  RowEncoder encoder(row_bytes);
  RowDecoder decoder(row_bytes);
  std::size_t travelled = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += at_a_time) {
    const std::size_t end = std::min(begin + at_a_time, rows.size());
    Bytes message;
    for (std::size_t i = begin; i < end; ++i) encoder.encode(rows[i], message);
    travelled += message.size();
    std::span<const std::byte> rest = message;
    for (std::size_t i = begin; i < end; ++i) {
      Bytes row(row_bytes, std::byte{0xA5});
      decoder.decode(rest, row);
      EXPECT_EQ(row, rows[i]) << "row " << i << " of " << row_bytes << " bytes";
    }
    EXPECT_TRUE(rest.empty());
  }
  return travelled;
}

TEST(RowCodec, GivesBackEveryRowWhateverItIs) {
  Stream stream(1, Purpose::genotype);
  for (int round = 0; round < 400; ++round) {
    const std::size_t row_bytes = draw(stream, 200);
    const double share = stream.uniform();  // of the bytes that change, in clusters or alone
    const Bytes first = random_bytes(stream, row_bytes);
    std::vector<Bytes> rows = {first};
    for (int i = 0; i < 10; ++i) {
      Bytes row = first;
      for (std::byte& byte : row) {
        if (stream.uniform() < share * share) byte = static_cast<std::byte>(draw(stream, 256));
      }
      rows.push_back(row);
    }
    const std::size_t travelled = through(row_bytes, rows, 1 + draw(stream, 4));
    EXPECT_LE(travelled, rows.size() * (row_bytes + 4)) << "never more than the rows themselves";
  }
}

TEST(RowCodec, EqualRowsTakeFourBytes) {
  Stream stream(2, Purpose::genotype);
  for (const std::size_t row_bytes : {1U, 7U, 8U, 9U, 12288U, 2'000'003U}) {
    const Bytes row = random_bytes(stream, row_bytes);
    EXPECT_EQ(through(row_bytes, {row, row, row}, 3), row_bytes + 12) << row_bytes;
  }
}

TEST(RowCodec, OneByteTakesOneWord) {
  Stream stream(3, Purpose::genotype);
  for (const std::size_t row_bytes : {100U, 12288U}) {
    const Bytes first = random_bytes(stream, row_bytes);
    for (std::size_t place = 0; place < row_bytes; place += 7) {
      Bytes row = first;
      row[place] ^= std::byte{1};
      EXPECT_EQ(through(row_bytes, {first, row}, 2), row_bytes + 4 + 4 + 4 + 8);
    }
  }
}

TEST(RowCodec, LongRowsWithFewDifferencesSkipMoreThanARunHolds) {
  Stream stream(4, Purpose::genotype);
  const std::size_t row_bytes = 8 * 200'000;
  const Bytes first(row_bytes);
  Bytes row = first;
  row[8 * 65'535] = std::byte{1};
  row[8 * 199'999] = std::byte{2};
  EXPECT_LT(through(row_bytes, {first, row}, 1), row_bytes + 100);
  // And runs of differences that are longer than one holds.
  Bytes half = first;
  for (std::size_t i = 0; i < row_bytes / 2; ++i) half[i] = static_cast<std::byte>(1 + i % 255);
  EXPECT_LT(through(row_bytes, {first, half}, 1), row_bytes * 3 / 2 + 100);
}

TEST(RowCodec, RandomRowsGoAsTheyAre) {
  Stream stream(5, Purpose::genotype);
  std::vector<Bytes> rows;
  for (int i = 0; i < 5; ++i) rows.push_back(random_bytes(stream, 1000));
  EXPECT_EQ(through(1000, rows, 2), 5 * 1004U);
}

TEST(RowCodec, EmptyRowsGoToo) {
  EXPECT_EQ(through(0, {Bytes(), Bytes(), Bytes()}, 2), 12U);
}

std::string complaint_about(RowDecoder& decoder, const Bytes& message, std::size_t row_bytes) {
  std::span<const std::byte> rest = message;
  Bytes row(row_bytes);
  try {
    decoder.decode(rest, row);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(RowCodec, WhatNoEncoderWritesIsAnError) {
  const auto message = [](std::initializer_list<std::uint32_t> words) {
    Bytes bytes(words.size() * 4);
    std::memcpy(bytes.data(), std::data(words), bytes.size());
    return bytes;
  };
  RowDecoder decoder(16);
  EXPECT_NE(complaint_about(decoder, Bytes(3), 16).find("too early"), std::string::npos);
  EXPECT_NE(complaint_about(decoder, message({0x8000'0010, 1}), 16).find("too early"),
            std::string::npos);
  EXPECT_NE(complaint_about(decoder, message({0x8000'0004, 1}), 16).find("another length"),
            std::string::npos);
  EXPECT_NE(complaint_about(decoder, message({0}), 16).find("nothing came before"),
            std::string::npos);
  EXPECT_EQ(complaint_about(decoder, message({0x8000'0010, 1, 2, 3, 4}), 16), "");
  EXPECT_EQ(complaint_about(decoder, message({0}), 16), "");
  EXPECT_NE(complaint_about(decoder, message({4, 2 << 16}), 16).find("too early"),
            std::string::npos);
  EXPECT_NE(complaint_about(decoder, message({12, 2 | (1 << 16), 7, 7}), 16).find("beyond its end"),
            std::string::npos);
}

TEST(RowCodec, ChangedBytesNeverLeaveTheRow) {
  Stream stream(6, Purpose::genotype);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t row_bytes = 1 + draw(stream, 60);
    const Bytes first = random_bytes(stream, row_bytes);
    Bytes second = first;
    second[draw(stream, row_bytes)] ^= std::byte{3};
    RowEncoder encoder(row_bytes);
    Bytes message;
    encoder.encode(first, message);
    const std::size_t one = message.size();
    encoder.encode(second, message);
    for (int i = 0; i < 3; ++i) {
      message[one + draw(stream, message.size() - one)] = static_cast<std::byte>(draw(stream, 256));
    }
    RowDecoder decoder(row_bytes);
    std::span<const std::byte> rest = message;
    Bytes row(row_bytes);
    decoder.decode(rest, row);
    try {
      decoder.decode(rest, row);  // under the sanitizers, this is the test
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace aurora
