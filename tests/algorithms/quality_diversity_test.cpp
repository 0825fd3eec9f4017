#include "aurora/algorithms/quality_diversity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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
  const auto make = [&](std::size_t batch, std::size_t encoder_step, const TaskSpec& task,
                        const QualityDiversityConfig& config = {}) {
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
    QualityDiversity algorithm(context, config);
  };
  TaskSpec flat = arm_spec();
  flat.ground_truth.pop_back();
  EXPECT_NO_THROW(make(1, 1, arm_spec()));
  EXPECT_THROW(make(0, 1, arm_spec()), UsageError);
  EXPECT_THROW(make(1, 0, arm_spec()), UsageError);
  EXPECT_THROW(make(1, 1, flat), UsageError);
  EXPECT_THROW(make(1, 1, arm_spec(), {.extinction_survivors = 0}), UsageError);
  EXPECT_THROW(make(1, 1, arm_spec(), {.extinction_survivors = 1.1}), UsageError);
}

// --- Recent individuals -----------------------------------------------------------------------

TEST(RecentIndividuals, AreLearnedFromBesideTheMembers) {
  const Plan plan = small(kLearned, {"algorithm.recent=200", "encoder.update_step=5"});
  Arm arm;
  Workers workers(2);
  const auto algorithm = plan.make_loop(workers);
  std::size_t simulated = 0;
  for (std::size_t i = 1; i <= 40; ++i) {
    const StepReport report = algorithm->step(arm);
    simulated += report.simulated;
    if (!report.training) continue;
    AlgorithmState state;
    algorithm->save(state);
    EXPECT_EQ(state.population.size(), std::min<std::size_t>(simulated, 200));
    // An update may have thrown members out since.
    EXPECT_GT(report.training->examples, state.container.size()) << i;
    EXPECT_LE(report.training->examples, state.container.size() + report.lost + 200) << i;
  }
}

TEST(RecentIndividuals, AreKeptToTheSameBits) {
  const Plan plan = small(kLearned, {"algorithm.recent=100", "encoder.update_step=3"});
  const std::uint64_t one = hash_after(plan, 40, 1);
  EXPECT_EQ(hash_after(plan, 40, 3), one);
  EXPECT_NE(hash_after(small(kLearned, {"encoder.update_step=3"}), 40, 1), one);
  Arm arm;
  Workers workers(1);
  auto algorithm = plan.make_loop(workers);
  for (std::size_t i = 1; i <= 40; ++i) {
    algorithm->step(arm);
    AlgorithmState state;
    algorithm->save(state);
    algorithm = plan.make_loop(workers);
    algorithm->restore(std::move(state));
  }
  EXPECT_EQ(container_hash(algorithm->individuals()), one);
}

TEST(RecentIndividuals, NeedAnEncoder) {
  EXPECT_THROW(small(kHandCoded, {"algorithm.recent=100"}), UsageError);
}

// --- Extinctions -------------------------------------------------------------------------------

class EveryContainer : public testing::TestWithParam<const char*> {
 protected:
  static Plan with_extinctions(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"algorithm.extinction_period=7",
                                    "algorithm.extinction_survivors=0.2"};
    all.insert(all.end(), more.begin(), more.end());
    return small(GetParam(), all);
  }
};

TEST_P(EveryContainer, IsLeftToAFewNowAndThen) {
  Arm arm;
  Workers workers(2);
  const auto algorithm = with_extinctions().make_loop(workers);
  std::size_t extinct = 0;
  for (std::size_t i = 1; i <= 30; ++i) {
    const Individuals before = algorithm->individuals();
    const StepReport report = algorithm->step(arm);
    EXPECT_EQ(report.added + report.replaced + report.rejected + report.invalid, 32U);
    const Individuals& after = algorithm->individuals();
    extinct += report.extinct;
    EXPECT_EQ(number_called(algorithm->numbers(), "extinct", -1), static_cast<double>(extinct));
    if (i != 8 && i != 15 && i != 22 && i != 29) {
      EXPECT_EQ(report.extinct, 0U) << i;
      continue;
    }
    const auto survivors =
        static_cast<std::size_t>(std::round(0.2 * static_cast<double>(before.size())));
    EXPECT_EQ(report.extinct, before.size() - survivors) << i;
    // Whoever is still there was there before, or is a child.
    EXPECT_LE(after.size(), survivors + 32);
    EXPECT_EQ(after.size(), survivors + report.added - report.lost);
    const auto fittest = std::ranges::max_element(before.fitness) - before.fitness.begin();
    const std::uint64_t id = before.ids[static_cast<std::size_t>(fittest)];
    const bool stays = std::ranges::find(after.ids, id) != after.ids.end();
    EXPECT_TRUE(stays || report.replaced + report.lost > 0) << i;
  }
  EXPECT_GT(extinct, 100U);
}

