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
enum class AutoencoderKind { automatic, conv_ae, mlp_ae };

/// Who computes an auto-encoder: our own vector code, or libtorch (slower; kept as the oracle).
enum class EncoderEngine { native, torch };

template <>
struct Names<EncoderEngine> {
  static constexpr std::pair<EncoderEngine, std::string_view> entries[] = {
      {EncoderEngine::native, "native"}, {EncoderEngine::torch, "torch"}};
};

struct AutoencoderConfig {
  AutoencoderKind kind = AutoencoderKind::automatic;
  EncoderEngine engine = EncoderEngine::native;
  // Batch, epochs and patience were chosen on whole runs (bench/RESULTS.md): less patience costs
  // coverage, more costs time.
  std::size_t batch = 32;            // individuals per gradient step
  std::size_t epochs = 20;           // at most, per encoder update
  std::size_t patience = 3;          // epochs without a lower validation loss before we stop
  double learning_rate = 1e-3;       // Adam
  std::size_t max_examples = 10000;  // drawn at random if the container holds more
  bool redraw = false;               // draw the weights anew if they turn out to be dead
  std::size_t channels = 4;          // conv-ae: of every convolution but the last; 4 in the paper
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

/// UsageError unless 1 <= dimension <= features.
void check_dimension(const SensoryShape& shape, std::size_t dimension);

EncoderEntry auto_encoder_part();
EncoderEntry conv_autoencoder_part();
EncoderEntry mlp_autoencoder_part();

}  // namespace aurora
