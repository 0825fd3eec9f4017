#include "aurora/algorithms/quality_diversity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "arm.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

Plan small(const std::string& variant, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {
      "descriptor.dimension=3", "encoder.kind=pca", "container.target_size=300",
      "threshold.gain=2e-4",    "run.batch=32",     "variation.rate=0.2"};
  all.insert(all.end(), more.begin(), more.end());
  return arm_plan(variant, all);
}

const char* const kLearned = "aurora-csc-uniform-3";
const char* const kHandCoded = "hc-csc-uniform";

double threshold_of(const Algorithm& algorithm) {
  return number_called(algorithm.numbers(), "threshold", -1);
}

std::uint64_t hash_after(const Plan& plan, std::size_t iterations, std::size_t threads) {
  Arm arm;
  Workers workers(threads);
  const auto algorithm = plan.make_loop(workers);
  for (std::size_t i = 0; i < iterations; ++i) algorithm->step(arm);
  return container_hash(algorithm->individuals());
}

class EveryDescriptor : public testing::TestWithParam<const char*> {};

TEST_P(EveryDescriptor, TheContainerGoesToItsTargetSizeAndTheThresholdStaysPositive) {
  Arm arm;
  Workers workers(2);
  const auto algorithm = small(GetParam()).make_loop(workers);
  for (int i = 0; i < 600; ++i) {
    algorithm->step(arm);
    ASSERT_TRUE(std::isfinite(threshold_of(*algorithm)));
    ASSERT_GT(threshold_of(*algorithm), 0);
  }
  EXPECT_NEAR(static_cast<double>(algorithm->individuals().size()), 300, 60);
}

TEST_P(EveryDescriptor, SameSeedSameBitsForAnyNumberOfThreads) {
  const Plan plan = small(GetParam());
  const std::uint64_t one = hash_after(plan, 60, 1);
  for (const std::size_t threads : {2u, 3u, 8u}) EXPECT_EQ(hash_after(plan, 60, threads), one);
  EXPECT_NE(hash_after(small(GetParam(), {"run.seed=2"}), 60, 1), one);
}

TEST_P(EveryDescriptor, CountsAddUp) {
  Arm arm;
  Workers workers(1);
  const auto algorithm = small(GetParam()).make_loop(workers);
  std::size_t size = 0;
  for (std::size_t i = 1; i <= 60; ++i) {
    const StepReport report = algorithm->step(arm);
    EXPECT_EQ(report.added + report.replaced + report.rejected + report.invalid, 32u);
    size += report.added;
    size -= report.lost;
    EXPECT_EQ(algorithm->individuals().size(), size);
    EXPECT_EQ(algorithm->iteration(), i);
    EXPECT_EQ(report.container_updated, i % 10 == 0);
    const bool trains = GetParam() == kLearned && (i == 10 || i == 30 || i == 60);
    EXPECT_EQ(report.training.has_value(), trains) << i;
  }
}

TEST_P(EveryDescriptor, ClonesAreNotSimulatedAgain) {
  Arm arm;
  Workers workers(1);
  // 66 % of the children of four genes are clones.
  const auto algorithm = small(GetParam(), {"variation.rate=0.1"}).make_loop(workers);
  std::size_t simulated = 0;
  for (int i = 0; i < 50; ++i) simulated += algorithm->step(arm).simulated;
  // Only genes clipped to a bound can make two different parents' children equal.
  EXPECT_LT(arm.repeated, 20u);
  EXPECT_NEAR(static_cast<double>(simulated) / (50 * 32), 1 - 0.656 * 49 / 50, 0.04);
}

TEST_P(EveryDescriptor, BrokenEvaluationsNeverEnterTheContainer) {
  Arm arm;
  arm.break_every = 7;
  Workers workers(1);
  const auto algorithm = small(GetParam()).make_loop(workers);
  std::size_t invalid = 0;
  for (int i = 0; i < 40; ++i) invalid += algorithm->step(arm).invalid;
  EXPECT_EQ(invalid, arm.evaluations / 7);
  for (const float fitness : algorithm->individuals().fitness) EXPECT_TRUE(std::isfinite(fitness));
}

