// The auto-encoders on libtorch (CPU). Layers and weights are those of autoencoder_layout.hpp.
//
// libtorch is kept to one thread per call; the threads are ours. Rows are cut into chunks of a
// fixed size, and sums over chunks run in their order, so the bits do not depend on the threads.
#pragma once

#include <cstddef>
#include <memory>

#include "aurora/encoders/autoencoder.hpp"

namespace aurora {

/// config.kind is not `automatic`. Sets libtorch's own number of threads to 1, process-wide.
/// UsageError if the kind does not fit the shape.
std::unique_ptr<Encoder> make_torch_autoencoder(const AutoencoderConfig& config,
                                                const SensoryShape& shape, std::size_t dimension,
                                                Stream& stream);

}  // namespace aurora
