#include "aurora/algorithms/population_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "arm.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

AlgorithmConfig small(AlgorithmKind kind) {
  AlgorithmConfig config;
  config.kind = kind;
  const bool taxons = kind == AlgorithmKind::taxons;
  config.descriptor = taxons ? DescriptorKind::learned : DescriptorKind::hand_coded;
  config.selection = taxons ? SelectionKind::novelty_surprise : SelectionKind::novelty;
  config.dimension = 3;
  config.encoder.kind = EncoderKind::pca;
  config.batch = 32;
  config.variation.rate = 0.2;
  return config;
}

class EveryPopulation : public testing::TestWithParam<AlgorithmKind> {};

TEST_P(EveryPopulation, AddsQAGenerationAndNeverLosesAny) {
  Arm arm;
  Workers workers(2);
  PopulationSearch search(arm_spec(), small(GetParam()), arm, workers);
  std::set<std::uint64_t> before;
  for (std::size_t i = 1; i <= 40; ++i) {
    const StepReport report = search.step();
    EXPECT_EQ(report.added, 5u);
    EXPECT_EQ(report.added + report.rejected, 32u);
    EXPECT_EQ(report.lost, 0u);
    EXPECT_EQ(search.individuals().size(), 5 * i);
    const auto& ids = search.individuals().ids;
    const std::set<std::uint64_t> now(ids.begin(), ids.end());
    EXPECT_EQ(now.size(), 5 * i) << "every individual once";
    EXPECT_TRUE(std::ranges::includes(now, before));
    before = now;
    const bool trains = GetParam() == AlgorithmKind::taxons && (i == 10 || i == 30);
    EXPECT_EQ(report.training.has_value(), trains) << i;
  }
}

TEST_P(EveryPopulation, SameSeedSameBitsForAnyNumberOfThreads) {
  AlgorithmConfig config = small(GetParam());
  const auto hash = [&](std::size_t threads) {
    Arm arm;
    Workers workers(threads);
    PopulationSearch search(arm_spec(), config, arm, workers);
    for (int i = 0; i < 40; ++i) search.step();
    return container_hash(search.individuals());
  };
  const std::uint64_t one = hash(1);
  for (const std::size_t threads : {2u, 3u, 8u}) EXPECT_EQ(hash(threads), one);
  config.seed = 2;
  EXPECT_NE(hash(1), one);
}

TEST_P(EveryPopulation, BrokenEvaluationsNeverEnterTheContainer) {
  Arm arm;
  arm.break_every = 3;
  Workers workers(1);
  PopulationSearch search(arm_spec(), small(GetParam()), arm, workers);
  std::size_t invalid = 0;
  for (int i = 0; i < 40; ++i) invalid += search.step().invalid;
  EXPECT_GE(invalid, arm.evaluations / 3);  // a clone of a broken parent is broken too
  for (const float fitness : search.individuals().fitness) EXPECT_TRUE(std::isfinite(fitness));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryPopulation,
                         testing::Values(AlgorithmKind::taxons, AlgorithmKind::novelty_search),
                         [](const auto& instance) {
                           return instance.param == AlgorithmKind::taxons ? "Taxons" : "NS";
                         });

TEST(NoveltySearch, TheMostNovelChildrenOfTheFirstGenerationEnter) {
  Arm arm;
  Workers workers(1);
  const AlgorithmConfig config = small(AlgorithmKind::novelty_search);
  PopulationSearch search(arm_spec(), config, arm, workers);
  search.step();
  // The same batch again, and its novelty by brute force: the reference set is the batch itself.
  Offspring batch(layout_of(arm_spec(), config), config);
  batch.draw(1, workers);
  batch.evaluate(arm);
  batch.describe(nullptr, false, workers);
  const Individuals& all = batch.individuals();
  std::vector<std::pair<double, std::uint64_t>> ranking;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> distances;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (j != i) {
        distances.push_back(std::hypot(all.descriptors(i, 0) - all.descriptors(j, 0),
                                       all.descriptors(i, 1) - all.descriptors(j, 1)));
      }
    }
    std::ranges::sort(distances);
    double sum = 0;
    for (std::size_t j = 0; j < config.archive.k; ++j) sum += distances[j];
    ranking.emplace_back(-sum, all.ids[i]);
  }
  std::ranges::sort(ranking);
  std::set<std::uint64_t> expected;
  for (std::size_t i = 0; i < 5; ++i) expected.insert(ranking[i].second);
  const auto& ids = search.individuals().ids;
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()), expected);
}

TEST(NoveltySearch, SpreadsFurtherThanChance) {
  const auto spread = [](double rate) {
    Arm arm;
    Workers workers(1);
    AlgorithmConfig config = small(AlgorithmKind::novelty_search);
    config.variation.rate = rate;
    PopulationSearch search(arm_spec(), config, arm, workers);
    for (int i = 0; i < 60; ++i) search.step();
    double sum = 0;
    const Individuals& found = search.individuals();
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum += std::hypot(found.descriptors(i, 0), found.descriptors(i, 1));
    }
    return sum / static_cast<double>(found.size());
  };
  EXPECT_GT(spread(0.2), spread(0) + 0.05);  // without mutation nothing new is ever found
}

TEST(Taxons, ReadsSurprise) {
  Arm arm;
  Workers workers(1);
  AlgorithmConfig config = small(AlgorithmKind::taxons);
  config.dimension = 1;  // leaves something to be surprised about
  PopulationSearch search(arm_spec(), config, arm, workers);
  for (int i = 0; i < 20; ++i) search.step();
  const auto& errors = search.individuals().reconstruction_error;
  EXPECT_GT(*std::ranges::max_element(errors), 0);
}

TEST(PopulationSearch, RefusesWhatMakesNoSense) {
  Arm arm;
  Workers workers(1);
  const auto make = [&](const AlgorithmConfig& config) {
    PopulationSearch search(arm_spec(), config, arm, workers);
  };
  const AlgorithmConfig good = small(AlgorithmKind::novelty_search);
  for (const SelectionKind kind :
       {SelectionKind::uniform, SelectionKind::none, SelectionKind::surprise}) {
    AlgorithmConfig bad = good;
    bad.selection = kind;
    EXPECT_THROW(make(bad), UsageError) << name_of(kind);
  }
  for (const std::size_t added : {0u, 33u}) {
    AlgorithmConfig bad = good;
    bad.population.added = added;
    EXPECT_THROW(make(bad), UsageError);
  }
}

}  // namespace
}  // namespace aurora
