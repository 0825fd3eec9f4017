#include "aurora/encoders/pca.hpp"

#include <algorithm>
#include <cstdint>
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

constexpr std::size_t kRowGrain = 32;        // individuals per task
constexpr std::size_t kValidationShare = 4;  // as in training.hpp: one in four is held out

class Pca final : public Encoder {
 public:
  Pca(const PcaConfig& config, const SensoryShape& shape, std::size_t dimension, Stream& stream)
      : config_(config),
        shape_(shape),
        scaling_(InputScaling::identity(shape.size())),
        axes_(random_axes(dimension, shape.size(), stream)) {}

  std::size_t dimension() const override { return axes_.rows(); }

  TrainingReport train(const TrainingSet& set, Stream& stream, Workers& workers,
                       const AfterEpoch& /*after_epoch*/) override {
    const SensoryView data = set.data;
    check_shape(shape_, data);
    scaling_ = InputScaling::fit(data, workers);
    std::vector<std::uint32_t> rows = stream.permutation(data.rows());
    rows.resize(std::min(rows.size(), config_.max_examples));
    std::vector<std::uint32_t> validation;
    if (shape_.size() > kPcaExactSide && rows.size() > kPcaExactSide) {
      const std::size_t held_out =
          std::min(rows.size() - kPcaExactSide, kPcaExactSide / (kValidationShare - 1));
      validation.assign(rows.begin() + kPcaExactSide,
                        rows.begin() + static_cast<std::ptrdiff_t>(kPcaExactSide + held_out));
      rows.resize(kPcaExactSide);
    }
    // In storage order: kind to memory, and exact sums do not mind.
    std::ranges::sort(rows);

    TrainingReport report;
    report.examples = rows.size() + validation.size();
    report.validation = validation.size();
    report.epochs = 1;
    report.train_loss = find_axes(data, rows, workers);
    report.validation_loss =
        validation.empty() ? report.train_loss : mean_squared_error(data, validation, workers);
    return report;
  }

  void encode(SensoryView data, MatrixView<float> descriptors, std::span<float> error,
              Workers& workers) const override {
    check_shape(shape_, data);
    check_outputs(data.rows(), dimension(), descriptors, error);
    workers.parallel_for(data.rows(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> x(shape_.size());
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, i, x);
        project(x, descriptors.row(i));
        if (error.empty()) continue;
        add_axes(descriptors.row(i), -1.0F, x);
        error[i] = lane_norm(x);
      }
    });
  }

  void reconstruct(SensoryView data, MatrixView<float> out, Workers& workers) const override {
    check_shape(shape_, data);
    check_outputs(data.rows(), shape_.size(), out, {});
    workers.parallel_for(data.rows(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> x(shape_.size()), descriptor(dimension());
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, i, x);
        project(x, descriptor);
        std::ranges::fill(x, 0.0F);
        add_axes(descriptor, 1.0F, x);
        const std::span<float> row = out.row(i);
        for (std::size_t j = 0; j < x.size(); ++j) {
          row[j] = x[j] / scaling_.scale[j] + scaling_.mean[j];
        }
      }
    });
  }

  std::vector<NamedArray> state() const override {
    std::vector<NamedArray> state;
    append_scaling(state, shape_, scaling_);
    state.push_back({axes_spec().name,
                     axes_spec().shape,
                     {axes_.data(), axes_.data() + axes_.rows() * axes_.cols()}});
    return state;
  }

  void set_state(std::span<const NamedArray> state) override {
    std::vector<ArraySpec> expected = scaling_specs(shape_);
    expected.push_back(axes_spec());
    check_state(state, expected);
    scaling_ = {state[0].values, state[1].values};
    std::ranges::copy(state[2].values, axes_.data());
  }

 private:
  /// `pca.axes`: {dimension, extents of the sensory data...}, an axis a row.
  ArraySpec axes_spec() const {
    std::vector<std::size_t> extents = {dimension()};
    extents.insert(extents.end(), shape_.extents.begin(), shape_.extents.end());
    return {"pca.axes", extents};
  }

  void project(std::span<const float> x, std::span<float> descriptor) const {
    for (std::size_t k = 0; k < descriptor.size(); ++k) {
      descriptor[k] = lane_dot<float>(axes_.row(k), x);
    }
  }

  /// x += sign * sum_k descriptor_k * axis_k
  void add_axes(std::span<const float> descriptor, float sign, std::span<float> x) const {
    for (std::size_t k = 0; k < descriptor.size(); ++k) {
      const std::span<const float> axis = axes_.row(k);
      const float weight = sign * descriptor[k];
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += weight * axis[j];
    }
  }

  /// Sets the axes from these rows; returns their mean squared error in scaled space.
  double find_axes(SensoryView data, std::span<const std::uint32_t> rows, Workers& workers) {
    Matrix<float> x(rows.size(), shape_.size());
    workers.parallel_for(rows.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) scaling_.apply(data, rows[i], x.row(i));
    });
    PrincipalAxes found = principal_axes(x, dimension(), workers);
    axes_ = std::move(found.axes);
    return found.unexplained;
  }

  /// Of these rows and their projections, in scaled space.
  double mean_squared_error(SensoryView data, std::span<const std::uint32_t> rows,
                            Workers& workers) const {
    std::vector<float> error(rows.size());
    workers.parallel_for(rows.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> x(shape_.size()), descriptor(dimension());
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, rows[i], x);
        project(x, descriptor);
        add_axes(descriptor, -1.0F, x);
        error[i] = lane_norm(x);
      }
    });
    return lane_dot<double>(error, error) /
           (static_cast<double>(rows.size()) * static_cast<double>(shape_.size()));
  }

  PcaConfig config_;
  SensoryShape shape_;
  InputScaling scaling_;
  Matrix<float> axes_;  // dimension x features
};

}  // namespace

std::unique_ptr<Encoder> make_pca(const PcaConfig& config, const SensoryShape& shape,
                                  std::size_t dimension, Stream& stream) {
  if (config.max_examples == 0) throw UsageError("encoder.max_examples must be at least 1");
  check_dimension(shape, dimension);
  return std::make_unique<Pca>(config, shape, dimension, stream);
}

EncoderEntry pca_part() {
  return part<PcaConfig>("pca", "principal component analysis: no training, linear")
      .option("max_examples", &PcaConfig::max_examples, 1, 10'000'000,
              "individuals used for an update, at most")
      .made_by([](const PcaConfig& config, const EncoderContext& context) {
        return make_pca(config, context.shape, context.dimension, context.stream);
      });
}

}  // namespace aurora
