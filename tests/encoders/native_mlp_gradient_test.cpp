// The gradients of the fully connected network, written by hand, against central differences: the
// same templates in double precision, compiled for the baseline instruction set.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/encoders/native/mlp_network_inl.hpp"
#include "example_data.hpp"

namespace aurora::native {
namespace {

struct Setting {
  std::size_t count;  // individuals in the group
  LatentLoss latent_loss = LatentLoss::none;
  friend void PrintTo(const Setting& s, std::ostream* out) {
    constexpr const char* kNames[] = {"plain", "divergence", "triplets"};
    *out << s.count << kNames[static_cast<int>(s.latent_loss)];
  }
};

class MlpGradient : public ::testing::TestWithParam<Setting> {
 protected:
  MlpGradient()
      : data_(arcs(kLanes, 9, 3)),
        layout_(autoencoder_layout({.kind = AutoencoderKind::mlp_ae,
                                    .latent_loss = GetParam().latent_loss,
                                    .beta = 0.7,
                                    .weight = 0.3,
                                    .hidden = {13, 8}},
                                   data_.shape(), 5)),
        net_(layout_),
        scratch_(net_),
        scaling_(InputScaling::identity(layout_.input.size())) {
    Stream stream(7, Purpose::user);
    for (const float p : draw_parameters(layout_, stream)) {
      // Variances start at 0, where a gradient may be right by accident.
      parameters_.push_back((p == 0 ? 0.3 * stream.uniform() : p));
    }
    group_ = {.count = GetParam().count, .element = ElementType::float32, .scaling = &scaling_};
    for (float& value : noise_) value = static_cast<float>(stream.normal());
    for (std::size_t i = 0; i < kLanes; ++i) {
      group_.rows[i] = data_.view().bytes(i < group_.count ? i : 0).data();
      if (i < group_.count) group_.noise[i] = noise_.data() + i * 5;
      group_.fitness[i] = static_cast<float>(stream.uniform());
    }
  }

  double loss_at(std::size_t i, double value) {
    const double kept = parameters_[i];
    parameters_[i] = value;
    net_.set_parameters(parameters_.data());
    HWY_NAMESPACE::run_network<double>(net_, Pass::error, group_, scratch_, nullptr);
    parameters_[i] = kept;
    double sum = 0;
    for (std::size_t k = 0; k < group_.count; ++k)
      sum += scratch_.squares[k] + scratch_.latent.loss[k];
    return sum / 2;
  }

  SensoryData data_;
  AutoencoderLayout layout_;
  MlpNetwork<double> net_;
  MlpScratch<double> scratch_;
  InputScaling scaling_;
  Group group_;
  LineVector<double> parameters_;
  std::array<float, 5 * kLanes> noise_{};
};

TEST_P(MlpGradient, EqualsCentralDifferencesInEveryLayer) {
  std::vector<double> exact(parameters_.size());
  net_.set_parameters(parameters_.data());
  HWY_NAMESPACE::run_network(net_, Pass::gradient, group_, scratch_, exact.data());
  std::size_t begin = 0;
  for (const LayerSpec& layer : layout_.layers) {
    for (const std::size_t size : {layer.weights(), layer.outputs}) {
      double error = 0, norm = 0;
      for (std::size_t i = begin; i < begin + size; ++i) {
        constexpr double kStep = 1e-5;
        const double numeric =
            (loss_at(i, parameters_[i] + kStep) - loss_at(i, parameters_[i] - kStep)) / (2 * kStep);
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

INSTANTIATE_TEST_SUITE_P(
    FullAndPartialGroups, MlpGradient,
    ::testing::Values(Setting{16}, Setting{5}, Setting{1}, Setting{16, LatentLoss::divergence},
                      Setting{3, LatentLoss::divergence}, Setting{16, LatentLoss::triplets},
                      Setting{3, LatentLoss::triplets}, Setting{2, LatentLoss::triplets}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace aurora::native
