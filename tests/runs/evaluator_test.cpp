// Evaluators other than threads, as a run sees them: they are described, serve, and lose somebody.
#include "aurora/evaluation/evaluator.hpp"

#include <memory>
#include <string>

#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

struct Remote {
  std::size_t lost_after = 1000000;  // calls
  bool serves = false;
};

/// Threads that pretend to be far away.
class RemoteEvaluator : public Evaluator {
 public:
  RemoteEvaluator(const Remote& remote, EvaluatorContext& context)
      : remote_(remote), threads_(context.task, context.workers) {}
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    if (calls_++ == remote_.lost_after) throw Lost("rank 2 on b is gone");
    threads_.evaluate(genotypes, out);
  }
  bool serve() override { return remote_.serves; }
  std::string describe() const override { return "2 ranks on a (1), b (1)"; }

 private:
  Remote remote_;
  std::size_t calls_ = 0;
  ThreadEvaluator threads_;
};

class ARemoteEvaluator : public RunFixture {
 protected:
  ARemoteEvaluator() { parts_.evaluators.add(remote("")); }

  static EvaluatorEntry remote(const std::string& missing) {
    return part<Remote>("remote", "far away")
        .option("lost_after", &Remote::lost_after, 0, 1000000, "calls")
        .option("serves", &Remote::serves, "it evaluates for another")
        .missing(missing)
        .made_by([](const Remote& config, EvaluatorContext& context) {
          return std::make_unique<RemoteEvaluator>(config, context);
        });
  }

  Plan remote_plan(const std::string& variant, const std::string& more) {
    return plan_with(
        {"run.iterations=12", "run.batch=32", "container.target_size=60", "encoder.update_step=4",
         "encoder.epochs=2", "run.checkpoint_seconds=0", "run.evaluator=remote", more},
        variant);
  }
};

/// What a user is told.
class Told : public RunObserver {
 public:
  void saved_up_to(std::size_t iteration) override { saved = iteration; }
  std::optional<std::size_t> saved;
};

TEST_F(ARemoteEvaluator, IsDescribedInRunJson) {
  const RunSummary summary =
      run(parts_, remote_plan("hc-csc-uniform", "evaluator.serves=false"), {root_ / "run"}, stop_);
  EXPECT_EQ(summary.evaluator, "remote: 2 ranks on a (1), b (1)");
  EXPECT_EQ(read_summary(root_ / "run" / "run.json").evaluator, summary.evaluator);
}

TEST_F(ARemoteEvaluator, ThatServesWritesNothing) {
  const RunSummary summary =
      run(parts_, remote_plan("hc-csc-uniform", "evaluator.serves=true"), {root_ / "run"}, stop_);
  EXPECT_EQ(summary.task, "");
  EXPECT_FALSE(std::filesystem::exists(root_ / "run"));
}

TEST_F(ARemoteEvaluator, ThatLosesSomebodyLeavesEveryWholeIterationSaved) {
  for (const std::string variant : {"hc-csc-uniform", "aurora-csc-novelty-2", "taxons-2"}) {
    const auto plain = root_ / (variant + "-plain");
    run(parts_, remote_plan(variant, "evaluator.serves=false"), {plain}, stop_);
    for (const std::size_t calls : {1U, 5U}) {
      const auto out = root_ / (variant + std::to_string(calls));
      const Plan plan = remote_plan(variant, "evaluator.lost_after=" + std::to_string(calls));
      Told told;
      EXPECT_THROW(run(parts_, plan, {.out = out, .observer = &told}, stop_), Lost);
      const RunSummary failed = read_summary(out / "run.json");
      EXPECT_EQ(failed.status, RunStatus::failed);
      EXPECT_EQ(failed.error, "rank 2 on b is gone");
      EXPECT_EQ(failed.invalid, 0U) << "no evaluation is to blame";
      EXPECT_EQ(failed.iterations, calls);
      EXPECT_EQ(told.saved, calls);
      // It is lost once more on the way.
      EXPECT_THROW(run(parts_, plan, {.out = out, .resume = true}, stop_), Lost);
      run(parts_, remote_plan(variant, "evaluator.serves=false"), {.out = out, .resume = true},
          stop_);
      EXPECT_EQ(read_summary(out / "run.json").container_hash,
                read_summary(plain / "run.json").container_hash)
          << variant << " after " << calls;
      EXPECT_EQ(content(out / "metrics.csv"), content(plain / "metrics.csv"));
    }
  }
}

TEST_F(ARemoteEvaluator, ThatLosesSomebodyAtOnceBeginsAgain) {
  const auto out = root_ / "run";
  EXPECT_THROW(run(parts_, remote_plan("hc-csc-uniform", "evaluator.lost_after=0"), {out}, stop_),
               Lost);
  const RunSummary summary = run(parts_, remote_plan("hc-csc-uniform", "evaluator.serves=false"),
                                 {.out = out, .resume = true}, stop_);
  EXPECT_EQ(summary.iterations, 12U);
}

TEST_F(ARemoteEvaluator, NeedNotBeThereToLookAtItsRuns) {
  const auto out = root_ / "run";
  run(parts_, remote_plan("hc-csc-uniform", "evaluator.serves=false"), {out}, stop_);
  Parts bare = builtin_parts();
  bare.evaluators.add(remote("nobody has it"));
  EXPECT_EQ(plan_of_run(bare, out).evaluator.entry->name, "threads");
  PlanRequest request;
  request.task = "maze";
  request.assignments = {"run.evaluator=remote"};
  try {
    resolve(bare, request);
    FAIL() << "who asks for it by name wants to know";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("nobody has it"), std::string::npos);
  }
}

TEST_F(ARemoteEvaluator, CalledMpiIsThreadsWithoutMpirun) {
  forget_mpi_launch();
  const EvaluatorEntry entry = mpi_evaluator();
  if (!entry.missing.empty()) GTEST_SKIP() << entry.missing;
  const Plan plan =
      plan_with({"run.iterations=3", "run.batch=16", "run.evaluator=mpi", "evaluator.silence=5"},
                "hc-csc-uniform");
  EXPECT_EQ(run(parts_, plan, {root_ / "run"}, stop_).evaluator, "mpi");
}

}  // namespace
}  // namespace aurora
