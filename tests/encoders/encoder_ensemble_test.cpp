#include "aurora/encoders/encoder_ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/pca.hpp"
#include "aurora/encoders/random_features.hpp"
#include "example_data.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr std::size_t kDimension = 3;

/// So many encoders, with starts from one stream.
std::vector<std::unique_ptr<Encoder>> encoders(const SensoryShape& shape, std::size_t count) {
  Stream stream(7, Purpose::encoder_weights);
  std::vector<std::unique_ptr<Encoder>> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(make_part(random_features_part(), EncoderContext{shape, kDimension, stream}));
  }
  return made;
}

struct Encoded {
  Matrix<float> descriptors;
  std::vector<float> errors;
};

Encoded encoded(const Encoder& encoder, const SensoryData& data) {
  Workers workers(2);
  Encoded all{Matrix<float>(data.rows(), encoder.dimension()), std::vector<float>(data.rows())};
  encoder.encode(data.view(), all.descriptors, all.errors, workers);
  return all;
}

TEST(EncoderEnsemble, SaysWhatEachSaysOneAfterTheOther) {
  const SensoryData data = arcs(200, 10, 3);
  Workers workers(2);
  EncoderEnsemble ensemble(encoders(data.shape(), 3));
  auto alone = encoders(data.shape(), 3);
  ASSERT_EQ(ensemble.dimension(), 3 * kDimension);
  // One stream goes through all of them.
  Stream stream(1, Purpose::encoder_training);
  Stream same(1, Purpose::encoder_training);
  const TrainingReport report = ensemble.train(data.view(), stream, workers);
  double loss = 0;
  for (const auto& encoder : alone) {
    loss += encoder->train(data.view(), same, workers).train_loss / 3;
  }
  EXPECT_EQ(report.examples, 600U);
  EXPECT_NEAR(report.train_loss, loss, 1e-12 * loss);
  const Encoded together = encoded(ensemble, data);
  Matrix<float> picture(data.rows(), data.shape().size());
  Matrix<float> pictures(data.rows(), data.shape().size());
  ensemble.reconstruct(data.view(), pictures, workers);
  std::vector<float> errors(data.rows());
  std::vector<double> sums(data.rows());
  for (std::size_t i = 0; i < 3; ++i) {
    const Encoded one = encoded(*alone[i], data);
    alone[i]->reconstruct(data.view(), picture, workers);
    for (std::size_t row = 0; row < data.rows(); ++row) {
      for (std::size_t d = 0; d < kDimension; ++d) {
        ASSERT_EQ(together.descriptors(row, i * kDimension + d), one.descriptors(row, d));
      }
      errors[row] += one.errors[row] / 3;
      sums[row] += static_cast<double>(picture(row, 5)) / 3;
    }
  }
  // They started differently.
  EXPECT_NE(together.descriptors(0, 0), together.descriptors(0, kDimension));
  for (std::size_t row = 0; row < data.rows(); ++row) {
    EXPECT_NEAR(together.errors[row], errors[row], 1e-5F * errors[row] + 1e-6F);
    EXPECT_NEAR(pictures(row, 5), sums[row], 1e-5);
  }
}

