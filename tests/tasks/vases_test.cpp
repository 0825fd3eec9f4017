#include "aurora/tasks/vases/vases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/tasks/vases/vase.hpp"
#include "tests/tasks/purity.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kSeed = 4;

TEST(Vases, SpecSaysWhatTheyAre) {
  const Vases task;
  EXPECT_NO_THROW(check(task.spec()));
  EXPECT_EQ(fingerprint(task.spec()),
            "vases version 1: 24 genes, senses 32 x 32 x 1 bytes, worst fitness -4.5, holds from 0 "
            "to 22.5, centre from 4 to 25, slope from 0 to 3.5");
  EXPECT_TRUE(task.spec().sensory.is_picture());
  EXPECT_EQ(vases_task().name, task.spec().name);
}

TEST(Vases, AreJudgedByTheirMeasures) {
  const Vases task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 100, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const vases::Measures measures = vases::measure(vases::profile_of(genotypes.row(n)));
    EXPECT_EQ(evaluation.fitness[n], -static_cast<float>(measures.mass));
    EXPECT_EQ(evaluation.ground_truth(n, 0), static_cast<float>(measures.holds));
    EXPECT_EQ(evaluation.ground_truth(n, 1), static_cast<float>(measures.centre));
    EXPECT_EQ(evaluation.ground_truth(n, 2), static_cast<float>(measures.slope));
  }
}

TEST(Vases, PicturesAreAsDarkAsTheVaseIsWideAndAlikeOnBothSides) {
  const Vases task;
  const Matrix<float> genotypes = random_genotypes(task.spec(), 50, kSeed);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const vases::Profile profile = vases::profile_of(genotypes.row(n));
    const auto picture = evaluation.sensory.view().row<std::uint8_t>(n);
    for (std::size_t y = 0; y < 32; ++y) {
      double dark = 0;
      for (std::size_t x = 0; x < 32; ++x) {
        dark += 1 - picture[32 * y + x] / 255.0;
        ASSERT_EQ(picture[32 * y + x], picture[32 * y + 31 - x]) << x << ' ' << y;
        if (x > 0 && x < 16) {
          ASSERT_LE(picture[32 * y + x], picture[32 * y + x - 1]) << x << ' ' << y;
        }
      }
      // Half a centimetre above the lower edge of the row; two pixels are rounded.
      ASSERT_NEAR(dark, 2 * profile[2 * (31 - y) + 1], 0.005) << y;
    }
  }
}

TEST(Vases, OfAnyGenesStayWithinTheBounds) {
  const Vases task;
  Matrix<float> genotypes = random_genotypes(task.spec(), 1000, kSeed);
  for (std::size_t n = 0; n < 500; ++n) {  // half of them at the bounds
    for (float& gene : genotypes.row(n)) gene = gene < 0.5F ? 0.0F : 1.0F;
  }
  std::ranges::fill(genotypes.row(0), 0.0F);
  std::ranges::fill(genotypes.row(1), 1.0F);
  const Evaluation evaluation = evaluate(task, genotypes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    EXPECT_LT(evaluation.fitness[n], 0);
    EXPECT_GE(evaluation.fitness[n], task.spec().worst_fitness);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(evaluation.ground_truth(n, axis), task.spec().ground_truth[axis].min);
      EXPECT_LE(evaluation.ground_truth(n, axis), task.spec().ground_truth[axis].max);
    }
  }
}

TEST(Vases, AreAPureFunctionOfTheGenotype) {
  expect_pure([] { return std::make_unique<Vases>(); }, 200, kSeed);
}

TEST(Vases, RefuseGenesThatAreNoNumbersAndRowsOfTheWrongLength) {
  const Vases task;
  Evaluation evaluation(task.spec(), 1);
  Matrix<float> genotypes(1, 24);
  genotypes(0, 23) = std::nanf("");
  EXPECT_THROW(task.evaluate(genotypes, evaluation.view()), DataError);
  EXPECT_THROW(task.draw(genotypes.row(0)), DataError);
  EXPECT_THROW(task.evaluate(Matrix<float>(1, 23), evaluation.view()), DataError);
}

}  // namespace
}  // namespace aurora
