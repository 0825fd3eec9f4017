#include "aurora/containers/cells.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::size_t cell(Cells& cells, std::vector<float> point) {
  return cells.cell(point);
}

TEST(GridCells, HaveTheRoundedRootOfTheirNumberAlongEachAxis) {
  struct Case {
    std::size_t dimension, count, resolution;
  };
  for (const auto& [dimension, count, resolution] :
       {Case{2, 1, 1}, Case{2, 2, 1}, Case{2, 3, 2}, Case{2, 10'000, 100}, Case{2, 9'900, 99},
        Case{2, 9'901, 100}, Case{2, 10'000'000, 3162}, Case{1, 7, 7}, Case{3, 1000, 10},
        Case{5, 1, 1}, Case{2, 0, 1}}) {
    const GridCells cells(std::vector<Interval>(dimension), count);
    EXPECT_EQ(cells.resolution(), resolution) << count;
    EXPECT_EQ(static_cast<double>(cells.count()), std::pow(resolution, dimension)) << count;
    EXPECT_EQ(cells.dimension(), dimension);
  }
}

TEST(GridCells, BoundsBelongToTheGridAndInnerBordersToTheUpperCell) {
  GridCells cells({{-2, 2}, {0, 100}}, 16);
  EXPECT_EQ(cell(cells, {-2, 0}), 0U);
  EXPECT_EQ(cell(cells, {std::nextafter(-1.0F, -2.0F), 0}), 0U);
  EXPECT_EQ(cell(cells, {-1, 0}), 1U);
  EXPECT_EQ(cell(cells, {2, 0}), 3U);
  EXPECT_EQ(cell(cells, {-2, 25}), 4U);
  EXPECT_EQ(cell(cells, {2, 100}), 15U);
  for (const auto& [x, y] :
       std::vector<std::pair<float, float>>{{std::nextafter(-2.0F, -3.0F), 0},
                                            {std::nextafter(2.0F, 3.0F), 0},
                                            {0, std::nextafter(0.0F, -1.0F)},
                                            {0, std::nextafter(100.0F, 101.0F)},
                                            {kNan, 0},
                                            {0, kNan},
                                            {kInfinity, 0},
                                            {0, -kInfinity}}) {
    EXPECT_EQ(cell(cells, {x, y}), Cells::kOutside) << x << ' ' << y;
  }
}

TEST(GridCells, GiveEveryCellOfManyDimensionsANumberOfItsOwn) {
  GridCells cells({{0, 3}, {0, 3}, {0, 3}}, 27);
  std::set<std::size_t> seen;
  for (int i = 0; i < 27; ++i) {
    seen.insert(cell(cells, {static_cast<float>(i % 3) + 0.5F, static_cast<float>(i / 3 % 3) + 0.5F,
                             static_cast<float>(i / 9) + 0.5F}));
  }
  EXPECT_EQ(seen.size(), 27U);
  EXPECT_EQ(*seen.rbegin(), 26U);
}

class Voronoi : public testing::TestWithParam<std::size_t> {};

TEST_P(Voronoi, TheNearestCentroidIsThatOfAPlainLoop) {
  const std::size_t n = GetParam();
  Stream draw(n, Purpose::user);
  for (const bool lattice : {false, true}) {  // on a lattice many distances are equal
    const auto coordinate = [&] {
      return static_cast<float>(lattice ? static_cast<double>(draw.below(9)) / 8 : draw.uniform());
    };
    Matrix<float> centroids(300, n);
    for (std::size_t i = 0; i < 300 * n; ++i) centroids.data()[i] = coordinate();
    VoronoiCells cells(std::vector<Interval>(n, {-4, 4}), centroids);
    EXPECT_EQ(cells.count(), 300U);
    std::vector<float> unit(n), point(n);
    for (int i = 0; i < 2000; ++i) {
      for (std::size_t axis = 0; axis < n; ++axis) {
        point[axis] = 8 * coordinate() - 4;
        unit[axis] = (point[axis] + 4) / 8;
      }
      std::size_t nearest = 0;
      float best = kInfinity;
      for (std::size_t c = 0; c < 300; ++c) {
        const float distance = ArchiveOracle::squared_distance(unit, centroids.row(c));
        if (distance < best) {
          best = distance;
          nearest = c;
        }
      }
      ASSERT_EQ(cells.cell(point), nearest) << "n " << n << ", point " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Voronoi, testing::Values(1, 2, 5));

TEST(VoronoiCells, NothingOutsideTheBoxHasACell) {
  Matrix<float> centroids(1, 2);
  VoronoiCells cells({{-1, 1}, {0, 10}}, centroids);
  EXPECT_EQ(cell(cells, {-1, 10}), 0U);
  EXPECT_EQ(cell(cells, {-1, 10.1F}), Cells::kOutside);
  EXPECT_EQ(cell(cells, {kNan, 5}), Cells::kOutside);
}

TEST(Cells, RefuseWhatMakesNoSense) {
  const std::vector<Interval> unit(2);
  EXPECT_THROW(GridCells({}, 4), UsageError);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Interval& side : {Interval{1, 1}, Interval{2, 1}, Interval{0, infinity},
                               Interval{std::nan(""), 1}, Interval{-1e308, 1e308}}) {
    EXPECT_THROW(GridCells({{0, 1}, side}, 4), UsageError) << side.min << ' ' << side.max;
  }
  EXPECT_THROW(GridCells(unit, 1'000'000'000), UsageError);
  EXPECT_THROW(GridCells(std::vector<Interval>(100), std::size_t{1} << 63), UsageError) << "2^100";
  EXPECT_THROW(VoronoiCells(unit, Matrix<float>(0, 2)), UsageError);
  EXPECT_THROW(VoronoiCells(unit, Matrix<float>(1, 3)), DataError);
  for (const float value : {-0.1F, 1.1F, kNan}) {
    Matrix<float> centroids(2, 2);
    centroids(1, 1) = value;
    EXPECT_THROW(VoronoiCells(unit, centroids), DataError) << value;
  }
}

}  // namespace
}  // namespace aurora
