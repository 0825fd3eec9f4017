#include "aurora/containers/centroids.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSamplesPerCentroid = 10;
constexpr std::size_t kMinSamples = 50'000;
constexpr std::size_t kRounds = 20;
constexpr std::size_t kSamplesPerChunk = 512;

/// The number of the nearest centroid of every sample.
void assign(MatrixView<const float> samples, const Matrix<float>& centroids,
            std::vector<std::uint32_t>& nearest, Workers& workers, const Watch& watch) {
  NeighbourIndex index(centroids.cols());
  for (std::size_t i = 0; i < centroids.rows() && !watch.stopped(); ++i) {
    index.insert(i, centroids.row(i), i);
  }
  workers.parallel_for(samples.rows(), kSamplesPerChunk, [&](std::size_t begin, std::size_t end) {
    if (watch.stopped()) return;
    NeighbourIndex::Workspace workspace;
    for (std::size_t i = begin; i < end; ++i) {
      nearest[i] = index.nearest(samples.row(i), 1, workspace)[0].slot;
    }
  });
}

}  // namespace

Matrix<float> uniform_samples(std::size_t count, std::size_t dimension, std::uint64_t seed,
                              Workers& workers) {
  Matrix<float> samples(count, dimension);
  workers.parallel_for(count, kSamplesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Stream stream(seed, Purpose::centroids, 0, static_cast<std::uint32_t>(i));
      for (float& x : samples.row(i)) x = static_cast<float>(stream.uniform());
    }
  });
  return samples;
}

Matrix<float> lloyd(MatrixView<const float> samples, std::size_t count, std::size_t rounds,
                    Workers& workers, const Watch& watch) {
  if (count == 0) throw UsageError("a Voronoi tessellation needs at least one cell");
  if (samples.rows() < count) {
    throw UsageError("Lloyd's algorithm needs a sample for each of the " + std::to_string(count) +
                     " centroids, not " + std::to_string(samples.rows()) + " in all");
  }
  const std::size_t n = samples.cols();
  Matrix<float> centroids(count, n);
  std::copy(samples.data(), samples.data() + count * n, centroids.data());
  std::vector<std::uint32_t> nearest(samples.rows());
  for (std::size_t round = 0; round < rounds; ++round) {
    watch.tell("Voronoi cells", static_cast<double>(round) / static_cast<double>(rounds));
    assign(samples, centroids, nearest, workers, watch);
    if (watch.stopped()) continue;
    // Sums in the order of the samples, in double.
    Matrix<double> sums(count, n);
    std::vector<std::size_t> members(count);
    for (std::size_t i = 0; i < samples.rows(); ++i) {
      for (std::size_t axis = 0; axis < n; ++axis) sums(nearest[i], axis) += samples(i, axis);
      ++members[nearest[i]];
    }
    for (std::size_t c = 0; c < count; ++c) {
      if (members[c] == 0) continue;
      for (std::size_t axis = 0; axis < n; ++axis) {
        centroids(c, axis) = static_cast<float>(sums(c, axis) / static_cast<double>(members[c]));
      }
    }
  }
  watch.tell("Voronoi cells", 1);
  return centroids;
}

Matrix<float> voronoi_centroids(std::size_t count, std::size_t dimension, std::uint64_t seed,
                                Workers& workers, const Watch& watch) {
  const std::size_t samples = std::max(kSamplesPerCentroid * count, kMinSamples);
  return lloyd(uniform_samples(samples, dimension, seed, workers), count, kRounds, workers, watch);
}

}  // namespace aurora
