#include "aurora/core/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/storage/internal/toml.hpp"

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

using Form = Value::Form;
using Strings = std::vector<std::string>;

constexpr Form kForms[] = {Form::text,    Form::integer, Form::real,  Form::string,
                           Form::boolean, Form::list,    Form::table, Form::other};

/// The text of what an option makes of a value; "(refused)" if it does not take it.
std::string read(const Option& option, Form form, const std::string& text) {
  const std::optional<Value> value = option.read({form, text});
  return value ? value->text : "(refused)";
}

/// A value as a TOML file has it: written behind "key = " and read back.
Value from_toml(const std::string& toml) {
  const toml::table table = toml::parse("key = " + toml);
  return value_of(*table.get("key"));
}

/// Whatever `text` means to the option is the same after it was written to a file and read back.
void expect_round_trip(const Option& option, const std::string& text) {
  const std::optional<Value> value = option.read({Form::text, text});
  ASSERT_TRUE(value) << text;
  std::optional<Value> again;
  ASSERT_NO_THROW(again = option.read(from_toml(value->toml()))) << value->toml();
  ASSERT_TRUE(again) << value->toml();
  EXPECT_EQ(*again, *value) << value->toml();
}

// --- Integers ---

TEST(IntegerOption, TakesItsRangeAndNothingElse) {
  const Option option = integer_option("k", 15, 3, 1000, "neighbours");
  EXPECT_EQ(option.name, "k");
  EXPECT_EQ(option.help, "neighbours");
  EXPECT_EQ(option.values, "an integer from 3 to 1000");
  EXPECT_EQ(option.fallback, (Value{Form::integer, "15"}));
  for (const Form form : {Form::text, Form::integer}) {
    EXPECT_EQ(read(option, form, "3"), "3");
    EXPECT_EQ(read(option, form, "1000"), "1000");
    for (const char* text : {"2", "1001", "-3", "0", "18446744073709551619", ""}) {
      EXPECT_EQ(read(option, form, text), "(refused)") << text;
    }
  }
  for (const char* text :
       {"4.0", "4.", "4e0", "+4", " 4", "4 ", "4x", "0x4", "four", "4,5", "nan"}) {
    EXPECT_EQ(read(option, Form::text, text), "(refused)") << text;
  }
  EXPECT_EQ(read(option, Form::text, "007"), "7");
}

TEST(IntegerOption, TakesAllOf64Bits) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const Option option = integer_option("seed", kMost, 0, kMost, "");
  EXPECT_EQ(read(option, Form::text, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read(option, Form::text, "18446744073709551616"), "(refused)");
  EXPECT_EQ(integer_of(option.fallback), kMost);
}

// --- Real numbers ---

TEST(RealOption, TakesBothEndsOrNot) {
  for (const bool above_low : {false, true}) {
    for (const bool below_high : {false, true}) {
      const Option option = real_option("eta", 0.5, {0, 1, above_low, below_high}, "");
      for (const Form form : {Form::text, Form::integer}) {
        EXPECT_EQ(read(option, form, "0"), above_low ? "(refused)" : "0.0");
        EXPECT_EQ(read(option, form, "1"), below_high ? "(refused)" : "1.0");
        EXPECT_EQ(read(option, form, "-1"), "(refused)");
        EXPECT_EQ(read(option, form, "2"), "(refused)");
      }
      EXPECT_EQ(read(option, Form::real, "5e-324"), "5e-324");
      EXPECT_EQ(read(option, Form::real, "0.9999999999999999"), "0.9999999999999999");
      EXPECT_EQ(read(option, Form::real, "1.0000000000000002"), "(refused)");
      EXPECT_EQ(read(option, Form::real, "-5e-324"), "(refused)");
    }
  }
}

TEST(RealOption, IsFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Option option = real_option("x", 0, {-infinity, infinity}, "");
  for (const Form form : {Form::text, Form::real}) {
    for (const char* text : {"nan", "-nan", "inf", "-inf", "infinity", "1e999", "-1e999"}) {
      EXPECT_EQ(read(option, form, text), "(refused)") << text;
    }
    EXPECT_EQ(read(option, form, "1.7976931348623157e308"), "1.7976931348623157e+308");
  }
  for (const char* text : {"", "x", "1x", "1,0", "0x1p3", "+1", "1 2"}) {
    EXPECT_EQ(read(option, Form::text, text), "(refused)") << text;
  }
}

