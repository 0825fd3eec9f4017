#include "aurora/algorithms/recent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <set>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kBatch = 16;

const IndividualsLayout kLayout{.genotype_size = 1,
                                .descriptor_size = 1,
                                .ground_truth_size = 1,
                                .sensory = {{2}, ElementType::float32}};

/// What an individual senses says who it is.
void write(Individuals& batch, std::size_t row, std::uint64_t id) {
  batch.ids[row] = id;
  batch.fitness[row] = -static_cast<float>(id);
  const auto number = static_cast<float>(id);
  batch.sensory.mutable_view().set_row(row, std::vector<float>{number, number + 0.5F});
}

std::vector<std::uint32_t> all_rows() {
  std::vector<std::uint32_t> rows(kBatch);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

std::vector<std::uint64_t> ids_in(const Examples& examples) {
  std::vector<std::uint64_t> ids;
  for (std::size_t row = 0; row < examples.fitness.size(); ++row) {
    const auto sensed = examples.sensory.view().row<float>(row);
    EXPECT_EQ(sensed[1], sensed[0] + 0.5F);
    EXPECT_EQ(examples.fitness[row], -sensed[0]);
    ids.push_back(static_cast<std::uint64_t>(sensed[0]));
  }
  EXPECT_EQ(examples.sensory.rows(), ids.size());
  return ids;
}

TEST(Recent, AreTheLastThatWereSimulatedWhoAreNoMembers) {
  std::mt19937 random(3);
  for (const std::size_t most : {1U, 5U, 16U, 40U, 1000U}) {
    Individuals batch(kLayout, kBatch);
    Recent recent(batch, most);
    std::deque<std::uint64_t> expected;
    std::uint64_t id = 0;
    for (int round = 0; round < 30; ++round) {
      for (std::size_t row = 0; row < kBatch; ++row) {
        write(batch, row, id++);
        if (random() % 8 == 0) batch.fitness[row] = std::nanf("");
      }
      std::vector<std::uint32_t> rows = all_rows();
      std::erase_if(rows, [&](std::uint32_t) { return random() % 4 == 0; });
      recent.add(batch, rows);
      for (const std::uint32_t row : rows) {
        if (std::isfinite(batch.fitness[row])) expected.push_back(batch.ids[row]);
      }
      while (expected.size() > most) expected.pop_front();

      Individuals members(kLayout, 0);
      members.sensory.freeze();
      std::set<std::uint64_t> chosen;
      for (int i = 0; i < 10; ++i) chosen.insert(random() % id);
      std::vector<std::uint64_t> wanted(chosen.begin(), chosen.end());
      for (const std::uint64_t each : wanted) {
        Individuals one(kLayout, 1);
        write(one, 0, each);
        members.resize(members.size() + 1);
        members.copy_row(one, 0, members.size() - 1);
      }
      for (const std::uint64_t each : expected) {
        if (!chosen.contains(each)) wanted.push_back(each);
      }
      ASSERT_EQ(ids_in(recent.with(members)), wanted) << most << " " << round;

      Recent restored(batch, most);  // what follows comes from the state alone
      restored.restore(recent.individuals());
      recent = std::move(restored);
    }
  }
}

TEST(Recent, AStateThatCannotBeIsRefused) {
  Individuals batch(kLayout, kBatch);
  for (std::size_t row = 0; row < kBatch; ++row) write(batch, row, row);
  Recent recent(batch, kBatch);
  EXPECT_NO_THROW(recent.restore(batch));
  EXPECT_THROW(Recent(batch, kBatch - 1).restore(batch), DataError);
  EXPECT_THROW(Recent(batch, 0).restore(batch), DataError);
  IndividualsLayout other = kLayout;
  other.sensory.extents = {3};
  EXPECT_THROW(recent.restore(Individuals(other, 1)), DataError);
  Individuals twice = batch;
  twice.ids[3] = 4;
  EXPECT_THROW(recent.restore(twice), DataError);
  Individuals broken = batch;
  broken.fitness[0] = INFINITY;
  EXPECT_THROW(recent.restore(broken), DataError);
  EXPECT_EQ(ids_in(recent.with(Individuals(kLayout, 0))).size(), kBatch) << "and changes nothing";
}

}  // namespace
}  // namespace aurora
