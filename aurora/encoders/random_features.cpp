#include "aurora/encoders/random_features.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/lane_sums.hpp"
#include "aurora/encoders/principal_axes.hpp"
#include "aurora/encoders/scaling.hpp"

namespace aurora {
namespace {

constexpr std::size_t kFourierGrain = 32;     // individuals per task
constexpr std::size_t kRegressionShares = 8;  // of the rows, in a regression

constexpr std::size_t kBlock = 4;  // pixels, along each side

/// What the features look at: pictures block by block, everything else as it is.
class Glance {
 public:
  explicit Glance(const SensoryShape& shape)
      : sensed_(shape.extents),
        extents_(shape.extents),
        blocks_(shape.is_picture() && std::min(sensed_[0], sensed_[1]) >= kBlock) {
    if (!blocks_) return;
    extents_[0] = (sensed_[0] + kBlock - 1) / kBlock;
    extents_[1] = (sensed_[1] + kBlock - 1) / kBlock;
  }

  /// Of what is looked at: blocks high, blocks across, channels; or those of the data.
  const std::vector<std::size_t>& extents() const { return extents_; }
  std::size_t size() const { return SensoryShape{extents_}.size(); }

  /// From a scaled row. A block at the border may have fewer pixels, and is their mean.
  void look(std::span<const float> x, std::span<float> out) const {
    if (!blocks_) {
      std::ranges::copy(x, out.begin());
      return;
    }
    std::ranges::fill(out, 0.0F);
    const std::size_t across = extents_[1], channels = extents_[2];
    const float* pixel = x.data();
    for (std::size_t i = 0; i < sensed_[0]; ++i) {
      for (std::size_t j = 0; j < sensed_[1]; ++j, pixel += channels) {
        float* sum = out.data() + (i / kBlock * across + j / kBlock) * channels;
        for (std::size_t c = 0; c < channels; ++c) sum[c] += pixel[c];
      }
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::size_t block = k / channels;
      const std::size_t pixels = pixels_along(0, block / across) * pixels_along(1, block % across);
      out[k] *= 1.0F / static_cast<float>(pixels);
    }
  }

 private:
  /// Of a block, along a side of the picture.
  std::size_t pixels_along(std::size_t side, std::size_t block) const {
    return std::min(kBlock, sensed_[side] - block * kBlock);
  }

  std::vector<std::size_t> sensed_;   // of the data
  std::vector<std::size_t> extents_;  // of what is looked at
  bool blocks_;
};

class RandomFeatures final : public Encoder {
 public:
  RandomFeatures(const RandomFeaturesConfig& config, const EncoderContext& context)
      : config_(config),
        shape_(context.shape),
        glance_(shape_),
        scaling_(InputScaling::identity(shape_.size())),
        weights_(config.features, glance_.size()),
        phases_(config.features),
        gain_(static_cast<float>(1 / config.bandwidth)),
        mean_(config.features),
        decoder_(context.dimension, shape_.size()) {
    const double deviation = 1 / std::sqrt(static_cast<double>(weights_.cols()));
    for (std::size_t k = 0; k < weights_.rows(); ++k) {
      for (float& w : weights_.row(k)) {
        w = static_cast<float>(deviation * context.stream.normal());
      }
    }
    for (float& b : phases_) {
      b = static_cast<float>(2 * std::numbers::pi * context.stream.uniform());
    }
    axes_ = random_axes(context.dimension, config.features, context.stream);
  }

