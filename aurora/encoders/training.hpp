// Mini-batch training with early stopping, the same for every engine (docs/algorithms.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/autoencoder_layout.hpp"

namespace aurora {

/// What is minimised, a value: the mean squared error over rows and features, in scaled space, and
/// what the latent layer adds to it.
struct Loss {
  double error = 0;
  double latent = 0;

  double sum() const { return error + latent; }
  Loss& operator+=(const Loss& other) {
    error += other.error;
    latent += other.latent;
    return *this;
  }
  Loss operator/(double by) const { return {error / by, latent / by}; }
};

/// A model as the training loop sees it: gradient steps and losses on rows of a data set.
class Trainable {
 public:
  virtual ~Trainable() = default;
  /// Forgets the optimiser's state (weights stay).
  virtual void reset_optimiser() = 0;
  /// Before each epoch: whether something else is minimised from now on, so that losses before
  /// and after cannot be compared.
  virtual bool begin_epoch() { return false; }
  /// One gradient step on these rows; returns their loss before the step.
  virtual double step(std::span<const std::uint32_t> rows) = 0;
  virtual Loss loss(std::span<const std::uint32_t> rows) = 0;
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

/// Who explains less than this share of the variance is dead.
inline constexpr double kExplained = 0.01;

/// Rows of a set that are looked at: all, or 1,024 that are spread evenly over it.
std::vector<std::uint32_t> some_rows(std::size_t rows);

/// The share of the variance of these rows that the model explains; all, if there is none.
double explained(Trainable& model, const AutoencoderLayout& layout, const InputScaling& scaling,
                 SensoryView data);

}  // namespace aurora
