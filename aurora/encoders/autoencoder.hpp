// The auto-encoders as parts, and the one place where kind and engine are chosen.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/encoders/encoder.hpp"

namespace aurora {

/// `automatic` means conv-ae for pictures that it can take and mlp-ae for everything else.
enum class AutoencoderKind { automatic, conv_ae, mlp_ae, conv1d_ae, lstm_ae };

/// Who computes an auto-encoder: our own vector code, or libtorch (slower; kept as the oracle).
enum class EncoderEngine { native, torch };

template <>
struct Names<EncoderEngine> {
  static constexpr std::pair<EncoderEngine, std::string_view> entries[] = {
      {EncoderEngine::native, "native"}, {EncoderEngine::torch, "torch"}};
};

/// What a training minimises beside the reconstruction error: nothing, how far a variational
/// encoder's distributions are from the standard normal, or how far individuals of like fitness are
/// from each other.
enum class LatentLoss { none, divergence, triplets };

/// Whether an encoder update changes the weights, or the input scaling alone.
enum class Training { full, none };

template <>
struct Names<Training> {
  static constexpr std::pair<Training, std::string_view> entries[] = {{Training::full, "full"},
                                                                      {Training::none, "none"}};
};

struct AutoencoderConfig {
  AutoencoderKind kind = AutoencoderKind::automatic;
  LatentLoss latent_loss = LatentLoss::none;
  EncoderEngine engine = EncoderEngine::native;
  // Batch, epochs and patience were chosen on whole runs (bench/RESULTS.md): less patience costs
  // coverage, more costs time.
  std::size_t batch = 32;            // individuals per gradient step
  std::size_t epochs = 20;           // at most, per encoder update
  std::size_t patience = 3;          // epochs without a lower validation loss before we stop
  double progress = 0;               // share by which the loss must fall to count as lower
  double learning_rate = 1e-3;       // Adam
  std::size_t max_examples = 10000;  // drawn at random if the container holds more
  Training training = Training::full;
  bool redraw = false;       // draw the weights anew if they turn out to be dead
  double beta = 1;           // vae: weight of the divergence
  double weight = 1;         // contrastive: of the triplets
  double margin = 1;         // contrastive: of squared distances
  std::size_t channels = 4;  // conv-ae: of every convolution but the last; 4 in the paper
  std::size_t units = 32;    // lstm-ae: of encoder and decoder each
  bool mask = false;         // lstm-ae: a sequence ends where its last channel is below 0.5
  std::vector<std::size_t> hidden = {32, 8};  // mlp-ae: sizes from the input to the descriptor
};

/// With random initial weights drawn from `stream` and the identity as scaling. UsageError if the
/// kind does not fit the shape, a number makes no sense, or the dimension is 0 or above the number
/// of features.
std::unique_ptr<Encoder> make_autoencoder(const AutoencoderConfig& config,
                                          const SensoryShape& shape, std::size_t dimension,
                                          Stream& stream);

/// What keeps a convolutional auto-encoder from such data; empty if nothing does.
std::string unfit_for_convolutions(const SensoryShape& shape);

/// The same of the auto-encoders of sequences.
std::string unfit_for_sequences(const SensoryShape& shape);

/// UsageError unless 1 <= dimension <= features.
void check_dimension(const SensoryShape& shape, std::size_t dimension);

EncoderEntry auto_encoder_part();
EncoderEntry conv_autoencoder_part();
EncoderEntry mlp_autoencoder_part();
EncoderEntry sequence_conv_autoencoder_part();
EncoderEntry lstm_autoencoder_part();
EncoderEntry variational_autoencoder_part();
EncoderEntry contrastive_autoencoder_part();

}  // namespace aurora
