// What every kind of container has from its base: members that are let go, and notes of who took
// whose place.
#include "aurora/containers/container.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/containers/cell_archive.hpp"
#include "aurora/containers/dominated_novelty.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

std::unique_ptr<Container> make(const std::string& kind) {
  if (kind == "dns") {
    return std::make_unique<DominatedNovelty>(small_layout(2), DominatedNoveltyConfig{}, 90);
  }
  if (kind == "cells") {
    const std::vector<Interval> box = {{0, 1}, {0, 1}};
    return std::make_unique<CellArchive>(small_layout(2), std::make_unique<GridCells>(box, 100), 3);
  }
  ThresholdContext context{90};
  return std::make_unique<UnstructuredArchive>(
      small_layout(2), ArchiveConfig{.k = 3},
      make_part(fixed_threshold_part(), context, {"value=0.06"}));
}

class EveryKind : public testing::TestWithParam<const char*> {
 protected:
  /// Offers `count` random individuals, whose ids go on where the last ones ended.
  std::vector<Outcome> offer(Container& container, std::size_t count) {
    batch_ = Individuals(small_layout(2), count);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < count; ++row) {
      for (float& x : batch_.descriptors.row(row)) x = static_cast<float>(draw_.uniform());
      batch_.fitness[row] = static_cast<float>(draw_.uniform());
      batch_.ids[row] = next_id_++;
      rows.push_back(row);
    }
    std::vector<Outcome> outcomes(count);
    container.add_all(batch_, rows, workers_, outcomes);
    return outcomes;
  }

  Stream draw_{1, Purpose::user};
  Workers workers_{2};
  Individuals batch_;
  std::uint64_t next_id_ = 0;
};

TEST_P(EveryKind, LetsAllGoButSomeAndIsThenAsOneThatHasOnlyThose) {
  const auto container = make(GetParam());
  offer(*container, 600);
  ASSERT_GT(container->size(), 40U);
  container->novelty(workers_);  // what was computed of the others must not count any more
  for (int round = 0; round < 4; ++round) {
    std::vector<std::uint32_t> rows = draw_.permutation(container->size());
    rows.resize(round == 3 ? 1 : rows.size() / 4);
    std::vector<std::uint64_t> ids;
    for (const std::uint32_t row : rows) ids.push_back(container->individuals().ids[row]);
    std::ranges::sort(ids);
    container->retain(rows);
    std::vector<std::uint64_t> left = container->individuals().ids;
    std::ranges::sort(left);
    ASSERT_EQ(left, ids);
    EXPECT_NE(container->check(workers_), "");

    const auto fresh = make(GetParam());
    fresh->restore(container->individuals(), container->state());
    EXPECT_EQ(container->novelty(workers_), fresh->novelty(workers_));
    const Stream before = draw_;
    const std::uint64_t first = next_id_;
    const std::vector<Outcome> outcomes = offer(*container, 300);
    draw_ = before;
    next_id_ = first;
    EXPECT_EQ(offer(*fresh, 300), outcomes);
    EXPECT_EQ(container->individuals().ids, fresh->individuals().ids);
    EXPECT_EQ(container->novelty(workers_), fresh->novelty(workers_));
  }
}

TEST_P(EveryKind, NotesWhoTookWhosePlaceOnceItIsAsked) {
  const auto container = make(GetParam());
  offer(*container, 400);
  EXPECT_TRUE(container->gains().empty()) << "nobody had asked";
  const Individuals before = container->individuals();
  const std::vector<Outcome> outcomes = offer(*container, 12);
  const std::vector<Gain> gains = container->gains();
  EXPECT_TRUE(container->gains().empty()) << "they were told";
  std::vector<std::uint64_t> expected;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == Outcome::replaced) expected.push_back(batch_.ids[i]);
  }
  EXPECT_FALSE(expected.empty());
  if (GetParam() == std::string("dns")) {
    EXPECT_TRUE(gains.empty()) << "nobody in particular had to go";
    return;
  }
  ASSERT_EQ(gains.size(), expected.size());
  for (std::size_t i = 0; i < gains.size(); ++i) {
    EXPECT_EQ(gains[i].id, expected[i]);
    const std::vector<std::uint64_t>& ids = container->individuals().ids;
    const auto row = static_cast<std::size_t>(std::ranges::find(ids, gains[i].id) - ids.begin());
    if (row >= before.size()) continue;  // another child has its place by now
    EXPECT_EQ(gains[i].fitness, container->individuals().fitness[row] - before.fitness[row]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, testing::Values("unstructured", "cells", "dns"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace aurora
