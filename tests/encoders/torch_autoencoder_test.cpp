#include "aurora/encoders/torch_autoencoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "aurora/core/errors.hpp"
#include "aurora/encoders/autoencoder_layout.hpp"
#include "aurora/encoders/scaling.hpp"
#include "example_data.hpp"

namespace aurora {
namespace {

struct Encoded {
  Matrix<float> descriptors;
  std::vector<float> error;
};

/// One of the two networks with data that suits it.
struct Setting {
  const char* name;
  AutoencoderKind kind;
  SensoryData data;
  std::size_t dimension;

  std::unique_ptr<Encoder> make(std::uint64_t seed = 1, std::size_t epochs = 3) const {
    AutoencoderConfig config;
    config.kind = kind;
    config.batch = 40;  // two chunks and a half
    config.epochs = epochs;
    config.hidden = {24, 8};
    Stream stream(seed, Purpose::encoder_weights);
    return make_torch_autoencoder(config, data.shape(), dimension, stream);
  }
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  all.push_back({"conv-ae", AutoencoderKind::conv_ae, spot_pictures(600, 16, 1), 4});
  all.push_back({"mlp-ae", AutoencoderKind::mlp_ae, arcs(600, 20, 1), 3});
  return all;
}

TrainingReport train(Encoder& encoder, SensoryView data, std::size_t threads = 1,
                     std::uint64_t seed = 1) {
  Stream stream(seed, Purpose::encoder_training);
  Workers workers(threads);
  return encoder.train(data, stream, workers);
}

Encoded encode(const Encoder& encoder, SensoryView data, std::size_t threads = 1) {
  Encoded out{Matrix<float>(data.rows(), encoder.dimension()), std::vector<float>(data.rows())};
  Workers workers(threads);
  encoder.encode(data, out.descriptors, out.error, workers);
  return out;
}

std::vector<float> all_values(const Encoder& encoder) {
  std::vector<float> values;
  for (const NamedArray& array : encoder.state()) {
    values.insert(values.end(), array.values.begin(), array.values.end());
  }
  return values;
}

TEST(TorchAutoencoder, StateHasTheLayoutsNamesAndShapes) {
  AutoencoderConfig config;
  config.kind = AutoencoderKind::conv_ae;
  const SensoryShape shape{{64, 64, 3}, ElementType::uint8};
  Stream stream(1, Purpose::encoder_weights);
  const auto encoder = make_torch_autoencoder(config, shape, 10, stream);
  EXPECT_EQ(encoder->dimension(), 10U);
  const std::vector<NamedArray> state = encoder->state();
  const std::vector<ArraySpec> specs = autoencoder_layout(config, shape, 10).state_specs();
  ASSERT_EQ(state.size(), 2 + 2 * 13U);
  ASSERT_EQ(state.size(), specs.size());
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(state[i].name, specs[i].name);
    EXPECT_EQ(state[i].shape, specs[i].shape);
    if (i >= 2) parameters += state[i].values.size();
  }
  EXPECT_EQ(parameters, 38925U);
}

TEST(TorchAutoencoder, FreshEncoderWorksWithTheIdentityAsScaling) {
  for (const Setting& s : settings()) {
    const Encoded encoded = encode(*s.make(), s.data.view());
    EXPECT_TRUE(std::ranges::all_of(encoded.error, [](float e) { return e > 0 && e < 1e3F; }));
    EXPECT_NE(encoded.descriptors(0, 0), encoded.descriptors(1, 0)) << s.name;
  }
}

TEST(TorchAutoencoder, LearnsMoreThanTheMean) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make(1, 60);
    const TrainingReport first = train(*encoder, s.data.view(), 2);
    EXPECT_EQ(first.examples, 600U);
    EXPECT_EQ(first.validation, 150U);
    // Predicting the mean costs the variance of the scaled features that vary: 1 or a little less.
    double mean_loss = 0;
    Workers workers;
    const InputScaling scaling = InputScaling::fit(s.data.view(), workers);
    for (const float scale : scaling.scale) {
      const double deviation = 1.0 / static_cast<double>(scale) - 0.001;
      mean_loss += std::pow(deviation * static_cast<double>(scale), 2);
    }
    mean_loss /= static_cast<double>(scaling.scale.size());
    EXPECT_LT(first.validation_loss, 0.9 * mean_loss) << s.name;
    EXPECT_TRUE(std::isfinite(first.train_loss));

    // Weights are kept: a second training starts where the first one ended.
    const TrainingReport second = train(*encoder, s.data.view(), 2, 2);
    EXPECT_LT(second.validation_loss, 1.1 * first.validation_loss) << s.name;
  }
}

