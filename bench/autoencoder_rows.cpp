// The auto-encoders on the native engine, with libtorch in the same process as the baseline.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/native/conv_autoencoder.hpp"
#include "aurora/encoders/native/mlp_autoencoder.hpp"
#ifdef AURORA_WITH_TORCH
#include "aurora/encoders/torch_autoencoder.hpp"
#endif
#include "table.hpp"

namespace aurora::bench {
namespace {

constexpr std::size_t kRows = 448;  // too few for a validation set
constexpr std::size_t kEpochs = 2;
constexpr std::size_t kDimension = 10;
// Pictures/s on a core at 55 G multiply-adds/s: 1.3 M forward, three times that with the gradient.
constexpr double kTrainFloor = 14'000;
constexpr double kEncodeFloor = 55e9 / 0.65e6;  // the encoder is half of the forward pass

using Factory = std::unique_ptr<Encoder> (*)(const AutoencoderConfig&, const SensoryShape&,
                                             std::size_t, Stream&);

/// Pictures of a bright disc on a dark floor, or noisy straight trajectories.
SensoryData example(bool pictures, std::size_t rows) {
  SensoryData data(pictures ? SensoryShape{{64, 64, 3}, ElementType::uint8}
                            : SensoryShape{{50, 2}, ElementType::float32},
                   rows);
  Stream stream(1, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const double cx = stream.uniform(), cy = stream.uniform();
    if (pictures) {
      const auto row = data.mutable_view().row<std::uint8_t>(i);
      for (std::size_t p = 0; p < row.size(); ++p) {
        const double x = static_cast<double>(p / 3 % 64) / 64,
                     y = static_cast<double>(p / 192) / 64;
        const bool disc = (x - cx) * (x - cx) + (y - cy) * (y - cy) < 0.02;
        row[p] = static_cast<std::uint8_t>((disc ? 200 : 40) + stream.below(20));
      }
    } else {
      const auto row = data.mutable_view().row<float>(i);
      for (std::size_t p = 0; p < row.size(); ++p) {
        row[p] = static_cast<float>((p % 2 ? cx : cy) * static_cast<double>(p) / 100 +
                                    0.01 * stream.normal());
      }
    }
  }
  return data;
}

AutoencoderConfig config(bool pictures) {
  AutoencoderConfig c;
  c.kind = pictures ? AutoencoderKind::conv_ae : AutoencoderKind::mlp_ae;
  c.epochs = kEpochs;
  c.patience = kEpochs;
  return c;
}

/// An encoder with what it needs to be trained and asked.
struct Model {
  Model(Factory factory, const SensoryData& examples, std::size_t threads)
      : data(examples), workers(threads), descriptors(examples.rows(), kDimension) {
    Stream weights(2, Purpose::encoder_weights);
    encoder = factory(config(data.shape().is_picture()), data.shape(), kDimension, weights);
  }

  Work training() {
    return {data.rows() * kEpochs, [this] { encoder->train(data.view(), order, workers); }};
  }
  Work encoding(bool with_error) {
    return {data.rows(), [this, with_error] {
              std::vector<float> error(with_error ? data.rows() : 0);
              encoder->encode(data.view(), descriptors, error, workers);
            }};
  }

  const SensoryData& data;
  Workers workers;
  Stream order{3, Purpose::encoder_training};
  Matrix<float> descriptors;
  std::unique_ptr<Encoder> encoder;
};

}  // namespace

void autoencoder_rows(Table& table) {
  table.heading("Auto-encoders: individuals (64 x 64 x 3 pictures; trajectories of 50 points)");
  for (const bool pictures : {true, false}) {
    const SensoryData data = example(pictures, kRows);
    for (const std::size_t threads : {1U, 2U}) {
      Model native(pictures ? make_native_conv_autoencoder : make_native_mlp_autoencoder, data,
                   threads);
      std::string baseline;
      std::optional<Work> train, encode, encode_error;
#ifdef AURORA_WITH_TORCH
      Model torch(make_torch_autoencoder, data, threads);
      baseline = "libtorch, channels last";
      train = torch.training();
      encode = torch.encoding(false);
      encode_error = torch.encoding(true);
#endif
      const std::string name = pictures ? "encoder/conv/" : "encoder/mlp/";
      const std::string tail = "/threads=" + std::to_string(threads);
      const double cores = pictures ? static_cast<double>(threads) : 0;
      table.measure(name + "train" + tail, "individuals/s", native.training(), baseline, train,
                    cores * kTrainFloor);
      table.measure(name + "encode" + tail, "individuals/s", native.encoding(false), baseline,
                    encode, cores * kEncodeFloor);
      table.measure(name + "encode+error" + tail, "individuals/s", native.encoding(true), baseline,
                    encode_error);
    }
  }
}

}  // namespace aurora::bench
