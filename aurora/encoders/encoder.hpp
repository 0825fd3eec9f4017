// Encoders: from sensory data to behavioural descriptors (paper, section IV-A).
//
// An encoder is trained again and again on what the container holds, keeps its weights in between,
// and carries the input scaling that was fitted at its last training.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/named.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/part.hpp"
#include "aurora/core/random.hpp"
#include "aurora/core/sensory_data.hpp"

namespace aurora {

/// What one call of train() did.
struct TrainingReport {
  std::size_t examples = 0;    // individuals used, validation included
  std::size_t validation = 0;  // how many of them were held out (0: too few to split)
  std::size_t epochs = 0;      // epochs run
  double train_loss = 0;       // mean squared error in scaled space (and whatever else this kind
                               // of encoder minimises), last epoch's mean
  double validation_loss = 0;  // the lowest, whose weights are kept (train loss if no split)
  std::vector<NamedNumber> extra =
      {};  // what else this kind of encoder has to say, always the same
};

/// What an encoder learns from: sensory data and, where it is known, the fitness of each row.
struct TrainingSet {
  TrainingSet(SensoryView sensory, std::span<const float> fitness_of_rows = {})
      : data(sensory), fitness(fitness_of_rows) {}

  SensoryView data;
  std::span<const float> fitness;
};

/// Called after every epoch with what the training has come to.
using AfterEpoch = std::function<void(const TrainingReport& so_far)>;

class Encoder {
 public:
  virtual ~Encoder() = default;

  /// Dimension n of the descriptors.
  virtual std::size_t dimension() const = 0;

  /// Refits the input scaling on all of the data, then trains on (at most `max_examples` of) it.
  /// The same bits for any number of threads.
  virtual TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
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

/// What an encoder is made with.
struct EncoderContext {
  SensoryShape shape;         // of the data that it will see
  std::size_t dimension = 0;  // n, of the descriptors; at most as many as there are features
  Stream& stream;             // for its first weights
};

using EncoderEntry = Entry<Encoder, EncoderContext>;

}  // namespace aurora
