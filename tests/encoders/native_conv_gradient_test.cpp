// The gradients of the convolutional network, written by hand, against central differences: the
// same templates in double precision, compiled for the baseline instruction set.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/encoders/native/conv_network_inl.hpp"

namespace aurora::native {
namespace {

struct Setting {
  const char* name;
  std::vector<std::size_t> picture;
  std::size_t channels;
  std::size_t count;   // individuals in the group
  std::uint64_t seed;  // of weights that leave every layer alive, and no ReLU at its kink
  LatentLoss latent_loss = LatentLoss::none;
  friend void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }
};

class ConvGradient : public ::testing::TestWithParam<Setting> {
 protected:
  ConvGradient()
      : layout_(autoencoder_layout({.kind = AutoencoderKind::conv_ae,
                                    .latent_loss = GetParam().latent_loss,
                                    .channels = GetParam().channels},
                                   {GetParam().picture, ElementType::uint8}, 3)),
        net_(layout_),
        scratch_(net_),
        scaling_(InputScaling::identity(layout_.input.size())),
        data_(layout_.input, kLanes) {
    Stream stream(GetParam().seed, Purpose::user);
    // Twice the usual weights: the encoder's gradients must rise above the rounding of differences.
    for (const float p : draw_parameters(layout_, stream)) {
      // Variances start at 0, where a gradient may be right by accident.
      parameters_.push_back(2.0 * (p == 0 ? 0.3 * stream.uniform() : p));
    }
    for (std::size_t i = 0; i < scaling_.mean.size(); ++i) {
      scaling_.mean[i] = static_cast<float>(stream.uniform());
      scaling_.scale[i] = static_cast<float>(1 + stream.uniform());
    }
    for (std::size_t i = 0; i < data_.rows(); ++i) {
      for (std::uint8_t& b : data_.mutable_view().row<std::uint8_t>(i)) {
        b = static_cast<std::uint8_t>(stream.below(256));
      }
    }
    group_ = {.count = GetParam().count, .element = ElementType::uint8, .scaling = &scaling_};
    for (float& value : noise_) value = static_cast<float>(stream.normal());
    for (std::size_t i = 0; i < kLanes; ++i) {
      group_.rows[i] = data_.view().bytes(i < group_.count ? i : 0).data();
      if (i < group_.count) group_.noise[i] = noise_.data() + i * 3;
      group_.fitness[i] = static_cast<float>(stream.uniform());
    }
  }

  /// Half the squared error of the group, and half the latent loss.
  double loss() {
    net_.set_parameters(parameters_.data());
    HWY_NAMESPACE::run_network<double>(net_, Pass::error, group_, scratch_, nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < group_.count; ++i)
      sum += scratch_.squares[i] + scratch_.latent.loss[i];
    return sum / 2;
  }

  std::vector<double> gradient() {
    std::vector<double> result(parameters_.size());
    net_.set_parameters(parameters_.data());
    HWY_NAMESPACE::run_network(net_, Pass::gradient, group_, scratch_, result.data());
    return result;
  }

  double central_difference(std::size_t i) {
    constexpr double kStep = 1e-5;
    const double kept = parameters_[i];
    parameters_[i] = kept + kStep;
    const double above = loss();
    parameters_[i] = kept - kStep;
    const double below = loss();
    parameters_[i] = kept;
    return (above - below) / (2 * kStep);
  }

  AutoencoderLayout layout_;
  ConvNetwork<double> net_;
  ConvScratch<double> scratch_;
  InputScaling scaling_;
  SensoryData data_;
  Group group_;
  LineVector<double> parameters_;
  std::array<float, 3 * kLanes> noise_{};
};

TEST_P(ConvGradient, EqualsCentralDifferencesInEveryLayer) {
  const std::vector<double> exact = gradient();
  std::size_t begin = 0;
  for (const LayerSpec& layer : layout_.layers) {
    for (const std::size_t size : {layer.weights(), layer.outputs}) {
      // All of a small array, some 30 spread over a large one.
      const std::size_t step = std::max<std::size_t>(1, size / 30);
      double error = 0, norm = 0;
      for (std::size_t i = begin; i < begin + size; i += step) {
        const double numeric = central_difference(i);
        error += (numeric - exact[i]) * (numeric - exact[i]);
        norm += numeric * numeric;
      }
      EXPECT_GT(norm, 0) << layer.name;
      EXPECT_LE(std::sqrt(error), 1e-4 * std::sqrt(norm)) << layer.name << ", array of " << size;
      begin += size;
    }
  }
  EXPECT_EQ(begin, parameters_.size());
}

TEST_P(ConvGradient, AddsToWhatIsThere) {
  const std::vector<double> once = gradient();
  std::vector<double> twice = once;
  HWY_NAMESPACE::run_network(net_, Pass::gradient, group_, scratch_, twice.data());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(twice[i], 2 * once[i], 1e-9 * (1 + std::abs(once[i])));
  }
}

INSTANTIATE_TEST_SUITE_P(FullAndPartialGroups, ConvGradient,
                         ::testing::Values(Setting{"full", {16, 24, 3}, 4, 16, 7},
                                           Setting{"five", {16, 24, 3}, 4, 5, 7},
                                           Setting{"one", {16, 24, 3}, 4, 1, 7}),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    LatentLosses, ConvGradient,
    ::testing::Values(Setting{"divergence", {16, 24, 3}, 4, 5, 1, LatentLoss::divergence},
                      Setting{"triplets", {16, 24, 3}, 4, 16, 7, LatentLoss::triplets},
                      Setting{"wide_triplets", {11, 8, 3}, 7, 3, 1, LatentLoss::triplets}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(OtherShapes, ConvGradient,
                         ::testing::Values(Setting{"grey_odd", {9, 13, 1}, 4, 5, 1},
                                           Setting{"two_colours", {10, 8, 2}, 4, 3, 1},
                                           Setting{"four_colours_odd", {8, 15, 4}, 4, 3, 1},
                                           Setting{"narrow", {16, 8, 3}, 2, 3, 1},
                                           Setting{"wide_odd", {11, 8, 3}, 7, 3, 1},
                                           Setting{"wider", {8, 8, 1}, 12, 2, 1}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace aurora::native
