#include "aurora/encoders/pca.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/scaling.hpp"
#include "example_data.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

struct Encoded {
  Matrix<float> descriptors;
  std::vector<float> error;
};

Encoded encode(const Encoder& encoder, SensoryView data, std::size_t threads = 1) {
  Encoded out{Matrix<float>(data.rows(), encoder.dimension()), std::vector<float>(data.rows())};
  Workers workers(threads);
  encoder.encode(data, out.descriptors, out.error, workers);
  return out;
}

std::unique_ptr<Encoder> make(const SensoryShape& shape, std::size_t dimension,
                              std::uint64_t seed = 1, PcaConfig config = {}) {
  Stream stream(seed, Purpose::encoder_weights);
  return make_pca(config, shape, dimension, stream);
}

TrainingReport train(Encoder& encoder, SensoryView data, std::size_t threads = 1) {
  Stream stream(1, Purpose::encoder_training);
  Workers workers(threads);
  return encoder.train(data, stream, workers);
}

/// Numbers of decreasing spread along fixed directions, and a little noise.
SensoryData noisy_mixture(std::size_t rows, std::size_t features, std::uint64_t seed) {
  SensoryData data({{features}, ElementType::float32}, rows);
  Stream stream(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = data.mutable_view().row<float>(i);
    for (std::size_t j = 0; j < features; ++j) row[j] = static_cast<float>(0.1 * stream.normal());
    for (std::size_t k = 1; k <= 6; ++k) {
      const double weight = stream.normal() / static_cast<double>(k);
      for (std::size_t j = 0; j < features; ++j) {
        row[j] += static_cast<float>(weight * std::sin(static_cast<double>((j + 1) * k) * 0.37));
      }
    }
  }
  return data;
}

/// X: the data, scaled with the straightforward formulas.
Eigen::MatrixXd scaled(SensoryView data) {
  Eigen::MatrixXd x(data.rows(), data.shape().size());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      x(i, j) = value_at(data, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
  }
  x.rowwise() -= x.colwise().mean().eval();
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    x.col(j) /= std::sqrt(x.col(j).squaredNorm() / static_cast<double>(x.rows())) + 0.001;
  }
  return x;
}

void expect_full_decomposition(SensoryView data, std::size_t dimension) {
  const auto encoder = make(data.shape(), dimension);
  const TrainingReport report = train(*encoder, data, 2);
  const Encoded encoded = encode(*encoder, data);

  const Eigen::MatrixXd x = scaled(data);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(x.transpose() * x);
  Eigen::MatrixXd axes = solver.eigenvectors().rightCols(dimension).rowwise().reverse();
  for (Eigen::Index k = 0; k < axes.cols(); ++k) {
    Eigen::Index largest = 0;
    axes.col(k).cwiseAbs().maxCoeff(&largest);
    if (axes(largest, k) < 0) axes.col(k) *= -1;
  }
  const Eigen::MatrixXd expected = x * axes;
  const Eigen::MatrixXd residual = x - expected * axes.transpose();
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    for (std::size_t k = 0; k < dimension; ++k) {
      ASSERT_NEAR(encoded.descriptors(i, k), expected(row, static_cast<Eigen::Index>(k)), 2e-3)
          << "row " << i << ", axis " << k;
    }
    ASSERT_NEAR(encoded.error[i], residual.row(row).norm(), 1e-3) << "row " << i;
  }
  EXPECT_EQ(report.examples, data.rows());
  EXPECT_EQ(report.validation, 0U);
  EXPECT_NEAR(report.train_loss, residual.squaredNorm() / static_cast<double>(x.size()), 1e-5);
}

TEST(Pca, EqualsTheFullDecompositionWithMoreRowsThanFeatures) {
  const SensoryData data = noisy_mixture(300, 40, 1);
  expect_full_decomposition(data.view(), 4);
}

TEST(Pca, EqualsTheFullDecompositionWithMoreFeaturesThanRows) {
  const SensoryData data = noisy_mixture(60, 200, 2);
  expect_full_decomposition(data.view(), 4);
}

TEST(Pca, AxesAreOrthonormalAndOriented) {
  const SensoryData data = noisy_mixture(100, 300, 3);
  const auto encoder = make(data.shape(), 5);
  for (const bool trained : {false, true}) {
    if (trained) train(*encoder, data.view());
    const NamedArray axes = encoder->state()[2];
    EXPECT_EQ(axes.name, "pca.axes");
    EXPECT_EQ(axes.shape, (std::vector<std::size_t>{5, 300}));
    const auto m =
        Eigen::Map<const Eigen::Matrix<float, 5, 300, Eigen::RowMajor>>(axes.values.data());
    EXPECT_TRUE((m * m.transpose()).isIdentity(1e-5F)) << trained;
    for (Eigen::Index k = 0; k < 5; ++k) {
      EXPECT_EQ(m.row(k).maxCoeff(), m.row(k).cwiseAbs().maxCoeff()) << trained;
    }
  }
}

TEST(Pca, DimensionsBeyondTheRankAreZero) {
  const SensoryData data = noisy_mixture(3, 50, 4);  // three centred rows: rank two
  const auto encoder = make(data.shape(), 6);
  train(*encoder, data.view());
  const Encoded encoded = encode(*encoder, data.view());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(std::abs(encoded.descriptors(i, 0)), 1e-3F);
    for (std::size_t k = 2; k < 6; ++k) EXPECT_EQ(encoded.descriptors(i, k), 0.0F);
    EXPECT_NEAR(encoded.error[i], 0.0F, 1e-3F);
  }
}

