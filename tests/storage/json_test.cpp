#include "aurora/storage/internal/json.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <span>

#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

class SignedJson : public testing::Test {
 protected:
  fs::path file(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  static std::string signed_text(const std::string& body) {
    Checksum checksum;
    const std::string text = body + "\n}\n";
    checksum.update(std::as_bytes(std::span(text)));
    return body + ",\n  \"checksum\": \"" + checksum.text() + "\"\n}\n";
  }

  ~SignedJson() override { fs::remove(path_); }

  const fs::path path_ = fs::path(testing::TempDir()) / "signed.json";
};

TEST_F(SignedJson, IsReadAsItWasWritten) {
  Json json = {{"name", "maze"}, {"numbers", {1, -0.5, 1e-300}}};
  sign(json);
  EXPECT_EQ(read_signed_json(file(to_text(json))), json);
}

// Of a number half-way between two texts that mean it, Python writes another than we do.
TEST_F(SignedJson, MayHaveNumbersAsAnotherProgramWritesThem) {
  const std::string text = signed_text("{\n  \"best_fitness\": -169.74478149414062");
  ASSERT_NE(to_text(Json::parse(text)), text);
  EXPECT_EQ(read_signed_json(file(text)).at("best_fitness"), -169.744781494140625);
}

TEST_F(SignedJson, IsRefusedWithAnyBitFlippedOrByteMissingOrAdded) {
  const std::string good = signed_text("{\n  \"size\": 12,\n  \"name\": \"maze\"");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_THROW(read_signed_json(file(bad)), DataError) << bad;
    }
    EXPECT_THROW(read_signed_json(file(good.substr(0, i))), DataError) << i;
    EXPECT_THROW(read_signed_json(file(std::string(good).insert(i, " "))), DataError) << i;
  }
  EXPECT_THROW(read_signed_json(file(good + "\n")), DataError);
  EXPECT_NO_THROW(read_signed_json(file(good)));
}

TEST_F(SignedJson, IsRefusedWithoutAChecksumAtItsEnd) {
  Json json = {{"name", "maze"}};
  EXPECT_THROW(read_signed_json(file(to_text(json))), DataError);
  sign(json);
  json["later"] = 1;
  EXPECT_THROW(read_signed_json(file(to_text(json))), DataError);
}

}  // namespace
}  // namespace aurora
