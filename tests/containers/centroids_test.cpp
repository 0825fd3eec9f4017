#include "aurora/containers/centroids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "archive_oracle.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

/// Mean squared distance from a sample to its nearest centroid, with plain loops.
double quantisation_error(MatrixView<const float> samples, const Matrix<float>& centroids) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.rows(); ++i) {
    float best = std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c < centroids.rows(); ++c) {
      best = std::min(best, ArchiveOracle::squared_distance(samples.row(i), centroids.row(c)));
    }
    sum += best;
  }
  return sum / static_cast<double>(samples.rows());
}

TEST(UniformSamples, FillTheCubeAndDependOnSeedAndNumberAlone) {
  Workers one(1);
  const Matrix<float> samples = uniform_samples(2000, 3, 5, one);
  double mean = 0;
  for (std::size_t i = 0; i < 2000 * 3; ++i) {
    EXPECT_GE(samples.data()[i], 0);
    EXPECT_LE(samples.data()[i], 1);
    mean += samples.data()[i] / 6000;
  }
  EXPECT_NEAR(mean, 0.5, 0.02);
  for (const std::size_t threads : {2U, 5U}) {
    Workers workers(threads);
    EXPECT_EQ(uniform_samples(2000, 3, 5, workers), samples);
  }
  const Matrix<float> fewer = uniform_samples(10, 3, 5, one);
  EXPECT_TRUE(std::equal(fewer.data(), fewer.data() + 30, samples.data()));
  EXPECT_NE(uniform_samples(2000, 3, 6, one), samples);
}

TEST(Lloyd, FindsTwoClusters) {
  Workers one(1);
  Matrix<float> samples(6, 1);
  std::ranges::copy(std::vector<float>{0.0F, 0.125F, 0.25F, 1.0F, 0.875F, 0.75F}, samples.data());
  EXPECT_EQ(lloyd(samples, 2, 0, one)(1, 0), 0.125F) << "the start: the first samples";
  const Matrix<float> centroids = lloyd(samples, 2, 10, one);
  EXPECT_EQ(centroids(0, 0), 0.125F);
  EXPECT_EQ(centroids(1, 0), 0.875F);
}

TEST(Lloyd, ACentroidWithoutSamplesStaysWhereItIs) {
  Workers one(1);
  Matrix<float> samples(4, 1);
  std::ranges::copy(std::vector<float>{0.5F, 0.5F, 0.25F, 0.75F}, samples.data());
  const Matrix<float> centroids = lloyd(samples, 2, 3, one);
  EXPECT_EQ(centroids(0, 0), 0.5F) << "of twins the first gets all samples";
  EXPECT_EQ(centroids(1, 0), 0.5F);
}

TEST(Lloyd, EveryRoundLowersTheQuantisationError) {
  Workers two(2);
  for (const std::size_t n : {1U, 2U, 4U}) {
    const Matrix<float> samples = uniform_samples(2000, n, 1, two);
    double before = quantisation_error(samples, lloyd(samples, 50, 0, two));
    const double start = before;
    for (std::size_t rounds = 1; rounds <= 10; ++rounds) {
      const double error = quantisation_error(samples, lloyd(samples, 50, rounds, two));
      EXPECT_LT(error, before) << "n " << n << ", round " << rounds;
      before = error;
    }
    EXPECT_LT(before, 0.85 * start) << "n " << n;
  }
}

TEST(Lloyd, RefusesNoCentroidsAndFewerSamplesThanCentroids) {
  Workers one(1);
  EXPECT_THROW(lloyd(Matrix<float>(3, 2), 0, 1, one), UsageError);
  EXPECT_THROW(lloyd(Matrix<float>(3, 2), 4, 1, one), UsageError);
}

TEST(VoronoiCentroids, AreTheSameForAnyNumberOfThreadsAndInsideTheCube) {
  Workers one(1);
  const Matrix<float> centroids = voronoi_centroids(500, 2, 7, one);
  ASSERT_EQ(centroids.rows(), 500U);
  ASSERT_EQ(centroids.cols(), 2U);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_GT(centroids.data()[i], 0);
    EXPECT_LT(centroids.data()[i], 1);
  }
  for (const std::size_t threads : {2U, 3U, 8U}) {
    Workers workers(threads);
    EXPECT_EQ(voronoi_centroids(500, 2, 7, workers), centroids);
  }
  EXPECT_NE(voronoi_centroids(500, 2, 8, one), centroids);
}

TEST(VoronoiCentroids, SayHowFarTheyAreAndEndWhenToldTo) {
  Workers two(2);
  std::vector<double> shares;
  std::atomic<bool> stop{false};
  const Watch watch{[&](std::string_view what, double share) {
                      EXPECT_EQ(what, "Voronoi cells");
                      shares.push_back(share);
                    },
                    &stop};
  const Matrix<float> centroids = voronoi_centroids(50, 2, 7, two, watch);
  EXPECT_EQ(centroids, voronoi_centroids(50, 2, 7, two));
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);

  const Watch impatient{[&](std::string_view, double share) { stop = share > 0; }, &stop};
  EXPECT_THROW(voronoi_centroids(50, 2, 7, two, impatient), Interrupted);
}

TEST(VoronoiCentroids, AreSpreadAlmostAsWellAsAHexagonalLattice) {
  // The best there is: 5 / (18 sqrt 3) times the area of a cell, without borders.
  Workers two(2);
  const Matrix<float> samples = uniform_samples(20'000, 2, 1234, two);
  const double error = quantisation_error(samples, voronoi_centroids(400, 2, 1, two));
  const double ideal = 5 / (18 * std::sqrt(3.0)) / 400;
  EXPECT_GT(error, ideal);
  EXPECT_LT(error, 1.1 * ideal);
}

}  // namespace
}  // namespace aurora
