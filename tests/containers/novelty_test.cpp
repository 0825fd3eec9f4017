#include "aurora/containers/novelty.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "archive_oracle.hpp"

namespace aurora {
namespace {

enum class Scatter { uniform, lattice, clones, huge };

void scatter_point(Scatter scatter, std::span<float> x, Stream& draw) {
  for (float& value : x) {
    switch (scatter) {
      case Scatter::uniform:
        value = static_cast<float>(draw.normal());
        break;
      case Scatter::lattice:
        value = static_cast<float>(draw.below(7));
        break;
      case Scatter::clones:
        value = draw.uniform() < 0.9 ? 0.0F : static_cast<float>(draw.uniform());
        break;
      case Scatter::huge:
        value = static_cast<float>(1e19 * draw.normal());  // many squares are infinite
        break;
    }
  }
}

/// The scores as plain loops tell them.
std::vector<float> expected_scores(MatrixView<const float> points, std::size_t k) {
  std::vector<float> scores;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    std::vector<float> squares;
    for (std::size_t j = 0; j < points.rows(); ++j) {
      if (j != i) squares.push_back(ArchiveOracle::squared_distance(points.row(i), points.row(j)));
    }
    std::ranges::sort(squares);
    squares.resize(std::min(squares.size(), k));
    double sum = 0;
    for (const float square : squares) sum += std::sqrt(double{square});
    scores.push_back(
        squares.empty() ? 0 : static_cast<float>(sum / static_cast<double>(squares.size())));
  }
  return scores;
}

/// Rows that come, go and move about, and an index that follows them.
struct Rows {
  Matrix<float> points;
  std::vector<std::uint64_t> ids;
  NeighbourIndex index;
  std::uint64_t next_id = 1;

  explicit Rows(std::size_t n) : points(0, n), index(n) {}

  void come(Scatter scatter, Stream& draw) {
    const std::size_t row = ids.size();
    points.resize_rows(row + 1);
    scatter_point(scatter, points.row(row), draw);
    // Not in order: ids of those who come lie between those who are there.
    ids.push_back(next_id++ * 7919 % 104729);
    index.insert(row, points.row(row), ids[row]);
  }
  void go(std::size_t row) {
    const std::size_t last = ids.size() - 1;
    index.erase(row);
    if (row != last) {
      index.rename(last, row);
      std::ranges::copy(points.row(last), points.row(row).begin());
      ids[row] = ids[last];
    }
    points.resize_rows(last);
    ids.pop_back();
  }
  void exchange(std::size_t a, std::size_t b) {
    if (a == b) return;
    const std::size_t spare = ids.size();
    index.rename(a, spare);
    index.rename(b, a);
    index.rename(spare, b);
    std::swap_ranges(points.row(a).begin(), points.row(a).end(), points.row(b).begin());
    std::swap(ids[a], ids[b]);
  }
};

class Novelty : public testing::TestWithParam<std::size_t> {};

TEST_P(Novelty, EqualsPlainLoopsWhateverComesGoesAndMoves) {
  Workers one(1);
  Workers three(3);
  for (const Scatter scatter :
       {Scatter::uniform, Scatter::lattice, Scatter::clones, Scatter::huge}) {
    for (const std::size_t k : {1U, 15U}) {
      Stream draw(k, Purpose::user, static_cast<std::uint32_t>(scatter));
      Rows rows(GetParam());
      NoveltyCache cache(k);
      NoveltyCache same(k);
      for (int step = 0; step < 150; ++step) {
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(draw.below(n)); };
        // Grows, stays, shrinks to almost nothing; now and then a lot at once.
        const std::size_t many = step % 40 == 20 ? 100 : 1 + below(8);
        for (std::size_t i = 0; i < many; ++i) {
          const double what = draw.uniform();
          if (rows.ids.size() < 2 || what < (step < 100 ? 0.6 : 0.3)) {
            rows.come(scatter, draw);
          } else if (what < 0.9) {
            rows.go(below(rows.ids.size()));
          } else {
            rows.exchange(below(rows.ids.size()), below(rows.ids.size()));
          }
        }
        const auto scores = cache.scores(rows.index, rows.points, rows.ids, one);
        ASSERT_EQ(scores, expected_scores(rows.points, k))
            << "scatter " << static_cast<int>(scatter) << ", k " << k << ", step " << step;
        ASSERT_EQ(scores, same.scores(rows.index, rows.points, rows.ids, three));
      }
    }
  }
}

TEST_P(Novelty, OfAnArchiveEqualsPlainLoopsThroughAddUpdateAndNewDescriptors) {
  Workers workers(2);
  std::size_t outcomes[4] = {};
  std::size_t lost = 0;
  for (const Scatter scatter : {Scatter::uniform, Scatter::lattice}) {
    Stream draw(3, Purpose::user, static_cast<std::uint32_t>(scatter));
    UnstructuredArchive archive(small_layout(GetParam()), {});
    Individuals batch(small_layout(GetParam()), 1);
    double threshold = 0.2 * static_cast<double>(GetParam()) - 0.15;
    for (int step = 0; step < 150; ++step) {
      for (int i = 0; i < 8; ++i) {
        scatter_point(scatter, batch.descriptors.row(0), draw);
        batch.fitness[0] = static_cast<float>(draw.normal());
        ++batch.ids[0];
        ++outcomes[static_cast<std::size_t>(archive.add(batch, 0, threshold))];
      }
      if (step % 10 == 9) lost += archive.update(threshold *= 1.05, workers);
      if (step % 60 == 59) {
        Matrix<float> descriptors(archive.size(), GetParam());
        for (std::size_t row = 0; row < archive.size(); ++row) {
          scatter_point(scatter, descriptors.row(row), draw);
        }
        descriptors(0, 0) = NAN;
        EXPECT_EQ(archive.set_descriptors(descriptors, {}), 1U);
      }
      if (step % 70 == 69) {
        Individuals others = archive.individuals();
        for (float& x : others.descriptors.row(0)) x += 1;
        archive.restore(std::move(others));
      }
      const auto scores = archive.novelty(workers);
      if (step % 3 != 0) continue;
      ASSERT_EQ(scores, expected_scores(archive.individuals().descriptors, 15))
          << "scatter " << static_cast<int>(scatter) << ", step " << step;
    }
  }
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::added)], 20U);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::replaced)], 20U);
  EXPECT_GT(lost, 5U);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Novelty, testing::Values(1, 2, 10));

TEST(NoveltyCache, LooksAtWhatChangedOnlyUntilItIsCleared) {
  Stream draw(1, Purpose::user);
  Workers workers(1);
  Rows rows(2);
  for (int i = 0; i < 200; ++i) rows.come(Scatter::uniform, draw);
  NoveltyCache cache(15);
  const auto before = cache.scores(rows.index, rows.points, rows.ids, workers);
  // Other descriptors under the same ids: against the rules, and not noticed.
  Rows doubled(2);
  doubled.points = rows.points;
  doubled.ids = rows.ids;
  for (std::size_t row = 0; row < rows.ids.size(); ++row) {
    for (float& x : doubled.points.row(row)) x *= 2;
    doubled.index.insert(row, doubled.points.row(row), doubled.ids[row]);
  }
  EXPECT_EQ(cache.scores(doubled.index, doubled.points, doubled.ids, workers), before);
  cache.clear();
  const auto after = cache.scores(doubled.index, doubled.points, doubled.ids, workers);
  for (std::size_t row = 0; row < before.size(); ++row) EXPECT_EQ(after[row], 2 * before[row]);
}

}  // namespace
}  // namespace aurora