  std::size_t dimension() const override { return axes_.rows(); }

  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
                       const AfterEpoch& /*after_epoch*/) override {
    check_shape(shape_, set.data);
    scaling_ = InputScaling::fit(set.data, workers);
    std::vector<std::uint32_t> rows = stream.permutation(set.data.rows());
    rows.resize(std::min(rows.size(), config_.max_examples));
    std::ranges::sort(rows);  // kind to memory

    const Matrix<float> descriptors = find_axes(set.data, rows, workers);  // and the gain
    find_decoder(set.data, rows, descriptors, workers);
    TrainingReport report{.examples = rows.size(), .epochs = 1};
    report.train_loss = mean_squared_error(set.data, rows, descriptors, workers);
    report.validation_loss = report.train_loss;
    return report;
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override {
    check_shape(shape_, data);
    check_outputs(data.rows(), dimension(), descriptors, error);
    for_rows(data, workers, [&](std::size_t i, Buffers& b) {
      project(b.features, descriptors.row(i));
      if (error.empty()) return;
      add_decoded(descriptors.row(i), -1.0F, b.x);
      error[i] = lane_norm(b.x);
    });
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const override {
    check_shape(shape_, data);
    check_outputs(data.rows(), shape_.size(), out, {});
    for_rows(data, workers, [&](std::size_t i, Buffers& b) {
      project(b.features, b.descriptor);
      std::ranges::fill(b.x, 0.0F);
      add_decoded(b.descriptor, 1.0F, b.x);
      const std::span<float> row = out.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = b.x[j] / scaling_.scale[j] + scaling_.mean[j];
      }
    });
  }

  std::vector<NamedArray> state() const override {
    std::vector<NamedArray> state;
    append_scaling(state, shape_, scaling_);
    const std::vector<ArraySpec> specs = own_specs();
    const auto add = [&](std::size_t i, const float* values, std::size_t count) {
      state.push_back({specs[i].name, specs[i].shape, {values, values + count}});
    };
    add(0, weights_.data(), weights_.rows() * weights_.cols());
    add(1, phases_.data(), phases_.size());
    add(2, &gain_, 1);
    add(3, mean_.data(), mean_.size());
    add(4, axes_.data(), axes_.rows() * axes_.cols());
    add(5, decoder_.data(), decoder_.rows() * decoder_.cols());
    return state;
  }

  void set_state(std::span<const NamedArray> state) override {
    std::vector<ArraySpec> expected = scaling_specs(shape_);
    for (ArraySpec& spec : own_specs()) expected.push_back(std::move(spec));
    check_state(state, expected);
    scaling_ = {state[0].values, state[1].values};
    std::ranges::copy(state[2].values, weights_.data());
    phases_ = state[3].values;
    gain_ = state[4].values[0];
    mean_ = state[5].values;
    std::ranges::copy(state[6].values, axes_.data());
    std::ranges::copy(state[7].values, decoder_.data());
  }

 private:
  /// A scaled row, what is looked at, its centred features, and room for its descriptor.
  struct Buffers {
    std::vector<float> x, seen, features, descriptor;
  };

  std::vector<ArraySpec> own_specs() const {
    const auto with = [&](std::size_t first, const std::vector<std::size_t>& more) {
      std::vector<std::size_t> extents = {first};
      extents.insert(extents.end(), more.begin(), more.end());
      return extents;
    };
    const std::size_t d = phases_.size();
    return {{"features.weight", with(d, glance_.extents())},
            {"features.phase", {d}},
            {"features.gain", {1}},
            {"features.mean", {d}},
            {"features.axes", {dimension(), d}},
            {"decoder.weight", with(dimension(), shape_.extents)}};
  }

  /// z, without its mean, of what is looked at.
  void features_of(std::span<const float> seen, std::span<float> out) const {
    const double amplitude = std::sqrt(2.0 / static_cast<double>(out.size()));
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double angle = static_cast<double>(gain_ * lane_dot<float>(weights_.row(k), seen)) +
                           static_cast<double>(phases_[k]);
      out[k] = static_cast<float>(amplitude * std::cos(angle)) - mean_[k];
    }
  }

  void project(std::span<const float> features, std::span<float> descriptor) const {
    for (std::size_t k = 0; k < descriptor.size(); ++k) {
      descriptor[k] = lane_dot<float>(axes_.row(k), features);
    }
  }

  /// x += sign * what the decoder says of the descriptor
  void add_decoded(std::span<const float> descriptor, float sign, std::span<float> x) const {
    for (std::size_t k = 0; k < descriptor.size(); ++k) {
      const std::span<const float> said = decoder_.row(k);
      const float weight = sign * descriptor[k];
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += weight * said[j];
    }
  }

