#include "aurora/encoders/random_features.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
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

std::unique_ptr<Encoder> make(const SensoryShape& shape, std::size_t dimension,
                              const std::vector<std::string>& assignments = {},
                              std::uint64_t seed = 1) {
  Stream stream(seed, Purpose::encoder_weights);
  return make_part(random_features_part(), {shape, dimension, stream}, assignments);
}

TrainingReport train(Encoder& encoder, SensoryView data, std::size_t threads = 1) {
  Stream stream(1, Purpose::encoder_training);
  Workers workers(threads);
  return encoder.train(data, stream, workers);
}

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

/// The data in scaled space, a row each.
Eigen::MatrixXd scaled(SensoryView data) {
  Workers workers;
  const InputScaling scaling = InputScaling::fit(data, workers);
  Eigen::MatrixXd x(data.rows(), data.shape().size());
  std::vector<float> row(data.shape().size());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    scaling.apply(data, i, row);
    for (std::size_t j = 0; j < row.size(); ++j) {
      x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = row[j];
    }
  }
  return x;
}

// With many features the descriptors are those of kernel PCA with the Gaussian kernel, which needs
// no features: up to a rotation, eigenvectors of the centred kernel times the root of their
// eigenvalues.
TEST(RandomFeatures, ApproachKernelPca) {
  constexpr Eigen::Index kRows = 150;
  const SensoryData data = arcs(kRows, 12, 1);
  const auto encoder = make(data.shape(), 2, {"features=80000", "bandwidth=0.7"});
  train(*encoder, data.view(), 2);
  const Encoded encoded = encode(*encoder, data.view(), 2);

  const Eigen::MatrixXd x = scaled(data.view());
  const double variance = x.squaredNorm() / static_cast<double>(x.size());
  const double width = 0.7 * 0.7 * variance * static_cast<double>(x.cols());
  Eigen::MatrixXd kernel(kRows, kRows);
  for (Eigen::Index i = 0; i < kRows; ++i) {
    for (Eigen::Index j = 0; j < kRows; ++j) {
      kernel(i, j) = std::exp(-(x.row(i) - x.row(j)).squaredNorm() / (2 * width));
    }
  }
  const Eigen::MatrixXd centre = Eigen::MatrixXd::Identity(kRows, kRows) -
                                 Eigen::MatrixXd::Constant(kRows, kRows, 1.0 / kRows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(centre * kernel * centre);
  Eigen::MatrixXd expected(kRows, 2), ours(kRows, 2);
  for (Eigen::Index k = 0; k < 2; ++k) {
    const Eigen::Index e = kRows - 1 - k;
    expected.col(k) = solver.eigenvectors().col(e) * std::sqrt(solver.eigenvalues()[e]);
    for (Eigen::Index i = 0; i < kRows; ++i) {
      ours(i, k) = encoded.descriptors(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
    }
  }
  // Two components of nearly the same variance may be turned against each other.
  const Eigen::MatrixXd products = expected * expected.transpose();
  EXPECT_LT((ours * ours.transpose() - products).norm(), 0.03 * products.norm());
}

TEST(RandomFeatures, DecoderIsTheLeastSquaresOne) {
  const SensoryData data = arcs(400, 12, 1);
  const auto encoder = make(data.shape(), 3);
  const TrainingReport report = train(*encoder, data.view(), 2);
  const Encoded encoded = encode(*encoder, data.view());
  const Eigen::MatrixXd x = scaled(data.view());
  Eigen::MatrixXd d(x.rows(), 3);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index k = 0; k < 3; ++k) {
      d(i, k) = encoded.descriptors(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
    }
  }
  const Eigen::MatrixXd best = (d.transpose() * d).ldlt().solve(d.transpose() * x);
  const Eigen::MatrixXd residual = x - d * best;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    ASSERT_NEAR(encoded.error[static_cast<std::size_t>(i)], residual.row(i).norm(), 2e-3) << i;
  }
  EXPECT_NEAR(report.train_loss, residual.squaredNorm() / static_cast<double>(x.size()), 1e-4);
  EXPECT_LT(report.train_loss, 0.2);

  Matrix<float> said(400, data.shape().size());
  Workers workers;
  encoder->reconstruct(data.view(), said, workers);
  const InputScaling scaling = InputScaling::fit(data.view(), workers);
  for (std::size_t i = 0; i < 400; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < said.cols(); ++j) {
      square += std::pow((value_at(data.view(), i, j) - said(i, j)) * scaling.scale[j], 2);
    }
    ASSERT_NEAR(encoded.error[i], std::sqrt(square), 2e-3) << i;
  }
}

