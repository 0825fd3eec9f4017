// Principal component analysis as an encoder: the linear auto-encoder with the lowest error
// (docs/algorithms.md). The descriptor is the projection of the scaled data on the n axes of
// largest variance; the input scaling, fitted on the same data, centres it.
//
// The axes are the leading eigenvectors of X^T X (X: one scaled individual a row), taken from the
// smaller of X^T X and X X^T. Up to kPcaExactSide features, all (max_examples) individuals are
// used; above, kPcaExactSide of them drawn at random, so that the cost stays bounded: 10,000
// pictures of 12,288 bytes take about as long as one eigendecomposition of side kPcaExactSide. Some
// of the others are then held out to report the error on. Axes beyond the rank of the data are
// zero, and so are the descriptors along them. The largest entry of each axis (by absolute value,
// the first of equals) is positive.
#pragma once

#include <cstddef>
#include <memory>

#include "aurora/encoders/encoder.hpp"

namespace aurora {

inline constexpr std::size_t kPcaExactSide = 1024;

struct PcaConfig {
  std::size_t max_examples = 10000;  // drawn at random if the container holds more
};

/// Until its first training the encoder projects on random orthonormal axes drawn from `stream`.
std::unique_ptr<Encoder> make_pca(const PcaConfig& config, const SensoryShape& shape,
                                  std::size_t dimension, Stream& stream);

EncoderEntry pca_part();

}  // namespace aurora
