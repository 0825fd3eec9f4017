// The forward pass of the convolutional network against the plainest program for it.
#include "aurora/encoders/native/conv_autoencoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

/// A feature map as (y, x, channel), in double precision.
struct Map {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<double> values = std::vector<double>(height * width * channels);
  double& at(std::size_t y, std::size_t x, std::size_t c) {
    return values[(y * width + x) * channels + c];
  }
};

/// The network as specified, layer by layer, with the state of an encoder.
class PlainNetwork {
 public:
  explicit PlainNetwork(const Encoder& encoder) {
    for (NamedArray& array : encoder.state()) arrays_[array.name] = std::move(array);
  }

  std::vector<double> encode(Map map) {
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      map.values[i] = (map.values[i] - array("scaling.mean")[i]) * array("scaling.scale")[i];
    }
    input = map;
    map = resized(map, (map.height + 7) / 8 * 8, (map.width + 7) / 8 * 8);
    for (const char* name : {"encoder.conv1", "encoder.conv2", "encoder.conv3"}) {
      map = pool(relu(conv(name, map)));
    }
    std::vector<double> x = relu(linear("encoder.linear1", map.values));
    return linear("encoder.linear3", relu(linear("encoder.linear2", x)));
  }

  Map decode(const std::vector<double>& latent) {
    std::vector<double> x = relu(linear("decoder.linear1", latent));
    x = relu(linear("decoder.linear3", relu(linear("decoder.linear2", x))));
    const auto& shape = arrays_.at("decoder.linear3.bias").shape;
    Map map{shape[0], shape[1], shape[2], x};
    for (const char* name : {"decoder.conv1", "decoder.conv2", "decoder.conv3"}) {
      map = upsample(relu(conv(name, map)));
    }
    map = conv("decoder.conv4", map);
    return resized(map, input.height, input.width);
  }

  const std::vector<float>& array(const std::string& name) { return arrays_.at(name).values; }

  Map input;  // scaled

 private:
  Map conv(const std::string& name, Map& in) {
    const auto& weight = array(name + ".weight");
    const auto& bias = array(name + ".bias");
    Map out{in.height, in.width, bias.size()};
    for (std::size_t y = 0; y < in.height; ++y) {
      for (std::size_t x = 0; x < in.width; ++x) {
        for (std::size_t o = 0; o < out.channels; ++o) {
          double sum = bias[o];
          for (std::size_t c = 0; c < in.channels; ++c) {
            for (std::size_t k = 0; k < 9; ++k) {
              const std::size_t sy = y + k / 3 - 1, sx = x + k % 3 - 1;  // may wrap: outside
              if (sy >= in.height || sx >= in.width) continue;
              sum += in.at(sy, sx, c) * weight[(o * in.channels + c) * 9 + k];
            }
          }
          out.at(y, x, o) = sum;
        }
      }
    }
    return out;
  }
  std::vector<double> linear(const std::string& name, const std::vector<double>& in) {
    const auto& weight = array(name + ".weight");
    const auto& bias = array(name + ".bias");
    std::vector<double> out(bias.begin(), bias.end());
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < in.size(); ++i) out[o] += in[i] * weight[o * in.size() + i];
    }
    return out;
  }
  static std::vector<double> relu(std::vector<double> x) {
    for (double& v : x) v = std::max(v, 0.0);
    return x;
  }
  static Map relu(Map map) {
    map.values = relu(std::move(map.values));
    return map;
  }
  /// Zeros below and on the right, or less of it.
  static Map resized(Map in, std::size_t height, std::size_t width) {
    Map out{height, width, in.channels};
    for (std::size_t y = 0; y < std::min(height, in.height); ++y) {
      for (std::size_t x = 0; x < std::min(width, in.width); ++x) {
        for (std::size_t c = 0; c < in.channels; ++c) out.at(y, x, c) = in.at(y, x, c);
      }
    }
    return out;
  }
  static Map pool(Map in) {
    Map out{in.height / 2, in.width / 2, in.channels};
    for (std::size_t y = 0; y < out.height; ++y) {
      for (std::size_t x = 0; x < out.width; ++x) {
        for (std::size_t c = 0; c < in.channels; ++c) {
          out.at(y, x, c) = std::max({in.at(2 * y, 2 * x, c), in.at(2 * y, 2 * x + 1, c),
                                      in.at(2 * y + 1, 2 * x, c), in.at(2 * y + 1, 2 * x + 1, c)});
        }
      }
    }
    return out;
  }
  static Map upsample(Map in) {
    Map out{2 * in.height, 2 * in.width, in.channels};
    for (std::size_t y = 0; y < out.height; ++y) {
      for (std::size_t x = 0; x < out.width; ++x) {
        for (std::size_t c = 0; c < in.channels; ++c) out.at(y, x, c) = in.at(y / 2, x / 2, c);
      }
    }
    return out;
  }

  std::map<std::string, NamedArray> arrays_;
};

SensoryData noise_pictures(std::size_t rows, std::size_t height, std::size_t width,
                           std::size_t channels = 3) {
  SensoryData data({{height, width, channels}, ElementType::uint8}, rows);
  Stream stream(9, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::uint8_t& b : data.mutable_view().row<std::uint8_t>(i)) {
      b = static_cast<std::uint8_t>(stream.below(256));
    }
  }
  return data;
}

