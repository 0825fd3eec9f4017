#include "aurora/encoders/encoder.hpp"

#include <cmath>
#include <string>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/pca.hpp"
#ifdef AURORA_WITH_TORCH
#include "aurora/encoders/torch_autoencoder.hpp"
#endif

namespace aurora {
namespace {

void check_config(const EncoderConfig& config) {
  const auto at_least_one = [](std::size_t value, const char* key) {
    if (value == 0) throw UsageError(std::string("encoder.") + key + " must be at least 1");
  };
  at_least_one(config.batch, "batch");
  at_least_one(config.epochs, "epochs");
  at_least_one(config.patience, "patience");
  at_least_one(config.max_examples, "max_examples");
  for (const std::size_t size : config.hidden) at_least_one(size, "hidden (every size)");
  if (!std::isfinite(config.learning_rate) || config.learning_rate <= 0) {
    throw UsageError("encoder.learning_rate must be a number above 0");
  }
}

void check_dimension(const SensoryShape& shape, std::size_t dimension) {
  if (dimension == 0 || dimension > shape.size()) {
    throw UsageError("descriptor.dimension must be between 1 and the number of features (" +
                     describe(shape.extents) + " = " + std::to_string(shape.size()) + "), not " +
                     std::to_string(dimension));
  }
}

std::unique_ptr<Encoder> make_autoencoder(const EncoderConfig& config,
                                          [[maybe_unused]] const SensoryShape& shape,
                                          [[maybe_unused]] std::size_t dimension,
                                          [[maybe_unused]] Stream& stream) {
#ifdef AURORA_WITH_TORCH
  return make_torch_autoencoder(config, shape, dimension, stream);
#else
  throw UsageError("encoder.kind=" + std::string(name_of(config.kind)) +
                   " needs libtorch, which this build does not have: install libtorch-dev and "
                   "build again, or use encoder.kind=pca");
#endif
}

}  // namespace

std::unique_ptr<Encoder> make_encoder(const EncoderConfig& config, const SensoryShape& shape,
                                      std::size_t dimension, Stream& stream) {
  check_config(config);
  check_dimension(shape, dimension);
  EncoderConfig resolved = config;
  if (config.kind == EncoderKind::automatic) {
    resolved.kind = shape.is_picture() ? EncoderKind::conv_ae : EncoderKind::mlp_ae;
  }
  if (resolved.kind == EncoderKind::pca) return make_pca(resolved, shape, dimension, stream);
  return make_autoencoder(resolved, shape, dimension, stream);
}

}  // namespace aurora
