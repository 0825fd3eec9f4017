#include "aurora/experiments/estimate.hpp"

#include "aurora/runs/retrain.hpp"
#include "tests/runs/run_fixture.hpp"

namespace aurora {
namespace {

class AnEstimate : public RunFixture {
 protected:
  PlannedRun planned(const std::string& variant, std::vector<std::string> assignments) const {
    PlanRequest request;
    request.task = "maze";
    request.variant = variant;
    request.assignments = std::move(assignments);
    return {"it", resolve(parts_, request), {}};
  }
};

TEST_F(AnEstimate, CountsEvaluationsTrainingsAndEncodings) {
  // Updates at 10, 30 and 60, with a quarter of what was evaluated by then.
  PlannedRun run = planned("aurora-csc-uniform-2",
                           {"run.iterations=60", "run.batch=100", "encoder.update_step=10",
                            "encoder.epochs=20", "container.target_size=10000"});
  const Costs evaluation{.evaluation = 1};
  EXPECT_DOUBLE_EQ(estimate(run, evaluation).simulation, 6000);
  EXPECT_DOUBLE_EQ(estimate(run, evaluation).encoder, 0);
  const double examples = 250 + 750 + 1500;
  EXPECT_DOUBLE_EQ(estimate(run, {.training = 1}).encoder, 10 * examples);
  EXPECT_DOUBLE_EQ(estimate(run, {.encoding = 1}).encoder, 6000 + examples);
  EXPECT_DOUBLE_EQ(estimate_retraining(run, {.training = 1}).encoder, 0);
  run.retrain = true;
  const double again = 1500 * static_cast<double>(RetrainOptions{}.epochs) / 2;
  EXPECT_DOUBLE_EQ(estimate_retraining(run, {.training = 1}).encoder, again);
  EXPECT_DOUBLE_EQ(estimate(run, {.training = 1}).encoder, 10 * examples + again);
}

TEST_F(AnEstimate, KnowsFullContainersAndTheExamplesThatATrainingTakes) {
  const PlannedRun run = planned("aurora-csc-uniform-2",
                                 {"run.iterations=30", "run.batch=1000", "encoder.update_step=10",
                                  "encoder.epochs=2", "container.target_size=3000"});
  EXPECT_DOUBLE_EQ(estimate(run, {.training = 1}).encoder, 2500 + 3000);
  // TAXONS adds five individuals in a generation.
  const PlannedRun taxons =
      planned("taxons-4", {"run.iterations=30", "encoder.update_step=10", "encoder.epochs=2"});
  EXPECT_DOUBLE_EQ(estimate(taxons, {.training = 1}).encoder, 5 * (10 + 30));
}

TEST_F(AnEstimate, KnowsThatPiecesAreNotCutApart) {
  // The maze takes 16 at a time: 8 pieces.
  const PlannedRun run = planned("hc-csc-uniform", {"run.batch=128"});
  EXPECT_DOUBLE_EQ(simulation_speedup(run.plan, 1), 1);
  EXPECT_DOUBLE_EQ(simulation_speedup(run.plan, 4), 4);
  EXPECT_DOUBLE_EQ(simulation_speedup(run.plan, 5), 4) << "three of them have two pieces";
  EXPECT_DOUBLE_EQ(simulation_speedup(run.plan, 1000), 8);
  const PlannedRun large = planned("hc-csc-uniform", {"run.batch=8192"});
  EXPECT_DOUBLE_EQ(simulation_speedup(large.plan, 256), 256);
}

TEST_F(AnEstimate, RestsOnMeasuredTimes) {
  const Costs learned = measure_costs(planned("aurora-csc-uniform-2", {}).plan);
  EXPECT_GT(learned.evaluation, 0);
  EXPECT_GT(learned.encoding, 0);
  EXPECT_GT(learned.training, learned.encoding) << "a training step encodes, decodes and goes back";
  const Costs hand_coded = measure_costs(planned("hc-csc-uniform", {}).plan);
  EXPECT_GT(hand_coded.evaluation, 0);
  EXPECT_EQ(hand_coded.training, 0);
  EXPECT_EQ(hand_coded.encoding, 0);
}

TEST_F(AnEstimate, CountsTheContainerItsCopyAndTheExamples) {
  const auto memory = [&](const std::string& variant, const std::string& size) {
    return estimate(planned(variant, {"run.iterations=1000", "container.target_size=" + size}),
                    {.memory = 1e6})
        .memory;
  };
  const SensoryShape& sensory = planned("hc-csc-uniform", {}).plan.spec().sensory;
  const double bytes = 1000 * static_cast<double>(sensory.row_bytes());
  const double given = memory("hc-csc-uniform", "2000") - memory("hc-csc-uniform", "1000");
  EXPECT_GT(given, 2 * bytes);
  EXPECT_LT(given, 2 * bytes + 1000 * 1000);
  const double learned =
      memory("aurora-csc-uniform-2", "2000") - memory("aurora-csc-uniform-2", "1000");
  EXPECT_NEAR(learned - given, 1000 * 4 * static_cast<double>(sensory.size()), 1e5);
  EXPECT_GT(memory("hc-csc-uniform", "1000"), 1e6 + 2 * bytes);
  EXPECT_GT(measure_costs(planned("hc-csc-uniform", {}).plan).memory, 1e6);
}

}  // namespace
}  // namespace aurora
