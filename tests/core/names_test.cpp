#include "aurora/core/names.hpp"

#include <gtest/gtest.h>

namespace aurora {
namespace {

enum class Colour { red, dark_blue };

}  // namespace

template <>
struct Names<Colour> {
  static constexpr std::pair<Colour, std::string_view> entries[] = {
      {Colour::red, "red"}, {Colour::dark_blue, "dark-blue"}};
};

namespace {

TEST(Names, GoBothWays) {
  EXPECT_EQ(name_of(Colour::dark_blue), "dark-blue");
  EXPECT_EQ(parse_name<Colour>("colour", "red"), Colour::red);
  EXPECT_EQ(names_of<Colour>(), (std::vector<std::string>{"red", "dark-blue"}));
}

TEST(Names, AnUnknownNameIsAnsweredWithTheNearest) {
  try {
    parse_name<Colour>("colour", "dark_blu");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no colour 'dark_blu'; did you mean 'dark-blue'? (known: red, dark-blue)");
  }
}

TEST(Names, NearestIsByEditDistance) {
  const std::vector<std::string> keys = {"run.seed", "run.threads", "encoder.batch"};
  EXPECT_EQ(nearest_name("run.thread", keys), "run.threads");
  EXPECT_EQ(nearest_name("batch", keys), "run.seed");         // 5 edits; encoder.batch needs 8
  EXPECT_EQ(nearest_name("encoder", keys), "encoder.batch");  // a beginning goes first
  EXPECT_EQ(nearest_name("", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace aurora