TEST(RandomFeatures, SameBitsForAnyNumberOfThreadsAndAnySlice) {
  const SensoryData data = spot_pictures(300, 16, 1);
  const auto expected = make(data.shape(), 4);
  train(*expected, data.view(), 1);
  const Encoded all = encode(*expected, data.view(), 1);
  for (const std::size_t threads : {2, 3, 8}) {
    const auto encoder = make(data.shape(), 4);
    train(*encoder, data.view(), threads);
    const auto ours = encoder->state(), theirs = expected->state();
    for (std::size_t k = 0; k < ours.size(); ++k) EXPECT_EQ(ours[k].values, theirs[k].values);
    EXPECT_EQ(encode(*encoder, data.view(), threads).error, all.error);
  }
  const Encoded slice = encode(*expected, data.view().slice(37, 5));
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(slice.descriptors(i, k), all.descriptors(37 + i, k));
    }
  }
}

TEST(RandomFeatures, ArraysOfTheStateHaveAsManyValuesAsTheirShapesSay) {
  for (const SensoryShape& shape :
       {SensoryShape{{64, 64, 3}, ElementType::uint8}, SensoryShape{{50, 2}, ElementType::float32},
        SensoryShape{{10, 14, 1}, ElementType::uint8}}) {
    for (const NamedArray& array : make(shape, 3)->state()) {
      std::size_t count = 1;
      for (const std::size_t extent : array.shape) count *= extent;
      EXPECT_EQ(array.values.size(), count) << array.name << " of " << describe(shape);
    }
  }
}

