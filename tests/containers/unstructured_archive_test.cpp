#include "aurora/containers/unstructured_archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"

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
                              &batch.sensory.mutable_view().row<float>(0)[2],
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
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.update_period = 0}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = 1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = -0.1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.epsilon = std::nan("")}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.relevance = 1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.relevance = -0.1}), UsageError);
  EXPECT_THROW(UnstructuredArchive(small_layout(1), {.relevance = std::nan("")}), UsageError);
}

class AgainstOracle : public testing::TestWithParam<std::size_t> {};

TEST_P(AgainstOracle, SameOutcomesLossesAndMembers) {
  std::size_t outcomes[4] = {};
  std::size_t lost = 0;
  EXPECT_EQ(first_disagreement(GetParam(), 0, 10'000, 250, outcomes, lost), "");
  // Every path was taken.
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::added)], 500U);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::replaced)], 100U);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::rejected)], 500U);
  EXPECT_GT(lost, 30U);
}

TEST_P(AgainstOracle, SameOutcomesLossesAndMembersWithRelevance) {
  for (const double relevance : {0.5, 0.95}) {
    std::size_t outcomes[4] = {};
    std::size_t lost = 0;
    EXPECT_EQ(first_disagreement(GetParam(), relevance, 4'000, 250, outcomes, lost), "");
    EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::added)], 200U);
    EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::replaced)], 40U);
    EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::rejected)], 200U);
    EXPECT_GT(lost, 15U);
  }
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

// --- What check() promises ---

std::unique_ptr<Threshold> fixed_threshold(double value) {
  return make_part(fixed_threshold_part(), {100}, {"value=" + real_text(value)});
}

/// The distance that an archive promises, by its state; infinite while nobody has come.
double promise(const UnstructuredArchive& archive) {
  return number_called(archive.state().numbers, "spacing", kInfinity);
}

/// The smallest distance between two members, by plain loops.
double closest_pair(const Individuals& members) {
  float closest = kInfinity;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      closest = std::min(closest, ArchiveOracle::squared_distance(members.descriptors.row(i),
                                                                  members.descriptors.row(j)));
    }
  }
  return std::sqrt(double{closest});
}

void draw_rows(Individuals& batch, Stream& draw, std::uint64_t& next_id) {
  for (std::size_t row = 0; row < batch.size(); ++row) {
    for (float& x : batch.descriptors.row(row)) x = static_cast<float>(draw.uniform());
    batch.fitness[row] = static_cast<float>(draw.normal());
    batch.ids[row] = next_id++;
  }
}

/// A threshold that leaves some hundred members; in many dimensions everything is far from
/// everything.
struct Space {
  std::size_t dimension;
  double threshold;
};

class Check : public testing::TestWithParam<Space> {};

