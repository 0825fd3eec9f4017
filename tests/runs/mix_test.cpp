// Which parts go together: the mixes that are refused say why, the others run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "aurora/containers/cells.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/metrics/grid.hpp"
#include "tests/algorithms/arm.hpp"

namespace aurora {
namespace {

Plan small(const std::string& variant, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"container.target_size=400", "run.batch=32", "variation.rate=0.2",
                                  "encoder.kind=pca", "descriptor.dimension=3"};
  all.insert(all.end(), more.begin(), more.end());
  return arm_plan(variant, all);
}

/// What is said against a mix; empty if nothing is.
std::string complaint(const std::string& variant, const std::vector<std::string>& assignments,
                      const TaskSpec& spec = arm_spec()) {
  PlanRequest request;
  request.task = "arm";
  request.variant = variant;
  request.assignments = assignments;
  try {
    resolve(arm_parts(spec), request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const std::string& variant, const std::vector<std::string>& assignments,
                    const std::string& mix, const std::string& reason) {
  const std::string message = complaint(variant, assignments);
  EXPECT_NE(message.find(mix), std::string::npos) << message << "\n not: " << mix;
  EXPECT_NE(message.find(reason), std::string::npos) << message << "\n not: " << reason;
}

TEST(AMix, OfEveryVariantGoesTogether) {
  for (const Variant& variant : builtin_parts().variants) {
    const bool numbered = variant.name.ends_with("-n");
    const std::string name =
        variant.name.substr(0, variant.name.size() - (numbered ? 2 : 0)) + (numbered ? "-3" : "");
    EXPECT_EQ(complaint(name, {}), "") << name;
  }
}

TEST(AMix, ThatMakesNoSenseSaysWhy) {
  for (const std::string variant : {"map-elites", "cvt-map-elites"}) {
    const std::string kind =
        std::string("container.kind=") + (variant == "map-elites" ? "grid" : "cvt");
    expect_refused(variant, {"descriptor.kind=learned", "descriptor.dimension=3"},
                   kind + " does not go with descriptor.kind=learned", "bounds that stay");
    expect_refused(variant, {"threshold.kind=vat"},
                   "threshold.kind=vat means nothing here: " + kind, "no distance threshold");
    EXPECT_EQ(complaint(variant, {"threshold.kind=none"}), "") << "there is none";
    for (const std::string loop : {"taxons", "novelty-search"}) {
      // The variant's word for the container gives way, the user's does not.
      EXPECT_EQ(complaint(variant, {"algorithm.kind=" + loop, "selection.kind=novelty"}), "");
      expect_refused(variant, {"algorithm.kind=" + loop, "selection.kind=novelty", kind},
                     kind + " means nothing here: algorithm.kind=" + loop,
                     "a population appends its best children");
    }
  }
  expect_refused("hc-csc-uniform", {"threshold.kind=none"}, "threshold.kind must be one of csc",
                 "not 'none'");
  EXPECT_EQ(complaint("ns", {"threshold.kind=none", "container.kind=none"}), "")
      << "a population needs neither";
  expect_refused("ns", {"threshold.kind=csc"}, "threshold.kind=csc means nothing here",
                 "a container that nobody leaves");
  EXPECT_EQ(complaint("map-elites", {"container.kind=unstructured"}), "");
}

TEST(AMix, NeedsAnEncoderForSurprise) {
  for (const std::string kind : {"surprise", "novelty+surprise"}) {
    for (const std::string variant : {"hc-csc-uniform", "map-elites", "ns"}) {
      expect_refused(variant, {"selection.kind=" + kind},
                     "selection.kind=" + kind + " does not go with descriptor.kind=hand-coded",
                     "surprise is the reconstruction error of an encoder");
    }
    EXPECT_EQ(complaint("aurora-csc-uniform-3", {"selection.kind=" + kind}), "");
    EXPECT_EQ(complaint("taxons-3", {"selection.kind=" + kind}), "");
  }
  expect_refused("hc-csc-uniform", {"encoder.kind=pca"}, "encoder.kind=pca means nothing here",
                 "descriptor.kind=hand-coded: there is no encoder");
}

TEST(AMix, WithAPopulationNeedsARankingAndEnoughChildren) {
  for (const std::string variant : {"ns", "taxons-3"}) {
    for (const std::string kind : {"uniform", "none"}) {
      expect_refused(variant, {"selection.kind=" + kind},
                     " does not go with selection.kind=" + kind, "a population is ranked");
    }
    expect_refused(variant, {"population.added=6", "run.batch=5"},
                   " does not go with population.added=6 and run.batch=5", "no more children");
    EXPECT_EQ(complaint(variant, {"population.added=5", "run.batch=5"}), "");
  }
}

TEST(AMix, WithoutParentsHasNoVariation) {
  expect_refused("random-search", {"variation.kind=iso+line"},
                 "variation.kind=iso+line means nothing here: selection.kind=none",
                 "every genotype is drawn afresh");
  expect_refused("random-search", {"variation.rate=0.5"}, "variation.rate=0.5 means nothing here",
                 "every genotype is drawn afresh");
}

TEST(AMix, HasNoSettingsOfWhatDoesNotHappen) {
  expect_refused("hc-csc-uniform", {"algorithm.extinction_survivors=0.5"},
                 "algorithm.extinction_survivors=0.5 means nothing here",
                 "algorithm.extinction_period=0: there are no extinctions");
  EXPECT_EQ(complaint("hc-csc-uniform",
                      {"algorithm.extinction_survivors=0.5", "algorithm.extinction_period=50"}),
            "");
  for (const std::string said : {"selection.kind=novelty", "variation.kind=iso+line",
                                 "variation.rate=0.3", "algorithm.extinction_survivors=0.5"}) {
    expect_refused("cma-me", {said}, said + " means nothing here",
                   said.starts_with("algorithm") ? "there are no extinctions"
                                                 : "algorithm.emitted=1: emitters make the whole");
  }
  EXPECT_EQ(complaint("cma-me",
                      {"algorithm.emitted=0.5", "selection.kind=novelty", "variation.rate=0.3"}),
            "");
  // What would be so anyway may be said.
  EXPECT_EQ(complaint("cma-me", {"selection.kind=uniform", "algorithm.extinction_survivors=0.05"}),
            "");
  // What is emitted is rounded: of four children all are.
  expect_refused("cma-me", {"algorithm.emitted=0.9", "run.batch=4", "variation.rate=0.3"},
                 "variation.rate=0.3 means nothing here", "nobody is bred");
}

/// A run does without them, and goes on where an earlier version wrote them down.
TEST(AMix, HasNoSettingsThatMeanNothing) {
  for (const std::string variant : {"hc-csc-uniform", "cma-me"}) {
    PlanRequest request;
    request.task = "arm";
    request.variant = variant;
    // Of several runs at once; of one of them it means nothing.
    request.where_they_matter = {"algorithm.extinction_survivors=0.5"};
    const Plan plan = resolve(arm_parts(), request);
    EXPECT_TRUE(plan.notes.empty());
    EXPECT_EQ(plan.toml().find("extinction_survivors"), std::string::npos);
    EXPECT_NE(plan.toml().find("[variation]"), std::string::npos);
    const auto file = std::filesystem::temp_directory_path() /
                      ("aurora-mix-test-" + std::to_string(getpid()) + ".toml");
    for (const std::string earlier : {"", "extinction_survivors = 0.5\n"}) {
      std::string text = plan.toml();
      text.insert(text.find("extinction_period"), earlier);
      std::ofstream(file) << text;
      PlanRequest again;
      again.file = file;
      again.file_is_of_run = true;
      EXPECT_EQ(resolve(arm_parts(), again).toml(), plan.toml());
      EXPECT_TRUE(resolve(arm_parts(), again).notes.empty());
      again.file_is_of_run = false;
      const std::vector<std::string> notes = resolve(arm_parts(), again).notes;
      ASSERT_EQ(notes.size(), earlier.empty() ? 0U : 1U);
      if (notes.empty()) continue;
      EXPECT_NE(notes[0].find("algorithm.extinction_survivors=0.5 means nothing"),
                std::string::npos);
    }
    std::filesystem::remove(file);
  }
}

TEST(AMix, HasMetricsThatTheTaskCanGive) {
  expect_refused("hc-csc-uniform", {"metrics.also=orientation_coverage"},
                 "metrics.also=orientation_coverage does not go with the task 'arm'",
                 "'pitch' and 'roll'");
  EXPECT_EQ(complaint("hc-csc-uniform", {"metrics.also=trajectory_diversity"}), "");
}

TEST(AMix, HasNoMoreDimensionsThanFeatures) {
  EXPECT_EQ(complaint("aurora-csc-uniform-8", {}), "");
  expect_refused("aurora-csc-uniform-9", {},
                 "descriptor.dimension=9 does not go with the task 'arm'", "only 8 features");
}

/// A part that refuses, whatever its kind, is asked.
TEST(AMix, OfPartsOfOnesOwnAsksThem) {
  struct Picky {
    std::size_t most = 10;
  };
  Parts parts = arm_parts();
  parts.selectors.add(part<Picky>("picky", "for small batches")
                          .option("most", &Picky::most, 1, 100, "children it can look after")
                          .refuses([](const Picky& picky, const Mix& mix) -> std::string {
                            EXPECT_EQ(mix.task.name, "arm");
                            EXPECT_EQ(mix.loop, "quality-diversity");
                            EXPECT_EQ(mix.container, "unstructured");
                            EXPECT_EQ(mix.threshold, "csc");
                            EXPECT_EQ(mix.variation, "polynomial");
                            EXPECT_EQ(mix.encoder, "");
                            EXPECT_EQ(mix.selection, "picky");
                            EXPECT_FALSE(mix.learned);
                            EXPECT_EQ(mix.descriptor_size, 2U);
                            EXPECT_EQ(mix.target_size, 400U);
                            EXPECT_FALSE(mix.ranks);
                            if (mix.batch <= picky.most) return {};
                            return "run.batch=" + std::to_string(mix.batch) + ": too many";
                          })
                          .made_by([](const Picky&, SelectorContext& context) {
                            return uniform_selector().make({}, context);
                          }));
  const auto said = [&](const std::vector<std::string>& more) -> std::string {
    std::vector<std::string> all = {"selection.kind=picky", "container.target_size=400"};
    all.insert(all.end(), more.begin(), more.end());
    try {
      arm_plan("hc-csc-uniform", all, parts);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said({"run.batch=32"}), "selection.kind=picky does not go with run.batch=32: too many");
  EXPECT_EQ(said({"run.batch=32", "selection.most=32"}), "");
  EXPECT_EQ(said({"run.batch=10"}), "");
}

class MapElites : public testing::TestWithParam<const char*> {
 protected:
  static std::uint64_t hash_after(const Plan& plan, std::size_t threads) {
    Arm arm;
    Workers workers(threads);
    const auto algorithm = plan.make_loop(workers);
    for (int i = 0; i < 60; ++i) algorithm->step(arm);
    return container_hash(algorithm->individuals());
  }
};

TEST_P(MapElites, FillsItsCellsAndLosesNobody) {
  Arm arm;
  arm.break_every = 50;
  Workers workers(2);
  const auto algorithm = small(GetParam()).make_loop(workers);
  std::size_t size = 0;
  std::size_t replaced = 0;
  for (int i = 0; i < 300; ++i) {
    const StepReport report = algorithm->step(arm);
    ASSERT_EQ(report.added + report.replaced + report.rejected + report.invalid, 32U);
    size += report.added;
    replaced += report.replaced;
    ASSERT_EQ(algorithm->individuals().size(), size);
    EXPECT_EQ(report.lost, 0U);
    EXPECT_FALSE(report.container_updated);
    EXPECT_EQ(number_called(algorithm->numbers(), "threshold", 0), 0);
  }
  // The arm reaches a disc: pi/4 of the square.
  EXPECT_GT(size, 250U);
  EXPECT_LE(size, 340U);
  EXPECT_GT(replaced, 500U);
}

TEST_P(MapElites, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const std::string selection : {"selection.kind=uniform", "selection.kind=novelty"}) {
    const Plan plan = small(GetParam(), {selection});
    const std::uint64_t one = hash_after(plan, 1);
    for (const std::size_t threads : {2U, 3U, 8U}) EXPECT_EQ(hash_after(plan, threads), one);
    EXPECT_NE(hash_after(small(GetParam(), {selection, "run.seed=2"}), 1), one);
  }
}

TEST_P(MapElites, NumbersThatMakeNoSenseAreRefused) {
  EXPECT_THROW(small(GetParam(), {"container.target_size=0"}), UsageError);
  EXPECT_THROW(small(GetParam(), {"container.k=0"}), UsageError);
  TaskSpec flat = arm_spec();
  flat.ground_truth[1].max = flat.ground_truth[1].min;
  EXPECT_THROW(arm_plan(GetParam(), {}, arm_parts(flat)), UsageError);
}

TEST_P(MapElites, NumbersThatMakeNoSenseAreRefusedWithoutAPlanToo) {
  Workers workers(1);
  const ContainerEntry entry =
      GetParam() == std::string("map-elites") ? grid_container() : cvt_container();
  const auto make = [&](std::size_t target_size, const char* k, Interval y) {
    SelectorContext selection;
    ContainerContext context{
        .layout = layout_of(arm_spec(), kHandCodedSize, *uniform_selector().make({}, selection)),
        .bounds = {{-1, 1}, y},
        .target_size = target_size,
        .workers = workers,
        .threshold = nullptr};
    entry.make({{"k", {Value::Form::integer, k}}}, context);
  };
  EXPECT_NO_THROW(make(10, "15", {-1, 1}));
  EXPECT_THROW(make(10, "0", {-1, 1}), UsageError);
  EXPECT_THROW(make(10, "15", {1, 1}), UsageError);
  if (entry.name == "cvt") {
    EXPECT_THROW(make(0, "15", {-1, 1}), UsageError);
  }
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
  const auto algorithm = small("map-elites").make_loop(workers);
  for (int i = 0; i < 100; ++i) algorithm->step(arm);
  const Individuals& members = algorithm->individuals();
  const Grid grid{.x_min = -1, .x_max = 1, .y_min = -1, .y_max = 1, .resolution = 20};
  EXPECT_NEAR(grid_metrics(grid, members.ground_truth, members.fitness, -1).coverage,
              100.0 * static_cast<double>(members.size()) / 400, 1e-9);
}

}  // namespace
}  // namespace aurora
