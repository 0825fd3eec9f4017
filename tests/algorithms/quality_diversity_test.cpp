#include "aurora/algorithms/quality_diversity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "arm.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

AlgorithmConfig small(DescriptorKind descriptor) {
  AlgorithmConfig config;
  config.descriptor = descriptor;
  config.dimension = 3;
  config.encoder.kind = EncoderKind::pca;
  config.target_size = 300;
  config.threshold.gain = 2e-4;
  config.batch = 32;
  config.variation.rate = 0.2;
  return config;
}

std::uint64_t hash_after(const AlgorithmConfig& config, std::size_t iterations,
                         std::size_t threads) {
  Arm arm;
  Workers workers(threads);
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  for (std::size_t i = 0; i < iterations; ++i) algorithm.step();
  return container_hash(algorithm.individuals());
}

class EveryDescriptor : public testing::TestWithParam<DescriptorKind> {};

TEST_P(EveryDescriptor, TheContainerGoesToItsTargetSizeAndTheThresholdStaysPositive) {
  Arm arm;
  Workers workers(2);
  const AlgorithmConfig config = small(GetParam());
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  for (int i = 0; i < 600; ++i) {
    algorithm.step();
    ASSERT_TRUE(std::isfinite(algorithm.threshold()));
    ASSERT_GT(algorithm.threshold(), 0);
  }
  EXPECT_NEAR(static_cast<double>(algorithm.individuals().size()), 300, 60);
}

TEST_P(EveryDescriptor, SameSeedSameBitsForAnyNumberOfThreads) {
  AlgorithmConfig config = small(GetParam());
  const std::uint64_t one = hash_after(config, 60, 1);
  for (const std::size_t threads : {2u, 3u, 8u}) EXPECT_EQ(hash_after(config, 60, threads), one);
  config.seed = 2;
  EXPECT_NE(hash_after(config, 60, 1), one);
}

TEST_P(EveryDescriptor, CountsAddUp) {
  Arm arm;
  Workers workers(1);
  const AlgorithmConfig config = small(GetParam());
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  std::size_t size = 0;
  for (std::size_t i = 1; i <= 60; ++i) {
    const StepReport report = algorithm.step();
    EXPECT_EQ(report.added + report.replaced + report.rejected + report.invalid, config.batch);
    size += report.added;
    size -= report.lost;
    EXPECT_EQ(algorithm.individuals().size(), size);
    EXPECT_EQ(algorithm.iteration(), i);
    EXPECT_EQ(report.container_updated, i % 10 == 0);
    const bool trains = GetParam() == DescriptorKind::learned && (i == 10 || i == 30 || i == 60);
    EXPECT_EQ(report.training.has_value(), trains) << i;
  }
}

TEST_P(EveryDescriptor, ClonesAreNotSimulatedAgain) {
  Arm arm;
  Workers workers(1);
  AlgorithmConfig config = small(GetParam());
  config.variation.rate = 0.1;  // 66 % of the children of four genes are clones
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  std::size_t simulated = 0;
  for (int i = 0; i < 50; ++i) simulated += algorithm.step().simulated;
  // Only genes clipped to a bound can make two different parents' children equal.
  EXPECT_LT(arm.repeated, 20u);
  EXPECT_NEAR(static_cast<double>(simulated) / (50 * 32), 1 - 0.656 * 49 / 50, 0.04);
}

TEST_P(EveryDescriptor, BrokenEvaluationsNeverEnterTheContainer) {
  Arm arm;
  arm.break_every = 7;
  Workers workers(1);
  QualityDiversity algorithm(arm_spec(), small(GetParam()), arm, workers);
  std::size_t invalid = 0;
  for (int i = 0; i < 40; ++i) invalid += algorithm.step().invalid;
  EXPECT_EQ(invalid, arm.evaluations / 7);
  for (const float fitness : algorithm.individuals().fitness) EXPECT_TRUE(std::isfinite(fitness));
}

