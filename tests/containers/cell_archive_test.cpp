#include "aurora/containers/cell_archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/core/errors.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr double kMin = -2;
constexpr double kMax = 6;

/// The cell of a point, with plain arithmetic; nothing outside.
using Key = std::vector<int>;
using KeyOf = std::optional<Key> (*)(std::span<const float>);

bool inside(std::span<const float> x) {
  return std::ranges::all_of(x, [](float v) { return v >= kMin && v <= kMax; });
}

/// Eight steps of length one along each axis.
std::optional<Key> grid_key(std::span<const float> x) {
  if (!inside(x)) return std::nullopt;
  Key key;
  for (const float v : x) key.push_back(v == kMax ? 7 : static_cast<int>(std::floor(v - kMin)));
  return key;
}

Matrix<float> some_centroids(std::size_t n) {
  Stream draw(99, Purpose::user);
  Matrix<float> centroids(40, n);
  for (std::size_t i = 0; i < 40 * n; ++i) centroids.data()[i] = static_cast<float>(draw.uniform());
  return centroids;
}

std::optional<Key> voronoi_key(std::span<const float> x) {
  if (!inside(x)) return std::nullopt;
  std::vector<float> unit;
  for (const float v : x) {
    unit.push_back(static_cast<float>((v - kMin) / (kMax - kMin)));
  }
  const Matrix<float> centroids = some_centroids(x.size());
  int best = 0;
  for (int c = 1; c < 40; ++c) {
    const auto distance = [&](int i) {
      return ArchiveOracle::squared_distance(unit, centroids.row(static_cast<std::size_t>(i)));
    };
    if (distance(c) < distance(best)) best = c;
  }
  return Key{best};
}

std::unique_ptr<Cells> grid(std::size_t n) {
  return std::make_unique<GridCells>(std::vector<Interval>(n, {kMin, kMax}),
                                     static_cast<std::size_t>(std::pow(8, n)));
}

std::unique_ptr<Cells> voronoi(std::size_t n) {
  return std::make_unique<VoronoiCells>(std::vector<Interval>(n, {kMin, kMax}), some_centroids(n));
}

struct Kind {
  const char* name;
  std::unique_ptr<Cells> (*cells)(std::size_t n);
  KeyOf key;
  std::size_t n;
};

/// An archive and its oracle: a map from the cell to the row of its elite.
class Cellwise : public testing::TestWithParam<Kind> {
 protected:
  Cellwise()
      : archive_(small_layout(GetParam().n), GetParam().cells(GetParam().n), 15),
        batch_(small_layout(GetParam().n), 1) {}

  void draw_candidate() {
    const auto x = batch_.descriptors.row(0);
    for (float& v : x) {
      // Half of them on the borders of cells and of the box, a few outside.
      v = draw_.uniform() < 0.5 ? static_cast<float>(draw_.below(10)) - 2
                                : static_cast<float>(-2.2 + 8.4 * draw_.uniform());
    }
    batch_.fitness[0] = draw_.uniform() < 0.5 ? static_cast<float>(draw_.below(4))
                                              : static_cast<float>(draw_.normal());
    const double chance = draw_.uniform();
    if (chance < 0.01) x[0] = std::numeric_limits<float>::quiet_NaN();
    if (chance > 0.99) batch_.fitness[0] = std::numeric_limits<float>::infinity();
    batch_.genotypes(0, 0) = static_cast<float>(next_id_);
    batch_.ids[0] = next_id_++;
  }

  Outcome expected() {
    const auto x = batch_.descriptors.row(0);
    if (std::isnan(x[0]) || std::isinf(batch_.fitness[0])) return Outcome::invalid;
    const auto key = GetParam().key(x);
    if (!key) return Outcome::rejected;
    const ArchiveOracle::Member member{{x.begin(), x.end()}, batch_.fitness[0], batch_.ids[0]};
    const auto [place, free] = row_of_.try_emplace(*key, rows_.size());
    if (free) {
      rows_.push_back(member);
      return Outcome::added;
    }
    if (!(member.fitness > rows_[place->second].fitness)) return Outcome::rejected;
    rows_[place->second] = member;
    return Outcome::replaced;
  }

  void expect_same_rows() const {
    const Individuals& ours = archive_.individuals();
    ASSERT_EQ(ours.size(), rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto x = ours.descriptors.row(i);
      const ArchiveOracle::Member member{{x.begin(), x.end()}, ours.fitness[i], ours.ids[i]};
      ASSERT_EQ(member, rows_[i]) << "row " << i;
      ASSERT_EQ(ours.genotypes(i, 0), static_cast<float>(ours.ids[i])) << "columns move together";
    }
  }

