// An algorithm that is saved, restored into a fresh one and continued does what the uninterrupted
// one does, and so does one that is driven by hand.
#include "aurora/algorithms/algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arm.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

Plan small_plan(const std::string& variant) {
  return arm_plan(variant, {"descriptor.dimension=3", "run.batch=16", "container.target_size=60",
                            "encoder.update_step=3",  // updates at 3, 9, 18, 30, 45
                            "container.update_period=4", "threshold.gain=1e-3", "encoder.epochs=2",
                            "variation.crossover=0.3", "population.unvaried=0.2"});
}

/// What can be seen of an algorithm after an iteration.
struct Seen {
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> ids;  // in the order of the rows, which selection depends on
  std::vector<float> errors;
  std::vector<NamedNumber> numbers;
  std::vector<std::size_t> counts;
  double loss = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen(const Algorithm& algorithm, const StepReport& report) {
  const Individuals& members = algorithm.individuals();
  return {
      .hash = container_hash(members),
      .ids = members.ids,
      .errors = members.reconstruction_error,
      .numbers = algorithm.numbers(),
      .counts = {report.added, report.replaced, report.rejected, report.invalid, report.simulated,
                 report.lost, report.extinct, report.container_updated ? 1U : 0U},
      .loss = report.training ? report.training->validation_loss : 0};
}

Seen step(Algorithm& algorithm, Evaluator& evaluator) {
  const StepReport report = algorithm.step(evaluator);
  return seen(algorithm, report);
}

class EveryVariant : public testing::TestWithParam<std::string> {};

TEST_P(EveryVariant, ThatIsSavedContinuesAsIfNothingHadHappened) {
  constexpr std::size_t kIterations = 34;
  const Plan plan = small_plan(GetParam());
  Workers workers(1);
  Arm arm;
  std::vector<Seen> uninterrupted;
  std::vector<AlgorithmState> states(kIterations);
  const auto whole = plan.make_loop(workers);
  for (std::size_t i = 0; i < kIterations; ++i) {
    whole->save(states[i]);
    uninterrupted.push_back(step(*whole, arm));
  }
  // Before anything, around encoder updates (3, 9, 18, 30) and container updates (4, 8, ...).
  for (const std::size_t k : {0U, 1U, 2U, 3U, 4U, 9U, 17U, 18U, 23U, 33U}) {
    const auto restored = plan.make_loop(workers);
    restored->restore(states[k]);
    EXPECT_EQ(restored->iteration(), k);
    for (std::size_t i = k; i < kIterations; ++i) {
      ASSERT_EQ(step(*restored, arm), uninterrupted[i])
          << "saved after " << k << ", iteration " << i;
    }
  }
}

TEST_P(EveryVariant, SharesItsSensoryDataWithItsSavedState) {
  const Plan plan = small_plan(GetParam());
  Workers workers(1);
  Arm arm;
  const auto algorithm = plan.make_loop(workers);
  for (int i = 0; i < 5; ++i) algorithm->step(arm);
  AlgorithmState state;
  AlgorithmState again;
  algorithm->save(state);
  algorithm->save(again);
  const auto expect_shared = [](const Individuals& one, const Individuals& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t row = 0; row < one.size(); ++row) {
      ASSERT_EQ(one.sensory.view().bytes(row).data(), other.sensory.view().bytes(row).data());
    }
  };
  expect_shared(state.container, algorithm->individuals());
  expect_shared(state.population, again.population);
  // Whoever takes the state over shares it, too.
  const auto restored = plan.make_loop(workers);
  restored->restore(std::move(state));
  ASSERT_GT(restored->individuals().size(), 0U);
  EXPECT_EQ(restored->individuals().sensory.view().bytes(0).data(),
            algorithm->individuals().sensory.view().bytes(0).data());
}