TEST(Range, SaysWhatItHolds) {
  EXPECT_EQ((Range{0, 1}.words()), "a number from 0 to 1");
  EXPECT_EQ((Range{0, 1, true}.words()), "a number above 0, at most 1");
  EXPECT_EQ((Range{0, 1, false, true}.words()), "a number from 0 to less than 1");
  EXPECT_EQ((Range{0.5, 1e6, true, true}.words()), "a number above 0.5, less than 1000000");
  EXPECT_FALSE((Range{0, 1}.holds(std::nan(""))));
}

// --- Flags, names ---

TEST(FlagOption, IsTrueOrFalse) {
  const Option option = flag_option("fast", true, "");
  EXPECT_EQ(option.fallback, (Value{Form::boolean, "true"}));
  EXPECT_EQ(flag_option("fast", false, "").fallback, (Value{Form::boolean, "false"}));
  for (const Form form : {Form::text, Form::boolean}) {
    EXPECT_EQ(read(option, form, "true"), "true");
    EXPECT_EQ(read(option, form, "false"), "false");
  }
  for (const char* text : {"", "1", "0", "yes", "True", "TRUE", " true"}) {
    EXPECT_EQ(read(option, Form::text, text), "(refused)") << text;
  }
}

TEST(NameOption, IsOneOfItsNames) {
  const Option option = name_option("kind", "csc", {"csc", "vat"}, "");
  EXPECT_EQ(option.values, "one of csc, vat");
  EXPECT_EQ(option.names, (Strings{"csc", "vat"}));
  EXPECT_EQ(option.fallback, (Value{Form::string, "csc"}));
  for (const Form form : {Form::text, Form::string}) {
    EXPECT_EQ(read(option, form, "vat"), "vat");
    for (const char* text : {"", "va", "VAT", "csc,vat", " vat"}) {
      EXPECT_EQ(read(option, form, text), "(refused)") << text;
    }
  }
}