TEST(TorchAutoencoder, SameBitsForAnyNumberOfThreads) {
  for (const Setting& s : settings()) {
    const auto expected = s.make();
    const TrainingReport report = train(*expected, s.data.view(), 1);
    const Encoded encoded = encode(*expected, s.data.view(), 1);
    for (const std::size_t threads : {2, 3, 8}) {
      const auto encoder = s.make();
      const TrainingReport other = train(*encoder, s.data.view(), threads);
      EXPECT_EQ(all_values(*encoder), all_values(*expected)) << s.name << ", threads " << threads;
      EXPECT_EQ(other.train_loss, report.train_loss);
      EXPECT_EQ(other.validation_loss, report.validation_loss);
      const Encoded again = encode(*encoder, s.data.view(), threads);
      EXPECT_EQ(again.descriptors, encoded.descriptors) << s.name << ", threads " << threads;
      EXPECT_EQ(again.error, encoded.error) << s.name << ", threads " << threads;
    }
  }
}

TEST(TorchAutoencoder, EqualSeedsGiveEqualBitsAndOthersDoNot) {
  for (const Setting& s : settings()) {
    const auto a = s.make(3, 1), b = s.make(3, 1), c = s.make(4, 1);
    for (const auto& encoder : {a.get(), b.get(), c.get()}) train(*encoder, s.data.view());
    EXPECT_EQ(all_values(*a), all_values(*b)) << s.name;
    EXPECT_NE(all_values(*a), all_values(*c)) << s.name;
  }
}

TEST(TorchAutoencoder, DescriptorsDoNotDependOnTheOtherRows) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make();
    train(*encoder, s.data.view());
    const Encoded all = encode(*encoder, s.data.view());
    for (const auto& [begin, count] :
         {std::pair<std::size_t, std::size_t>{0, 1}, {5, 7}, {31, 64}, {599, 1}, {100, 300}}) {
      const Encoded slice = encode(*encoder, s.data.view().slice(begin, count));
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(std::ranges::equal(slice.descriptors.row(i), all.descriptors.row(begin + i)))
            << s.name << ", row " << begin + i;
        EXPECT_EQ(slice.error[i], all.error[begin + i]) << s.name << ", row " << begin + i;
      }
    }
  }
}

TEST(TorchAutoencoder, LeavingOutTheErrorGivesTheSameDescriptors) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make();
    Matrix<float> descriptors(600, s.dimension);
    Workers workers(2);
    encoder->encode(s.data.view(), descriptors, {}, workers);
    EXPECT_EQ(descriptors, encode(*encoder, s.data.view()).descriptors) << s.name;
  }
}

TEST(TorchAutoencoder, ErrorIsTheDistanceToTheReconstruction) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make();
    train(*encoder, s.data.view());
    const std::size_t features = s.data.shape().size();
    Matrix<float> pictures(600, features);
    Workers workers(2);
    encoder->reconstruct(s.data.view(), pictures, workers);
    const InputScaling scaling = InputScaling::fit(s.data.view(), workers);
    const Encoded encoded = encode(*encoder, s.data.view());
    for (std::size_t i = 0; i < 600; ++i) {
      double square = 0;
      for (std::size_t j = 0; j < features; ++j) {
        square += std::pow((value_at(s.data.view(), i, j) - pictures(i, j)) * scaling.scale[j], 2);
      }
      ASSERT_NEAR(encoded.error[i], std::sqrt(square), 1e-3 * std::sqrt(square) + 1e-3)
          << s.name << ", row " << i;
    }
  }
}

TEST(TorchAutoencoder, StateRoundTrip) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make(1, 1);
    train(*encoder, s.data.view());
    const auto other = s.make(2, 1);
    other->set_state(encoder->state());
    EXPECT_EQ(all_values(*other), all_values(*encoder)) << s.name;
    EXPECT_EQ(encode(*other, s.data.view()).descriptors,
              encode(*encoder, s.data.view()).descriptors)
        << s.name;
    // And goes on training from there as the original does.
    train(*encoder, s.data.view(), 1, 7);
    train(*other, s.data.view(), 1, 7);
    EXPECT_EQ(all_values(*other), all_values(*encoder)) << s.name;
  }
}