TEST(RandomFeatures, StateRoundTripAndRefusalOfBrokenOnes) {
  const SensoryData data = arcs(100, 12, 1);
  const auto encoder = make(data.shape(), 3);
  train(*encoder, data.view());
  const Encoded expected = encode(*encoder, data.view());
  const auto other = make(data.shape(), 3, {}, 99);
  other->set_state(encoder->state());
  EXPECT_EQ(encode(*other, data.view()).descriptors, expected.descriptors);
  EXPECT_EQ(encode(*other, data.view()).error, expected.error);
  std::vector<NamedArray> state = encoder->state();
  state.back().values[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(other->set_state(state), DataError);
  EXPECT_THROW(other->set_state(make(data.shape(), 4)->state()), DataError);
  EXPECT_THROW(other->set_state(make(data.shape(), 3, {"features=8"})->state()), DataError);
  EXPECT_EQ(encode(*other, data.view()).descriptors, expected.descriptors) << "unchanged";
}

const NamedArray& array_of(const std::vector<NamedArray>& state, const std::string& name) {
  return *std::ranges::find(state, name, &NamedArray::name);
}

// Pictures whose sides are no multiples of 4: the blocks at the border are smaller.
TEST(RandomFeatures, OfPicturesAreOfTheMeansOfTheirBlocks) {
  constexpr std::size_t kRows = 80, kHigh = 9, kWide = 14, kDown = 3, kAcross = 4, kChannels = 3;
  const SensoryData data = bar_pictures(kRows, kHigh, kWide, kChannels);
  const auto encoder = make(data.shape(), 2, {"features=20"});
  train(*encoder, data.view());
  const Encoded encoded = encode(*encoder, data.view());
  const std::vector<NamedArray> state = encoder->state();
  const NamedArray& weight = array_of(state, "features.weight");
  EXPECT_EQ(weight.shape, (std::vector<std::size_t>{20, kDown, kAcross, kChannels}));
  const Eigen::MatrixXd x = scaled(data.view());
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<double> seen;
    for (std::size_t block = 0; block < kDown * kAcross; ++block) {
      const std::size_t top = block / kAcross * 4, left = block % kAcross * 4;
      for (std::size_t c = 0; c < kChannels; ++c) {
        double sum = 0, pixels = 0;
        for (std::size_t y = top; y < std::min(top + 4, kHigh); ++y) {
          for (std::size_t z = left; z < std::min(left + 4, kWide); ++z, ++pixels) {
            sum += x(static_cast<Eigen::Index>(i),
                     static_cast<Eigen::Index>((y * kWide + z) * kChannels + c));
          }
        }
        seen.push_back(sum / pixels);
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      double descriptor = 0;
      for (std::size_t d = 0; d < 20; ++d) {
        double dot = 0;
        for (std::size_t j = 0; j < seen.size(); ++j) {
          dot += seen[j] * static_cast<double>(weight.values[d * seen.size() + j]);
        }
        const double gain = array_of(state, "features.gain").values[0];
        const double z =
            std::sqrt(0.1) *
            std::cos(gain * dot + static_cast<double>(array_of(state, "features.phase").values[d]));
        descriptor += (z - static_cast<double>(array_of(state, "features.mean").values[d])) *
                      static_cast<double>(array_of(state, "features.axes").values[k * 20 + d]);
      }
      ASSERT_NEAR(encoded.descriptors(i, k), descriptor, 1e-4) << i;
    }
  }
}

TEST(RandomFeatures, StateOfPicturesRoundTrip) {
  for (const std::size_t side : {3U, 16U, 18U}) {  // too small for blocks; whole blocks; a rest
    const SensoryData data = bar_pictures(60, side, side, 3);
    const auto encoder = make(data.shape(), 2, {"features=16"});
    train(*encoder, data.view());
    for (const NamedArray& array : encoder->state()) {
      std::size_t size = 1;
      for (const std::size_t extent : array.shape) size *= extent;
      EXPECT_EQ(array.values.size(), size) << array.name;
    }
    const auto other = make(data.shape(), 2, {"features=16"}, 99);
    other->set_state(encoder->state());
    EXPECT_EQ(encode(*other, data.view()).descriptors, encode(*encoder, data.view()).descriptors);
  }
}

TEST(RandomFeatures, ConstantDataAndOneRowGiveNoNan) {
  for (const std::size_t rows : {1U, 20U}) {
    const SensoryData data({{8, 8, 3}, ElementType::uint8}, rows);
    const auto encoder = make(data.shape(), 3, {"features=16"});
    EXPECT_TRUE(std::isfinite(train(*encoder, data.view()).train_loss));
    const Encoded encoded = encode(*encoder, data.view());
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_TRUE(std::isfinite(encoded.error[i]));
      for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(encoded.descriptors(i, k)));
    }
  }
}

TEST(RandomFeatures, RefuseWhatMakesNoSense) {
  const EncoderEntry entry = random_features_part();
  EXPECT_EQ(entry.name, "rff-pca");
  EXPECT_FALSE(read_option(entry, "bandwidth=0"));
  EXPECT_FALSE(read_option(entry, "bandwidth=1e-7"));
  EXPECT_TRUE(read_option(entry, "bandwidth=1e-6"));
  EXPECT_FALSE(read_option(entry, "features=1"));
  Mix mix;
  mix.descriptor_size = 9;
  EXPECT_NE(entry.refuses(values_of(entry, {"features=8"}), mix), "");
  EXPECT_EQ(entry.refuses(values_of(entry, {"features=9"}), mix), "");
  EXPECT_THROW(make({{30}, ElementType::float32}, 9, {"features=8"}), UsageError);
  EXPECT_NO_THROW(make({{30}, ElementType::float32}, 9, {"features=9"}));
  const auto encoder = make({{30}, ElementType::float32}, 3);
  EXPECT_THROW(train(*encoder, SensoryData({{30}, ElementType::float32}).view()), DataError);
  EXPECT_THROW(train(*encoder, SensoryData({{31}, ElementType::float32}, 4).view()), DataError);
}

}  // namespace
}  // namespace aurora
