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

Plan small(const std::string& variant, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"descriptor.dimension=3", "encoder.kind=pca", "run.batch=32",
                                  "variation.rate=0.2"};
  all.insert(all.end(), more.begin(), more.end());
  return arm_plan(variant, all);
}

class EveryPopulation : public testing::TestWithParam<const char*> {};

TEST_P(EveryPopulation, AddsQAGenerationAndNeverLosesAny) {
  Arm arm;
  Workers workers(2);
  const auto search = small(GetParam()).make_loop(workers);
  std::set<std::uint64_t> before;
  for (std::size_t i = 1; i <= 40; ++i) {
    const StepReport report = search->step(arm);
    EXPECT_EQ(report.added, 5u);
    EXPECT_EQ(report.added + report.rejected, 32u);
    EXPECT_EQ(report.lost, 0u);
    EXPECT_EQ(search->individuals().size(), 5 * i);
    const auto& ids = search->individuals().ids;
    const std::set<std::uint64_t> now(ids.begin(), ids.end());
    EXPECT_EQ(now.size(), 5 * i) << "every individual once";
    EXPECT_TRUE(std::ranges::includes(now, before));
    before = now;
    const bool trains = GetParam() == std::string("taxons") && (i == 10 || i == 30);
    EXPECT_EQ(report.training.has_value(), trains) << i;
  }
}

TEST_P(EveryPopulation, SameSeedSameBitsForAnyNumberOfThreads) {
  const auto hash = [&](std::size_t threads, const char* seed) {
    Arm arm;
    Workers workers(threads);
    const auto search = small(GetParam(), {seed}).make_loop(workers);
    for (int i = 0; i < 40; ++i) search->step(arm);
    return container_hash(search->individuals());
  };
  const std::uint64_t one = hash(1, "run.seed=1");
  for (const std::size_t threads : {2u, 3u, 8u}) EXPECT_EQ(hash(threads, "run.seed=1"), one);
  EXPECT_NE(hash(1, "run.seed=2"), one);
}

TEST_P(EveryPopulation, BrokenEvaluationsNeverEnterTheContainer) {
  Arm arm;
  arm.break_every = 3;
  Workers workers(1);
  const auto search = small(GetParam()).make_loop(workers);
  std::size_t invalid = 0;
  for (int i = 0; i < 40; ++i) invalid += search->step(arm).invalid;
  EXPECT_GE(invalid, arm.evaluations / 3);  // a clone of a broken parent is broken too
  for (const float fitness : search->individuals().fitness) EXPECT_TRUE(std::isfinite(fitness));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryPopulation, testing::Values("taxons", "ns"),
                         [](const auto& instance) {
                           return instance.param == std::string("taxons") ? "Taxons" : "NS";
                         });

TEST(NoveltySearch, TheMostNovelChildrenOfTheFirstGenerationEnter) {
  Arm arm;
  Workers workers(1);
  const Plan plan = small("ns");
  const auto search = plan.make_loop(workers);
  search->step(arm);
  // The same batch again, and its novelty by brute force: the reference set is the batch itself.
  SelectorContext context;
  Offspring batch(layout_of(arm_spec(), kHandCodedSize, *plan.selector.make(context)), 32, 1);
  batch.draw(1, workers);
  arm.evaluate(batch.genotypes(), batch.evaluation());
  batch.describe(nullptr, false, workers);
  const Individuals& all = batch.individuals();
  const std::size_t k = *plan.loop.integer("container.k");
  EXPECT_EQ(k, 15U);
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
    for (std::size_t j = 0; j < k; ++j) sum += distances[j];
    ranking.emplace_back(-sum, all.ids[i]);
  }
  std::ranges::sort(ranking);
  std::set<std::uint64_t> expected;
  for (std::size_t i = 0; i < 5; ++i) expected.insert(ranking[i].second);
  const auto& ids = search->individuals().ids;
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()), expected);
}

TEST(NoveltySearch, SpreadsFurtherThanChance) {
  const auto spread = [](const char* rate) {
    Arm arm;
    Workers workers(1);
    const auto search = small("ns", {rate}).make_loop(workers);
    for (int i = 0; i < 60; ++i) search->step(arm);
    double sum = 0;
    const Individuals& found = search->individuals();
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum += std::hypot(found.descriptors(i, 0), found.descriptors(i, 1));
    }
    return sum / static_cast<double>(found.size());
  };
  // Without mutation nothing new is ever found.
  EXPECT_GT(spread("variation.rate=0.2"), spread("variation.rate=0") + 0.05);
}

TEST(Taxons, ReadsSurprise) {
  Arm arm;
  Workers workers(1);
  // One dimension leaves something to be surprised about.
  const auto search = small("taxons", {"descriptor.dimension=1"}).make_loop(workers);
  for (int i = 0; i < 20; ++i) search->step(arm);
  const auto& errors = search->individuals().reconstruction_error;
  EXPECT_GT(*std::ranges::max_element(errors), 0);
}

TEST(PopulationSearch, RefusesWhatMakesNoSense) {
  const auto refused = [](const std::string& assignment) {
    EXPECT_THROW(small("ns", {assignment}), UsageError) << assignment;
  };
  EXPECT_NO_THROW(small("ns"));
  for (const std::string kind : {"uniform", "none", "surprise"}) refused("selection.kind=" + kind);
  for (const std::string added : {"0", "33"}) refused("population.added=" + added);
}

TEST(PopulationSearch, RefusesItAlsoWithoutAPlan) {
  Workers workers(1);
  const auto make = [&](const char* added, const SelectorEntry& selector) {
    SelectorContext selection;
    VariationContext genes{4};
    LoopContext context{.task = arm_spec(),
                        .batch = 32,
                        .descriptor_size = 2,
                        .encoder = nullptr,
                        .container = nullptr,
                        .selector = selector.make({}, selection),
                        .variation = polynomial_variation().make({}, genes),
                        .workers = workers};
    const Values values = {{"population.added", {Value::Form::integer, added}}};
    return novelty_search_loop().make(values, context);
  };
  EXPECT_NO_THROW(make("32", novelty_selector()));
  EXPECT_THROW(make("0", novelty_selector()), UsageError);
  EXPECT_THROW(make("33", novelty_selector()), UsageError);
  EXPECT_THROW(make("5", uniform_selector()), UsageError);
  EXPECT_THROW(make("5", no_selector()), UsageError);
}

}  // namespace
}  // namespace aurora