TEST(TorchAutoencoder, BrokenStateIsRefusedAndChangesNothing) {
  const std::vector<std::pair<const char*, std::function<void(NamedArray&)>>> corruptions = {
      {"name", [](NamedArray& a) { a.name += "x"; }},
      {"shape", [](NamedArray& a) { a.shape.back() += 1; }},
      {"rank", [](NamedArray& a) { a.shape.push_back(1); }},
      {"count", [](NamedArray& a) { a.values.pop_back(); }},
      {"nan", [](NamedArray& a) { a.values.back() = std::numeric_limits<float>::quiet_NaN(); }},
      {"inf", [](NamedArray& a) { a.values[0] = -std::numeric_limits<float>::infinity(); }}};
  for (const Setting& s : settings()) {
    const auto encoder = s.make(1);
    const std::vector<float> before = all_values(*encoder);
    const std::vector<NamedArray> valid = s.make(2)->state();
    for (std::size_t i = 0; i < valid.size(); ++i) {
      for (const auto& [what, corrupt] : corruptions) {
        std::vector<NamedArray> state = valid;
        corrupt(state[i]);
        EXPECT_THROW(encoder->set_state(state), DataError) << valid[i].name << ": " << what;
      }
      std::vector<NamedArray> state = valid;
      state.erase(state.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_THROW(encoder->set_state(state), DataError) << "without " << valid[i].name;
    }
    EXPECT_EQ(all_values(*encoder), before) << s.name;
  }
}

TEST(TorchAutoencoder, ConvolutionsAndFlatteningFollowTheDocumentedOrder) {
  // 16 x 8 pictures shrink to 2 x 1 pixels of four channels: small enough to follow by hand.
  AutoencoderConfig config;
  config.kind = AutoencoderKind::conv_ae;
  const SensoryShape shape{{16, 8, 3}, ElementType::uint8};
  Stream stream(1, Purpose::encoder_weights);
  const auto encoder = make_torch_autoencoder(config, shape, 1, stream);
  std::vector<NamedArray> state = encoder->state();
  const auto array = [&](const std::string& name) -> NamedArray& {
    return *std::ranges::find(state, name, &NamedArray::name);
  };
  for (std::size_t i = 2; i < state.size(); ++i) std::ranges::fill(state[i].values, 0.0F);
  // conv1: output 1 takes the pixel to the right (dy = 0, dx = +1) of input channel 2.
  array("encoder.conv1.weight").values[((1 * 3 + 2) * 3 + 1) * 3 + 2] = 1.0F;
  for (const char* name : {"encoder.conv2.weight", "encoder.conv3.weight"}) {
    array(name).values[((1 * 4 + 1) * 3 + 1) * 3 + 1] = 1.0F;
  }
  // linear1, {64, 2, 1, 4}: unit 0 looks at y = 1, x = 0, channel 1.
  array("encoder.linear1.weight").values[1 * 4 + 1] = 1.0F;
  array("encoder.linear2.weight").values[0] = 1.0F;
  array("encoder.linear3.weight").values[0] = 1.0F;
  encoder->set_state(state);

  // One bright value per picture, in the lower half, at column 3, so seen from column 2.
  SensoryData data(shape, 3);
  data.mutable_view().row<std::uint8_t>(0)[(12 * 8 + 3) * 3 + 2] = 255;
  data.mutable_view().row<std::uint8_t>(1)[(12 * 8 + 3) * 3 + 1] = 255;  // another channel
  data.mutable_view().row<std::uint8_t>(2)[(4 * 8 + 3) * 3 + 2] = 255;   // the upper half
  const Encoded encoded = encode(*encoder, data.view());
  EXPECT_FLOAT_EQ(encoded.descriptors(0, 0), 1.0F);
  EXPECT_FLOAT_EQ(encoded.descriptors(1, 0), 0.0F);
  EXPECT_FLOAT_EQ(encoded.descriptors(2, 0), 0.0F);
  // Column 0 has no left neighbour: nothing sees it.
  data.mutable_view().row<std::uint8_t>(1)[(12 * 8 + 0) * 3 + 2] = 255;
  EXPECT_FLOAT_EQ(encode(*encoder, data.view()).descriptors(1, 0), 0.0F);
}

TEST(TorchAutoencoder, RefusesNoDataForeignShapesAndWrongOutputs) {
  const Setting s = std::move(settings()[1]);
  const auto encoder = s.make();
  EXPECT_THROW(train(*encoder, s.data.view().slice(0, 0)), DataError);
  const SensoryData foreign({{2, 20}, ElementType::float32}, 4);
  EXPECT_THROW(train(*encoder, foreign.view()), DataError);
  EXPECT_THROW(encode(*encoder, foreign.view()), DataError);
  Matrix<float> narrow(600, s.dimension - 1);
  Workers workers;
  EXPECT_THROW(encoder->encode(s.data.view(), narrow, {}, workers), DataError);
}

TEST(TorchAutoencoder, EncodesNothingAndSmallTrainingSets) {
  for (const Setting& s : settings()) {
    const auto encoder = s.make();
    EXPECT_NO_THROW(encode(*encoder, s.data.view().slice(0, 0)));
    const TrainingReport report = train(*encoder, s.data.view().slice(0, 1));
    EXPECT_EQ(report.examples, 1U);
    EXPECT_EQ(report.validation, 0U);
    EXPECT_TRUE(std::isfinite(encode(*encoder, s.data.view()).error[5])) << s.name;
  }
}

}  // namespace
}  // namespace aurora
