// Random Fourier features and their principal components as an encoder (Rahimi & Recht 2007):
// kernel PCA with a Gaussian kernel, found in one go instead of trained (docs/algorithms.md).
//
// The descriptor of a scaled row x, of a picture the means of its blocks of 4 x 4 pixels, is the
// projection of z(x) = sqrt(2/D) cos(g W x + b) on the n axes along which z varies most; W is drawn
// from N(0, 1/F), b from [0, 2 pi), and g makes the mean squared length of g W x what `bandwidth`
// says. What it says of an individual is the linear function of the descriptor with the least
// squared error.
#pragma once

#include <cstddef>

#include "aurora/encoders/encoder.hpp"

namespace aurora {

struct RandomFeaturesConfig {
  std::size_t features = 256;        // D
  double bandwidth = 1;              // of the kernel, in standard deviations of the data
  std::size_t max_examples = 10000;  // drawn at random if the container holds more
};

EncoderEntry random_features_part();

}  // namespace aurora
