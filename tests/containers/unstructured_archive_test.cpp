#include "aurora/containers/unstructured_archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "archive_oracle.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One-dimensional individuals with a fitness each, ids counted up from 0.
Individuals on_a_line(const std::vector<std::pair<float, float>>& position_and_fitness) {
  Individuals batch(small_layout(1), position_and_fitness.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::tie(batch.descriptors(i, 0), batch.fitness[i]) = position_and_fitness[i];
    batch.ids[i] = i;
  }
  return batch;
}

UnstructuredArchive small_archive(std::size_t n = 1) {
  return UnstructuredArchive(small_layout(n), {});
}

TEST(UnstructuredArchive, AddsBeyondTheThresholdOnly) {
  const Individuals batch = on_a_line({{0, 0}, {1, 5}, {1.5F, 0}, {2.6F, 0}});
  UnstructuredArchive archive = small_archive();
  EXPECT_EQ(archive.add(batch, 0, 1.0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 1, 1.0), Outcome::rejected);  // not above; a single member
  EXPECT_EQ(archive.add(batch, 2, 1.0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 3, 1.0), Outcome::added);
  EXPECT_EQ(archive.size(), 3U);
}

TEST(UnstructuredArchive, ReplacesItsNearestNeighbourInPlaceAndCountsAsTheYoungest) {
  const Individuals batch = on_a_line({{0, 1}, {2, 1}, {4, 1}, {2.1F, 2}});
  UnstructuredArchive archive = small_archive();
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(archive.add(batch, i, 1.0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 3, 1.0), Outcome::replaced);
  EXPECT_EQ(archive.individuals().ids, (std::vector<std::uint64_t>{0, 3, 2}));
  EXPECT_EQ(archive.individuals().fitness[1], 2);
}

TEST(UnstructuredArchive, RejectsTooCloseToTheSecondNeighbour) {
  const Individuals batch = on_a_line({{0, 1}, {1.2F, 1}, {0.6F, 100}});
  UnstructuredArchive archive = small_archive();
  for (std::size_t i = 0; i < 2; ++i) ASSERT_EQ(archive.add(batch, i, 1.0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 2, 1.0), Outcome::rejected);
}

TEST(UnstructuredArchive, WithoutFitnessDecidesOnNovelty) {
  // Equal fitness 0: farther from the others wins, nearer to them loses.
  const Individuals batch = on_a_line({{0, 0}, {2, 0}, {2.5F, 0}, {2.4F, 0}});
  UnstructuredArchive archive = small_archive();
  for (std::size_t i = 0; i < 2; ++i) ASSERT_EQ(archive.add(batch, i, 1.0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 2, 1.0), Outcome::replaced);
  EXPECT_EQ(archive.add(batch, 3, 1.0), Outcome::rejected);
}

TEST(UnstructuredArchive, ThresholdZeroTakesAllThatDiffer) {
  const Individuals batch = on_a_line({{0, 0}, {0, 1}, {1e-10F, 0}, {0, 1}});
  UnstructuredArchive archive = small_archive();
  EXPECT_EQ(archive.add(batch, 0, 0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 1, 0), Outcome::rejected);
  EXPECT_EQ(archive.add(batch, 2, 0), Outcome::added);
  EXPECT_EQ(archive.add(batch, 3, 0), Outcome::replaced);  // a clone with a better fitness
}

TEST(UnstructuredArchive, CountsWhatIsNotFiniteAsInvalid) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    for (int column = 0; column < 6; ++column) {
      Individuals batch(small_layout(2), 1);
      float* const cells[] = {&batch.fitness[0],
                              &batch.descriptors(0, 1),
                              &batch.ground_truth(0, 0),
                              &batch.sensory.view().row<float>(0)[2],
                              &batch.reconstruction_error[0],
                              &batch.genotypes(0, 1)};
      UnstructuredArchive archive = small_archive(2);
      *cells[column] = bad;
      EXPECT_EQ(archive.add(batch, 0, 1.0), Outcome::invalid) << "column " << column;
      EXPECT_EQ(archive.size(), 0U);
      *cells[column] = 0;
      EXPECT_EQ(archive.add(batch, 0, 1.0), Outcome::added) << "column " << column;
    }
  }
}

TEST(UnstructuredArchive, RefusesSenselessConfigurations) {
  EXPECT_THROW(UnstructuredArchive(small_layout(0), {}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.k = 0}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = 1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = -0.1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = std::nan("")}), UsageError);
}

class AgainstOracle : public testing::TestWithParam<std::size_t> {};

TEST_P(AgainstOracle, SameOutcomesLossesAndMembers) {
  std::size_t outcomes[4] = {};
  std::size_t lost = 0;
  EXPECT_EQ(first_disagreement(GetParam(), 10'000, 250, outcomes, lost), "");
  // Every path was taken.
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::added)], 500U);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::replaced)], 100U);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::rejected)], 500U);
  EXPECT_GT(lost, 30U);
}

TEST_P(AgainstOracle, SameOutcomesInALargerArchive) {
  Twins twins(GetParam(), {}, 77);
  for (std::size_t i = 0; i < 1500; ++i) {
    ASSERT_TRUE(twins.add(Twins::Scatter::uniform, 0.01)) << i;
  }
  EXPECT_TRUE(twins.update(0.05));
  EXPECT_TRUE(twins.equal());
}