  void fill(int candidates) {
    for (int i = 0; i < candidates; ++i) {
      draw_candidate();
      const Outcome outcome = expected();
      ++outcomes_[outcome];
      ASSERT_EQ(archive_.add(batch_, 0), outcome) << "candidate " << i;
    }
  }

  CellArchive archive_;
  Individuals batch_;
  Stream draw_{4, Purpose::user};
  std::uint64_t next_id_ = 0;
  std::map<Key, std::size_t> row_of_;
  std::vector<ArchiveOracle::Member> rows_;
  std::map<Outcome, int> outcomes_;
};

TEST_P(Cellwise, HoldsTheFittestOfEveryCellInItsRow) {
  Workers workers(2);
  for (int part = 0; part < 10; ++part) {
    fill(300);
    expect_same_rows();
    const Upkeep upkeep = archive_.after_iteration(
        {.iteration = 10, .encoder_updates = 1, .update_due = true}, workers);
    EXPECT_FALSE(upkeep.updated);
    EXPECT_EQ(upkeep.lost, 0U);
    expect_same_rows();
  }
  for (const Outcome outcome :
       {Outcome::added, Outcome::replaced, Outcome::rejected, Outcome::invalid}) {
    EXPECT_GT(outcomes_[outcome], 5) << static_cast<int>(outcome);
  }
}

TEST_P(Cellwise, NoveltyIsThatOfPlainLoops) {
  Workers one(1);
  Workers three(3);
  ArchiveOracle oracle({});
  for (int part = 0; part < 10; ++part) {
    fill(40);
    oracle.members() = rows_;
    const std::vector<float> novelty = archive_.novelty(part % 2 == 0 ? one : three);
    ASSERT_EQ(novelty.size(), rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      ASSERT_EQ(novelty[i], static_cast<float>(oracle.novelty(i))) << "row " << i;
    }
  }
}

TEST_P(Cellwise, NewDescriptorsAreANewContest) {
  fill(500);
  Matrix<float> descriptors = archive_.individuals().descriptors;
  for (std::size_t i = 0; i < descriptors.rows(); ++i) {
    for (float& v : descriptors.row(i)) v = 0.7F * v + static_cast<float>(0.6 * draw_.normal());
    if (i % 17 == 0) descriptors(i, 0) = std::numeric_limits<float>::quiet_NaN();
    if (i % 19 == 0) descriptors(i, 0) = 7;
  }
  // Again from nothing, oldest first.
  std::vector<ArchiveOracle::Member> contestants;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto x = descriptors.row(i);
    contestants.push_back({{x.begin(), x.end()}, rows_[i].fitness, rows_[i].id});
  }
  std::ranges::sort(contestants, {}, &ArchiveOracle::Member::id);
  std::map<Key, ArchiveOracle::Member> elites;
  for (const ArchiveOracle::Member& member : contestants) {
    const auto key = GetParam().key(member.descriptor);
    if (!key) continue;
    const auto [place, free] = elites.try_emplace(*key, member);
    if (!free && member.fitness > place->second.fitness) place->second = member;
  }

  const std::size_t before = archive_.size();
  EXPECT_EQ(archive_.set_descriptors(descriptors, {}), before - elites.size());
  EXPECT_LT(archive_.size(), before);
  // From here on both go on as before, with the rows as the archive has them.
  rows_.clear();
  row_of_.clear();
  const Individuals& ours = archive_.individuals();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto x = ours.descriptors.row(i);
    const auto key = GetParam().key(x);
    ASSERT_TRUE(key);
    rows_.push_back({{x.begin(), x.end()}, ours.fitness[i], ours.ids[i]});
    EXPECT_EQ(elites.at(*key), rows_.back());
    row_of_[*key] = i;
  }
  EXPECT_EQ(row_of_.size(), elites.size());
  fill(500);
  expect_same_rows();
  EXPECT_THROW(archive_.set_descriptors(Matrix<float>(1, GetParam().n), {}), DataError);
}

TEST_P(Cellwise, GoesOnFromRestoredIndividuals) {
  fill(400);
  CellArchive restored(small_layout(GetParam().n), GetParam().cells(GetParam().n), 15);
  restored.restore(archive_.individuals());
  std::swap(restored, archive_);
  fill(400);
  expect_same_rows();

  // Two in a cell, somebody outside, other columns: refused, and nothing taken over.
  Individuals twins = archive_.individuals();
  twins.resize(2);
  std::ranges::copy(twins.descriptors.row(0), twins.descriptors.row(1).begin());
  EXPECT_THROW(archive_.restore(twins), DataError);
  twins.descriptors(1, 0) = 100;
  EXPECT_THROW(archive_.restore(twins), DataError);
  EXPECT_THROW(archive_.restore(Individuals(small_layout(GetParam().n + 1), 1)), DataError);
  fill(100);
  expect_same_rows();
}

