#include "aurora/algorithms/containers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "arm.hpp"
#include "aurora/algorithms/population_search.hpp"
#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/algorithms/variants.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/metrics/grid.hpp"

namespace aurora {
namespace {

AlgorithmConfig small(const std::string& variant) {
  AlgorithmConfig config;
  apply_variant(variant, config);
  config.target_size = 400;
  config.batch = 32;
  config.variation.rate = 0.2;
  config.encoder.kind = EncoderKind::pca;
  return config;
}

std::string complaint(const AlgorithmConfig& config) {
  try {
    check_container(config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckContainer, EveryVariantHasOneThatFits) {
  for (const VariantEntry& entry : variants()) {
    const bool numbered = entry.pattern.ends_with("-n");
    EXPECT_EQ(complaint(small(entry.pattern.substr(0, entry.pattern.size() - (numbered ? 2 : 0)))),
              "")
        << entry.pattern;
  }
}

TEST(CheckContainer, SaysWhyAMixMakesNoSense) {
  const auto expect = [](const AlgorithmConfig& config, const std::string& mix,
                         const std::string& reason) {
    const std::string message = complaint(config);
    EXPECT_NE(message.find(mix), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  for (const std::string kind : {"map-elites", "cvt-map-elites"}) {
    const AlgorithmConfig good = small(kind);
    const std::string words =
        "container.kind=" + std::string(name_of(good.container)) + " does not go with ";
    AlgorithmConfig bad = good;
    bad.descriptor = DescriptorKind::learned;
    expect(bad, words + "descriptor.kind=learned", "bounds that stay");
    bad = good;
    bad.threshold.kind = ThresholdKind::vat;
    expect(bad, words + "threshold.kind=vat", "no distance threshold");
    for (const AlgorithmKind loop : {AlgorithmKind::taxons, AlgorithmKind::novelty_search}) {
      bad = good;
      bad.kind = loop;
      expect(bad, words + "algorithm.kind=" + std::string(name_of(loop)), "population");
    }
  }
  AlgorithmConfig bad = small("hc-csc-uniform");
  bad.threshold.kind = ThresholdKind::none;
  expect(bad, "container.kind=unstructured does not go with threshold.kind=none", "apart");
  bad.kind = AlgorithmKind::novelty_search;
  EXPECT_EQ(complaint(bad), "") << "a population needs no threshold";
}

TEST(CheckContainer, TheLoopsAskIt) {
  Arm arm;
  Workers workers(1);
  AlgorithmConfig config = small("map-elites");
  config.threshold.kind = ThresholdKind::csc;
  EXPECT_THROW(QualityDiversity(arm_spec(), config, arm, workers), UsageError);
  config = small("ns");
  config.container = ContainerKind::grid;
  EXPECT_THROW(PopulationSearch(arm_spec(), config, arm, workers), UsageError);
}

class MapElites : public testing::TestWithParam<const char*> {
 protected:
  static std::uint64_t hash_after(const AlgorithmConfig& config, std::size_t threads) {
    Arm arm;
    Workers workers(threads);
    QualityDiversity algorithm(arm_spec(), config, arm, workers);
    for (int i = 0; i < 60; ++i) algorithm.step();
    return container_hash(algorithm.individuals());
  }
};

TEST_P(MapElites, FillsItsCellsAndLosesNobody) {
  Arm arm;
  arm.break_every = 50;
  Workers workers(2);
  const AlgorithmConfig config = small(GetParam());
  QualityDiversity algorithm(arm_spec(), config, arm, workers);
  std::size_t size = 0;
  std::size_t replaced = 0;
  for (int i = 0; i < 300; ++i) {
    const StepReport report = algorithm.step();
    ASSERT_EQ(report.added + report.replaced + report.rejected + report.invalid, config.batch);
    size += report.added;
    replaced += report.replaced;
    ASSERT_EQ(algorithm.individuals().size(), size);
    EXPECT_EQ(report.lost, 0U);
    EXPECT_FALSE(report.container_updated);
    EXPECT_EQ(algorithm.threshold(), 0);
  }
  // The arm reaches a disc: pi/4 of the square.
  EXPECT_GT(size, 250U);
  EXPECT_LE(size, 340U);
  EXPECT_GT(replaced, 500U);
}

TEST_P(MapElites, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const SelectionKind selection : {SelectionKind::uniform, SelectionKind::novelty}) {
    AlgorithmConfig config = small(GetParam());
    config.selection = selection;
    const std::uint64_t one = hash_after(config, 1);
    for (const std::size_t threads : {2U, 3U, 8U}) EXPECT_EQ(hash_after(config, threads), one);
    config.seed = 2;
    EXPECT_NE(hash_after(config, 1), one);
  }
}

TEST_P(MapElites, NumbersThatMakeNoSenseAreRefused) {
  Arm arm;
  Workers workers(1);
  AlgorithmConfig config = small(GetParam());
  config.target_size = 0;
  EXPECT_THROW(QualityDiversity(arm_spec(), config, arm, workers), UsageError);
  config = small(GetParam());
  config.archive.k = 0;
  EXPECT_THROW(container_of(arm_spec(), config, workers), UsageError);
  TaskSpec flat = arm_spec();
  flat.ground_truth[1].max = flat.ground_truth[1].min;
  EXPECT_THROW(container_of(flat, small(GetParam()), workers), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Cells, MapElites, testing::Values("map-elites", "cvt-map-elites"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(GridElites, AreOneToACellOfTheGridOfTheMetrics) {
  Arm arm;
  Workers workers(1);
  QualityDiversity algorithm(arm_spec(), small("map-elites"), arm, workers);
  for (int i = 0; i < 100; ++i) algorithm.step();
  const Individuals& members = algorithm.individuals();
  const Grid grid{.x_min = -1, .x_max = 1, .y_min = -1, .y_max = 1, .resolution = 20};
  EXPECT_NEAR(grid_metrics(grid, members.ground_truth, members.fitness, -1).coverage,
              100.0 * static_cast<double>(members.size()) / 400, 1e-9);
}

}  // namespace
}  // namespace aurora