TEST(NameOption, WithoutNamesIsAnyText) {
  const Option option = name_option("path", "", {}, "", "where it lies");
  EXPECT_EQ(option.values, "where it lies");
  for (const char* text : {"", "a b", "C:\\x", "\"quoted\"", "[1, 2]", "7", "a=b", "tab\there"}) {
    EXPECT_EQ(read(option, Form::text, text), text);
    EXPECT_EQ(read(option, Form::string, text), text);
    expect_round_trip(option, text);
  }
  expect_round_trip(option, "\u03c3 = 0.1, \U0001f916");
  EXPECT_EQ(toml_string("\u03c3\U0001f916"), "\"\\u03C3\\U0001F916\"");
  for (const char* bad :
       {"\xff", "\xc3", "\xe2\x82", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_NE(toml_string(bad).find("\\uFFFD"), std::string::npos);
  }
  expect_round_trip(option, "newline\n, bell\a, delete\x7f, backslash at the end\\");
}

// --- Lists ---

TEST(SizesOption, TakesListsOfIntegers) {
  const Option option = sizes_option("hidden", {32, 8}, 1, 100, "layers");
  EXPECT_EQ(option.values, "a list of at most 16 integers from 1 to 100, as in 32,8");
  EXPECT_EQ(sizes_of(option.fallback), (std::vector<std::size_t>{32, 8}));
  for (const Form form : {Form::text, Form::list}) {
    EXPECT_EQ(read(option, form, "1,100"), "1,100");
    EXPECT_EQ(read(option, form, ""), "");
    EXPECT_EQ(read(option, form, "7"), "7");
    for (const char* text : {"0", "101", "1,0", "1,,2", "1,", ",1", "1.5", "a", "1 2", "-1", ","}) {
      EXPECT_EQ(read(option, form, text), "(refused)") << text;
    }
  }
  for (const char* text : {"[32, 8]", "[32,8]", "32, 8", "[ 32 , 8 ]", "032,08"}) {
    EXPECT_EQ(read(option, Form::text, text), "32,8") << text;
  }
  EXPECT_EQ(read(option, Form::text, "[]"), "");
  EXPECT_EQ(read(option, Form::text, "[ ]"), "");
  for (const char* text : {"[32", "32]", "[[32]]", "[", "]"}) {
    EXPECT_EQ(read(option, Form::text, text), "(refused)") << text;
  }
}

TEST(SizesOption, HasSixteenItemsAtMost) {
  const Option option = sizes_option("hidden", {}, 1, 9, "");
  const std::string sixteen = "1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8";
  EXPECT_EQ(read(option, Form::list, sixteen), sixteen);
  EXPECT_EQ(read(option, Form::list, sixteen + ",9"), "(refused)");
  EXPECT_TRUE(sizes_of(option.fallback).empty());
}

TEST(NamesOption, TakesListsOfPlainNames) {
  const Option option = names_option("also", "more");
  EXPECT_EQ(option.fallback, (Value{Form::list, ""}));
  for (const Form form : {Form::text, Form::list}) {
    EXPECT_EQ(read(option, form, "a,b+c,d_e-f.g"), "a,b+c,d_e-f.g");
    EXPECT_EQ(read(option, form, ""), "");
    for (const char* text : {"a,", "a b", "../x", ".x", "a,,b", "\"a", "\"\"", "\""}) {
      EXPECT_EQ(read(option, form, text), "(refused)") << text;
    }
  }
  for (const char* text : {"[a, b]", "[\"a\", \"b\"]", "\"a\",b"}) {
    EXPECT_EQ(read(option, Form::text, text), "a,b") << text;
  }
  EXPECT_EQ(names_of({Form::list, "a,b"}), (Strings{"a", "b"}));
  EXPECT_TRUE(names_of({Form::list, ""}).empty());
}

// --- Forms ---

TEST(Options, OfAFileMustHaveTheRightForm) {
  struct Case {
    Option option;
    const char* text;  // which every form could have
    std::vector<Form> taken;
  };
  const std::vector<Case> cases = {
      {integer_option("o", 1, 0, 9, ""), "1", {Form::text, Form::integer}},
      {real_option("o", 1, {0, 9}, ""), "1", {Form::text, Form::integer, Form::real}},
      {flag_option("o", true, ""), "true", {Form::text, Form::boolean}},
      {name_option("o", "1", {"1"}, ""), "1", {Form::text, Form::string}},
      {name_option("o", "", {}, "", "any"), "1", {Form::text, Form::string}},
      {sizes_option("o", {}, 0, 9, ""), "1", {Form::text, Form::list}},
      {names_option("o", ""), "1", {Form::text, Form::list}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const Form form : kForms) {
      const bool taken = std::ranges::find(cases[i].taken, form) != cases[i].taken.end();
      EXPECT_EQ(cases[i].option.read({form, cases[i].text}).has_value(), taken)
          << "case " << i << ", form " << static_cast<int>(form);
    }
  }
}

TEST(Options, ReadWhatStandsInAToml) {
  const Option integer = integer_option("o", 1, 0, 1'000'000, "");
  const Option real = real_option("o", 1, {-10, 1e6}, "");
  const Option flag = flag_option("o", true, "");
  const Option name = name_option("o", "a", {"a", "b"}, "");
  const Option sizes = sizes_option("o", {}, 0, 1000, "");
  const Option names = names_option("o", "");
  struct Case {
    const Option& option;
    const char* toml;
    const char* meaning;  // null: refused
  };
  const Case cases[] = {{integer, "12", "12"},
                        {integer, "1_000", "1000"},
                        {integer, "0x10", "16"},
                        {integer, "-1", nullptr},
                        {integer, "12.0", nullptr},
                        {integer, "\"12\"", nullptr},
                        {integer, "true", nullptr},
                        {integer, "[12]", nullptr},
                        {integer, "1979-05-27", nullptr},
                        {integer, "{ a = 1 }", nullptr},
                        {real, "12", "12.0"},
                        {real, "-3", "-3.0"},
                        {real, "0.1", "0.1"},
                        {real, "1e-3", "0.001"},
                        {real, "inf", nullptr},
                        {real, "nan", nullptr},
                        {real, "\"0.1\"", nullptr},
                        {flag, "false", "false"},
                        {flag, "\"false\"", nullptr},
                        {flag, "0", nullptr},
                        {name, "\"b\"", "b"},
                        {name, "'b'", "b"},
                        {name, "\"c\"", nullptr},
                        {name, "[\"b\"]", nullptr},
                        {sizes, "[32, 8]", "32,8"},
                        {sizes, "[]", ""},
                        {sizes, "[32, 8,]", "32,8"},
                        {sizes, "32", nullptr},
                        {sizes, "\"32,8\"", nullptr},
                        {sizes, "[32.0]", nullptr},
                        {sizes, "[\"32\", \"8\"]", nullptr},
                        {sizes, "[\"32,8\"]", nullptr},
                        {sizes, "[[32]]", nullptr},
                        {names, "[\"a\", \"b\"]", "a,b"},
                        {names, "[]", ""},
                        {names, "[\"a,b\"]", nullptr},
                        {names, "[\"\", \"a\"]", nullptr},
                        {names, "[\"a b\"]", nullptr},
                        {names, "\"a,b\"", nullptr},
                        {names, "[true]", nullptr}};
  for (const auto& [option, toml, meaning] : cases) {
    const std::optional<Value> value = option.read(from_toml(toml));
    ASSERT_EQ(value.has_value(), meaning != nullptr) << toml;
    if (value) {
      EXPECT_EQ(value->text, meaning) << toml;
    }
  }
}

TEST(Options, GoThroughAFileAndComeBackTheSame) {
  const Option integer = integer_option("o", 1, 0, std::numeric_limits<std::int64_t>::max(), "");
  for (const char* text : {"0", "7", "007", "9223372036854775807"})
    expect_round_trip(integer, text);
  const Option real = real_option("o", 1, {-1e308, 1e308}, "");
  for (const char* text : {"0", "-0", "1", "0.1", "1e-3", "5e-324", "1e21", "123456789012345678",
                           "-1e308", "0.30000000000000004"}) {
    expect_round_trip(real, text);
  }
  for (const char* text : {"true", "false"}) expect_round_trip(flag_option("o", true, ""), text);
  for (const char* text : {"a", "b+c"}) {
    expect_round_trip(name_option("o", "a", {"a", "b+c"}, ""), text);
  }
  const Option sizes = sizes_option("o", {}, 0, 1000, "");
  for (const char* text : {"", "[]", "0", "32,8", "[ 32, 8 ]", "007,08"}) {
    expect_round_trip(sizes, text);
  }
  // Names that look like something else.
  const Option names = names_option("o", "");
  for (const char* text : {"", "a", "a,b", "inf,nan", "infinity", "true", "7", "007", "1.5", "1e5",
                           "1.", "18446744073709551615", "1979-05-27"}) {
    expect_round_trip(names, text);
  }
}

TEST(RealText, ReadsBackToTheSameNumberAndLooksLikeARealOne) {
  EXPECT_EQ(real_text(1), "1.0");
  EXPECT_EQ(real_text(-0.0), "-0.0");
  EXPECT_EQ(real_text(0.1), "0.1");
  Stream draw(1, Purpose::user);
  for (int i = 0; i < 10'000; ++i) {
    const double value = draw.normal() * std::pow(10.0, 600 * draw.uniform() - 300);
    const Value read = from_toml(real_text(value));
    EXPECT_EQ(read.form, Form::real) << real_text(value);
    EXPECT_EQ(real_of(read), value) << real_text(value);
  }
}

TEST(TomlString, ReadsBackToTheSameText) {
  std::string every;
  for (int c = 1; c < 0x80; ++c) every += static_cast<char>(c);
  for (const std::string& text :
       {std::string(), every, std::string("\\\""), std::string("\\u0041")}) {
    EXPECT_EQ(from_toml(toml_string(text)), (Value{Form::string, text}));
  }
  EXPECT_EQ(toml_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
}

// --- Structs ---

struct Everything {
  std::size_t count = 7;
  double share = 0.25;
  bool fast = true;
  std::vector<std::size_t> sizes = {3, 2};
  std::string mode = "slow";
  std::vector<std::string> also;
  Colour colour = Colour::dark_blue;
  std::size_t left_alone = 99;
};

Options<Everything> everything() {
  using E = Everything;
  Options<E> options;
  options.add("count", &E::count, 1, 10, "how many")
      .add("share", &E::share, Range{0, 1}, "of it")
      .add("fast", &E::fast, "or not")
      .add("sizes", &E::sizes, 1, 9, "how large")
      .add("mode", &E::mode, {"slow", "quick"}, "of doing it")
      .add("also", &E::also, "more of it")
      .add("colour", &E::colour, "of it");
  return options;
}

TEST(Options, TakeTheirDefaultsFromTheStruct) {
  const Options<Everything> options = everything();
  std::vector<std::pair<std::string, std::string>> fallbacks;
  for (const Option& option : options.list()) {
    fallbacks.emplace_back(option.name, option.fallback.toml());
    EXPECT_FALSE(option.help.empty());
    EXPECT_EQ(option.read(option.fallback), option.fallback) << option.name;
  }
  EXPECT_EQ(fallbacks,
            (std::vector<std::pair<std::string, std::string>>{{"count", "7"},
                                                              {"share", "0.25"},
                                                              {"fast", "true"},
                                                              {"sizes", "[3, 2]"},
                                                              {"mode", "\"slow\""},
                                                              {"also", "[]"},
                                                              {"colour", "\"dark-blue\""}}));
  EXPECT_EQ(options.list()[6].names, (Strings{"red", "dark-blue"}));
}

TEST(Options, MakeTheStructFromValues) {
  const Options<Everything> options = everything();
  const Strings texts = {"10", "1", "false", "9,8,7", "quick", "a,b", "red"};
  Values values;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Option& option = options.list()[i];
    const std::optional<Value> value = option.read({Form::text, texts[i]});
    ASSERT_TRUE(value) << option.name;
    values[option.name] = *value;
  }
  values["nobody"] = {Form::text, "asked"};
  const Everything made = options.make(values);
  EXPECT_EQ(made.count, 10U);
  EXPECT_EQ(made.share, 1);
  EXPECT_FALSE(made.fast);
  EXPECT_EQ(made.sizes, (std::vector<std::size_t>{9, 8, 7}));
  EXPECT_EQ(made.mode, "quick");
  EXPECT_EQ(made.also, (Strings{"a", "b"}));
  EXPECT_EQ(made.colour, Colour::red);
  EXPECT_EQ(made.left_alone, 99U);
}

TEST(Options, LeaveWhatNobodySaidAtItsDefault) {
  const Everything made = everything().make({{"count", {Form::integer, "3"}}});
  EXPECT_EQ(made.count, 3U);
  EXPECT_EQ(made.share, 0.25);
  EXPECT_TRUE(made.fast);
  EXPECT_EQ(made.sizes, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(made.mode, "slow");
  EXPECT_EQ(made.colour, Colour::dark_blue);
}

// --- Names and assignments ---

TEST(PlainName, IsGoodAsTheNameOfAFile) {
  for (const char* name : {"a", "7", "csc", "iso+line", "a_b-c.d", "Z9", "a..b", "x."}) {
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
  for (const char* name :
       {"",   ".",   "..",  ".x",  "-x",  "_x",  "+x",   "../../evil", "a/b", "a\\b", "a b",
        " a", "a\n", "a\t", "a:b", "a=b", "a,b", "a\"b", "\xC3\xA9",   "~",   "*"}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_plain_name(std::string(100, 'a')));
  EXPECT_FALSE(is_plain_name(std::string(101, 'a')));
}

TEST(ParseAssignment, TakesKeyAndValueApartAtTheFirstEqualsSign) {
  using Pair = std::pair<std::string, Value>;
  EXPECT_EQ(parse_assignment("a.b=c"), (Pair{"a.b", {Form::text, "c"}}));
  EXPECT_EQ(parse_assignment(" a = b c\t"), (Pair{"a", {Form::text, "b c"}}));
  EXPECT_EQ(parse_assignment("a="), (Pair{"a", {Form::text, ""}}));
  EXPECT_EQ(parse_assignment("a=b=c"), (Pair{"a", {Form::text, "b=c"}}));
  for (const char* text : {"", "a", "=", "=b", "  =b"}) {
    EXPECT_THROW(parse_assignment(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace aurora