TEST_P(Cellwise, CheckNeverComplainsOfWhatItDid) {
  Workers workers(2);
  for (int round = 0; round < 20; ++round) {
    fill(100);
    const std::string count = std::to_string(archive_.size());
    EXPECT_EQ(archive_.check(workers).find("one individual in a cell, " + count + " of "), 0U);
    // Somewhere else; the oracle starts again with those who are left.
    Matrix<float> descriptors = archive_.individuals().descriptors;
    for (std::size_t i = 0; i < descriptors.rows(); ++i) {
      for (float& v : descriptors.row(i)) v += static_cast<float>(0.5 * draw_.normal());
    }
    archive_.set_descriptors(descriptors, {});
    EXPECT_NO_THROW(archive_.check(workers));
    rows_.clear();
    row_of_.clear();
    const Individuals& ours = archive_.individuals();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const auto x = ours.descriptors.row(i);
      ASSERT_TRUE(row_of_.try_emplace(GetParam().key(x).value(), i).second) << "two in a cell";
      rows_.push_back({{x.begin(), x.end()}, ours.fitness[i], ours.ids[i]});
    }
  }
}

TEST_P(Cellwise, CheckFindsWhatWasMovedByHand) {
  Workers workers(1);
  EXPECT_NO_THROW(archive_.check(workers)) << "nobody yet";
  fill(300);
  ASSERT_GT(archive_.size(), 3U);
  // Nobody may do this; it stands for whatever we have not thought of.
  auto& members = const_cast<Individuals&>(archive_.individuals());
  const Individuals before = members;
  const auto complaint = [&] {
    try {
      archive_.check(workers);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const auto expect_mentions = [&](const std::string& part) {
    const std::string message = complaint();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    members = before;
    EXPECT_EQ(complaint(), "nothing was thrown");
  };
  std::ranges::copy(members.descriptors.row(2), members.descriptors.row(1).begin());
  expect_mentions("lie in one cell");
  members.descriptors(1, 0) = kMax + 1;
  expect_mentions("individual " + std::to_string(members.ids[1]) + " lies outside all cells");
  members.ids[1] = members.ids[2];
  expect_mentions("two individuals have the id");
  members.fitness[1] = std::numeric_limits<float>::quiet_NaN();
  expect_mentions("is not finite");
}

TEST_P(Cellwise, HasNoStateBesidesItsMembersAndNoNumbers) {
  fill(100);
  EXPECT_TRUE(archive_.state().numbers.empty());
  EXPECT_TRUE(archive_.state().arrays.empty());
  EXPECT_TRUE(archive_.numbers().empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Cellwise,
                         testing::Values(Kind{"Grid2", grid, grid_key, 2},
                                         Kind{"Grid3", grid, grid_key, 3},
                                         Kind{"Voronoi2", voronoi, voronoi_key, 2},
                                         Kind{"Voronoi4", voronoi, voronoi_key, 4}),
                         [](const auto& instance) { return instance.param.name; });

TEST(CellArchive, PartsMakeArchivesOfAboutTheTargetSize) {
  Workers workers(2);
  for (const ContainerEntry& entry : {grid_container(), cvt_container()}) {
    SCOPED_TRACE(entry.name);
    ContainerContext context{.layout = small_layout(2),
                             .bounds = {{kMin, kMax}, {kMin, kMax}},
                             .target_size = 64,
                             .seed = 1,
                             .workers = workers,
                             .threshold = nullptr};
    const auto archive = entry.make(values_of(entry), context);
    Individuals batch(small_layout(2), 1);
    Stream draw(1, Purpose::user);
    for (std::uint64_t id = 0; id < 5000; ++id) {
      for (float& v : batch.descriptors.row(0)) {
        v = static_cast<float>(kMin + (kMax - kMin) * draw.uniform());
      }
      batch.ids[0] = id;
      archive->add(batch, 0);
    }
    EXPECT_EQ(archive->size(), 64U);
    EXPECT_EQ(archive->check(workers), "one individual in a cell, 64 of 64 cells");
    Mix mix;
    mix.learned = false;
    EXPECT_EQ(entry.refuses({}, mix), "");
    mix.learned = true;
    EXPECT_EQ(entry.refuses({}, mix).find("descriptor.kind=learned: "), 0U);
    ASSERT_EQ(entry.without.size(), 1U);
    EXPECT_EQ(entry.without[0].first, "threshold");
    EXPECT_THROW(values_of(entry, {"k=0"}), UsageError);
  }
}

TEST(CellArchive, RefusesWhatDoesNotFit) {
  EXPECT_THROW(CellArchive(small_layout(3), grid(2), 15), UsageError);
  EXPECT_THROW(CellArchive(small_layout(2), grid(2), 0), UsageError);
  EXPECT_THROW(CellArchive(small_layout(0), grid(2), 15), UsageError);
}

}  // namespace
}  // namespace aurora