void expect_like_plain_network(const SensoryData& data, bool trained, std::size_t channels = 4) {
  SCOPED_TRACE(describe(data.shape()) + ", " + std::to_string(channels) + " channels");
  Stream stream(1, Purpose::encoder_weights), order(2, Purpose::encoder_training);
  Workers workers;
  const auto encoder =
      make_native_conv_autoencoder({.epochs = 2, .channels = channels}, data.shape(), 6, stream);
  if (trained) encoder->train(data.view(), order, workers);
  Matrix<float> descriptors(data.rows(), 6), pictures(data.rows(), data.shape().size());
  std::vector<float> error(data.rows());
  encoder->encode(data.view(), descriptors, error, workers);
  encoder->reconstruct(data.view(), pictures, workers);

  PlainNetwork plain(*encoder);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const auto& extents = data.shape().extents;
    Map picture{extents[0], extents[1], extents[2]};
    for (std::size_t j = 0; j < picture.values.size(); ++j) {
      picture.values[j] = value_at(data.view(), i, j);
    }
    const std::vector<double> latent = plain.encode(picture);
    for (std::size_t j = 0; j < latent.size(); ++j) {
      EXPECT_NEAR(descriptors(i, j), latent[j], 1e-4 * (1 + std::abs(latent[j])));
    }
    const Map decoded = plain.decode(latent);
    double square = 0;
    for (std::size_t j = 0; j < decoded.values.size(); ++j) {
      square += std::pow(decoded.values[j] - plain.input.values[j], 2);
      const double said =
          decoded.values[j] / plain.array("scaling.scale")[j] + plain.array("scaling.mean")[j];
      ASSERT_NEAR(pictures(i, j), said, 1e-4) << "row " << i << ", feature " << j;
    }
    EXPECT_NEAR(error[i], std::sqrt(square), 1e-4 * std::sqrt(square));
  }
}

TEST(NativeConvAutoencoder, LikeThePlainNetworkOnThePapersPictures) {
  expect_like_plain_network(spot_pictures(18, 64, 1), true);
}

TEST(NativeConvAutoencoder, LikeThePlainNetworkOnOtherSizes) {
  expect_like_plain_network(noise_pictures(5, 8, 8), false);
  expect_like_plain_network(noise_pictures(17, 8, 24), true);
  expect_like_plain_network(noise_pictures(16, 40, 16), true);
}

TEST(NativeConvAutoencoder, LikeThePlainNetworkOnAnySizeInOneToFourChannels) {
  for (std::size_t channels = 1; channels <= 4; ++channels) {
    for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{8, 8},
                                        {9, 13},
                                        {16, 16},
                                        {31, 64},
                                        {50, 50},
                                        {96, 40}}) {
      expect_like_plain_network(noise_pictures(3, height, width, channels), true);
    }
  }
}

TEST(NativeConvAutoencoder, LikeThePlainNetworkWithMoreOrFewerChannels) {
  for (const std::size_t channels : {1, 2, 3, 5, 8, 11, 16, 64}) {
    expect_like_plain_network(noise_pictures(17, 16, 8), true, channels);
    expect_like_plain_network(noise_pictures(2, 9, 22, 1), true, channels);
    expect_like_plain_network(noise_pictures(2, 11, 8, 4), true, channels);
  }
}

// The first training leaves numbers in every buffer that a thread keeps: no later picture may see
// them through what is only padding.
TEST(NativeConvAutoencoder, PaddingStaysZeroFromGroupToGroup) {
  const SensoryData data = bar_pictures(40, 13, 18, 2);
  Stream stream(1, Purpose::encoder_weights), order(2, Purpose::encoder_training);
  Workers workers(1);
  const AutoencoderConfig config{.epochs = 3, .channels = 6};
  const auto used = make_native_conv_autoencoder(config, data.shape(), 3, stream);
  used->train(data.view(), order, workers);
  Stream other(3, Purpose::encoder_weights);
  const auto fresh = make_native_conv_autoencoder(config, data.shape(), 3, other);
  fresh->set_state(used->state());
  Matrix<float> a(40, 3), b(40, 3), c(40, data.shape().size()), d(40, data.shape().size());
  std::vector<float> e(40), f(40);
  used->reconstruct(data.view(), c, workers);
  used->encode(data.view(), a, e, workers);
  fresh->encode(data.view(), b, f, workers);
  fresh->reconstruct(data.view(), d, workers);
  EXPECT_EQ(a, b);
  EXPECT_EQ(c, d);
  EXPECT_EQ(e, f);
}

TEST(NativeConvAutoencoder, RefusesWhatItCannotEncode) {
  Stream stream(1, Purpose::user);
  const auto make = [&](SensoryShape shape) {
    return make_native_conv_autoencoder({}, shape, 2, stream);
  };
  EXPECT_THROW(make({{64, 64, 5}, ElementType::uint8}), UsageError);
  EXPECT_THROW(make({{64, 64, 0}, ElementType::uint8}), UsageError);
  EXPECT_THROW(make({{7, 64, 3}, ElementType::uint8}), UsageError);
  EXPECT_THROW(make({{64, 7, 3}, ElementType::uint8}), UsageError);
  EXPECT_THROW(make({{64, 64, 3}, ElementType::float32}), UsageError);
  EXPECT_THROW(make({{100}, ElementType::uint8}), UsageError);
}

}  // namespace
}  // namespace aurora