TEST_P(EveryDescriptor, AllBrokenIsSurvived) {
  Arm arm;
  arm.break_every = 1;
  Workers workers(1);
  QualityDiversity algorithm(arm_spec(), small(GetParam()), arm, workers);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(algorithm.step().invalid, 32u);
  EXPECT_EQ(algorithm.individuals().size(), 0u);
  arm.break_every = 0;
  for (int i = 0; i < 12; ++i) algorithm.step();
  EXPECT_GT(algorithm.individuals().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDescriptor,
                         testing::Values(DescriptorKind::learned, DescriptorKind::hand_coded),
                         [](const auto& instance) {
                           return instance.param == DescriptorKind::learned ? "Learned"
                                                                            : "HandCoded";
                         });

TEST(QualityDiversity, HandCodedDescriptorsAreTheGroundTruth) {
  Arm arm;
  Workers workers(1);
  QualityDiversity algorithm(arm_spec(), small(DescriptorKind::hand_coded), arm, workers);
  for (int i = 0; i < 20; ++i) algorithm.step();
  EXPECT_EQ(algorithm.individuals().descriptors, algorithm.individuals().ground_truth);
  EXPECT_EQ(algorithm.encoder(), nullptr);
}

TEST(QualityDiversity, LearnedDescriptorsAreWhatTheEncoderSays) {
  Arm arm;
  Workers workers(1);
  QualityDiversity algorithm(arm_spec(), small(DescriptorKind::learned), arm, workers);
  for (int i = 0; i < 35; ++i) algorithm.step();
  const Individuals& members = algorithm.individuals();
  Matrix<float> descriptors(members.size(), 3);
  algorithm.encoder()->encode(members.sensory.view(), descriptors, {}, workers);
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(descriptors(i, j), members.descriptors(i, j), 1e-5);
    }
  }
}

TEST(QualityDiversity, SearchFindsMoreThanRandomSearch) {
  const auto mean_fitness = [](SelectionKind selection) {
    Arm arm;
    Workers workers(1);
    AlgorithmConfig config = small(DescriptorKind::hand_coded);
    config.selection = selection;
    QualityDiversity algorithm(arm_spec(), config, arm, workers);
    for (int i = 0; i < 300; ++i) algorithm.step();
    double sum = 0;
    for (const float f : algorithm.individuals().fitness) sum += f;
    return sum / static_cast<double>(algorithm.individuals().size());
  };
  EXPECT_GT(mean_fitness(SelectionKind::uniform), mean_fitness(SelectionKind::none) + 0.02);
}

TEST(QualityDiversity, AFixedThresholdStaysFixed) {
  Arm arm;
  Workers workers(1);
  AlgorithmConfig config = small(DescriptorKind::hand_coded);
  config.threshold.kind = ThresholdKind::fixed;
  config.threshold.value = 0.05;
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(algorithm.step().container_updated);
    EXPECT_EQ(algorithm.threshold(), 0.05);
  }
}

TEST(QualityDiversity, RefusesWhatMakesNoSense) {
  Arm arm;
  Workers workers(1);
  const auto make = [&](AlgorithmConfig config, TaskSpec spec = arm_spec()) {
    QualityDiversity algorithm(spec, config, arm, workers);
  };
  const AlgorithmConfig good = small(DescriptorKind::hand_coded);
  AlgorithmConfig bad = good;
  bad.selection = SelectionKind::surprise;
  EXPECT_THROW(make(bad), UsageError);
  for (std::size_t AlgorithmConfig::*field :
       {&AlgorithmConfig::batch, &AlgorithmConfig::encoder_step, &AlgorithmConfig::update_period,
        &AlgorithmConfig::target_size}) {
    bad = good;
    bad.*field = 0;
    EXPECT_THROW(make(bad), UsageError);
  }
  TaskSpec flat = arm_spec();
  flat.ground_truth.pop_back();
  EXPECT_THROW(make(good, flat), UsageError);
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
