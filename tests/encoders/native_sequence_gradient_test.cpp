// The gradients of the networks for sequences, written by hand, against central differences: the
// same templates in double precision, compiled for the baseline instruction set.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/encoders/native/lstm_network_inl.hpp"
#include "aurora/encoders/native/sequence_conv_network_inl.hpp"

namespace aurora::native {
namespace {

struct Setting {
  std::string name;
  AutoencoderKind kind;
  std::size_t steps, channels, count;
  LatentLoss latent_loss = LatentLoss::none;
  bool mask = false;
  friend void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }
};

constexpr std::size_t kDimension = 3;

class SequenceGradient : public ::testing::TestWithParam<Setting> {
 protected:
  SequenceGradient()
      : layout_(autoencoder_layout({.kind = GetParam().kind,
                                    .latent_loss = GetParam().latent_loss,
                                    .channels = 5,
                                    .units = 6,
                                    .mask = GetParam().mask},
                                   {{GetParam().steps, GetParam().channels}, ElementType::float32},
                                   kDimension)),
        scaling_(InputScaling::identity(layout_.input.size())),
        data_(layout_.input, kLanes) {
    Stream stream(3, Purpose::user);
    for (const float p : draw_parameters(layout_, stream)) {
      // Variances start at 0, where a gradient may be right by accident.
      parameters_.push_back(2.0 * (p == 0 ? 0.3 * stream.uniform() : p));
    }
    for (std::size_t i = 0; i < data_.rows(); ++i) {
      const auto row = data_.mutable_view().row<float>(i);
      for (float& value : row) value = static_cast<float>(stream.normal());
      if (!GetParam().mask) continue;
      const std::size_t length = stream.below(GetParam().steps + 1);
      for (std::size_t t = 0; t < GetParam().steps; ++t) {
        row[(t + 1) * GetParam().channels - 1] = t < length ? 1.0F : 0.0F;
      }
    }
    for (float& value : noise_) value = static_cast<float>(stream.normal());
    group_ = {.count = GetParam().count, .element = ElementType::float32, .scaling = &scaling_};
    for (std::size_t i = 0; i < kLanes; ++i) {
      group_.rows[i] = data_.view().bytes(i < group_.count ? i : 0).data();
      if (i < group_.count) group_.noise[i] = noise_.data() + i * kDimension;
      group_.fitness[i] = static_cast<float>(stream.uniform());
    }
  }

  template <class Net, class S>
  void expect_central_differences() {
    Net net(layout_);
    S scratch(net);
    const auto loss_at = [&](std::size_t i, double value) {
      const double kept = parameters_[i];
      parameters_[i] = value;
      net.set_parameters(parameters_.data());
      HWY_NAMESPACE::run_network<double>(net, Pass::error, group_, scratch, nullptr);
      parameters_[i] = kept;
      double sum = 0;
      for (std::size_t k = 0; k < group_.count; ++k) {
        sum += scratch.squares[k] + scratch.latent.loss[k];
      }
      return sum / 2;
    };
    std::vector<double> exact(parameters_.size());
    net.set_parameters(parameters_.data());
    HWY_NAMESPACE::run_network(net, Pass::gradient, group_, scratch, exact.data());
    std::size_t begin = 0;
    for (const LayerSpec& layer : layout_.layers) {
      for (const std::size_t size : {layer.weights(), layer.outputs}) {
        double error = 0, norm = 0;
        for (std::size_t i = begin; i < begin + size; ++i) {
          constexpr double kStep = 1e-5;
          const double numeric =
              (loss_at(i, parameters_[i] + kStep) - loss_at(i, parameters_[i] - kStep)) /
              (2 * kStep);
          error += (numeric - exact[i]) * (numeric - exact[i]);
          norm += numeric * numeric;
        }
        EXPECT_GT(norm, 0) << layer.name;
        EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm)) << layer.name << ", array of " << size;
        begin += size;
      }
    }
    EXPECT_EQ(begin, parameters_.size());
  }

  AutoencoderLayout layout_;
  InputScaling scaling_;
  SensoryData data_;
  Group group_;
  LineVector<double> parameters_;
  std::array<float, kDimension * kLanes> noise_{};
};

TEST_P(SequenceGradient, EqualsCentralDifferencesInEveryLayer) {
  if (GetParam().kind == AutoencoderKind::lstm_ae) {
    expect_central_differences<LstmNetwork<double>, LstmScratch<double>>();
  } else {
    expect_central_differences<SequenceConvNetwork<double>, SequenceConvScratch<double>>();
  }
}

constexpr auto kConv = AutoencoderKind::conv1d_ae;
constexpr auto kLstm = AutoencoderKind::lstm_ae;

INSTANTIATE_TEST_SUITE_P(
    All, SequenceGradient,
    ::testing::Values(Setting{"conv", kConv, 16, 2, 16}, Setting{"conv_odd", kConv, 13, 3, 5},
                      Setting{"conv_alone", kConv, 8, 1, 1},
                      Setting{"conv_divergence", kConv, 16, 2, 5, LatentLoss::divergence},
                      Setting{"conv_triplets", kConv, 16, 2, 16, LatentLoss::triplets},
                      Setting{"lstm", kLstm, 9, 2, 16}, Setting{"lstm_alone", kLstm, 8, 1, 1},
                      Setting{"lstm_masked", kLstm, 11, 3, 16, LatentLoss::none, true},
                      Setting{"lstm_divergence", kLstm, 9, 2, 5, LatentLoss::divergence},
                      Setting{"lstm_triplets", kLstm, 9, 2, 16, LatentLoss::triplets}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace aurora::native
