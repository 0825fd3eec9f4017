// Encoders: from sensory data to behavioural descriptors (paper, section IV-A; specification 4).
//
// An encoder is trained again and again on what the container holds, keeps its weights in between,
// and carries the input scaling that was fitted at its last training.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/names.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "aurora/core/sensory_data.hpp"

namespace aurora {

enum class EncoderKind { automatic, conv_ae, mlp_ae, pca };

template <>
struct Names<EncoderKind> {
  static constexpr std::pair<EncoderKind, std::string_view> entries[] = {
      {EncoderKind::automatic, "auto"},
      {EncoderKind::conv_ae, "conv-ae"},
      {EncoderKind::mlp_ae, "mlp-ae"},
      {EncoderKind::pca, "pca"}};
};

/// Who computes an auto-encoder: our own vector code, or libtorch (slower; kept as the oracle).
enum class EncoderEngine { native, torch };

template <>
struct Names<EncoderEngine> {
  static constexpr std::pair<EncoderEngine, std::string_view> entries[] = {
      {EncoderEngine::native, "native"}, {EncoderEngine::torch, "torch"}};
};

struct EncoderConfig {
  /// `automatic` means conv-ae for pictures and mlp-ae for everything else.
  EncoderKind kind = EncoderKind::automatic;
  EncoderEngine engine = EncoderEngine::native;
  // Batch, epochs and patience were chosen on whole runs (bench/RESULTS.md): less patience costs
  // coverage, more costs time.
  std::size_t batch = 32;            // individuals per gradient step
  std::size_t epochs = 20;           // at most, per encoder update
  std::size_t patience = 3;          // epochs without a lower validation loss before we stop
  double learning_rate = 1e-3;       // Adam
  std::size_t max_examples = 10000;  // drawn at random if the container holds more
  std::vector<std::size_t> hidden = {32, 8};  // mlp-ae: sizes from the input to the descriptor
};

/// What one call of train() did.
struct TrainingReport {
  std::size_t examples = 0;    // individuals used, validation included
  std::size_t validation = 0;  // how many of them were held out (0: too few to split)
  std::size_t epochs = 0;      // epochs run
  double train_loss = 0;       // mean squared error in scaled space, last epoch's mean
  double validation_loss = 0;  // the lowest, whose weights are kept (train loss if no split)
};

/// Called after every epoch with what the training has come to.
using AfterEpoch = std::function<void(const TrainingReport& so_far)>;

/// A named array of the encoder's state; what is saved to and loaded from .npy files.
struct NamedArray {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  /// Dimension n of the descriptors.
  virtual std::size_t dimension() const = 0;

  /// Refits the input scaling on all of `data`, then trains on (at most `max_examples` of) it.
  /// The same bits for any number of threads.
  virtual TrainingReport train(SensoryView data, Stream& stream, Workers& workers,
                               const AfterEpoch& after_epoch = {}) = 0;

  /// Writes a descriptor per row. `error` is empty, or one value per row: the L2 norm of the
  /// reconstruction error in scaled space (the surprise score); leaving it out saves the decoder.
  /// The same bits for any number of threads.
  virtual void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
                      Workers& workers) const = 0;

  /// The decoder's picture of each row, in the units of the sensory data (bytes as value / 255).
  virtual void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const = 0;

  /// Weights and scaling, by name, in a fixed order.
  virtual std::vector<NamedArray> state() const = 0;
  /// Takes a state over; names, shapes and finiteness are checked (DataError), and a state that is
  /// refused leaves the encoder as it was.
  virtual void set_state(std::span<const NamedArray> state) = 0;
};

/// Creates an encoder with random initial weights drawn from `stream` and the identity as scaling.
/// UsageError if the kind does not fit the shape, or the dimension is 0 or above the features.
std::unique_ptr<Encoder> make_encoder(const EncoderConfig& config, const SensoryShape& shape,
                                      std::size_t dimension, Stream& stream);

}  // namespace aurora
