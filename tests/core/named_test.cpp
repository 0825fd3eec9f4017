#include "aurora/core/named.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

TEST(NamedNumbers, AreFoundByTheirWholeName) {
  const std::vector<NamedNumber> numbers = {{"threshold.value", 0.25}, {"spacing", 0}, {"x", -1}};
  EXPECT_EQ(number_called(numbers, "threshold.value", 7), 0.25);
  EXPECT_EQ(number_called(numbers, "spacing", 7), 0);
  EXPECT_EQ(number_called(numbers, "x", 7), -1);
}

TEST(NamedNumbers, ThatAreNotThereAreWhatTheCallerSays) {
  const std::vector<NamedNumber> numbers = {{"threshold.value", 0.25}};
  for (const char* name : {"threshold", "threshold.value2", "value", "", "Threshold.value"}) {
    EXPECT_EQ(number_called(numbers, name, 7), 7) << name;
  }
  EXPECT_EQ(number_called({}, "x", -3), -3);
}

TEST(NamedNumbers, TheFirstOfANameCounts) {
  const std::vector<NamedNumber> numbers = {{"a", 1}, {"a", 2}};
  EXPECT_EQ(number_called(numbers, "a", 0), 1);
}

TEST(NamedArrays, AreFoundByTheirWholeName) {
  const std::vector<NamedArray> arrays = {{"ranked", {1}, {3}}, {"rank", {1}, {4}}};
  ASSERT_NE(array_called(arrays, "rank"), nullptr);
  EXPECT_EQ(array_called(arrays, "rank")->values, (std::vector<float>{4}));
  EXPECT_EQ(array_called(arrays, "ran"), nullptr);
  EXPECT_EQ(array_called({}, "rank"), nullptr);
}

TEST(NamedNumbers, AreEqualIfNameAndValueAre) {
  const NamedNumber number{"a", 1};
  EXPECT_EQ(number, (NamedNumber{"a", 1}));
  EXPECT_NE(number, (NamedNumber{"a", 2}));
  EXPECT_NE(number, (NamedNumber{"b", 1}));
}

TEST(NamedNumbers, MustBeFiniteAndTheMessageSaysWhichIsNot) {
  using Limits = std::numeric_limits<double>;
  EXPECT_NO_THROW(check_finite({}));
  std::vector<NamedNumber> numbers = {
      {"low", -Limits::max()}, {"small", Limits::denorm_min()}, {"high", Limits::max()}};
  EXPECT_NO_THROW(check_finite(numbers));
  for (const double bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    for (NamedNumber& number : numbers) {
      const double kept = number.value;
      number.value = bad;
      try {
        check_finite(numbers);
        ADD_FAILURE() << number.name << " was taken for finite";
      } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find("'" + number.name + "'"), std::string::npos);
      }
      number.value = kept;
    }
  }
}

}  // namespace
}  // namespace aurora