TEST_P(EveryContainer, GoesThroughExtinctionsToTheSameBits) {
  const Plan plan = with_extinctions();
  const std::uint64_t one = hash_after(plan, 40, 1);
  EXPECT_EQ(hash_after(plan, 40, 3), one);
  EXPECT_NE(hash_after(small(GetParam()), 40, 1), one);
  EXPECT_NE(hash_after(with_extinctions({"run.seed=2"}), 40, 1), one);
  // Saved before, at and after extinctions, and while somebody is asked.
  Arm arm;
  Workers workers(1);
  const auto whole = plan.make_loop(workers);
  for (std::size_t i = 1; i <= 40; ++i) {
    AlgorithmState state;
    whole->propose();
    if (i >= 6 && i <= 9) {
      whole->save(state);
      state.iteration = i - 1;  // what was only asked is asked again
      const auto restored = plan.make_loop(workers);
      restored->restore(state);
      for (std::size_t j = i; j <= 40; ++j) restored->step(arm);
      EXPECT_EQ(container_hash(restored->individuals()), one) << i;
    }
    arm.evaluate(whole->genotypes(), whole->evaluation());
    whole->absorb();
  }
  EXPECT_EQ(container_hash(whole->individuals()), one);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryContainer,
                         testing::Values("aurora-csc-uniform-3", "hc-csc-uniform", "hc-uniform",
                                         "map-elites", "cvt-map-elites", "dns", "aurora-dns-3",
                                         "cma-me"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Extinctions, SurvivorsAreDrawnByLotAndTheFittestIsOneOfThem) {
  std::vector<std::size_t> survived(30);
  constexpr std::size_t kSeeds = 400;
  for (std::size_t seed = 1; seed <= kSeeds; ++seed) {
    Arm arm;
    Workers workers(1);
    const auto algorithm =
        small(kHandCoded, {"algorithm.extinction_period=1", "algorithm.extinction_survivors=0.5",
                           "threshold.kind=fixed", "threshold.value=0.000001", "run.batch=30",
                           "run.seed=" + std::to_string(seed)})
            .make_loop(workers);
    algorithm->step(arm);
    ASSERT_EQ(algorithm->individuals().size(), 30U);
    const std::vector<float>& fitness = algorithm->individuals().fitness;
    const auto row = std::ranges::max_element(fitness) - fitness.begin();
    const std::uint64_t fittest = algorithm->individuals().ids[static_cast<std::size_t>(row)];
    EXPECT_EQ(algorithm->step(arm).extinct, 15U);
    const std::vector<std::uint64_t>& ids = algorithm->individuals().ids;
    EXPECT_NE(std::ranges::find(ids, fittest), ids.end());
    for (const std::uint64_t id : ids) {
      if (id < 30) ++survived[id];
    }
  }
  double chi2 = 0;
  for (const std::size_t count : survived) {
    chi2 += std::pow(static_cast<double>(count) - kSeeds / 2.0, 2) / (kSeeds / 2.0);
  }
  EXPECT_LT(chi2, 58.3);  // 29 dof, p = 0.001; half of it is expected here
}

TEST(Extinctions, StatesThatCannotBeAreRefused) {
  Workers workers(1);
  Arm arm;
  const Plan plan = small(kHandCoded, {"algorithm.extinction_period=2"});
  const auto algorithm = plan.make_loop(workers);
  for (int i = 0; i < 4; ++i) algorithm->step(arm);
  AlgorithmState state;
  algorithm->save(state);
  EXPECT_GT(number_called(state.loop_state.numbers, "extinct", 0), 0);
  EXPECT_NO_THROW(plan.make_loop(workers)->restore(state));
  state.loop_state.numbers[0].value = -1;
  EXPECT_THROW(plan.make_loop(workers)->restore(state), DataError);
  state.loop_state = {};  // an older version had none
  EXPECT_NO_THROW(plan.make_loop(workers)->restore(state));
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
