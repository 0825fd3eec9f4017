#include "aurora/encoders/training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

using Rows = std::vector<std::uint32_t>;

/// Records what the loop asks for. Its one weight is the number of steps taken; the validation
/// losses are given, the first one belonging to the untrained model.
struct RecordingModel final : Trainable {
  std::vector<double> losses;
  double step_loss = 1.0;

  int resets = 0;
  std::size_t weight = 0, kept = 12345;
  bool restored = false;
  std::vector<Rows> steps;
  std::vector<Rows> validations;
  std::vector<std::size_t> begun;  // steps before each epoch
  std::size_t changes_before = 0;  // the epoch from which on it minimises something else

  void reset_optimiser() override { ++resets; }
  double step(std::span<const std::uint32_t> rows) override {
    steps.emplace_back(rows.begin(), rows.end());
    ++weight;
    return step_loss;
  }
  Loss loss(std::span<const std::uint32_t> rows) override {
    validations.emplace_back(rows.begin(), rows.end());
    // What the latent layer adds counts as well.
    return {0.75 * losses.at(validations.size() - 1), 0.25 * losses.at(validations.size() - 1)};
  }
  bool begin_epoch() override {
    begun.push_back(steps.size());
    return begun.size() == changes_before;
  }
  void keep_weights() override { kept = weight; }
  void restore_weights() override {
    weight = kept;
    restored = true;
  }

  /// Rows of epoch e, sorted.
  Rows epoch(std::size_t e, std::size_t steps_per_epoch) const {
    Rows rows;
    for (std::size_t i = 0; i < steps_per_epoch; ++i) {
      const Rows& batch = steps.at(e * steps_per_epoch + i);
      rows.insert(rows.end(), batch.begin(), batch.end());
    }
    std::ranges::sort(rows);
    return rows;
  }
};

AutoencoderConfig config(std::size_t epochs, std::size_t patience) {
  AutoencoderConfig c;
  c.batch = 64;
  c.epochs = epochs;
  c.patience = patience;
  return c;
}

TEST(Training, SplitsOffAQuarterAndSeesEveryTrainingRowOncePerEpoch) {
  RecordingModel model;
  model.losses = {9, 8, 7, 6};
  Stream stream(1, Purpose::encoder_training);
  const TrainingReport report = fit(model, 1001, config(3, 1), stream);

  EXPECT_EQ(report.examples, 1001U);
  EXPECT_EQ(report.validation, 250U);
  EXPECT_EQ(report.epochs, 3U);
  EXPECT_EQ(report.validation_loss, 6);
  EXPECT_EQ(report.train_loss, 1.0);
  EXPECT_EQ(model.resets, 1);
  EXPECT_FALSE(model.restored);
  const std::size_t steps = (751 + 63) / 64;
  ASSERT_EQ(model.steps.size(), 3 * steps);
  EXPECT_EQ(model.begun, (std::vector<std::size_t>{0, steps, 2 * steps}));
  const Rows first = model.epoch(0, steps);
  EXPECT_EQ(model.epoch(1, steps), first);
  EXPECT_EQ(model.epoch(2, steps), first);
  EXPECT_NE(model.steps[0], model.steps[steps]) << "epochs are shuffled";
  // The same rows are held out every time; together with the training rows they are all rows.
  for (const Rows& rows : model.validations) EXPECT_EQ(rows, model.validations[0]);
  std::set<std::uint32_t> all(first.begin(), first.end());
  all.insert(model.validations[0].begin(), model.validations[0].end());
  EXPECT_EQ(first.size(), 751U);
  EXPECT_EQ(all.size(), 1001U);
  EXPECT_EQ(*all.rbegin(), 1000U);
}

TEST(Training, MiniBatchesAreFullButForTheLast) {
  RecordingModel model;
  model.losses = {9, 8};
  Stream stream(2, Purpose::encoder_training);
  fit(model, 1000, config(1, 1), stream);
  ASSERT_EQ(model.steps.size(), 12U);  // 750 = 11 * 64 + 46
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(model.steps[i].size(), 64U);
  EXPECT_EQ(model.steps[11].size(), 46U);
}

