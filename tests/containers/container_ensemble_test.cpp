#include "aurora/containers/container_ensemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/containers/dominated_novelty.hpp"
#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr std::size_t kContainers = 3;
constexpr std::size_t kDimension = 2;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<Container> part_with(const IndividualsLayout& layout, std::size_t which) {
  const std::string gain = "gain=" + std::to_string(0.001 * static_cast<double>(which + 1));
  return std::make_unique<UnstructuredArchive>(
      layout, ArchiveConfig{.k = 5, .update_period = 4, .relevance = which == 1 ? 0.5 : 0.0},
      make_part(csc_threshold_part(), {60}, {gain}));
}

ContainerEnsemble ensemble() {
  const IndividualsLayout layout = small_layout(kContainers * kDimension);
  std::vector<std::unique_ptr<Container>> containers;
  for (std::size_t c = 0; c < kContainers; ++c) {
    containers.push_back(part_with(ContainerEnsemble::part_layout(layout, kContainers), c));
  }
  return {layout, std::move(containers)};
}

std::vector<std::uint64_t> ids_of(const Individuals& members) {
  return members.ids;
}

/// The ensemble and, as its oracle, containers that know nothing of each other and hold whole
/// individuals.
class Pair {
 public:
  Pair() : together(ensemble()) {
    for (std::size_t c = 0; c < kContainers; ++c) {
      alone.push_back(part_with(small_layout(kDimension), c));
    }
  }

  ContainerEnsemble together;
  std::vector<std::unique_ptr<Container>> alone;
  std::size_t lost = 0;
  std::size_t outcomes[4] = {};

  /// A batch and, at some iterations, another encoder or an extinction; then the end.
  void iterate(std::size_t iteration) {
    Stream draw(41, Purpose::user, static_cast<std::uint32_t>(iteration));
    offer(draw, iteration);
    IterationEnd end{.iteration = iteration};
    for (const std::size_t update : {5U, 15U, 30U}) end.encoder_updates += iteration >= update;
    end.update_due = end.descriptors_changed = iteration == 5 || iteration == 15 || iteration == 30;
    if (end.descriptors_changed) describe_again(draw);
    if (iteration == 22) extinguish();
    const Upkeep upkeep = together.after_iteration(end, workers_);
    bool updated = false;
    for (const auto& container : alone) {
      updated |= container->after_iteration(end, workers_).updated;
    }
    EXPECT_EQ(upkeep.updated, updated);
    lost += upkeep.lost;
  }

  /// Everything is as if the containers were alone, and the members here are those of all.
  void expect_equal() {
    std::set<std::uint64_t> all;
    for (std::size_t c = 0; c < kContainers; ++c) {
      const Individuals& members = together.containers()[c]->individuals();
      ASSERT_EQ(ids_of(members), ids_of(alone[c]->individuals())) << "row by row, " << c;
      all.insert(members.ids.begin(), members.ids.end());
      ASSERT_EQ(together.containers()[c]->numbers(), alone[c]->numbers());
      for (std::size_t row = 0; row < members.size(); ++row) {
        const std::uint32_t here = ContainerEnsemble::row_here(members, row);
        const Individuals& whole = together.individuals();
        ASSERT_EQ(whole.ids.at(here), members.ids[row]);
        ASSERT_EQ(whole.genotypes(here, 0), alone[c]->individuals().genotypes(row, 0));
        ASSERT_EQ(whole.sensory.view().row<float>(here)[1],
                  alone[c]->individuals().sensory.view().row<float>(row)[1]);
        for (std::size_t d = 0; d < kDimension; ++d) {
          ASSERT_EQ(whole.descriptors(here, c * kDimension + d),
                    alone[c]->individuals().descriptors(row, d));
        }
      }
    }
    ASSERT_EQ(all.size(), together.size());
    for (const std::uint64_t id : together.individuals().ids) ASSERT_TRUE(all.contains(id));
  }

