#include "apps/aurora/explore/base64.hpp"

#include <gtest/gtest.h>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora::explore {
namespace {

TEST(Base64, IsAsTheStandardHasIt) {
  const std::pair<const char*, const char*> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, ComesBack) {
  Stream stream(3, Purpose::user);
  for (int i = 0; i < 200; ++i) {
    std::string bytes;
    for (std::uint64_t n = stream.below(50); n > 0; --n)
      bytes += static_cast<char>(stream.below(256));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg=", "Zg==Zg==", "Z===", "====", "Zg!=", "Z g=", "=Zg="}) {
    EXPECT_THROW(from_base64(text), DataError) << text;
  }
}

}  // namespace
}  // namespace aurora::explore
