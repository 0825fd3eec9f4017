// The fully connected auto-encoder on the native engine: 16 individuals at a time in the lanes of
// the machine's registers. Layers and state: autoencoder_layout.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include "aurora/encoders/autoencoder.hpp"

namespace aurora {

/// Works on any sensory data; hidden sizes from config.hidden.
std::unique_ptr<Encoder> make_native_mlp_autoencoder(const AutoencoderConfig& config,
                                                     const SensoryShape& shape,
                                                     std::size_t dimension, Stream& stream);

}  // namespace aurora
