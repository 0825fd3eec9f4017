// The loop `ensemble`: what it shares with the quality-diversity loop is tested there.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arm.hpp"
#include "aurora/algorithms/algorithm.hpp"
#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

Plan small(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"descriptor.dimension=3", "encoder.kind=rff-pca",
                                  "encoder.features=32",    "container.target_size=200",
                                  "run.batch=32",           "variation.rate=0.2"};
  all.insert(all.end(), more.begin(), more.end());
  return arm_plan("aurora-ensemble-3", all);
}

double size_of(const Algorithm& algorithm, int container) {
  return number_called(algorithm.numbers(), "size_" + std::to_string(container), -1);
}

TEST(Ensemble, EveryContainerGoesToTheTargetSizeAndAllMembersAreThereOnce) {
  Arm arm;
  Workers workers(2);
  const auto algorithm = small().make_loop(workers);
  for (int i = 0; i < 300; ++i) algorithm->step(arm);
  double sum = 0;
  for (const int container : {1, 2, 3}) {
    EXPECT_NEAR(size_of(*algorithm, container), 200, 50);
    sum += size_of(*algorithm, container);
  }
  const Individuals& members = algorithm->individuals();
  EXPECT_EQ(std::set(members.ids.begin(), members.ids.end()).size(), members.size());
  EXPECT_LE(static_cast<double>(members.size()), sum);
  EXPECT_GT(members.size(), 250U) << "the containers do not hold the same";
  EXPECT_EQ(members.descriptors.cols(), 9U);
}

TEST(Ensemble, DescriptorsAreWhatTheEncodersSay) {
  Arm arm;
  Workers workers(1);
  const auto algorithm = small({"selection.kind=surprise"}).make_loop(workers);
  for (int i = 0; i < 35; ++i) algorithm->step(arm);
  const Individuals& members = algorithm->individuals();
  Matrix<float> again(members.size(), 9);
  std::vector<float> errors(members.size());
  algorithm->encoder()->encode(members.sensory.view(), again, errors, workers);
  for (std::size_t row = 0; row < members.size(); ++row) {
    for (std::size_t d = 0; d < 9; ++d) EXPECT_EQ(again(row, d), members.descriptors(row, d));
    EXPECT_EQ(errors[row], members.reconstruction_error[row]);
  }
}

std::uint64_t hash_after(const Plan& plan, std::size_t iterations, std::size_t threads) {
  Arm arm;
  Workers workers(threads);
  const auto algorithm = plan.make_loop(workers);
  for (std::size_t i = 0; i < iterations; ++i) algorithm->step(arm);
  return container_hash(algorithm->individuals());
}

TEST(Ensemble, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const char* selection : {"selection.kind=uniform", "selection.kind=novelty"}) {
    const std::uint64_t one = hash_after(small({selection}), 60, 1);
    for (const std::size_t threads : {2U, 3U}) {
      EXPECT_EQ(hash_after(small({selection}), 60, threads), one);
    }
    EXPECT_NE(hash_after(small({selection, "run.seed=2"}), 60, 1), one);
    EXPECT_NE(hash_after(small({selection, "algorithm.shares=true"}), 60, 1), one);
    EXPECT_NE(hash_after(small({selection, "algorithm.encoders=2"}), 60, 1), one);
  }
}

TEST(Ensemble, OfOneEncoderFindsWhatThePlainLoopFinds) {
  // Nobody is selected, and the encoder does not learn: selection draws other numbers, and examples
  // come in another order.
  const std::vector<std::string> both = {"selection.kind=none", "encoder.update_step=1000"};
  const auto with = [&](const std::string& more, const std::string& loop) {
    return hash_after(small({both[0], both[1], more, loop}), 60, 1);
  };
  EXPECT_EQ(with("algorithm.encoders=1", "algorithm.kind=ensemble"),
            with("algorithm.recent=0", "algorithm.kind=quality-diversity"));
}

