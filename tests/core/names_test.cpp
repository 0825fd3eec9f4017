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

TEST(Names, WhoIsMeantIsFoundByEditDistance) {
  const std::vector<std::string> keys = {"run.seed", "run.threads", "encoder.batch"};
  EXPECT_EQ(did_you_mean("run.thread", keys), "; did you mean 'run.threads'?");
  EXPECT_EQ(did_you_mean("rnu.sede", keys), "; did you mean 'run.seed'?");  // neighbours swapped
  EXPECT_EQ(did_you_mean("encoder", keys), "; did you mean 'encoder.batch'?");  // a beginning
  EXPECT_EQ(did_you_mean("", std::vector<std::string>{}), "");
}

TEST(Names, NobodyIsMeantByWhatIsNothingLikeIt) {
  const std::vector<std::string> flags = {"--help", "--out", "--jobs"};
  EXPECT_EQ(did_you_mean("--threads", flags), "");
  EXPECT_EQ(did_you_mean("--hlep", flags), "; did you mean '--help'?");
  EXPECT_EQ(did_you_mean("", flags), "");
  const std::vector<std::string> words = {"abcd"};
  EXPECT_EQ(did_you_mean("abxy", words), "; did you mean 'abcd'?");  // half of it is right
  EXPECT_EQ(did_you_mean("axyz", words), "");
}

}  // namespace
}  // namespace aurora
