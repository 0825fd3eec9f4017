// The convolutional auto-encoder on the native engine: 16 pictures at a time in the lanes of the
// machine's registers, gradients by hand, no library. Layers and state: autoencoder_layout.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include "aurora/encoders/autoencoder.hpp"

namespace aurora {

/// Pictures of 1 to 4 channels, from 8 x 8 on; UsageError for others.
std::unique_ptr<Encoder> make_native_conv_autoencoder(const AutoencoderConfig& config,
                                                      const SensoryShape& shape,
                                                      std::size_t dimension, Stream& stream);

}  // namespace aurora
