// Centroids of a centroidal Voronoi tessellation of the unit cube, by Lloyd's algorithm on uniform
// samples (Vassiliades, Chatzilygeroudis & Mouret 2018). The same bits for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

/// `count` uniform samples of [0, 1)^dimension; sample i is the same whatever the count.
Matrix<float> uniform_samples(std::size_t count, std::size_t dimension, std::uint64_t seed,
                              Workers& workers);

/// Starts with the first `count` samples as centroids; in each round every sample goes to its
/// nearest centroid (of two at the same distance, the first) and every centroid to the mean of its
/// samples, or nowhere if it has none. UsageError if `count` is 0 or there are fewer samples;
/// Interrupted soon after `watch` says so.
Matrix<float> lloyd(MatrixView<const float> samples, std::size_t count, std::size_t rounds,
                    Workers& workers, const Watch& watch = {});

/// Both together, with a number of samples and of rounds that depends on `count` alone.
Matrix<float> voronoi_centroids(std::size_t count, std::size_t dimension, std::uint64_t seed,
                                Workers& workers, const Watch& watch = {});

}  // namespace aurora
