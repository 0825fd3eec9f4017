#include "aurora/core/individuals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

IndividualsLayout layout() {
  return {.genotype_size = 3,
          .descriptor_size = 2,
          .ground_truth_size = 4,
          .sensory = {.extents = {5}, .element = ElementType::float32},
          .extra = {"curiosity", "age"}};
}

/// Every number of every row is another one.
Individuals numbered(std::size_t rows) {
  Individuals individuals(layout(), rows);
  float next = 1;
  const auto fill = [&](auto&& values) {
    for (float& value : values) value = next++;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    fill(individuals.genotypes.row(row));
    individuals.fitness[row] = next++;
    fill(individuals.descriptors.row(row));
    individuals.reconstruction_error[row] = next++;
    fill(individuals.ground_truth.row(row));
    fill(individuals.sensory.mutable_view().row<float>(row));
    individuals.ids[row] = static_cast<std::uint64_t>(next++);
    fill(individuals.extra.row(row));
  }
  return individuals;
}

/// All the numbers of a row, column by column.
std::vector<float> numbers_of(const Individuals& individuals, std::size_t row) {
  std::vector<float> all;
  const auto take = [&](const auto& values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  take(individuals.genotypes.row(row));
  all.push_back(individuals.fitness[row]);
  take(individuals.descriptors.row(row));
  all.push_back(individuals.reconstruction_error[row]);
  take(individuals.ground_truth.row(row));
  take(individuals.sensory.view().row<float>(row));
  all.push_back(static_cast<float>(individuals.ids[row]));
  take(individuals.extra.row(row));
  return all;
}

TEST(Individuals, HaveTheColumnsOfTheLayout) {
  const Individuals individuals(layout(), 7);
  EXPECT_EQ(individuals.size(), 7U);
  EXPECT_EQ(individuals.genotypes.cols(), 3U);
  EXPECT_EQ(individuals.descriptors.cols(), 2U);
  EXPECT_EQ(individuals.ground_truth.cols(), 4U);
  EXPECT_EQ(individuals.sensory.shape(), layout().sensory);
  EXPECT_EQ(individuals.extra_names, layout().extra);
  EXPECT_EQ(individuals.extra.cols(), 2U);
  for (const std::size_t rows :
       {individuals.genotypes.rows(), individuals.descriptors.rows(),
        individuals.ground_truth.rows(), individuals.sensory.rows(), individuals.extra.rows(),
        individuals.reconstruction_error.size(), individuals.ids.size()}) {
    EXPECT_EQ(rows, 7U);
  }
  EXPECT_EQ(numbers_of(individuals, 6), std::vector<float>(19)) << "0 at birth";
}

TEST(Individuals, ResizeKeepsTheFirstRowsOfEveryColumn) {
  Individuals individuals = numbered(3);
  const Individuals before = individuals;
  individuals.resize(5);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(numbers_of(individuals, row), numbers_of(before, row));
  }
  for (std::size_t row = 3; row < 5; ++row) {
    EXPECT_EQ(numbers_of(individuals, row), std::vector<float>(19));
  }
  individuals.resize(1);
  EXPECT_EQ(individuals.size(), 1U);
  EXPECT_EQ(individuals.extra.rows(), 1U);
  EXPECT_EQ(numbers_of(individuals, 0), numbers_of(before, 0));
  individuals.resize(2);
  EXPECT_EQ(numbers_of(individuals, 1), std::vector<float>(19)) << "nothing is left of old rows";
}

TEST(Individuals, CopyRowTakesEveryColumnAlong) {
  const Individuals source = numbered(4);
  Individuals target(layout(), 3);
  target.copy_row(source, 3, 1);
  EXPECT_EQ(numbers_of(target, 1), numbers_of(source, 3));
  EXPECT_EQ(numbers_of(target, 0), std::vector<float>(19));
  EXPECT_EQ(numbers_of(target, 2), std::vector<float>(19));

  Individuals own = source;
  own.copy_row(own, 2, 0);
  EXPECT_EQ(numbers_of(own, 0), numbers_of(source, 2));
  own.copy_row(own, 1, 1);
  for (std::size_t row = 1; row < 4; ++row)
    EXPECT_EQ(numbers_of(own, row), numbers_of(source, row));
}

TEST(Individuals, CopiesOfThoseWithFrozenSensoryDataShareItAndNothingElse) {
  Individuals individuals = numbered(3);
  individuals.sensory.freeze();
  const Individuals copy = individuals;
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(copy.sensory.view().bytes(row).data(), individuals.sensory.view().bytes(row).data());
    EXPECT_NE(copy.genotypes.row(row).data(), individuals.genotypes.row(row).data());
  }
  const std::vector<float> before = numbers_of(copy, 0);
  const Individuals batch = numbered(5);
  individuals.copy_row(batch, 4, 0);
  individuals.copy_row(individuals, 2, 1);
  individuals.resize(2);
  EXPECT_EQ(numbers_of(individuals, 0), numbers_of(batch, 4));
  EXPECT_EQ(numbers_of(individuals, 1), numbers_of(copy, 2));
  EXPECT_EQ(numbers_of(copy, 0), before);
}

TEST(Individuals, ExtraColumnsAreFoundByName) {
  const Individuals individuals = numbered(1);
  EXPECT_EQ(individuals.extra_column("curiosity"), 0U);
  EXPECT_EQ(individuals.extra_column("age"), 1U);
  try {
    individuals.extra_column("ag");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "individuals have no column 'ag'");
  }
  EXPECT_THROW(Individuals().extra_column("age"), DataError);
}

