#include "aurora/encoders/autoencoder.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"
#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/native/conv_autoencoder.hpp"
#include "aurora/encoders/native/mlp_autoencoder.hpp"
#include "aurora/encoders/native/sequence_autoencoder.hpp"
#include "aurora/encoders/torch_autoencoder.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMostChannels = 64;
constexpr const char* kTorchLibrary = "libaurora_torch.so";
constexpr const char* kTorchMaker = "aurora_make_torch_autoencoder";

/// What there is to say against mini-batches of this size; empty if nothing is.
std::string too_few_for_triplets(std::size_t batch, LatentLoss latent_loss) {
  if (latent_loss != LatentLoss::triplets || batch >= 3) return {};
  return "encoder.batch=" + std::to_string(batch) + ": three of a mini-batch make a triplet";
}

void check_config(const AutoencoderConfig& config) {
  const auto at_least_one = [](std::size_t value, const char* key) {
    if (value == 0) throw UsageError(std::string("encoder.") + key + " must be at least 1");
  };
  at_least_one(config.batch, "batch");
  const std::string few = too_few_for_triplets(config.batch, config.latent_loss);
  if (!few.empty()) throw UsageError("encoder.kind=contrastive does not go with " + few);
  at_least_one(config.epochs, "epochs");
  at_least_one(config.patience, "patience");
  at_least_one(config.max_examples, "max_examples");
  at_least_one(config.units, "units");
  for (const std::size_t size : config.hidden) at_least_one(size, "hidden (every size)");
  if (config.channels == 0 || config.channels > kMostChannels) {
    throw UsageError("encoder.channels must be between 1 and " + std::to_string(kMostChannels) +
                     ", not " + std::to_string(config.channels));
  }
  if (!std::isfinite(config.learning_rate) || config.learning_rate <= 0) {
    throw UsageError("encoder.learning_rate must be a number above 0");
  }
}

/// libtorch takes half a second to load, so it is loaded only when somebody asks for it.
std::unique_ptr<Encoder> make_torch(const AutoencoderConfig& config, const SensoryShape& shape,
                                    std::size_t dimension, Stream& stream) {
  void* maker = find_in_plugin(kTorchLibrary, kTorchMaker);
  if (!maker) {
    throw UsageError(
        "encoder.engine=torch needs libtorch, which this build does not have: install "
        "libtorch-dev and build again, or use encoder.engine=native");
  }
  return reinterpret_cast<decltype(&make_torch_autoencoder)>(maker)(config, shape, dimension,
                                                                    stream);
}

}  // namespace

void check_dimension(const SensoryShape& shape, std::size_t dimension) {
  if (dimension == 0 || dimension > shape.size()) {
    throw UsageError("descriptor.dimension must be between 1 and the number of features (" +
                     describe(shape.extents) + " = " + std::to_string(shape.size()) + "), not " +
                     std::to_string(dimension));
  }
}

std::string unfit_for_convolutions(const SensoryShape& shape) {
  constexpr std::size_t kSmallest = 8;  // three poolings leave one pixel
  constexpr std::size_t kMostColours = 4;
  const std::string instead = "; use encoder.kind=mlp-ae or encoder.kind=pca";
  if (!shape.is_picture()) {
    return "sensory data that is no picture (height x width x channels, bytes) but " +
           describe(shape) + instead;
  }
  if (shape.extents[0] < kSmallest || shape.extents[1] < kSmallest) {
    return "pictures of " + describe(shape) +
           ": it halves them three times, so height and width must be at least 8" + instead;
  }
  if (shape.extents[2] == 0 || shape.extents[2] > kMostColours) {
    return "pictures of " + describe(shape) + ": it works on 1 to 4 channels, which come last" +
           instead;
  }
  return {};
}

std::string unfit_for_sequences(const SensoryShape& shape) {
  constexpr std::size_t kShortest = 8;  // three halvings leave one step
  if (shape.extents.size() == 2 && shape.extents[0] >= kShortest && shape.extents[1] > 0) return {};
  return "sensory data that is no sequence (steps x channels, 8 steps at least) but " +
         describe(shape) + "; use encoder.kind=mlp-ae or encoder.kind=pca";
}

std::unique_ptr<Encoder> make_autoencoder(const AutoencoderConfig& config,
                                          const SensoryShape& shape, std::size_t dimension,
                                          Stream& stream) {
  check_config(config);
  check_dimension(shape, dimension);
  AutoencoderConfig resolved = config;
  if (config.kind == AutoencoderKind::automatic) {
    resolved.kind =
        unfit_for_convolutions(shape).empty() ? AutoencoderKind::conv_ae : AutoencoderKind::mlp_ae;
  }
  if (config.engine == EncoderEngine::torch) return make_torch(resolved, shape, dimension, stream);
  switch (resolved.kind) {
    case AutoencoderKind::conv_ae:
      return make_native_conv_autoencoder(resolved, shape, dimension, stream);
    case AutoencoderKind::conv1d_ae:
    case AutoencoderKind::lstm_ae:
      return make_native_sequence_autoencoder(resolved, shape, dimension, stream);
    case AutoencoderKind::mlp_ae:
    case AutoencoderKind::automatic:
      break;
  }
  return make_native_mlp_autoencoder(resolved, shape, dimension, stream);
}

