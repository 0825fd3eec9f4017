#include "aurora/tasks/maze/episodes.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <limits>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora::maze {
namespace {

Matrix<float> random_genotypes(std::size_t count) {
  Matrix<float> genotypes(count, kGenes);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(12, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
    for (float& gene : genotypes.row(n)) gene = static_cast<float>(stream.uniform());
  }
  return genotypes;
}

class MazeEpisodes : public testing::Test {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  std::vector<Episode> one_by_one(const Matrix<float>& genotypes) const {
    std::vector<Episode> episodes;
    for (std::size_t n = 0; n < genotypes.rows(); ++n) {
      episodes.push_back(run_episode(map, rays, genotypes.row(n)));
    }
    return episodes;
  }

  std::vector<Episode> at_once(MatrixView<const float> genotypes) const {
    std::vector<Episode> episodes(genotypes.rows());
    run_episodes(map, rays, genotypes, episodes);
    return episodes;
  }

  /// The plain version: every step of a robot alone, of which some are kept.
  History history_of(std::span<const float> genes) const {
    std::vector<Moment> trace;
    trace_episode(map, rays, genes, trace);
    History history;
    for (std::size_t s = 0; s < 50; ++s) {
      const Moment& moment = trace[40 * (s + 1) - 1];
      history[s] = {moment.pose.x, moment.pose.y, moment.senses.lasers};
    }
    return history;
  }

  std::vector<History> histories_of(MatrixView<const float> genotypes) const {
    std::vector<Episode> episodes(genotypes.rows());
    std::vector<History> histories(genotypes.rows());
    run_episodes(map, rays, genotypes, episodes, histories);
    EXPECT_EQ(episodes, at_once(genotypes));
    return histories;
  }

  const Map map;
  const RayTable rays{map};
};

TEST_F(MazeEpisodes, AreTheSameBitsAsOneRobotAtATime) {
  const Matrix<float> genotypes = random_genotypes(10'000);
  EXPECT_EQ(at_once(genotypes), one_by_one(genotypes));
}

TEST_F(MazeEpisodes, OfControllersAtTheBoundsOfTheGenesAreTheSameBits) {
  // Saturated and silent controllers: robots that go straight, keep their heading of 45 degrees and
  // push against walls along one of the 16 directions.
  Matrix<float> genotypes(1000, kGenes);
  Stream stream(5, Purpose::user);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    for (float& gene : genotypes.row(n)) {
      const auto kind = stream.below(8);
      gene = kind == 0 ? 0.0F : kind == 1 ? 1.0F : 0.5F;
    }
  }
  EXPECT_EQ(at_once(genotypes), one_by_one(genotypes));
}

TEST_F(MazeEpisodes, AreTheSameBitsOnEveryInstructionSet) {
  const Matrix<float> genotypes = random_genotypes(200);
  const std::vector<Episode> expected = one_by_one(genotypes);
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(at_once(genotypes), expected) << hwy::TargetName(target);
    ++targets;
  }
  EXPECT_GE(targets, 1);
}

TEST_F(MazeEpisodes, DoNotDependOnTheBatch) {
  const Matrix<float> genotypes = random_genotypes(40);
  const std::vector<Episode> expected = one_by_one(genotypes);
  for (std::size_t count = 1; count <= genotypes.rows(); ++count) {
    const std::size_t begin = genotypes.rows() - count;
    const std::vector<Episode> episodes = at_once(genotypes.view().slice(begin, count));
    for (std::size_t n = 0; n < count; ++n) ASSERT_EQ(episodes[n], expected[begin + n]) << count;
  }
  EXPECT_TRUE(at_once(Matrix<float>(0, kGenes)).empty());
}

TEST_F(MazeEpisodes, KeepEveryFortiethMomentOfARobotAloneOnEveryInstructionSet) {
  const Matrix<float> genotypes = random_genotypes(200);
  std::vector<History> expected;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    expected.push_back(history_of(genotypes.row(n)));
  }
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(histories_of(genotypes), expected) << hwy::TargetName(target);
  }
}

TEST_F(MazeEpisodes, KeepTheSameMomentsInAnyBatch) {
  const Matrix<float> genotypes = random_genotypes(40);
  const std::vector<History> expected = histories_of(genotypes);
  for (const std::size_t count : {1U, 15U, 16U, 17U, 33U}) {
    const std::size_t begin = genotypes.rows() - count;
    const std::vector<History> histories = histories_of(genotypes.view().slice(begin, count));
    for (std::size_t n = 0; n < count; ++n) ASSERT_EQ(histories[n], expected[begin + n]) << count;
  }
}

TEST_F(MazeEpisodes, RefuseWrongGenesAnywhereInABatch) {
  Matrix<float> genotypes = random_genotypes(20);
  genotypes(19, 41) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(at_once(genotypes), DataError);
}

// Functions -------------------------------------------------------------------------------------

TEST(MazeFunctions, TanhIsCloseAndNeverBeyondOne) {
  // Every 64th number of single precision up to 16.
  const std::uint32_t last = std::bit_cast<std::uint32_t>(16.0F);
  for (std::uint32_t bits = 0; bits <= last; bits += 64) {
    const float x = std::bit_cast<float>(bits);
    const float y = tanh_of(x);
    ASSERT_LE(y, 1) << x;
    ASSERT_NEAR(y, std::tanh(static_cast<double>(x)), 4e-7) << x;
    ASSERT_EQ(tanh_of(-x), -y) << x;
  }
  EXPECT_EQ(tanh_of(0), 0);
  EXPECT_EQ(tanh_of(2500), tanh_of(kTanhLimit));
}

TEST(MazeFunctions, DirectionsAreCloseToSineAndCosine) {
  for (int n = -4'000'000; n <= 4'000'000; ++n) {
    const float angle = static_cast<float>(n) * 1e-6F;
    const Direction direction = direction_of(angle);
    ASSERT_NEAR(direction.cos, std::cos(static_cast<double>(angle)), 1.5e-7) << angle;
    ASSERT_NEAR(direction.sin, std::sin(static_cast<double>(angle)), 1.5e-7) << angle;
  }
}

TEST(MazeFunctions, SmallAnglesAreClose) {
  for (int n = -250'000; n <= 250'000; ++n) {
    const float h = static_cast<float>(n) * 1e-6F;
    const double sinc = n == 0 ? 1 : std::sin(static_cast<double>(h)) / h;
    ASSERT_NEAR(small_sinc(h), sinc, 1.5e-7) << h;
    ASSERT_NEAR(small_cos(h), std::cos(static_cast<double>(h)), 1.5e-7) << h;
  }
}

TEST(MazeFunctions, PixelsChangeHalfway) {
  // Between these places the index cannot change, since it never falls as the coordinate grows.
  for (int i = 0; i <= kMapSize; ++i) {
    const float border = 3 * (static_cast<float>(i) + 0.5F);
    const float below = border * (1 - 4 * std::numeric_limits<float>::epsilon());
    EXPECT_EQ(pixel_index(border), i + 1);
    EXPECT_EQ(pixel_index(below), i);
    EXPECT_EQ(pixel_index(-border), -i - 1);
    EXPECT_EQ(pixel_index(-below), -i);
  }
}

TEST(MazeFunctions, DirectionAnglesAreThoseOfTheOffsets) {
  for (std::size_t n = 0; n < kDirections; ++n) {
    const Pixel p = kDirectionOffsets[n];
    EXPECT_FLOAT_EQ(kDirectionAngles[n],
                    std::atan2(static_cast<float>(p.j), static_cast<float>(p.i)));
  }
}

}  // namespace
}  // namespace aurora::maze