TEST(Individuals, SameColumnsLooksAtEveryColumn) {
  const auto same = [](auto change) {
    IndividualsLayout other = layout();
    change(other);
    const bool one = same_columns(Individuals(layout(), 1), Individuals(other, 2));
    EXPECT_EQ(one, same_columns(Individuals(other, 3), Individuals(layout())));
    return one;
  };
  EXPECT_TRUE(same([](IndividualsLayout&) {})) << "whatever the number of rows";
  EXPECT_FALSE(same([](IndividualsLayout& l) { ++l.genotype_size; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { ++l.descriptor_size; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { ++l.ground_truth_size; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.sensory.extents = {5, 1}; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.sensory.element = ElementType::uint8; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.extra = {}; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.extra = {"curiosity"}; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.extra = {"age", "curiosity"}; }));
  EXPECT_FALSE(same([](IndividualsLayout& l) { l.extra = {"curiosity", "youth"}; }));
}

TEST(Individuals, AreFiniteOnlyIfEveryNumberIs) {
  using Limits = std::numeric_limits<float>;
  Individuals individuals = numbered(3);
  struct Cell {
    const char* column;
    float* value;
    bool evaluated;  // whether the evaluation gave it
  };
  const Cell cells[] = {{"genotypes", &individuals.genotypes(1, 2), true},
                        {"fitness", &individuals.fitness[1], true},
                        {"ground truth", &individuals.ground_truth(1, 3), true},
                        {"sensory", &individuals.sensory.mutable_view().row<float>(1)[4], true},
                        {"descriptors", &individuals.descriptors(1, 1), false},
                        {"reconstruction error", &individuals.reconstruction_error[1], false},
                        {"extra", &individuals.extra(1, 1), false}};
  for (const auto& [column, value, evaluated] : cells) {
    for (const float bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
      const float kept = *value;
      *value = bad;
      EXPECT_FALSE(is_finite(individuals, 1)) << column;
      EXPECT_EQ(is_evaluated(individuals, 1), !evaluated) << column;
      for (const std::size_t other : {0U, 2U}) EXPECT_TRUE(is_finite(individuals, other)) << column;
      *value = kept;
      EXPECT_TRUE(is_finite(individuals, 1)) << column;
    }
  }
}

TEST(Individuals, BytesAreAlwaysFinite) {
  IndividualsLayout pictures = layout();
  pictures.sensory = {.extents = {2, 2, 1}, .element = ElementType::uint8};
  Individuals individuals(pictures, 1);
  std::ranges::fill(individuals.sensory.mutable_view().row<std::uint8_t>(0), std::uint8_t{255});
  EXPECT_TRUE(is_finite(individuals, 0));
}

TEST(AllFinite, AgreesWithIsfinite) {
  using Limits = std::numeric_limits<float>;
  EXPECT_TRUE(all_finite(std::span<const float>()));
  for (const std::size_t length : {1U, 7U, 16U, 65U}) {
    std::vector<float> values(length, Limits::max());
    EXPECT_TRUE(all_finite(values));
    for (const float value : {Limits::denorm_min(), -0.0F, -Limits::max(), Limits::infinity(),
                              -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
      for (std::size_t i = 0; i < length; ++i) {
        values[i] = value;
        EXPECT_EQ(all_finite(values), std::isfinite(value)) << value << " at " << i;
        values[i] = 1;
      }
    }
  }
}

TEST(Individuals, GenesAreValidFromZeroToOne) {
  Individuals individuals(layout(), 3);
  EXPECT_TRUE(has_valid_genes(Individuals(layout())));
  EXPECT_TRUE(has_valid_genes(individuals));
  for (const auto& [gene, valid] :
       {std::pair{1.0F, true}, std::pair{-0.0F, true}, std::pair{1.0000001F, false},
        std::pair{-1e-30F, false}, std::pair{std::numeric_limits<float>::quiet_NaN(), false}}) {
    individuals.genotypes(2, 2) = gene;
    EXPECT_EQ(has_valid_genes(individuals), valid) << gene;
  }
}

TEST(Individuals, IdsMustDiffer) {
  Individuals individuals = numbered(5);
  EXPECT_NO_THROW(check_ids(individuals));
  EXPECT_NO_THROW(check_ids(Individuals()));
  individuals.ids = {4, 9, 2, 9, 1};
  try {
    check_ids(individuals);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "two individuals have the id 9");
  }
}

TEST(RowsByAge, AreTheOldestFirstWhateverTheOrderOfRows) {
  EXPECT_TRUE(rows_by_age(Individuals()).empty());
  Individuals individuals = numbered(4);
  individuals.ids = {30, 5, std::numeric_limits<std::uint64_t>::max(), 0};
  EXPECT_EQ(rows_by_age(individuals), (std::vector<std::uint32_t>{3, 1, 0, 2}));

  Stream draw(1, Purpose::user);
  individuals = Individuals(layout(), 1000);
  for (std::size_t row = 0; row < 1000; ++row) individuals.ids[row] = row;
  for (std::size_t row = 999; row > 0; --row) {
    std::swap(individuals.ids[row], individuals.ids[draw.below(row + 1)]);
  }
  const std::vector<std::uint32_t> rows = rows_by_age(individuals);
  ASSERT_EQ(rows.size(), 1000U);
  for (std::size_t age = 0; age < 1000; ++age) EXPECT_EQ(individuals.ids[rows[age]], age);
}

}  // namespace
}  // namespace aurora