TEST_P(AgainstOracle, SameNoveltyAndDiameter) {
  for (const auto scatter :
       {Twins::Scatter::uniform, Twins::Scatter::lattice, Twins::Scatter::clusters}) {
    Twins twins(GetParam(), {}, 5);
    for (const std::size_t size : {0U, 1U, 2U, 10U, 400U}) {
      for (std::size_t tries = 0; tries < 1000 && twins.archive.size() < size; ++tries) {
        ASSERT_TRUE(twins.add(scatter, 0));
      }
      Workers one(1);
      Workers three(3);
      const std::vector<float> novelty = twins.archive.novelty(one);
      EXPECT_EQ(novelty, twins.archive.novelty(three));
      ASSERT_EQ(novelty.size(), twins.archive.size());
      const auto& members = twins.oracle.members();
      const Individuals& rows = twins.archive.individuals();
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto member =
            std::ranges::find(members, rows.ids[row], &ArchiveOracle::Member::id) - members.begin();
        EXPECT_EQ(novelty[row],
                  static_cast<float>(twins.oracle.novelty(static_cast<std::size_t>(member))));
      }
      float largest = 0;
      for (const auto& a : members) {
        for (const auto& b : members) {
          largest = std::max(largest, ArchiveOracle::squared_distance(a.descriptor, b.descriptor));
        }
      }
      EXPECT_EQ(twins.archive.diameter(one), std::sqrt(double{largest}));
      EXPECT_EQ(twins.archive.diameter(three), std::sqrt(double{largest}));
    }
  }
}

TEST_P(AgainstOracle, SameUpdateAfterNewDescriptors) {
  Twins twins(GetParam(), {}, 9);
  for (std::size_t i = 0; i < 600; ++i) ASSERT_TRUE(twins.add(Twins::Scatter::uniform, 0.1));
  for (int round = 0; round < 5; ++round) {
    const Individuals& rows = twins.archive.individuals();
    Matrix<float> descriptors(rows.size(), GetParam());
    std::vector<float> errors(rows.size());
    std::size_t bad = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      auto& members = twins.oracle.members();
      const auto member = std::ranges::find(members, rows.ids[row], &ArchiveOracle::Member::id);
      for (float& x : descriptors.row(row)) x = static_cast<float>(twins.draw().normal());
      errors[row] = static_cast<float>(row);
      member->descriptor.assign(descriptors.row(row).begin(), descriptors.row(row).end());
      if (row % 50 == 7) {
        (row % 100 == 7 ? descriptors(row, GetParam() - 1) : errors[row]) = kNaN;
        members.erase(member);
        ++bad;
      }
    }
    // The rows keep their individuals apart from the holes filled from the end.
    EXPECT_EQ(twins.archive.set_descriptors(descriptors, errors), bad);
    ASSERT_TRUE(twins.equal());
    ASSERT_TRUE(twins.update(0.2 + 0.1 * round));
    ASSERT_TRUE(twins.equal());
    for (std::size_t i = 0; i < 100; ++i) ASSERT_TRUE(twins.add(Twins::Scatter::clusters, 0.3));
  }
}

TEST_P(AgainstOracle, RestoredArchiveGoesOnAsTheOldOne) {
  Twins twins(GetParam(), {}, 13);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(twins.add(Twins::Scatter::clusters, 0.2));
  UnstructuredArchive restored(small_layout(GetParam()), {});
  restored.restore(twins.archive.individuals());
  std::swap(restored, twins.archive);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(twins.add(Twins::Scatter::clusters, 0.2));
  EXPECT_TRUE(twins.update(0.3));
  EXPECT_TRUE(twins.equal());
}

INSTANTIATE_TEST_SUITE_P(Dimensions, AgainstOracle, testing::Values(1, 2, 3, 5, 10, 20));

TEST(UnstructuredArchive, UpdateOfAnUntouchedArchiveLosesNobodyWithTheSameThreshold) {
  Twins twins(2, {}, 21);
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_TRUE(twins.add(Twins::Scatter::clusters, 0.3));
  EXPECT_GT(twins.outcomes[static_cast<std::size_t>(Outcome::replaced)], 0U);
  const std::size_t before = twins.archive.size();
  EXPECT_TRUE(twins.update(0.3));
  EXPECT_GE(twins.archive.size() + before / 50, before);
}

TEST(UnstructuredArchive, RefusesColumnsThatDoNotFit) {
  UnstructuredArchive archive = small_archive(2);
  EXPECT_THROW(archive.restore(Individuals(small_layout(3), 1)), DataError);
  Individuals twins(small_layout(2), 2);
  EXPECT_THROW(archive.restore(twins), DataError);  // both have the id 0
  twins.ids[1] = 1;
  archive.restore(twins);
  EXPECT_EQ(archive.size(), 2U);
  twins.descriptors(1, 1) = kNaN;
  EXPECT_THROW(archive.restore(twins), DataError);
  EXPECT_THROW(archive.set_descriptors(Matrix<float>(1, 2).view(), {}), DataError);
  EXPECT_THROW(archive.set_descriptors(Matrix<float>(2, 3).view(), {}), DataError);
  EXPECT_THROW(archive.set_descriptors(Matrix<float>(2, 2).view(), std::vector<float>(1)),
               DataError);
  EXPECT_EQ(archive.set_descriptors(Matrix<float>(2, 2).view(), {}), 0U);
}

}  // namespace
}  // namespace aurora