TEST_P(EveryVariant, RefusesAStateThatCannotBe) {
  const Plan plan = small_plan(GetParam());
  Workers workers(1);
  Arm arm;
  const auto original = plan.make_loop(workers);
  for (int i = 0; i < 5; ++i) original->step(arm);
  AlgorithmState good;
  original->save(good);
  EXPECT_NO_THROW(plan.make_loop(workers)->restore(good));
  const auto refused = [&](auto change) {
    AlgorithmState bad = good;
    change(bad);
    EXPECT_THROW(plan.make_loop(workers)->restore(bad), DataError);
  };
  refused([](AlgorithmState& s) { s.container.genotypes = Matrix<float>(s.container.size(), 3); });
  refused([](AlgorithmState& s) { s.container.ids[1] = s.container.ids[0]; });
  refused([](AlgorithmState& s) { s.container.fitness[0] = std::nanf(""); });
  refused([](AlgorithmState& s) { s.encoder_updates = s.iteration + 1; });
  refused([](AlgorithmState& s) {
    s.population = s.container;
    s.population.resize(3);
  });
  refused([](AlgorithmState& s) {  // a column that nobody here asked for
    s.container.extra_names = {"age"};
    s.container.extra = Matrix<float>(s.container.size(), 1);
  });
  if (good.encoder.empty()) {
    refused([](AlgorithmState& s) { s.encoder.push_back({"x", {1}, {0}}); });
  } else {
    refused([](AlgorithmState& s) { s.encoder.pop_back(); });
  }
  for (std::size_t i = 0; i < good.container_state.numbers.size(); ++i) {
    refused([i](AlgorithmState& s) { s.container_state.numbers[i].value = std::nan(""); });
  }
  if (plan.threshold) {
    EXPECT_FALSE(good.container_state.numbers.empty());
  }
}

TEST_P(EveryVariant, DrivenByHandGivesTheSameBits) {
  const Plan plan = small_plan(GetParam());
  Workers workers(1);
  Arm arm;
  const auto stepped = plan.make_loop(workers);
  const auto driven = plan.make_loop(workers);
  for (int i = 1; i <= 20; ++i) {
    const Seen expected = step(*stepped, arm);
    driven->propose();
    EXPECT_EQ(driven->iteration(), static_cast<std::size_t>(i));
    const MatrixView<const float> genotypes = driven->genotypes();
    EXPECT_EQ(driven->evaluation().fitness.size(), genotypes.rows());
    // One by one, and in another order.
    for (std::size_t row = genotypes.rows(); row-- > 0;) {
      arm.evaluate(genotypes.slice(row, 1), driven->evaluation().slice(row, 1));
    }
    const StepReport report = driven->absorb();
    EXPECT_EQ(report.simulated, genotypes.rows());
    ASSERT_EQ(seen(*driven, report), expected) << i;
  }
}

TEST_P(EveryVariant, TakesGenotypesThatAreGiven) {
  const Plan plan = small_plan(GetParam());
  Workers workers(1);
  Arm arm;
  const auto loop = plan.make_loop(workers);
  const std::size_t genes = plan.spec().genotype_size;
  const std::size_t batch = plan.run.batch;
  Matrix<float> given(3, genes);
  for (std::size_t i = 0; i < 3; ++i) {
    std::ranges::fill(given.row(i), 0.25F * static_cast<float>(i));
  }
  for (std::size_t i = 1; i <= 6; ++i) {
    loop->propose(i % 2 == 1 ? std::as_const(given).view() : MatrixView<const float>());
    EXPECT_EQ(loop->iteration(), i);
    if (i % 2 == 1) {
      ASSERT_EQ(loop->genotypes().rows(), batch);  // the rest is drawn
      for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_TRUE(std::ranges::equal(loop->genotypes().row(row), given.row(row)));
      }
    }
    arm.evaluate(loop->genotypes(), loop->evaluation());
    loop->absorb();
  }
  const auto refused = [&](const Matrix<float>& wrong) {
    EXPECT_THROW(loop->propose(wrong.view()), UsageError);
    EXPECT_EQ(loop->iteration(), 6U);  // nothing has begun
  };
  refused(Matrix<float>(batch + 1, genes));
  refused(Matrix<float>(1, genes + 1));
  for (const float gene : {-0.1F, 1.1F, std::nanf("")}) {
    given(0, 0) = gene;
    refused(given);
  }
}