TEST(Training, HoldsNothingOutUnder500) {
  RecordingModel model;
  Stream stream(3, Purpose::encoder_training);
  const TrainingReport report = fit(model, 499, config(5, 1), stream);
  EXPECT_EQ(report.validation, 0U);
  EXPECT_EQ(report.epochs, 5U);
  EXPECT_EQ(report.validation_loss, report.train_loss);
  EXPECT_TRUE(model.validations.empty());
  EXPECT_EQ(model.epoch(0, 8).size(), 499U);
  EXPECT_FALSE(model.restored);

  RecordingModel larger;
  larger.losses = {2, 1};
  EXPECT_EQ(fit(larger, 500, config(1, 1), stream).validation, 125U);
}

TEST(Training, StopsWhenPatienceIsSpentAndRestoresTheBest) {
  RecordingModel model;
  model.losses = {9, 5, 6, 4, 4, 7, 3};  // the best before the stop is the third epoch's
  Stream stream(4, Purpose::encoder_training);
  const TrainingReport report = fit(model, 1000, config(100, 2), stream);
  EXPECT_EQ(report.epochs, 5U);
  EXPECT_EQ(report.validation_loss, 4);
  EXPECT_TRUE(model.restored);
  EXPECT_EQ(model.weight, 3U * 12U);
}

TEST(Training, AsksForProgressButKeepsTheBest) {
  RecordingModel model;
  model.losses = {10, 8.5, 8.4, 8, 7.9, 7.8, 1};  // a tenth less than 8.5 was never reached
  AutoencoderConfig c = config(100, 4);
  c.progress = 0.1;
  Stream stream(4, Purpose::encoder_training);
  const TrainingReport report = fit(model, 1000, c, stream);
  EXPECT_EQ(report.epochs, 5U);
  EXPECT_EQ(report.validation_loss, 7.8);
  EXPECT_FALSE(model.restored);
}

TEST(Training, NoneChangesNothingAndReportsLosses) {
  AutoencoderConfig c = config(100, 4);
  c.training = Training::none;
  Stream stream(4, Purpose::encoder_training);
  RecordingModel model;
  model.losses = {3, 2};  // of those held out, of the others
  const TrainingReport report = fit(model, 1000, c, stream);
  EXPECT_EQ(report.epochs, 0U);
  EXPECT_EQ(report.validation_loss, 3);
  EXPECT_EQ(report.train_loss, 2);
  EXPECT_TRUE(model.steps.empty());
  EXPECT_EQ(model.validations[1].size(), 750U);
  RecordingModel small;
  small.losses = {5};
  EXPECT_EQ(fit(small, 100, c, stream).validation_loss, 5);
}

TEST(Training, TellsAfterEveryEpochWhatItHasComeTo) {
  RecordingModel model;
  model.losses = {9, 5, 6, 4};
  Stream stream(4, Purpose::encoder_training);
  std::vector<std::pair<std::size_t, double>> told;
  fit(model, 1000, config(3, 2), stream, [&](const TrainingReport& so_far) {
    told.emplace_back(so_far.epochs, so_far.validation_loss);
    EXPECT_EQ(so_far.examples, 1000U);
  });
  EXPECT_EQ(told, (std::vector<std::pair<std::size_t, double>>{{1, 5}, {2, 5}, {3, 4}}));
}

TEST(Training, KeepsTheInitialWeightsIfTrainingOnlyHurts) {
  RecordingModel model;
  model.losses = {1, 2, std::numeric_limits<double>::quiet_NaN()};
  Stream stream(5, Purpose::encoder_training);
  EXPECT_EQ(fit(model, 1000, config(100, 2), stream).validation_loss, 1);
  EXPECT_EQ(model.weight, 0U);
}