 private:
  void offer(Stream& draw, std::size_t iteration) {
    constexpr std::size_t kBatch = 24;
    Individuals batch(small_layout(kContainers * kDimension), kBatch);
    std::vector<std::uint32_t> rows(kBatch);
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      rows[i] = kBatch - 1 - i;  // in another order than they are stored
      for (float& x : batch.descriptors.row(rows[i])) x = static_cast<float>(draw.uniform());
      batch.fitness[rows[i]] = static_cast<float>(draw.normal());
      batch.ids[rows[i]] = iteration * kBatch + i;
      batch.genotypes(rows[i], 0) = static_cast<float>(draw.uniform());
      batch.sensory.mutable_view().row<float>(rows[i])[1] = static_cast<float>(draw.uniform());
    }
    // Wrong for one container is wrong for all.
    if (iteration % 3 == 0) batch.descriptors(4, kDimension) = kNaN;
    std::vector<Outcome> ours(kBatch);
    together.add_all(batch, rows, workers_, ours);
    std::vector<Outcome> best(kBatch, Outcome::invalid);
    for (std::size_t c = 0; c < kContainers; ++c) {
      Individuals part(small_layout(kDimension), kBatch);
      for (std::size_t row = 0; row < kBatch; ++row) {
        const auto all = batch.descriptors.row(row);
        std::ranges::copy(all.subspan(c * kDimension, kDimension),
                          part.descriptors.row(row).begin());
        part.fitness[row] = batch.fitness[row];
        part.ids[row] = batch.ids[row];
        part.genotypes(row, 0) = batch.genotypes(row, 0);
        part.sensory.copy_row(batch.sensory, row, row);
      }
      for (std::size_t i = 0; i < kBatch; ++i) {
        if (!is_finite(batch, rows[i])) continue;
        const Outcome outcome = alone[c]->add(part, rows[i]);
        best[i] = c == 0 ? outcome : std::min(best[i], outcome);
      }
    }
    for (const Outcome outcome : ours) ++outcomes[static_cast<std::size_t>(outcome)];
    EXPECT_EQ(ours, best);
  }

  void describe_again(Stream& draw) {
    Matrix<float> descriptors = together.individuals().descriptors;
    for (std::size_t row = 0; row < descriptors.rows(); ++row) {
      for (float& x : descriptors.row(row)) x = 1.2F * x * x;
    }
    const std::size_t bad = rows_by_age(together.individuals())[draw.below(descriptors.rows())];
    const std::uint64_t gone = together.individuals().ids[bad];
    descriptors(bad, 0) = kNaN;
    EXPECT_EQ(together.set_descriptors(descriptors, {}), 1U);
    for (std::size_t c = 0; c < kContainers; ++c) {
      const Individuals& members = alone[c]->individuals();
      Matrix<float> theirs = members.descriptors;
      for (std::size_t row = 0; row < theirs.rows(); ++row) {
        for (float& x : theirs.row(row)) {
          x = members.ids[row] == gone ? kNaN : 1.2F * x * x;
        }
      }
      alone[c]->set_descriptors(theirs, {});
    }
  }

  /// One in three stays.
  void extinguish() {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < together.size(); ++row) {
      if (together.individuals().ids[row] % 3 == 0) rows.push_back(row);
    }
    together.retain(rows);
    EXPECT_EQ(together.size(), rows.size());
    for (const auto& container : alone) {
      std::vector<std::uint32_t> theirs;
      for (std::uint32_t row = 0; row < container->size(); ++row) {
        if (container->individuals().ids[row] % 3 == 0) theirs.push_back(row);
      }
      container->retain(theirs);
    }
  }

  Workers workers_{2};
};

TEST(ContainerEnsemble, IsItsContainersEachOnItsOwn) {
  Pair pair;
  for (std::size_t i = 1; i <= 45; ++i) {
    SCOPED_TRACE(i);
    pair.iterate(i);
    ASSERT_NO_FATAL_FAILURE(pair.expect_equal());
  }
  EXPECT_GT(pair.together.size(), pair.alone[0]->size());
  EXPECT_LT(pair.together.size(),
            pair.alone[0]->size() + pair.alone[1]->size() + pair.alone[2]->size());
  EXPECT_GT(pair.lost, 10U);
  for (const std::size_t count : pair.outcomes) EXPECT_GT(count, 5U);
}

TEST(ContainerEnsemble, SaysMeansAndSizesAndLooksAtEveryContainer) {
  Pair pair;
  Workers workers(1);
  for (std::size_t i = 1; i <= 12; ++i) pair.iterate(i);
  const std::vector<NamedNumber> numbers = pair.together.numbers();
  double mean = 0;
  for (std::size_t c = 0; c < kContainers; ++c) {
    mean += number_called(pair.alone[c]->numbers(), "threshold", 0) / kContainers;
    EXPECT_EQ(number_called(numbers, "size_" + std::to_string(c + 1), 0),
              static_cast<double>(pair.alone[c]->size()));
  }
  EXPECT_NEAR(number_called(numbers, "threshold", 0), mean, 1e-12);
  const std::string said = pair.together.check(workers);
  for (std::size_t c = 0; c < kContainers; ++c) {
    EXPECT_NE(said.find("container " + std::to_string(c + 1) + ", " +
                        std::to_string(pair.alone[c]->size()) +
                        " members: " + pair.alone[c]->check(workers)),
              std::string::npos)
        << said;
  }
}