namespace {

/// Keys that mean nothing to an auto-encoder for these sensory data.
Idle idle_keys(const AutoencoderConfig& config, const std::string& kind, bool chooses,
               const SensoryShape& shape) {
  Idle idle;
  if (chooses) {
    const bool pictures = unfit_for_convolutions(shape).empty();
    const std::string here = "encoder.kind=" + kind + " takes " +
                             (pictures ? "convolutions for pictures, which have no hidden layers"
                                       : "a dense network here, which has no channels");
    idle.emplace_back(pictures ? "encoder.hidden" : "encoder.channels", here);
  }
  if (config.training == Training::none) {
    for (const char* key : {"batch", "epochs", "patience", "progress", "learning_rate"}) {
      idle.emplace_back(std::string("encoder.") + key, "encoder.training=none: nothing is trained");
    }
  }
  return idle;
}

EncoderEntry autoencoder_part(AutoencoderKind kind, const std::string& name, std::string summary,
                              LatentLoss latent_loss = LatentLoss::none) {
  using Config = AutoencoderConfig;
  constexpr std::size_t kMost = 1'000'000;
  return part<Config>(name, std::move(summary))
      .option("engine", &Config::engine, "who computes it; torch is the oracle")
      .option("batch", &Config::batch, 1, kMost, "individuals in a gradient step")
      .option("epochs", &Config::epochs, 1, kMost, "epochs in an update, at most")
      .option("patience", &Config::patience, 1, kMost,
              "epochs without progress before training stops")
      .option("progress", &Config::progress, Range{0, 1},
              "share by which the error must fall to count as progress")
      .option("training", &Config::training,
              "none: weights stay as they were drawn, the input is scaled alone")
      .option("learning_rate", &Config::learning_rate, Range{0, 1, true}, "step size of Adam")
      .option("max_examples", &Config::max_examples, 1, 10'000'000,
              "individuals used for an update, at most")
      .option("redraw", &Config::redraw,
              "draw the weights anew after an update that explains nothing: some starts are dead")
      .options([&](Options<Config>& options) {
        const bool chooses = kind == AutoencoderKind::automatic;
        if (chooses || kind == AutoencoderKind::conv_ae || kind == AutoencoderKind::conv1d_ae) {
          options.add("channels", &Config::channels, 1, kMostChannels,
                      "channels of the hidden convolutions");
        }
        if (kind == AutoencoderKind::lstm_ae) {
          options.add("units", &Config::units, 1, 10'000, "units of encoder and decoder each");
          options.add(
              "mask", &Config::mask,
              "a sequence ends where its last channel is below 0.5 (of bytes, 127 or less)");
        }
        if (chooses || kind == AutoencoderKind::mlp_ae) {
          options.add("hidden", &Config::hidden, 1, 100'000,
                      "mlp-ae: layers between input and descriptor");
        }
        if (latent_loss == LatentLoss::divergence) {
          options.add("beta", &Config::beta, Range{0, 1e6}, "weight of the divergence");
        }
        if (latent_loss == LatentLoss::triplets) {
          options.add("weight", &Config::weight, Range{0, 1e6},
                      "of triplets, beside the mean squared error");
          options.add("margin", &Config::margin, Range{0, 1e6},
                      "squared distance by which the one of other fitness is to be farther");
        }
      })
      .refuses([kind, latent_loss](const Config& config, const Mix& mix) -> std::string {
        if (config.redraw && config.engine == EncoderEngine::torch) {
          return "encoder.redraw=true: encoder.engine=torch keeps the weights that it has";
        }
        if (config.redraw && config.training == Training::none) {
          return "encoder.redraw=true: encoder.training=none keeps the weights that it has";
        }
        std::string reason = too_few_for_triplets(config.batch, latent_loss);
        if (!reason.empty()) return reason;
        if (kind == AutoencoderKind::conv_ae) reason = unfit_for_convolutions(mix.task.sensory);
        if (kind == AutoencoderKind::conv1d_ae || kind == AutoencoderKind::lstm_ae) {
          reason = unfit_for_sequences(mix.task.sensory);
        }
        return reason.empty() ? "" : "the task '" + mix.task.name + "', which has " + reason;
      })
      .idle([kind, name](const Config& config, const Mix& mix) {
        return idle_keys(config, name, kind == AutoencoderKind::automatic, mix.task.sensory);
      })
      .made_by([kind, latent_loss](Config config, const EncoderContext& context) {
        config.kind = kind;
        config.latent_loss = latent_loss;
        return make_autoencoder(config, context.shape, context.dimension, context.stream);
      });
}

}  // namespace

EncoderEntry auto_encoder_part() {
  return autoencoder_part(AutoencoderKind::automatic, "auto",
                          "conv-ae for pictures, mlp-ae for the rest");
}

EncoderEntry conv_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::conv_ae, "conv-ae",
                          "a convolutional auto-encoder, for pictures");
}

EncoderEntry mlp_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::mlp_ae, "mlp-ae", "a fully connected auto-encoder");
}

EncoderEntry sequence_conv_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::conv1d_ae, "conv1d-ae",
                          "convolutions along time, for sequences");
}

EncoderEntry lstm_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::lstm_ae, "lstm-ae",
                          "a recurrent auto-encoder, for sequences of any length");
}

EncoderEntry variational_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::automatic, "vae",
                          "a variational one: conv for pictures, mlp for the rest",
                          LatentLoss::divergence);
}

EncoderEntry contrastive_autoencoder_part() {
  return autoencoder_part(AutoencoderKind::automatic, "contrastive",
                          "an auto-encoder that puts like fitness close together",
                          LatentLoss::triplets);
}

}  // namespace aurora