TEST(Training, DivergenceWithoutValidationGoesBackToTheInitialWeights) {
  RecordingModel model;
  model.step_loss = std::numeric_limits<double>::quiet_NaN();
  Stream stream(5, Purpose::encoder_training);
  EXPECT_EQ(fit(model, 100, config(10, 1), stream).epochs, 1U);
  EXPECT_EQ(model.weight, 0U);
}

TEST(Training, DrawsAtMostMaxExamples) {
  RecordingModel model;
  model.losses = {2, 1};
  AutoencoderConfig c = config(1, 1);
  c.max_examples = 800;
  Stream stream(6, Purpose::encoder_training);
  const TrainingReport report = fit(model, 5000, c, stream);
  EXPECT_EQ(report.examples, 800U);
  EXPECT_EQ(report.validation, 200U);
  const Rows rows = model.epoch(0, 10);
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), 600U);
  EXPECT_GT(rows.back(), 4000U) << "drawn from all rows, not from the first";
}

TEST(Training, EqualStreamsGiveEqualSteps) {
  RecordingModel a, b, c;
  a.losses = b.losses = c.losses = {3, 2, 1};
  Stream s1(7, Purpose::encoder_training), s2(7, Purpose::encoder_training),
      s3(8, Purpose::encoder_training);
  fit(a, 700, config(2, 1), s1);
  fit(b, 700, config(2, 1), s2);
  fit(c, 700, config(2, 1), s3);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_NE(a.steps, c.steps);
}

TEST(Training, RefusesNoData) {
  RecordingModel model;
  Stream stream(9, Purpose::encoder_training);
  EXPECT_THROW(fit(model, 0, config(1, 1), stream), DataError);
}

TEST(Training, BeginsToCompareAnewWhenSomethingElseIsMinimised) {
  RecordingModel model;
  model.changes_before = 3;
  // Untrained, two epochs, the same weights by another measure, and four epochs by that one.
  model.losses = {9, 1, 2, 50, 40, 45, 46, 47};
  Stream stream(1, Purpose::encoder_training);
  const TrainingReport report = fit(model, 1000, config(20, 3), stream);
  EXPECT_EQ(report.epochs, 6U);
  EXPECT_EQ(report.validation_loss, 40);
  EXPECT_EQ(model.kept, 3 * ((750 + 63) / 64)) << "steps of three epochs";
  EXPECT_TRUE(model.restored);
}

TEST(Training, LooksAtRowsFromTheWholeSet) {
  EXPECT_EQ(some_rows(3), (Rows{0, 1, 2}));
  const Rows some = some_rows(5000);
  ASSERT_EQ(some.size(), 1024U);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  EXPECT_EQ(std::set(some.begin(), some.end()).size(), some.size());
  EXPECT_EQ(some.front(), 0U);
  EXPECT_GT(some.back(), 4990U);
}

TEST(Training, ExplainedIsTheShareOfTheErrorAlone) {
  AutoencoderConfig mlp;
  mlp.kind = AutoencoderKind::mlp_ae;
  const SensoryShape shape{{2}, ElementType::float32};
  const AutoencoderLayout layout = autoencoder_layout(mlp, shape, 1);
  SensoryData data(shape, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    data.mutable_view().row<float>(i)[0] = i < 2 ? 3.0F : 7.0F;  // a variance of 4
    data.mutable_view().row<float>(i)[1] = 5;
  }
  const InputScaling scaling = InputScaling::identity(2);
  EXPECT_DOUBLE_EQ(spread(layout, scaling, data.view(), some_rows(4)), 2);
  RecordingModel model;
  model.losses = {2, 4};  // of which 1.5 and 3 are error
  EXPECT_DOUBLE_EQ(explained(model, layout, scaling, data.view()), 0.25);
  EXPECT_DOUBLE_EQ(explained(model, layout, scaling, data.view()), -0.5);
  EXPECT_EQ(explained(model, layout, scaling, SensoryData(shape, 4).view()), 1)
      << "there is nothing to explain";
}

}  // namespace
}  // namespace aurora