TEST_P(EveryDescriptor, AllBrokenIsSurvived) {
  Arm arm;
  arm.break_every = 1;
  Workers workers(1);
  const auto algorithm = small(GetParam()).make_loop(workers);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(algorithm->step(arm).invalid, 32u);
  EXPECT_EQ(algorithm->individuals().size(), 0u);
  arm.break_every = 0;
  for (int i = 0; i < 12; ++i) algorithm->step(arm);
  EXPECT_GT(algorithm->individuals().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDescriptor, testing::Values(kLearned, kHandCoded),
                         [](const auto& instance) {
                           return instance.param == kLearned ? "Learned" : "HandCoded";
                         });

TEST(QualityDiversity, HandCodedDescriptorsAreTheGroundTruth) {
  Arm arm;
  Workers workers(1);
  const auto algorithm = small(kHandCoded).make_loop(workers);
  for (int i = 0; i < 20; ++i) algorithm->step(arm);
  EXPECT_EQ(algorithm->individuals().descriptors, algorithm->individuals().ground_truth);
  EXPECT_EQ(algorithm->encoder(), nullptr);
}

TEST(QualityDiversity, LearnedDescriptorsAreWhatTheEncoderSays) {
  Arm arm;
  Workers workers(1);
  const auto algorithm = small(kLearned).make_loop(workers);
  for (int i = 0; i < 35; ++i) algorithm->step(arm);
  const Individuals& members = algorithm->individuals();
  Matrix<float> descriptors(members.size(), 3);
  algorithm->encoder()->encode(members.sensory.view(), descriptors, {}, workers);
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(descriptors(i, j), members.descriptors(i, j), 1e-5);
    }
  }
}

TEST(QualityDiversity, SearchFindsMoreThanRandomSearch) {
  const auto mean_fitness = [](const char* variant) {
    Arm arm;
    Workers workers(1);
    const auto algorithm = small(variant).make_loop(workers);
    for (int i = 0; i < 300; ++i) algorithm->step(arm);
    double sum = 0;
    for (const float f : algorithm->individuals().fitness) sum += f;
    return sum / static_cast<double>(algorithm->individuals().size());
  };
  EXPECT_GT(mean_fitness(kHandCoded), mean_fitness("random-search") + 0.02);
}

TEST(QualityDiversity, AFixedThresholdStaysFixed) {
  Arm arm;
  Workers workers(1);
  const auto algorithm =
      small(kHandCoded, {"threshold.kind=fixed", "threshold.value=0.05"}).make_loop(workers);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(algorithm->step(arm).container_updated);
    EXPECT_EQ(threshold_of(*algorithm), 0.05);
  }
}

TEST(QualityDiversity, RefusesWhatMakesNoSense) {
  EXPECT_NO_THROW(small(kHandCoded));
  for (const std::string assignment :
       {"selection.kind=surprise", "run.batch=0", "encoder.update_step=0",
        "container.update_period=0", "container.target_size=0"}) {
    EXPECT_THROW(small(kHandCoded, {assignment}), UsageError) << assignment;
  }
  TaskSpec flat = arm_spec();
  flat.ground_truth.pop_back();
  EXPECT_THROW(arm_plan(kHandCoded, {}, arm_parts(flat)), UsageError);
}

TEST(QualityDiversity, RefusesItAlsoWithoutAPlan) {
  Workers workers(1);
  const auto make = [&](std::size_t batch, std::size_t encoder_step, const TaskSpec& task) {
    SelectorContext selection;
    VariationContext genes{4};
    LoopContext context{.task = task,
                        .batch = batch,
                        .encoder_step = encoder_step,
                        .descriptor_size = 2,
                        .encoder = nullptr,
                        .container = small(kHandCoded).make_container(workers),
                        .selector = uniform_selector().make({}, selection),
                        .variation = polynomial_variation().make({}, genes),
                        .workers = workers};
    QualityDiversity algorithm(context);
  };
  TaskSpec flat = arm_spec();
  flat.ground_truth.pop_back();
  EXPECT_NO_THROW(make(1, 1, arm_spec()));
  EXPECT_THROW(make(0, 1, arm_spec()), UsageError);
  EXPECT_THROW(make(1, 0, arm_spec()), UsageError);
  EXPECT_THROW(make(1, 1, flat), UsageError);
}

TEST(QualityDiversity, RefusesASelectorThatDoesNotWeighEverybody) {
  class Short final : public Selector {
   public:
    std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
      return std::vector<float>(view.size() + 1, 1.0F);
    }
  };
  Parts parts = arm_parts();
  parts.selectors.add(part<NoOptions>("short", "").made_by([](const NoOptions&, SelectorContext&) {
    return std::make_unique<Short>();
  }));
  for (const char* variant : {kHandCoded, "ns"}) {
    Arm arm;
    Workers workers(1);
    const auto algorithm = arm_plan(variant, {"selection.kind=short"}, parts).make_loop(workers);
    EXPECT_THROW(
        {
          algorithm->step(arm);
          algorithm->step(arm);
        },
        DataError)
        << variant;
  }
}

TEST(EncoderSchedule, FollowsThePaper) {
  EncoderSchedule schedule(10);
  std::vector<std::size_t> due;
  for (std::size_t i = 1; i <= 15000; ++i) {
    if (schedule.due(i)) due.push_back(i);
    if (i == 1000) {
      EXPECT_EQ(schedule.updates(), 13u);
    }
    if (i == 10000) {
      EXPECT_EQ(schedule.updates(), 44u);
    }
  }
  EXPECT_EQ(schedule.updates(), 54u);
  EXPECT_EQ(std::vector(due.begin(), due.begin() + 5),
            (std::vector<std::size_t>{10, 30, 60, 100, 150}));
}

}  // namespace
}  // namespace aurora