std::vector<std::string> names() {
  const std::vector<Variant> variants = builtin_parts().variants;
  std::vector<std::string> all;
  for (const Variant& variant : variants) {
    const std::size_t number = variant.name.ends_with("-n") ? 2 : 0;
    all.push_back(variant.name.substr(0, variant.name.size() - number));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryVariant, testing::ValuesIn(names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

// --- A selector that learns --------------------------------------------------------------------

struct Lesson {
  std::vector<Birth> births;
  std::size_t members = 0;
};

/// Prefers members with few children, and counts those that were kept.
class FewChildren final : public Selector {
 public:
  explicit FewChildren(std::vector<Lesson>& lessons) : lessons_(lessons) {}
  std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
    std::vector<float> weights = view.column("children");
    for (float& weight : weights) weight = 1 / (1 + weight);
    return weights;
  }
  std::vector<std::string> columns() const override { return {"kept", "children"}; }
  void learn(std::span<const Birth> births, MatrixView<float> values) const override {
    lessons_.push_back({{births.begin(), births.end()}, values.rows()});
    EXPECT_EQ(values.cols(), 2U);
    for (const Birth& birth : births) {
      if (birth.kept) values(birth.parent, 0) += 1;
      values(birth.parent, 1) += 1;
    }
  }

 private:
  std::vector<Lesson>& lessons_;
};

/// Three genes move; the last one says who the parent is.
class Marking final : public Variation {
 public:
  void vary(std::span<const float> parent, std::span<const float>, std::span<float> child,
            Stream& stream) const override {
    for (std::size_t i = 0; i < 3; ++i) child[i] = static_cast<float>(stream.uniform());
    child[3] = parent[0];
  }
};

class ALearningSelector : public testing::Test {
 protected:
  ALearningSelector() {
    parts_.selectors.add(part<NoOptions>("few-children", "prefers those with few")
                             .made_by([this](const NoOptions&, SelectorContext&) {
                               return std::make_unique<FewChildren>(lessons_);
                             }));
    parts_.variations.add(part<NoOptions>("marking", "leaves the parent's mark")
                              .made_by([](const NoOptions&, VariationContext&) {
                                return std::make_unique<Marking>();
                              }));
  }

  Plan plan(const std::string& variant, const std::string& variation = "marking") {
    return arm_plan(variant,
                    {"selection.kind=few-children", "variation.kind=" + variation, "run.batch=16",
                     "container.target_size=60", "threshold.gain=1e-3", "descriptor.dimension=3",
                     "encoder.kind=pca", "encoder.update_step=3"},
                    parts_);
  }

  Parts parts_ = arm_parts();
  std::vector<Lesson> lessons_;
  Workers workers_{1};
  Arm arm_;
};

/// The row of the member whose first gene is this one.
std::uint32_t row_with(const Individuals& members, float gene) {
  for (std::uint32_t row = 0; row < members.size(); ++row) {
    if (members.genotypes(row, 0) == gene) return row;
  }
  ADD_FAILURE() << "nobody has the gene " << gene;
  return 0;
}

TEST_F(ALearningSelector, IsToldWhatBecameOfTheChildrenOfThoseWhoAreStillThere) {
  struct Life {
    float kept = 0;
    float children = 0;
  };
  for (const std::string variant : {"map-elites", "hc-csc-uniform"}) {
    SCOPED_TRACE(variant);
    lessons_.clear();
    const Plan mix = plan(variant);
    const auto algorithm = mix.make_loop(workers_);
    std::map<std::uint64_t, Life> lives;
    std::size_t kept_children = 0, refused_children = 0, orphans = 0;
    for (std::size_t iteration = 1; iteration <= 40; ++iteration) {
      AlgorithmState before;
      algorithm->save(before);
      algorithm->propose();
      const MatrixView<const float> genotypes = algorithm->genotypes();
      ASSERT_EQ(genotypes.rows(), 16U) << "nobody is a clone";
      arm_.evaluate(genotypes, algorithm->evaluation());

      // The same children, offered to a container of our own.
      const auto container = mix.make_container(workers_);
      container->restore(before.container, before.container_state);
      Individuals batch = before.container;
      batch.resize(0);
      batch.resize(16);
      arm_.evaluate(genotypes,
                    {batch.fitness, batch.sensory.mutable_view(), batch.ground_truth.view()});
      std::copy_n(genotypes.data(), 16 * genotypes.cols(), batch.genotypes.data());
      batch.descriptors = batch.ground_truth;
      std::vector<std::uint32_t> parents;
      std::vector<bool> kept;
      for (std::size_t i = 0; i < 16; ++i) {
        batch.ids[i] = (iteration - 1) * 16 + i;
        if (iteration > 1) parents.push_back(row_with(before.container, genotypes(i, 3)));
        const Outcome outcome = container->add(batch, i);
        kept.push_back(outcome == Outcome::added || outcome == Outcome::replaced);
      }
      std::vector<Birth> expected;
      for (std::size_t i = 0; i < parents.size(); ++i) {
        const std::uint64_t id = before.container.ids[parents[i]];
        if (container->individuals().ids[parents[i]] != id) {
          ++orphans;
          continue;
        }
        expected.push_back({parents[i], kept[i]});
        lives[id].children += 1;
        lives[id].kept += kept[i] ? 1 : 0;
        ++(kept[i] ? kept_children : refused_children);
      }

      algorithm->absorb();
      ASSERT_EQ(lessons_.size(), iteration);
      EXPECT_EQ(lessons_.back().members, container->size());
      ASSERT_EQ(lessons_.back().births.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(lessons_.back().births[i].parent, expected[i].parent) << i;
        EXPECT_EQ(lessons_.back().births[i].kept, expected[i].kept) << i;
      }
      const Individuals& members = algorithm->individuals();
      ASSERT_EQ(members.extra_names, (std::vector<std::string>{"kept", "children"}));
      for (std::size_t row = 0; row < members.size(); ++row) {
        EXPECT_EQ(members.extra(row, 0), lives[members.ids[row]].kept);
        EXPECT_EQ(members.extra(row, 1), lives[members.ids[row]].children);
      }
    }
    EXPECT_GT(kept_children, 10U);
    EXPECT_GT(refused_children, 10U);
    EXPECT_GT(orphans, 0U) << "some lost their place to a child";
  }
}

TEST_F(ALearningSelector, FindsItsColumnsAgainWhenItIsRestored) {
  for (const std::string variant : {"aurora-csc-uniform", "hc-csc-uniform", "map-elites"}) {
    SCOPED_TRACE(variant);
    const Plan mix = plan(variant, "polynomial");
    const auto whole = mix.make_loop(workers_);
    for (int i = 0; i < 14; ++i) whole->step(arm_);
    AlgorithmState state;
    whole->save(state);
    EXPECT_EQ(state.container.extra, whole->individuals().extra);
    float children = 0;
    for (std::size_t row = 0; row < state.container.size(); ++row) {
      children += state.container.extra(row, 1);
    }
    EXPECT_GT(children, 50);
    const auto restored = mix.make_loop(workers_);
    restored->restore(state);
    AlgorithmState forgetful = state;
    std::fill_n(forgetful.container.extra.data(), 2 * state.container.size(), 0.0F);
    const auto another = mix.make_loop(workers_);
    another->restore(forgetful);
    bool same = true;
    for (int i = 0; i < 12; ++i) {
      const Seen expected = step(*whole, arm_);
      ASSERT_EQ(step(*restored, arm_), expected);
      EXPECT_EQ(restored->individuals().extra, whole->individuals().extra);
      same = same && step(*another, arm_) == expected;
    }
    EXPECT_FALSE(same) << "the columns make no difference";
    state.container.extra_names = {"children", "kept"};
    EXPECT_THROW(mix.make_loop(workers_)->restore(state), DataError);
  }
}

TEST(Columns, CannotBeCalledAsThoseThatEverybodyHas) {
  class Named final : public Selector {
   public:
    explicit Named(std::string name) : name_(std::move(name)) {}
    std::vector<float> weights(SelectionView&, std::uint32_t) const override { return {}; }
    std::vector<std::string> columns() const override { return {name_}; }

   private:
    std::string name_;
  };
  for (const char* name : {"ids", "genotypes", "fitness", "descriptors", "sensory",
                           "reconstruction_error", "ground_truth", "manifest", "", "../x"}) {
    EXPECT_THROW(layout_of(arm_spec(), 2, Named(name)), UsageError) << name;
  }
  EXPECT_EQ(layout_of(arm_spec(), 2, Named("age")).extra, std::vector<std::string>{"age"});
}

}  // namespace
}  // namespace aurora
