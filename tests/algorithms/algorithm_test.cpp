// An algorithm that is saved, restored into a fresh one and continued does what the uninterrupted
// one does.
#include "aurora/algorithms/algorithm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "arm.hpp"
#include "aurora/algorithms/population_search.hpp"
#include "aurora/algorithms/quality_diversity.hpp"
#include "aurora/algorithms/variants.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

AlgorithmConfig small_config(const std::string& variant) {
  AlgorithmConfig config;
  config.dimension = 3;
  config.batch = 16;
  config.target_size = 60;
  config.encoder_step = 3;  // updates at 3, 9, 18, 30, 45
  config.update_period = 4;
  config.threshold.gain = 1e-3;
  config.encoder.epochs = 2;
  config.variation.crossover = 0.3;
  config.population.unvaried = 0.2;
  apply_variant(variant, config);
  config.dimension = 3;
  return config;
}

std::unique_ptr<Algorithm> make(const AlgorithmConfig& config, Evaluator& evaluator,
                                Workers& workers) {
  if (config.kind == AlgorithmKind::quality_diversity) {
    return std::make_unique<QualityDiversity>(arm_spec(), config, evaluator, workers);
  }
  return std::make_unique<PopulationSearch>(arm_spec(), config, evaluator, workers);
}

/// What can be seen of an algorithm after an iteration.
struct Seen {
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> ids;  // in the order of the rows, which selection depends on
  std::vector<float> errors;
  double threshold = 0;
  std::vector<std::size_t> counts;
  double loss = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen step(Algorithm& algorithm) {
  const StepReport report = algorithm.step();
  const Individuals& members = algorithm.individuals();
  return {.hash = container_hash(members),
          .ids = members.ids,
          .errors = members.reconstruction_error,
          .threshold = algorithm.threshold(),
          .counts = {report.added, report.replaced, report.rejected, report.invalid,
                     report.simulated, report.lost, report.container_updated ? 1U : 0U},
          .loss = report.training ? report.training->validation_loss : 0};
}

class SavedState : public testing::TestWithParam<std::string> {};

TEST_P(SavedState, ContinuesAsIfNothingHadHappened) {
  constexpr std::size_t kIterations = 34;
  const AlgorithmConfig config = small_config(GetParam());
  Workers workers(1);
  Arm arm;
  std::vector<Seen> uninterrupted;
  std::vector<AlgorithmState> states(kIterations);
  const auto whole = make(config, arm, workers);
  for (std::size_t i = 0; i < kIterations; ++i) {
    whole->save(states[i]);
    uninterrupted.push_back(step(*whole));
  }
  // Before anything, around encoder updates (3, 9, 18, 30) and container updates (4, 8, ...).
  for (const std::size_t k : {0U, 1U, 2U, 3U, 4U, 9U, 17U, 18U, 23U, 33U}) {
    const auto restored = make(config, arm, workers);
    restored->restore(states[k]);
    EXPECT_EQ(restored->iteration(), k);
    for (std::size_t i = k; i < kIterations; ++i) {
      ASSERT_EQ(step(*restored), uninterrupted[i]) << "saved after " << k << ", iteration " << i;
    }
  }
}

TEST_P(SavedState, ThatCannotBeIsRefused) {
  const AlgorithmConfig config = small_config(GetParam());
  Workers workers(1);
  Arm arm;
  const auto original = make(config, arm, workers);
  for (int i = 0; i < 5; ++i) original->step();
  AlgorithmState good;
  original->save(good);
  const auto refused = [&](auto change) {
    AlgorithmState bad = good;
    change(bad);
    EXPECT_THROW(make(config, arm, workers)->restore(bad), DataError);
  };
  refused([](AlgorithmState& s) { s.container.genotypes = Matrix<float>(s.container.size(), 3); });
  refused([](AlgorithmState& s) { s.container.ids[1] = s.container.ids[0]; });
  refused([](AlgorithmState& s) { s.container.fitness[0] = std::nanf(""); });
  refused([](AlgorithmState& s) { s.encoder_updates = s.iteration + 1; });
  refused([](AlgorithmState& s) {
    s.population = s.container;
    s.population.resize(3);
  });
  if (good.encoder.empty()) {
    refused([](AlgorithmState& s) { s.encoder.push_back({"x", {1}, {0}}); });
  } else {
    refused([](AlgorithmState& s) { s.encoder.pop_back(); });
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const VariantEntry& entry : variants()) {
    all.push_back(entry.pattern.ends_with("-n") ? entry.pattern.substr(0, entry.pattern.size() - 2)
                                                : entry.pattern);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, SavedState, testing::ValuesIn(names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace aurora