TEST(EncoderEnsemble, OfSharesEachEncoderLearnsFromAPartThatStaysTheSame) {
  const SensoryData data = arcs(300, 10, 4);
  std::vector<float> fitness(data.rows());
  for (std::size_t i = 0; i < fitness.size(); ++i) fitness[i] = static_cast<float>(i);
  Workers workers(1);
  const auto make = [&] {
    EncoderEnsemble ensemble(encoders(data.shape(), 3));
    ensemble.learn_from_shares();
    return ensemble;
  };
  EncoderEnsemble ensemble = make();
  Stream stream(1, Purpose::encoder_training);
  EXPECT_EQ(ensemble.train({data.view(), fitness}, stream, workers).examples, 300U)
      << "everybody is in one share";
  // The same rows in another order are in the same shares.
  SensoryData turned(data.shape(), data.rows());
  for (std::size_t row = 0; row < data.rows(); ++row) {
    turned.copy_row(data, row, data.rows() - 1 - row);
  }
  EncoderEnsemble other = make();
  Stream again(1, Purpose::encoder_training);
  other.train(turned.view(), again, workers);
  const std::vector<NamedArray> one = ensemble.state();
  const std::vector<NamedArray> two = other.state();
  EncoderEnsemble of_all(encoders(data.shape(), 3));
  of_all.train(data.view(), again, workers);
  const std::vector<NamedArray> all = of_all.state();
  // The mean of what an encoder has seen: the first array of its state.
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!one[i].name.ends_with("scaling.mean")) continue;
    float largest = 0;
    for (std::size_t j = 0; j < one[i].values.size(); ++j) {
      EXPECT_NEAR(one[i].values[j], two[i].values[j], 1e-5) << one[i].name;
      largest = std::max(largest, std::abs(one[i].values[j] - all[i].values[j]));
    }
    EXPECT_GT(largest, 1e-3F) << one[i].name << " is that of all";
  }
}

TEST(EncoderEnsemble, AnEmptyShareIsEverything) {
  const SensoryData data = arcs(1, 10, 5);
  EncoderEnsemble ensemble(encoders(data.shape(), 4));
  ensemble.learn_from_shares();
  Workers workers(1);
  Stream stream(1, Purpose::encoder_training);
  EXPECT_EQ(ensemble.train(data.view(), stream, workers).examples, 4U);
}

TEST(EncoderEnsemble, StateRoundTripAndRefusalOfBrokenOnes) {
  const SensoryData data = arcs(100, 10, 6);
  EncoderEnsemble ensemble(encoders(data.shape(), 2));
  EncoderEnsemble other(encoders(data.shape(), 2));
  Workers workers(1);
  Stream stream(1, Purpose::encoder_training);
  ensemble.train(data.view(), stream, workers);
  const std::vector<NamedArray> state = ensemble.state();
  ASSERT_GT(state.size(), 4U);
  EXPECT_TRUE(state.front().name.starts_with("1."));
  EXPECT_TRUE(state.back().name.starts_with("2."));
  const Encoded before = encoded(other, data);
  const auto expect_refused = [&](const std::vector<NamedArray>& bad) {
    EXPECT_THROW(other.set_state(bad), DataError);
    const Encoded after = encoded(other, data);
    for (std::size_t row = 0; row < data.rows(); ++row) {
      for (std::size_t d = 0; d < other.dimension(); ++d) {
        ASSERT_EQ(after.descriptors(row, d), before.descriptors(row, d));
      }
    }
  };
  std::vector<NamedArray> bad = state;
  bad.back().values.back() = NAN;  // of the second: the first has been taken over by then
  expect_refused(bad);
  bad = state;
  bad.pop_back();
  expect_refused(bad);
  bad = state;
  bad.push_back({"3.x", {1}, {0}});
  expect_refused(bad);
  other.set_state(state);
  const Encoded one = encoded(ensemble, data);
  const Encoded two = encoded(other, data);
  EXPECT_EQ(one.errors, two.errors);
  EXPECT_EQ(one.descriptors(9, 5), two.descriptors(9, 5));
}

TEST(EncoderEnsemble, RefusesNoneAndDifferentOnes) {
  const SensoryShape shape{{10, 2}, ElementType::float32};
  EXPECT_THROW(EncoderEnsemble({}), UsageError);
  Stream stream(7, Purpose::encoder_weights);
  std::vector<std::unique_ptr<Encoder>> different = encoders(shape, 1);
  different.push_back(make_pca({}, shape, kDimension + 1, stream));
  EXPECT_THROW(EncoderEnsemble(std::move(different)), UsageError);
}

}  // namespace
}  // namespace aurora