TEST_P(Check, NeverComplainsAndItsPromiseIsKept) {
  const std::size_t n = GetParam().dimension;
  Workers workers(2);
  Stream draw(31, Purpose::user);
  UnstructuredArchive archive(small_layout(n), {}, fixed_threshold(1));
  Individuals batch(small_layout(n), 40);
  std::vector<std::uint32_t> rows(batch.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::vector<Outcome> outcomes(rows.size());
  std::uint64_t next_id = 0;
  std::size_t replaced = 0;
  int updates = 0;
  int changes = 0;
  int worth_something = 0;
  const double usual = GetParam().threshold;
  double threshold = usual;
  EXPECT_EQ(archive.check(workers), "fewer than two individuals");
  for (int step = 0; step < 400; ++step) {
    const double chance = draw.uniform();
    if (chance < 0.9) {
      threshold = usual * (0.3 + 1.4 * draw.uniform());
      draw_rows(batch, draw, next_id);
      if (draw.uniform() < 0.1) batch.fitness[3] = kNaN;
      if (draw.uniform() < 0.5) {
        archive.add_all(batch, rows, threshold, workers, outcomes);
      } else {
        for (const std::uint32_t row : rows) outcomes[row] = archive.add(batch, row, threshold);
      }
      replaced += static_cast<std::size_t>(std::ranges::count(outcomes, Outcome::replaced));
    } else if (chance < 0.97) {
      threshold = usual * (0.5 + draw.uniform());
      archive.update(threshold, workers);
      EXPECT_GE(promise(archive), 0.8099 * threshold) << "an update promises something";
      ++updates;
    } else {
      Matrix<float> descriptors = archive.individuals().descriptors;
      for (std::size_t i = 0; i < descriptors.rows() * n; ++i) {
        descriptors.data()[i] += static_cast<float>(0.2 * draw.normal());
      }
      archive.set_descriptors(descriptors, {});
      EXPECT_EQ(promise(archive), 0) << "anybody may be anywhere";
      ++changes;
    }
    std::string said;
    ASSERT_NO_THROW(said = archive.check(workers)) << "step " << step;
    const double promised = promise(archive);
    const double closest = closest_pair(archive.individuals());
    ASSERT_GE(closest, (1 - 1e-5) * promised) << "step " << step;
    // What it says is what plain loops say.
    ASSERT_EQ(said.find("closest pair "), 0U) << said;
    ASSERT_NEAR(std::atof(said.c_str() + 13), closest, 1e-3 * closest) << said;
    worth_something += promised > 0;
  }
  EXPECT_GT(replaced, 20U);
  EXPECT_GT(updates, 10);
  EXPECT_GT(changes, 3);
  EXPECT_GT(worth_something, 100) << "a promise of nothing is easily kept";
}

TEST_P(Check, FindsAMemberThatWasMovedByHand) {
  const std::size_t n = GetParam().dimension;
  Workers workers(2);
  Stream draw(32, Purpose::user);
  UnstructuredArchive archive(small_layout(n), {}, fixed_threshold(0.02));
  Individuals batch(small_layout(n), 1);
  std::uint64_t next_id = 0;
  for (int i = 0; i < 300; ++i) {
    draw_rows(batch, draw, next_id);
    archive.add(batch, 0);
  }
  ASSERT_GT(archive.size(), 20U);
  const double promised = promise(archive);
  EXPECT_DOUBLE_EQ(promised, 0.9 * 0.02);
  /// Puts a member at this distance from another one, and asks an archive that is restored so.
  const auto complaint = [&](double distance, const PartState& state) -> std::string {
    Individuals members = archive.individuals();
    // Away from all others, where nobody else is near.
    for (const std::size_t row : {3U, 11U}) {
      for (float& x : members.descriptors.row(row)) x = 5;
    }
    members.descriptors(11, n - 1) += static_cast<float>(distance);
    UnstructuredArchive restored(small_layout(n), {}, fixed_threshold(0.02));
    restored.restore(members, state);
    try {
      restored.check(workers);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(1.01 * promised, archive.state()), "");
  for (const double distance : {0.99 * promised, 0.5 * promised, 0.0}) {
    const std::string message = complaint(distance, archive.state());
    EXPECT_NE(message.find("closer than the 0.018 that their container allows"), std::string::npos)
        << distance << ": " << message;
  }
  // A state that an older version wrote promises nothing.
  EXPECT_EQ(complaint(0, {}), "");
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Check,
                         testing::Values(Space{1, 0.002}, Space{2, 0.08}, Space{5, 0.3},
                                         Space{10, 0.8}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.dimension);
                         });

TEST(UnstructuredArchive, CheckPromisesTheSmallestThresholdSinceTheLastUpdate) {
  UnstructuredArchive archive(small_layout(1), {}, fixed_threshold(1));
  Workers workers(1);
  EXPECT_EQ(promise(archive), kInfinity);
  const Individuals batch = on_a_line({{0, 0}, {10, 0}, {12, 0}, {12.5F, 0}});
  archive.add(batch, 0, 4.0);
  EXPECT_EQ(archive.check(workers), "fewer than two individuals");
  archive.add(batch, 1, 2.0);
  EXPECT_DOUBLE_EQ(promise(archive), 1.8);
  archive.add(batch, 2, 1.5);
  EXPECT_EQ(archive.check(workers), "closest pair 2 apart, at least 1.35 is promised");
  archive.add(batch, 3, 0.1);
  EXPECT_EQ(archive.check(workers), "closest pair 0.5 apart, at least 0.09 is promised");
  archive.add(batch, 3, 9.0);  // a larger one takes nothing back
  EXPECT_DOUBLE_EQ(promise(archive), 0.09);
  EXPECT_EQ(archive.update(1.0, workers), 1U);
  EXPECT_EQ(archive.check(workers), "closest pair 2.5 apart, at least 0.81 is promised");
  EXPECT_EQ(archive.update(0.5, workers), 0U);  // nor does a smaller update
  EXPECT_DOUBLE_EQ(promise(archive), 0.81);
}

TEST(UnstructuredArchive, CheckFindsNumbersThatAreNotFiniteAndIdsThatAreThereTwice) {
  UnstructuredArchive archive(small_layout(1), {}, fixed_threshold(1));
  Workers workers(1);
  const Individuals batch = on_a_line({{0, 0}, {10, 0}});
  for (std::size_t row : {0U, 1U}) archive.add(batch, row);
  // Nobody may do this; it stands for whatever we have not thought of.
  auto& members = const_cast<Individuals&>(archive.individuals());
  EXPECT_NO_THROW(archive.check(workers));
  members.ids[1] = 0;
  EXPECT_THROW(archive.check(workers), DataError);
  members.ids[1] = 1;
  members.genotypes(1, 1) = kNaN;
  EXPECT_THROW(archive.check(workers), DataError);
  members.genotypes(1, 1) = 0;
  EXPECT_NO_THROW(archive.check(workers));
}

// --- Relevance ---

TEST(Relevance, GivesTheFitterASmallerRadius) {
  // The positions of members and, after these, of candidates.
  const Individuals batch = on_a_line({{0, 2},
                                       {10, 1},
                                       {20, 1},
                                       {30, 0},
                                       {31.4F, -9},
                                       {31.7F, -9},
                                       {0.6F, -9},
                                       {0.3F, 9},
                                       {9.5F, 9}});
  UnstructuredArchive archive(small_layout(1), {.relevance = 0.8});
  for (const std::size_t row : {0U, 1U, 2U, 3U}) archive.add(batch, row, 1.0);
  EXPECT_TRUE(archive.radius_factors().empty()) << "nobody was ranked yet";
  archive.rank_anew();
  // Of four the ranks are 3.5, 2 and 2, and 0.5.
  const std::vector<double> factors = archive.radius_factors();
  ASSERT_EQ(factors.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(factors[i], (std::vector<double>{0.4, 1, 1, 1.6}[i])) << i;
  }
  EXPECT_EQ(archive.add(batch, 4, 1.0), Outcome::rejected) << "1.4 from the least fit";
  EXPECT_EQ(archive.add(batch, 5, 1.0), Outcome::added) << "1.7 from it";
  EXPECT_EQ(archive.add(batch, 6, 1.0), Outcome::added) << "0.6 from the fittest";
  EXPECT_EQ(archive.add(batch, 7, 1.0), Outcome::rejected) << "0.3 from it, and from the last";
  EXPECT_EQ(archive.add(batch, 8, 1.0), Outcome::replaced) << "0.5 from one of those between";
  EXPECT_EQ(archive.size(), 6U);
}

TEST(Relevance, RadiiAreThoseOfEverybodyAlikeIfFitnessIs) {
  UnstructuredArchive archive(small_layout(1), {.relevance = 0.8});
  const Individuals batch = on_a_line({{0, -3}, {10, -3}, {20, -3}});
  for (const std::size_t row : {0U, 1U, 2U}) archive.add(batch, row, 1.0);
  archive.rank_anew();
  EXPECT_EQ(archive.radius_factors(), (std::vector<double>{1, 1, 1}));
}

TEST(Relevance, MembersAreRankedAndLookedAtAgainEveryPeriodWhateverTheThresholdWants) {
  Workers workers(1);
  UnstructuredArchive archive(small_layout(1), {.update_period = 5, .relevance = 0.8},
                              fixed_threshold(1));
  const Individuals batch = on_a_line({{0, 0}, {1.2F, 1}, {10, 2}});
  for (const std::size_t row : {0U, 1U, 2U}) EXPECT_EQ(archive.add(batch, row), Outcome::added);
  EXPECT_FALSE(archive.after_iteration({.iteration = 4, .encoder_updates = 1}, workers).updated);
  EXPECT_TRUE(archive.state().arrays.empty());
  const Upkeep upkeep = archive.after_iteration({.iteration = 5, .encoder_updates = 1}, workers);
  EXPECT_TRUE(upkeep.updated);
  // The second is within 0.9 times the first one's radius, and fitter: it takes the place. The
  // ranks are of those who were there before.
  EXPECT_EQ(upkeep.lost, 1U);
  EXPECT_EQ(archive.individuals().size(), 2U);
  ASSERT_EQ(archive.state().arrays.size(), 1U);
  EXPECT_EQ(archive.state().arrays[0].values, (std::vector<float>{0, 1, 2}));
}

/// The smallest distance from a member to an older one, divided by the factor of the older one's
/// radius, by plain loops.
double closest_scaled_pair(const Individuals& members, const std::vector<double>& factors) {
  double closest = kInfinity;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (members.ids[j] >= members.ids[i]) continue;
      const float d =
          ArchiveOracle::squared_distance(members.descriptors.row(i), members.descriptors.row(j));
      closest = std::min(closest, std::sqrt(double{d}) / (factors.empty() ? 1 : factors[j]));
    }
  }
  return closest;
}

