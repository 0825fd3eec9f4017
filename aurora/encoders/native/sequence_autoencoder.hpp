// The native auto-encoders of sequences, steps x channels: convolutions along time, or an LSTM.
#pragma once

#include <memory>

#include "aurora/encoders/autoencoder.hpp"

namespace aurora {

/// config.kind is conv1d_ae or lstm_ae; UsageError for data that is no sequence.
std::unique_ptr<Encoder> make_native_sequence_autoencoder(const AutoencoderConfig& config,
                                                          const SensoryShape& shape,
                                                          std::size_t dimension, Stream& stream);

}  // namespace aurora