TEST(Pca, ConstantDataGivesNoNan) {
  SensoryData data({{8, 8, 3}, ElementType::uint8}, 20);
  for (std::size_t i = 0; i < 20; ++i)
    std::ranges::fill(data.mutable_view().row<std::uint8_t>(i), 128);
  const auto encoder = make(data.shape(), 3);
  const TrainingReport report = train(*encoder, data.view());
  EXPECT_NEAR(report.train_loss, 0.0, 1e-6);
  const Encoded encoded = encode(*encoder, data.view());
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(std::isfinite(encoded.error[i]));
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(encoded.descriptors(i, k)));
  }
}

TEST(Pca, ErrorIsTheDistanceToTheReconstruction) {
  const SensoryData data = spot_pictures(200, 8, 5);
  const auto encoder = make(data.shape(), 6);
  train(*encoder, data.view());
  const Encoded encoded = encode(*encoder, data.view());
  Matrix<float> pictures(200, 192);
  Workers workers(2);
  encoder->reconstruct(data.view(), pictures, workers);
  const InputScaling scaling = InputScaling::fit(data.view(), workers);
  for (std::size_t i = 0; i < 200; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < 192; ++j) {
      square += std::pow((value_at(data.view(), i, j) - pictures(i, j)) * scaling.scale[j], 2);
    }
    ASSERT_NEAR(encoded.error[i], std::sqrt(square), 2e-3) << i;
  }
}

TEST(Pca, SubsampleOfManyWideRowsGeneralises) {
  // Above the exact side in both directions.
  const SensoryData data = noisy_mixture(kPcaExactSide + 500, 2 * kPcaExactSide, 6);
  const auto encoder = make(data.shape(), 6);
  const TrainingReport report = train(*encoder, data.view(), 2);
  EXPECT_EQ(report.examples, kPcaExactSide + 341);
  EXPECT_EQ(report.validation, 341U);
  // The mixture has six directions; what remains is noise of about 0.1^2 / total variance.
  EXPECT_LT(report.train_loss, 0.05);
  EXPECT_LT(report.validation_loss, 0.05);
}

TEST(Pca, SameBitsForAnyNumberOfThreadsAndAnySlice) {
  const SensoryData data = noisy_mixture(200, 150, 7);
  const auto expected = make(data.shape(), 5);
  train(*expected, data.view(), 1);
  const Encoded all = encode(*expected, data.view(), 1);
  for (const std::size_t threads : {2, 3, 8}) {
    const auto encoder = make(data.shape(), 5);
    train(*encoder, data.view(), threads);
    EXPECT_EQ(encoder->state()[2].values, expected->state()[2].values) << threads;
    const Encoded encoded = encode(*encoder, data.view(), threads);
    EXPECT_EQ(encoded.descriptors, all.descriptors);
    EXPECT_EQ(encoded.error, all.error);
  }
  const Encoded slice = encode(*expected, data.view().slice(37, 5));
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(slice.descriptors(i, k), all.descriptors(37 + i, k));
    }
    EXPECT_EQ(slice.error[i], all.error[37 + i]);
  }
}

TEST(Pca, StateRoundTripAndRefusalOfBrokenOnes) {
  const SensoryData data = noisy_mixture(100, 30, 8);
  const auto encoder = make(data.shape(), 3);
  train(*encoder, data.view());
  const Encoded expected = encode(*encoder, data.view());
  const auto other = make(data.shape(), 3, 99);
  other->set_state(encoder->state());
  EXPECT_EQ(encode(*other, data.view()).descriptors, expected.descriptors);

  std::vector<NamedArray> state = make(data.shape(), 3, 5)->state();
  state[2].values[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(other->set_state(state), DataError);
  state = make(data.shape(), 4, 5)->state();
  EXPECT_THROW(other->set_state(state), DataError);
  EXPECT_EQ(encode(*other, data.view()).descriptors, expected.descriptors) << "unchanged";
}

TEST(Pca, RefusesNoDataAndForeignShapes) {
  const auto encoder = make({{30}, ElementType::float32}, 3);
  EXPECT_THROW(train(*encoder, SensoryData({{30}, ElementType::float32}).view()), DataError);
  EXPECT_THROW(train(*encoder, SensoryData({{31}, ElementType::float32}, 4).view()), DataError);
}

TEST(Pca, RefusesWhatMakesNoSense) {
  const SensoryShape sequence{{50, 2}, ElementType::float32};
  const auto refusal = [&](std::size_t dimension, std::size_t max_examples) -> std::string {
    try {
      make(sequence, dimension, 1, {.max_examples = max_examples});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(0, 1).find("between 1 and"), std::string::npos);
  EXPECT_NE(refusal(101, 1).find("50 x 2 = 100"), std::string::npos);
  EXPECT_NE(refusal(2, 0).find("encoder.max_examples"), std::string::npos);
  EXPECT_EQ(refusal(100, 1), "");
}

TEST(Pca, PartMakesIt) {
  const EncoderEntry entry = pca_part();
  EXPECT_EQ(entry.name, "pca");
  ASSERT_EQ(entry.options.size(), 1U);
  EXPECT_EQ(entry.options[0].name, "max_examples");
  EXPECT_EQ(entry.options[0].fallback.toml(), "10000");
  EXPECT_FALSE(read_option(entry, "max_examples=0"));
  const SensoryShape sequence{{50, 2}, ElementType::float32};
  Stream stream(1, Purpose::encoder_weights);
  const auto encoder = make_part(entry, {sequence, 3, stream});
  EXPECT_EQ(encoder->dimension(), 3U);
  const auto ours = encoder->state();
  const auto expected = make(sequence, 3)->state();
  ASSERT_EQ(ours.size(), expected.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].values, expected[i].values);
}

}  // namespace
}  // namespace aurora