TEST(Ensemble, GoesOnBitForBitFromACheckpoint) {
  const Plan plan = small({"algorithm.extinction_period=20", "algorithm.recent=50"});
  Arm arm;
  Workers workers(1);
  const auto whole = plan.make_loop(workers);
  AlgorithmState state;
  for (int i = 0; i < 47; ++i) whole->step(arm);
  whole->save(state);
  const auto rest = plan.make_loop(workers);
  rest->restore(state);
  for (int i = 0; i < 30; ++i) {
    whole->step(arm);
    rest->step(arm);
    ASSERT_EQ(container_hash(whole->individuals()), container_hash(rest->individuals())) << i;
    ASSERT_EQ(whole->individuals().ids, rest->individuals().ids) << "row by row";
    ASSERT_EQ(whole->numbers(), rest->numbers());
  }
}

TEST(Ensemble, DrawsAContainerFirstAndThenAParent) {
  Parts parts = arm_parts();
  static std::vector<std::size_t> sizes;
  sizes.clear();
  class Looking final : public Selector {
   public:
    std::vector<float> weights(SelectionView& view, std::uint32_t) const override {
      sizes.push_back(view.size());
      return {};
    }
  };
  parts.selectors.add(part<NoOptions>("looking", "notes what it is shown")
                          .made_by([](const NoOptions&, const SelectorContext&) {
                            return std::make_unique<Looking>();
                          }));
  PlanRequest request;
  request.task = "arm";
  request.variant = "aurora-ensemble-3";
  request.assignments = {"selection.kind=looking", "encoder.kind=rff-pca", "run.batch=64",
                         "container.target_size=100"};
  Arm arm;
  Workers workers(1);
  const auto algorithm = resolve(parts, request).make_loop(workers);
  for (int i = 0; i < 20; ++i) algorithm->step(arm);
  std::vector<std::size_t> expected;
  for (const int container : {1, 2, 3}) {
    expected.push_back(static_cast<std::size_t>(size_of(*algorithm, container)));
  }
  sizes.clear();
  algorithm->propose();
  // With 64 children each of the three containers is drawn, and asked once.
  EXPECT_EQ(sizes, expected);
}

TEST(Ensemble, RefusesWhatMakesNoSense) {
  const auto message = [](const std::vector<std::string>& assignments) -> std::string {
    PlanRequest request;
    request.task = "arm";
    request.variant = "aurora-ensemble-3";
    request.assignments = assignments;
    try {
      resolve(arm_parts(), request);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({"descriptor.kind=hand-coded"}).find("no encoder"), std::string::npos);
  EXPECT_NE(message({"selection.kind=curiosity"}).find("a score in each container"),
            std::string::npos);
  EXPECT_NE(message({"algorithm.encoders=0"}), "");
  EXPECT_NE(message({"algorithm.encoders=17"}), "");
  EXPECT_NE(message({"container.kind=grid"}), "");
  // It is the dimension of each that the data must have room for: 8 features, three encoders.
  EXPECT_EQ(message({"descriptor.dimension=8"}), "");
  EXPECT_NE(message({"descriptor.dimension=9"}), "");
}

TEST(Ensemble, IsMadeOfSeveral) {
  Workers workers(1);
  const Plan plan = arm_plan("aurora-csc-uniform-3", {"encoder.kind=pca"});
  Stream stream(1, Purpose::encoder_weights);
  SelectorContext selection{1};
  VariationContext genes{4};
  LoopContext context{.task = arm_spec(),
                      .descriptor_size = 3,
                      .encoder = plan.make_encoder(3, stream),
                      .container = plan.make_container(workers),
                      .selector = plan.selector.make(selection),
                      .variation = plan.variation->make(genes),
                      .workers = workers};
  Values values;
  const LoopEntry entry = ensemble_loop();
  for (const Option& option : entry.options) values[option.name] = option.fallback;
  EXPECT_THROW(entry.make(values, context), UsageError);
}

}  // namespace
}  // namespace aurora
