#include "apps/aurora/parser.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

struct Values {
  bool flag = false;
  std::string word = "before";
  std::optional<std::string> text;
  std::vector<std::string> texts;
  std::vector<double> place;
  std::vector<std::string> more;
  std::optional<std::vector<double>> goal;
  std::size_t count = 7;
  std::uint32_t seed = 1;
  std::optional<std::size_t> id;
};

/// A command with everything that a command can have.
class Example {
 public:
  Example() {
    Grammar grammar = parser.command("go", "Goes");
    grammar.add("WORD", values.word, "A word", {.required = true});
    grammar.add("PLACE", values.place, "X,Y", {.commas = true});
    grammar.add("--flag", values.flag, "A flag");
    grammar.add("--text", values.text, "A text", {.value = "T"});
    grammar.add("--texts", values.texts, "Texts", {.value = "T", .again = true});
    grammar.add("--goal", values.goal, "X,Y", {.value = "X,Y", .commas = true});
    grammar.add("--count", values.count, "How many", {.value = "K", .least = 1, .most = 9});
    grammar.add("--seed", values.seed, "A seed", {.value = "S"});
    grammar.add("--id", values.id, "An id", {.value = "I"});
    grammar.footer("Examples:\n  aurora go there");
    go.push_back(grammar);
    parser.command("walk", "Walks").add("WORDS", values.more, "As many words as there are");
  }

  std::optional<std::string> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "aurora");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return parser.parse(static_cast<int>(argv.size()), argv.data());
  }

  Values values;
  Parser parser{"Does things.", "aurora 1.2", "The end."};
  std::vector<Grammar> go;
};

std::string refusal(std::vector<std::string> words) {
  Example example;
  try {
    example.parse(std::move(words));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Parser, SetsWhatIsGivenAndLeavesTheRest) {
  Example plain;
  EXPECT_FALSE(plain.go[0].chosen());
  EXPECT_EQ(plain.parse({"go", "there"}), std::nullopt);
  EXPECT_TRUE(plain.go[0].chosen());
  EXPECT_EQ(plain.values.word, "there");
  EXPECT_EQ(plain.values.count, 7);
  EXPECT_EQ(plain.values.text, std::nullopt);
  EXPECT_EQ(plain.values.goal, std::nullopt);
  EXPECT_FALSE(plain.values.flag);

  Example all;
  all.parse({"go", "--flag", "there", "1,-2.5", "--text", "a b", "--texts", "a", "--texts=b",
             "--goal", "-3,4e2", "--count", "9", "--seed", "4294967295",
             "--id=18446744073709551615"});
  EXPECT_TRUE(all.values.flag);
  EXPECT_EQ(all.values.place, (std::vector<double>{1, -2.5}));
  EXPECT_EQ(all.values.text, "a b");
  EXPECT_EQ(all.values.texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.values.goal, (std::vector<double>{-3, 400}));
  EXPECT_EQ(all.values.count, 9);
  EXPECT_EQ(all.values.seed, std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(all.values.id, std::numeric_limits<std::size_t>::max());
}

TEST(Parser, AnOptionThatIsGivenAgainTakesNoWordAfterItsValue) {
  Example example;
  example.parse({"go", "--texts", "a", "there", "--goal", "1,2", "3,4"});
  EXPECT_EQ(example.values.texts, std::vector<std::string>{"a"});
  EXPECT_EQ(example.values.word, "there");
  EXPECT_EQ(example.values.goal, (std::vector<double>{1, 2}));
  EXPECT_EQ(example.values.place, (std::vector<double>{3, 4}));
}

TEST(Parser, AListOfWordsTakesThemAll) {
  Example example;
  example.parse({"walk", "a=1", "b=-2", "c"});
  EXPECT_EQ(example.values.more, (std::vector<std::string>{"a=1", "b=-2", "c"}));
  EXPECT_FALSE(example.go[0].chosen());
}

TEST(Parser, SaysWhatWouldBeRight) {
  for (const char* wrong : {"0", "10", "-1", "1.5", "abc", "", " 1", "99999999999999999999999"}) {
    EXPECT_EQ(refusal({"go", "there", "--count=" + std::string(wrong)}) == "none", false) << wrong;
  }
  EXPECT_EQ(refusal({"go", "there", "--count", "0"}),
            "--count is a whole number from 1 to 9, not '0'");
  EXPECT_EQ(refusal({"go", "there", "--id", "-1"}),
            "--id is a whole number of 0 or more, not '-1'");
  EXPECT_EQ(refusal({"go", "there", "--seed", "4294967296"}),
            "--seed is a whole number from 0 to 4294967295, not '4294967296'");
  EXPECT_EQ(refusal({"go", "there", "1,b"}), "PLACE is made of numbers, and 'b' is none");
  for (const char* wrong : {"nan", "inf", "1e999", "1x", "0x10"}) {
    EXPECT_EQ(refusal({"go", "there", "--goal", wrong}),
              "--goal is made of numbers, and '" + std::string(wrong) + "' is none");
  }
  EXPECT_EQ(refusal({"go"}), "WORD is required");
  EXPECT_NE(refusal({"go", "there", "--text"}), "none");
  EXPECT_NE(refusal({"go", "there", "1,2", "--nothing"}), "none");
}

TEST(Parser, ExplainsItself) {
  Example example;
  EXPECT_EQ(example.go[0].name(), "go");
  const std::string help = example.parser.help(example.go[0]);
  EXPECT_EQ(example.parse({"go", "--help"}), help);
  EXPECT_EQ(example.parse({"--help"}), example.parser.help());
  EXPECT_EQ(example.parse({"--version"}), "aurora 1.2\n");
  for (const char* words : {"Goes", "WORD", "--count K", "How many", "aurora go there"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << "\n" << help;
  }
  EXPECT_NE(example.parser.help().find("The end."), std::string::npos);
  EXPECT_EQ(example.go[0].options(),
            (std::vector<std::string>{"--help", "--flag", "--text", "--texts", "--goal", "--count",
                                      "--seed", "--id"}));
}

}  // namespace
}  // namespace aurora
