#include "aurora/tasks/genes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

std::string refusal(std::span<const float> genes, std::size_t count) {
  try {
    check_genes(genes, count, "three-legged dog");
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Genes, WithinTheUnitIntervalAreFine) {
  EXPECT_NO_THROW(check_genes(std::array{0.0F, 0.5F, 1.0F}, 3, "dog"));
  EXPECT_NO_THROW(check_genes({}, 0, "dog"));
}

TEST(Genes, OfTheWrongNumberAreRefused) {
  EXPECT_EQ(refusal(std::array{0.5F, 0.5F}, 3), "a three-legged dog has 3 genes, not 2");
}

TEST(Genes, OutsideTheUnitIntervalAreRefused) {
  EXPECT_EQ(refusal(std::array{0.5F, 1.5F}, 2),
            "a gene of a three-legged dog is 1.5; genes lie in [0, 1]");
  EXPECT_NE(refusal(std::array{-0.001F}, 1), "nothing was thrown");
  EXPECT_NE(refusal(std::array{NAN}, 1), "nothing was thrown");
  EXPECT_NE(refusal(std::array{INFINITY}, 1), "nothing was thrown");
}

}  // namespace
}  // namespace aurora