TEST(Relevance, TheDistanceThatCheckPromisesIsKept) {
  Workers workers(2);
  for (const std::size_t n : {1U, 2U, 6U}) {
    Stream draw(35, Purpose::user, static_cast<std::uint32_t>(n));
    const double usual = n == 1 ? 0.002 : n == 2 ? 0.08 : 0.4;
    UnstructuredArchive archive(small_layout(n), {.relevance = 0.7}, fixed_threshold(usual));
    Individuals batch(small_layout(n), 40);
    std::vector<std::uint32_t> rows(batch.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::vector<Outcome> outcomes(rows.size());
    std::uint64_t next_id = 0;
    int worth_something = 0;
    for (int step = 0; step < 200; ++step) {
      draw_rows(batch, draw, next_id);
      archive.add_all(batch, rows, usual * (0.5 + draw.uniform()), workers, outcomes);
      if (step % 7 == 6) {
        archive.rank_anew();
        EXPECT_EQ(promise(archive), 0) << "radii have changed";
        archive.update(usual * (0.8 + 0.4 * draw.uniform()), workers);
        EXPECT_GT(promise(archive), 0.6 * usual);
      }
      std::string said;
      ASSERT_NO_THROW(said = archive.check(workers)) << "n " << n << ", step " << step;
      const double closest = closest_scaled_pair(archive.individuals(), archive.radius_factors());
      ASSERT_GE(closest, (1 - 1e-5) * promise(archive)) << "n " << n << ", step " << step;
      ASSERT_NEAR(std::atof(said.c_str() + 13), closest, 1e-3 * closest) << said;
      worth_something += promise(archive) > 0;
    }
    EXPECT_GT(worth_something, 150);
    // The least fit has a large radius: somebody younger near it is found, though their distance
    // would do if all were alike.
    Individuals members = archive.individuals();
    const auto worst = static_cast<std::size_t>(std::ranges::min_element(members.fitness) -
                                                members.fitness.begin());
    const auto youngest =
        static_cast<std::size_t>(std::ranges::max_element(members.ids) - members.ids.begin());
    ASSERT_NE(worst, youngest);
    for (const std::size_t row : {worst, youngest}) {
      for (float& x : members.descriptors.row(row)) x = 5;
    }
    members.descriptors(youngest, 0) += static_cast<float>(1.1 * promise(archive));
    UnstructuredArchive restored(small_layout(n), {.relevance = 0.7}, fixed_threshold(usual));
    restored.restore(members, archive.state());
    EXPECT_THROW(restored.check(workers), DataError);
    PartState alike = archive.state();
    alike.arrays.clear();
    restored.restore(members, alike);
    members.fitness[worst] = 1e6F;  // now its radius is the smallest
    restored.restore(members, archive.state());
    EXPECT_NO_THROW(restored.check(workers));
  }
}

TEST(Relevance, ABrokenRankingIsRefusedAndNothingIsTakenOver) {
  UnstructuredArchive archive(small_layout(1), {.relevance = 0.5}, fixed_threshold(1));
  const Individuals batch = on_a_line({{0, 0}, {10, 1}, {20, 2}});
  for (const std::size_t row : {0U, 1U, 2U}) archive.add(batch, row);
  archive.rank_anew();
  const PartState state = archive.state();
  for (const std::vector<float>& bad :
       {std::vector<float>{2, 1, 3}, {0, 1, kNaN}, {0, 1, kInfinity}}) {
    PartState broken = state;
    broken.arrays[0].values = bad;
    EXPECT_THROW(archive.restore(on_a_line({{0, 0}}), broken), DataError);
    EXPECT_EQ(archive.size(), 3U);
    EXPECT_EQ(archive.state().arrays[0].values, state.arrays[0].values);
  }
}

// --- The archive and its threshold ---

/// Tells who called it.
class Telling final : public Threshold {
 public:
  explicit Telling(std::vector<std::string>& calls) : Threshold(1), calls_(calls) {}
  void start(const Container& container) override { tell("start", container.size()); }
  void encoder_updated(const Container& container, double epsilon, Workers&) override {
    EXPECT_EQ(epsilon, 0.2);
    tell("encoder", container.size());
  }
  void follow(std::size_t size) override { tell("follow", size); }
  bool wants_update(const IterationEnd& end, std::size_t period) const override {
    return end.iteration % period == 0;
  }
  double for_update(const Container& container, double epsilon) override {
    EXPECT_EQ(epsilon, 0.2);
    tell("update", container.size());
    return 100;
  }

 private:
  void tell(const std::string& what, std::size_t size) {
    calls_.push_back(what + " " + std::to_string(size));
  }
  std::vector<std::string>& calls_;
};

TEST(UnstructuredArchive, CallsItsThresholdAsTheThresholdSays) {
  using Calls = std::vector<std::string>;
  Calls calls;
  Workers workers(1);
  UnstructuredArchive archive(small_layout(1), {.epsilon = 0.2, .update_period = 5},
                              std::make_unique<Telling>(calls));
  const auto after = [&](const IterationEnd& end) {
    calls.clear();
    const Upkeep upkeep = archive.after_iteration(end, workers);
    EXPECT_EQ(upkeep.updated, end.iteration % 5 == 0);
    EXPECT_EQ(upkeep.lost, end.iteration == 10 ? 1U : 0U);
    return calls;
  };
  EXPECT_EQ(after({.iteration = 1}), Calls{}) << "nobody is there yet";
  EXPECT_EQ(after({.iteration = 5}), Calls{"update 0"});
  const Individuals batch = on_a_line({{0, 0}, {10, 0}, {300, 0}});
  for (const std::size_t row : {0U, 1U, 2U}) archive.add(batch, row);
  EXPECT_EQ(after({.iteration = 6}), Calls{"start 3"});
  EXPECT_EQ(after({.iteration = 7, .encoder_updates = 1, .update_due = true}), Calls{"encoder 3"})
      << "the first one";
  EXPECT_EQ(after({.iteration = 8, .encoder_updates = 1}), Calls{"follow 3"});
  EXPECT_EQ(after({.iteration = 9, .encoder_updates = 2, .update_due = true}),
            (Calls{"encoder 3", "follow 3"}));
  EXPECT_EQ(after({.iteration = 10, .encoder_updates = 2}), (Calls{"follow 3", "update 3"}));
  EXPECT_EQ(archive.size(), 2U);
}

TEST(UnstructuredArchive, AddsWithTheValueOfItsThresholdAndSaysWhatItIs) {
  const Individuals batch = on_a_line({{0, 0}, {1, 0}, {3, 0}});
  for (const double value : {0.5, 1.5, 5.0}) {
    UnstructuredArchive one(small_layout(1), {}, fixed_threshold(value));
    UnstructuredArchive other(small_layout(1), {}, fixed_threshold(value));
    UnstructuredArchive given = small_archive();
    Workers workers(1);
    std::vector<Outcome> outcomes(3);
    const std::vector<std::uint32_t> rows = {0, 1, 2};
    other.add_all(batch, rows, workers, outcomes);
    for (const std::uint32_t row : rows) {
      const Outcome outcome = given.add(batch, row, value);
      EXPECT_EQ(one.add(batch, row), outcome);
      EXPECT_EQ(outcomes[row], outcome);
    }
    EXPECT_EQ(one.size(), value < 1 ? 3U : value < 3 ? 2U : 1U);
    EXPECT_EQ(one.numbers(), (std::vector<NamedNumber>{{"threshold", value}}));
  }
}

struct Kept {
  const char* kind;
  ThresholdEntry (*entry)();
  const char* option;
  double relevance = 0;
};

class GoingOn : public testing::TestWithParam<Kept> {
 protected:
  static constexpr std::size_t kDimension = 2;

  std::unique_ptr<UnstructuredArchive> archive() const {
    auto threshold = make_part(GetParam().entry(), {60}, {GetParam().option});
    return std::make_unique<UnstructuredArchive>(
        small_layout(kDimension),
        ArchiveConfig{.k = 5, .update_period = 4, .relevance = GetParam().relevance},
        std::move(threshold));
  }

  /// An iteration: a batch of its own, now and then another encoder, and the end.
  Upkeep iterate(UnstructuredArchive& archive, std::size_t iteration) {
    Stream draw(33, Purpose::user, static_cast<std::uint32_t>(iteration));
    Individuals batch(small_layout(kDimension), 24);
    std::uint64_t next_id = iteration * batch.size();
    draw_rows(batch, draw, next_id);
    std::vector<std::uint32_t> rows(batch.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::vector<Outcome> outcomes(batch.size());
    archive.add_all(batch, rows, workers_, outcomes);
    // Encoder updates at 5, 15, 30.
    IterationEnd end{.iteration = iteration};
    for (const std::size_t update : {5U, 15U, 30U}) end.encoder_updates += iteration >= update;
    end.update_due = end.descriptors_changed = iteration == 5 || iteration == 15 || iteration == 30;
    if (end.descriptors_changed) {
      Matrix<float> descriptors = archive.individuals().descriptors;
      for (std::size_t i = 0; i < descriptors.rows(); ++i) {
        for (float& x : descriptors.row(i)) x = 1.2F * x * x;
      }
      archive.set_descriptors(descriptors, {});
    }
    return archive.after_iteration(end, workers_);
  }

  Workers workers_{2};
};

TEST_P(GoingOn, BitForBitFromWhateverWasSaved) {
  constexpr std::size_t kIterations = 45;
  for (const std::size_t saved_at : {0U, 1U, 4U, 5U, 6U, 14U, 15U, 22U, 30U, 31U}) {
    const auto one = archive();
    std::size_t lost = 0;
    for (std::size_t i = 1; i <= saved_at; ++i) lost += iterate(*one, i).lost;
    const auto other = archive();
    other->restore(one->individuals(), one->state());
    for (std::size_t i = saved_at; i <= kIterations; ++i) {
      if (i > saved_at) {
        const Upkeep upkeep = iterate(*one, i);
        const Upkeep again = iterate(*other, i);
        ASSERT_EQ(upkeep.updated, again.updated);
        ASSERT_EQ(upkeep.lost, again.lost);
        lost += upkeep.lost;
      }
      SCOPED_TRACE("saved at " + std::to_string(saved_at) + ", iteration " + std::to_string(i));
      ASSERT_EQ(one->state().numbers, other->state().numbers);
      ASSERT_EQ(one->radius_factors(), other->radius_factors());
      ASSERT_EQ(one->numbers(), other->numbers());
      ASSERT_EQ(one->individuals().ids, other->individuals().ids) << "row by row";
      ASSERT_EQ(container_hash(one->individuals()), container_hash(other->individuals()));
      ASSERT_EQ(one->novelty(workers_), other->novelty(workers_));
      ASSERT_EQ(one->check(workers_), other->check(workers_));
    }
    EXPECT_GT(one->size(), 20U);
    EXPECT_GT(lost, 0U);
  }
}

TEST_P(GoingOn, ABrokenStateIsRefusedAndNothingIsTakenOver) {
  const auto ours = archive();
  for (std::size_t i = 1; i <= 8; ++i) iterate(*ours, i);
  const PartState state = ours->state();
  const std::uint64_t hash = container_hash(ours->individuals());
  const auto expect_refused = [&](const Individuals& individuals, const PartState& bad) {
    EXPECT_THROW(ours->restore(individuals, bad), DataError);
    EXPECT_EQ(ours->state().numbers, state.numbers);
    EXPECT_EQ(container_hash(ours->individuals()), hash);
  };
  Individuals fewer = ours->individuals();
  fewer.resize(3);
  for (std::size_t i = 0; i < state.numbers.size(); ++i) {
    PartState bad = state;
    bad.numbers[i].value = std::nan("");
    expect_refused(fewer, bad);
  }
  PartState negative = state;
  ASSERT_EQ(negative.numbers[0].name, "threshold.value");
  negative.numbers[0].value = -1;
  expect_refused(fewer, negative);
  PartState other = state;
  other.numbers[0].value *= 2;
  fewer.ids[1] = fewer.ids[0];
  expect_refused(fewer, other);
  fewer.ids[1] = 1'000'000;
  ours->restore(fewer, other);
  EXPECT_EQ(ours->size(), 3U);
  EXPECT_EQ(ours->state().numbers, other.numbers);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GoingOn,
    testing::Values(Kept{"csc", csc_threshold_part, "gain=1e-3"},
                    Kept{"vat", vat_threshold_part, "vat_constant=10"},
                    Kept{"pid", pid_threshold_part, "integral=0.2"},
                    Kept{"fixed", fixed_threshold_part, "value=0.06"},
                    Kept{"growing", growing_threshold_part, "iterations=20"},
                    Kept{"cscRelevance", csc_threshold_part, "gain=1e-3", 0.6},
                    Kept{"pidRelevance", pid_threshold_part, "horizon=20", 0.6},
                    Kept{"fixedRelevance", fixed_threshold_part, "value=0.06", 0.6},
                    Kept{"growingRelevance", growing_threshold_part, "iterations=20", 0.6}),
    [](const auto& instance) { return instance.param.kind; });

TEST(UnstructuredArchive, PartHasTheOptionsOfTheConfiguration) {
  const ContainerEntry entry = unstructured_container();
  for (const char* bad : {"k=0", "k=1001", "epsilon=1", "epsilon=-0.1", "epsilon=nan",
                          "update_period=0", "relevance=1", "relevance=-0.1"}) {
    EXPECT_FALSE(read_option(entry, bad)) << bad;
  }
  for (const char* good : {"k=1", "k=1000", "epsilon=0", "epsilon=0.999", "update_period=1",
                           "relevance=0", "relevance=0.999"}) {
    EXPECT_TRUE(read_option(entry, good)) << good;
  }
  Workers workers(1);
  ContainerContext context{.layout = small_layout(1),
                           .bounds = {},
                           .target_size = 10,
                           .seed = 1,
                           .workers = workers,
                           .threshold = fixed_threshold(1)};
  const auto archive = entry.make(values_of(entry, {"epsilon=0.5"}), context);
  const Individuals batch = on_a_line({{0, 0}, {3, 0}});
  for (const std::size_t row : {0U, 1U}) EXPECT_EQ(archive->add(batch, row), Outcome::added);
  EXPECT_EQ(archive->check(workers), "closest pair 3 apart, at least 0.5 is promised");
}

}  // namespace
}  // namespace aurora
