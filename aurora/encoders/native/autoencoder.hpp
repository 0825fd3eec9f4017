// An encoder around a native network: training, encoding, state. The same for all networks.
#pragma once

#include <memory>

#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/autoencoder_layout.hpp"
#include "aurora/encoders/native/network.hpp"

namespace aurora::native {

/// Draws the initial parameters from `stream`.
std::unique_ptr<Encoder> make_autoencoder(const AutoencoderConfig& config,
                                          const AutoencoderLayout& layout,
                                          std::unique_ptr<Network> network, Stream& stream);

}  // namespace aurora::native