TEST(ContainerEnsemble, GoesOnBitForBitFromWhateverWasSavedInAnyOrder) {
  for (const std::size_t saved_at : {0U, 1U, 5U, 14U, 15U, 22U, 31U}) {
    Pair one;
    for (std::size_t i = 1; i <= saved_at; ++i) one.iterate(i);
    Pair other;
    for (std::size_t i = 1; i <= saved_at; ++i) other.iterate(i);
    // As a run's container is written: oldest first.
    Individuals sorted = one.together.individuals();
    const std::vector<std::uint32_t> rows = rows_by_age(sorted);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sorted.copy_row(one.together.individuals(), rows[i], i);
    }
    other.together = ensemble();
    other.together.restore(sorted, one.together.state());
    ASSERT_NO_FATAL_FAILURE(other.expect_equal());
    for (std::size_t i = saved_at + 1; i <= 35; ++i) {
      one.iterate(i);
      other.iterate(i);
      ASSERT_NO_FATAL_FAILURE(other.expect_equal()) << "saved at " << saved_at << ", " << i;
      ASSERT_EQ(container_hash(one.together.individuals()),
                container_hash(other.together.individuals()));
      ASSERT_EQ(one.together.state().numbers, other.together.state().numbers);
    }
  }
}

TEST(ContainerEnsemble, ABrokenStateIsRefusedAndNothingIsTakenOver) {
  Pair pair;
  for (std::size_t i = 1; i <= 8; ++i) pair.iterate(i);
  const PartState state = pair.together.state();
  const auto expect_refused = [&](const Individuals& individuals, const PartState& bad) {
    EXPECT_THROW(pair.together.restore(individuals, bad), DataError);
    ASSERT_NO_FATAL_FAILURE(pair.expect_equal());
    EXPECT_EQ(pair.together.state().numbers, state.numbers);
  };
  const Individuals members = pair.together.individuals();
  PartState none = state;
  none.arrays.clear();
  expect_refused(members, none);  // in no container
  Individuals fewer = members;
  fewer.resize(members.size() - 1);
  expect_refused(fewer, state);  // some are not there
  for (const float bad : {-1.0F, 0.5F, 1e6F, kNaN}) {
    PartState broken = state;
    for (NamedArray& array : broken.arrays) {
      if (array.name == "2.members") array.values[3] = bad;
    }
    expect_refused(members, broken);
  }
  PartState twice = state;
  for (NamedArray& array : twice.arrays) {
    if (array.name == "3.members") array.values[3] = array.values[4];
  }
  expect_refused(members, twice);
  PartState broken = state;
  broken.numbers.back().value = std::nan("");
  expect_refused(members, broken);
  expect_refused(Individuals(small_layout(kDimension), 3), state);
  pair.together.restore(members, state);
  ASSERT_NO_FATAL_FAILURE(pair.expect_equal());
}

TEST(ContainerEnsemble, TakesContainersOfEveryKind) {
  const IndividualsLayout layout = small_layout(2);
  std::vector<std::unique_ptr<Container>> containers;
  for (int c = 0; c < 2; ++c) {
    containers.push_back(std::make_unique<DominatedNovelty>(
        ContainerEnsemble::part_layout(layout, 2), DominatedNoveltyConfig{}, 5));
  }
  ContainerEnsemble all(layout, std::move(containers));
  Individuals batch(layout, 1);
  Stream draw(3, Purpose::user);
  Workers workers(1);
  for (std::uint64_t id = 0; id < 200; ++id) {
    for (float& x : batch.descriptors.row(0)) x = static_cast<float>(draw.uniform());
    batch.fitness[0] = static_cast<float>(draw.normal());
    batch.ids[0] = id;
    all.add(batch, 0);
    ASSERT_LE(all.size(), 10U);
  }
  EXPECT_GT(all.size(), 5U);
  EXPECT_NO_THROW(all.check(workers));
}

TEST(ContainerEnsemble, RefusesToBeOfNone) {
  EXPECT_THROW(ContainerEnsemble(small_layout(2), {}), UsageError);
}

}  // namespace
}  // namespace aurora
