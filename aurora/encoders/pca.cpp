#include "aurora/encoders/pca.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/encoders/autoencoder.hpp"
#include "aurora/encoders/encoder_state.hpp"
#include "aurora/encoders/lane_sums.hpp"
#include "aurora/encoders/scaling.hpp"

namespace aurora {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;

constexpr std::size_t kRowGrain = 32;  // individuals per task
constexpr Index kTile = 64;            // side of the tiles of a product that one task computes
constexpr Index kSlab = 256;           // terms summed in single precision before going to double
// Axes whose variance is below this share of the largest are rounding noise.
constexpr double kRankTolerance = 1e-7;
constexpr std::size_t kValidationShare = 4;  // as in training.hpp: one in four is held out

/// x x^T in double precision, for a row-major x (rows of the result are rows of x).
/// Tiles and slabs are of fixed size: the same bits for any number of threads.
Eigen::MatrixXd outer_product(const RowMajor& x, Workers& workers) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(x.rows(), x.rows());
  const Index tiles = (x.rows() + kTile - 1) / kTile;
  const auto compute_tile = [&](Index row, Index col) {
    const Index rows = std::min(kTile, x.rows() - row), cols = std::min(kTile, x.rows() - col);
    Eigen::MatrixXf part(rows, cols);
    for (Index k = 0; k < x.cols(); k += kSlab) {
      const Index terms = std::min(kSlab, x.cols() - k);
      part.noalias() = x.block(row, k, rows, terms) * x.block(col, k, cols, terms).transpose();
      product.block(row, col, rows, cols) += part.cast<double>();
    }
  };
  // The eigensolver reads the lower triangle only.
  workers.parallel_for(
      static_cast<std::size_t>(tiles * tiles), 1, [&](std::size_t task, std::size_t) {
        const Index i = static_cast<Index>(task) / tiles, j = static_cast<Index>(task) % tiles;
        if (j <= i) compute_tile(i * kTile, j * kTile);
      });
  return product;
}

/// Orients the axis: its largest entry is positive.
void fix_sign(std::span<float> axis) {
  const auto largest =
      std::ranges::max_element(axis, {}, [](float value) { return std::abs(value); });
  if (*largest >= 0.0F) return;
  for (float& value : axis) value = -value;
}

void store_normalised(const Eigen::VectorXd& vector, std::span<float> axis) {
  const double norm = vector.norm();
  for (std::size_t j = 0; j < axis.size(); ++j) {
    axis[j] = static_cast<float>(vector[static_cast<Index>(j)] / norm);
  }
  fix_sign(axis);
}

/// Random directions, orthogonalised one after the other (twice: once loses digits).
Matrix<float> random_axes(std::size_t count, std::size_t features, Stream& stream) {
  Eigen::MatrixXd axes(static_cast<Index>(features), static_cast<Index>(count));
  Matrix<float> out(count, features);
  for (Index k = 0; k < axes.cols(); ++k) {
    auto axis = axes.col(k);
    for (Index j = 0; j < axes.rows(); ++j) axis[j] = stream.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (Index other = 0; other < k; ++other) {
        axis -= axes.col(other).dot(axis) * axes.col(other);
      }
      axis.normalize();
    }
    store_normalised(axis, out.row(static_cast<std::size_t>(k)));
  }
  return out;
}

class Pca final : public Encoder {
 public:
  Pca(const PcaConfig& config, const SensoryShape& shape, std::size_t dimension, Stream& stream)
      : config_(config),
        shape_(shape),
        scaling_(InputScaling::identity(shape.size())),
        axes_(random_axes(dimension, shape.size(), stream)) {}

  std::size_t dimension() const override { return axes_.rows(); }

  TrainingReport train(SensoryView data, Stream& stream, Workers& workers,
                       const AfterEpoch& /*after_epoch*/) override {
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
    RowMajor x(static_cast<Index>(rows.size()), static_cast<Index>(shape_.size()));
    workers.parallel_for(rows.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        scaling_.apply(data, rows[i], {x.row(static_cast<Index>(i)).data(), shape_.size()});
      }
    });
    const bool over_features = x.cols() <= x.rows();
    const Eigen::MatrixXd product =
        over_features ? outer_product(x.transpose(), workers) : outer_product(x, workers);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(product);
    if (solver.info() != Eigen::Success) {
      throw DataError("pca: the eigendecomposition failed; is the sensory data finite?");
    }

    // Eigenvalues come in ascending order.
    const Index side = product.rows();
    const double largest = std::max(solver.eigenvalues()[side - 1], 0.0);
    double explained = 0;
    for (std::size_t k = 0; k < dimension(); ++k) {
      const Index e = side - 1 - static_cast<Index>(k);
      const double variance = e >= 0 ? solver.eigenvalues()[e] : 0.0;
      if (variance <= kRankTolerance * largest) {
        std::ranges::fill(axes_.row(k), 0.0F);
        continue;
      }
      explained += variance;
      const Eigen::VectorXd vector = solver.eigenvectors().col(e);
      store_normalised(over_features ? vector : combine(x, vector), axes_.row(k));
    }
    const double values = static_cast<double>(x.rows()) * static_cast<double>(x.cols());
    return std::max(product.trace() - explained, 0.0) / values;
  }

  /// x^T weights: the axis that belongs to an eigenvector of x x^T.
  static Eigen::VectorXd combine(const RowMajor& x, const Eigen::VectorXd& weights) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(x.cols());
    for (Index i = 0; i < x.rows(); ++i) sum += weights[i] * x.row(i).transpose().cast<double>();
    return sum;
  }

  double mean_squared_error(SensoryView data, std::span<const std::uint32_t> rows,
                            Workers& workers) const {
    Matrix<float> descriptor(rows.size(), dimension());
    std::vector<float> error(rows.size());
    workers.parallel_for(rows.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      Workers alone;
      for (std::size_t i = begin; i < end; ++i) {
        encode(data.slice(rows[i], 1), descriptor.view().slice(i, 1), {&error[i], 1}, alone);
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