  /// Calls body(i, buffers) with each row scaled and its features found.
  template <class Body>
  void for_rows(SensoryView data, Workers& workers, const Body& body) const {
    workers.parallel_for(data.rows(), kFourierGrain, [&](std::size_t begin, std::size_t end) {
      Buffers buffers{std::vector<float>(shape_.size()), std::vector<float>(glance_.size()),
                      std::vector<float>(phases_.size()), std::vector<float>(dimension())};
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, i, buffers.x);
        glance_.look(buffers.x, buffers.seen);
        features_of(buffers.seen, buffers.features);
        body(i, buffers);
      }
    });
  }

  /// Returns the descriptors of these rows.
  Matrix<float> find_axes(SensoryView data, std::span<const std::uint32_t> rows, Workers& workers) {
    Matrix<float> seen(rows.size(), glance_.size());
    workers.parallel_for(rows.size(), kFourierGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> x(shape_.size());
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, rows[i], x);
        glance_.look(x, seen.row(i));
      }
    });
    double squares = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      squares += lane_dot<double>(seen.row(i), seen.row(i));
    }
    const double variance = squares / static_cast<double>(seen.rows() * seen.cols());
    gain_ = static_cast<float>(1 / (config_.bandwidth * std::sqrt(variance > 0 ? variance : 1)));

    std::ranges::fill(mean_, 0.0F);
    Matrix<float> features(rows.size(), phases_.size());
    workers.parallel_for(rows.size(), kFourierGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) features_of(seen.row(i), features.row(i));
    });
    std::vector<double> sum(mean_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(features(i, k));
    }
    for (std::size_t k = 0; k < sum.size(); ++k) {
      mean_[k] = static_cast<float>(sum[k] / static_cast<double>(rows.size()));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < sum.size(); ++k) features(i, k) -= mean_[k];
    }
    axes_ = principal_axes(features, dimension(), workers).axes;
    Matrix<float> descriptors(rows.size(), dimension());
    workers.parallel_for(rows.size(), kFourierGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) project(features.row(i), descriptors.row(i));
    });
    return descriptors;
  }

  /// Descriptors along different axes do not correlate, so each has a regression of its own.
  void find_decoder(SensoryView data, std::span<const std::uint32_t> rows,
                    const Matrix<float>& descriptors, Workers& workers) {
    // Shares of the rows are summed apart and then in order: part of the bits.
    std::vector<Matrix<double>> sums(kRegressionShares, Matrix<double>(dimension(), shape_.size()));
    workers.parallel_for(kRegressionShares, 1, [&](std::size_t share, std::size_t) {
      std::vector<float> x(shape_.size());
      for (std::size_t i = share; i < rows.size(); i += kRegressionShares) {
        scaling_.apply(data, rows[i], x);
        for (std::size_t k = 0; k < dimension(); ++k) {
          const double weight = static_cast<double>(descriptors(i, k));
          const std::span<double> sum = sums[share].row(k);
          for (std::size_t j = 0; j < x.size(); ++j) sum[j] += weight * static_cast<double>(x[j]);
        }
      }
    });
    for (std::size_t k = 0; k < dimension(); ++k) {
      double squares = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        squares += static_cast<double>(descriptors(i, k)) * static_cast<double>(descriptors(i, k));
      }
      for (std::size_t j = 0; j < shape_.size(); ++j) {
        double sum = 0;
        for (const Matrix<double>& share : sums) sum += share(k, j);
        decoder_(k, j) = squares > 0 ? static_cast<float>(sum / squares) : 0.0F;
      }
    }
  }

  /// Of what the decoder says of these rows, in scaled space.
  double mean_squared_error(SensoryView data, std::span<const std::uint32_t> rows,
                            const Matrix<float>& descriptors, Workers& workers) const {
    std::vector<float> error(rows.size());
    workers.parallel_for(rows.size(), kFourierGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> x(shape_.size());
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, rows[i], x);
        add_decoded(descriptors.row(i), -1.0F, x);
        error[i] = lane_norm(x);
      }
    });
    return lane_dot<double>(error, error) /
           (static_cast<double>(rows.size()) * static_cast<double>(shape_.size()));
  }

  RandomFeaturesConfig config_;
  SensoryShape shape_;
  Glance glance_;
  InputScaling scaling_;
  Matrix<float> weights_;      // D x what is looked at
  std::vector<float> phases_;  // D
  float gain_;
  std::vector<float> mean_;  // of z
  Matrix<float> axes_;       // n x D
  Matrix<float> decoder_;    // n x features of the data
};

/// What there is to say against a dimension; empty if nothing is.
std::string too_many_dimensions(const RandomFeaturesConfig& config, std::size_t dimension) {
  if (dimension <= config.features) return {};
  return "descriptor.dimension=" + std::to_string(dimension) +
         " and encoder.features=" + std::to_string(config.features) +
         ": it takes at least as many features as dimensions";
}

}  // namespace

EncoderEntry random_features_part() {
  using Config = RandomFeaturesConfig;
  return part<Config>("rff-pca", "random Fourier features and their principal components")
      .option("features", &Config::features, 2, 100'000, "random Fourier features")
      .option("bandwidth", &Config::bandwidth, Range{1e-6, 1e6},
              "of the kernel, in standard deviations of the data")
      .option("max_examples", &Config::max_examples, 1, 10'000'000,
              "individuals used for an update, at most")
      .refuses([](const Config& config, const Mix& mix) {
        return too_many_dimensions(config, mix.descriptor_size);
      })
      .made_by([](const Config& config, const EncoderContext& context) {
        check_dimension(context.shape, context.dimension);
        const std::string reason = too_many_dimensions(config, context.dimension);
        if (!reason.empty()) throw UsageError("encoder.kind=rff-pca does not go with " + reason);
        return std::make_unique<RandomFeatures>(config, context);
      });
}

}  // namespace aurora
