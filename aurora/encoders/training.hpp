// Mini-batch training with early stopping, the same for every engine (docs/algorithms.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aurora/core/random.hpp"
#include "aurora/encoders/autoencoder.hpp"

namespace aurora {

/// A model as the training loop sees it: gradient steps and losses on rows of a data set.
/// Losses are mean squared errors over rows and features, in scaled space, and what the latent
/// layer adds to them.
class Trainable {
 public:
  virtual ~Trainable() = default;
  /// Forgets the optimiser's state (weights stay).
  virtual void reset_optimiser() = 0;
  /// One gradient step on these rows; returns their loss before the step.
  virtual double step(std::span<const std::uint32_t> rows) = 0;
  virtual double loss(std::span<const std::uint32_t> rows) = 0;
  virtual void keep_weights() = 0;     // remember the weights as the best so far
  virtual void restore_weights() = 0;  // go back to the remembered ones
};

/// Nothing but the losses if config.training is none. Otherwise:
///
/// Draws at most max_examples of `rows` rows, splits them 75 / 25 into training and validation (no
/// split under 500), and runs epochs of shuffled mini-batches until the validation loss has not
/// improved by the share `progress` for `patience` epochs or `epochs` is reached; keeps the best
/// weights.
TrainingReport fit(Trainable& model, std::size_t rows, const AutoencoderConfig& config,
                   Stream& stream, const AfterEpoch& after_epoch = {});

}  // namespace aurora
