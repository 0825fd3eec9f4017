#include "aurora/runs/run.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

const std::vector<std::string> kSmall = {"run.iterations=12", "run.batch=32",
                                         "container.target_size=100", "run.snapshot_every=5"};

std::vector<std::string> small_with(std::initializer_list<std::string> more) {
  std::vector<std::string> all = kSmall;
  all.insert(all.end(), more);
  return all;
}

using ARun = RunFixture;

// A change of these hashes is a change of results: it must be meant, and the commit says why.
TEST_F(ARun, GoldenHashes) {
  EXPECT_EQ(run_with(kSmall, "hc-csc-uniform").container_hash, "87c6863755b61edd");
  if (!encoders_have_golden_bits()) return;
  EXPECT_EQ(run_with(kSmall, "aurora-csc-uniform-10").container_hash, "8dbcdd50c516580f");
}

TEST_F(ARun, SameSeedSameBytesForAnyNumberOfThreadsAndAnotherSeedAnotherContainer) {
  for (const char* variant : {"hc-csc-uniform", "aurora-csc-uniform-10"}) {
    const RunSummary one = run_with(small_with({"run.threads=1"}), variant);
    const std::string metrics = content(out_ / "metrics.csv");
    EXPECT_FALSE(metrics.empty());
    for (const char* threads : {"run.threads=2", "run.threads=3", "run.threads=8"}) {
      EXPECT_EQ(run_with(small_with({threads}), variant).container_hash, one.container_hash);
      EXPECT_EQ(content(out_ / "metrics.csv"), metrics);
    }
    EXPECT_NE(run_with(small_with({"run.seed=2"}), variant).container_hash, one.container_hash);
  }
}

TEST_F(ARun, LeavesACompleteDirectory) {
  const RunSummary summary = run_with(kSmall, "aurora-csc-uniform-4");
  EXPECT_EQ(summary.status, RunStatus::finished);
  EXPECT_EQ(summary.iterations, 12u);
  EXPECT_EQ(summary.evaluations, 12u * 32);
  EXPECT_LT(summary.simulations, summary.evaluations);
  for (const char* file :
       {"config.toml", "run.json", "metrics.csv", "encoder.csv", "container/manifest.json",
        "container/sensory.npy", "snapshots/000005/genotypes.npy", "snapshots/000010/manifest.json",
        "encoder/manifest.json"}) {
    EXPECT_TRUE(std::filesystem::exists(out_ / file)) << file;
  }
  const auto json = nlohmann::json::parse(content(out_ / "run.json"));
  EXPECT_EQ(json["status"], "finished");
  EXPECT_EQ(json["container_hash"], summary.container_hash);
  EXPECT_EQ(json["container_size"], summary.container_size);
  for (const char* phase : {"total", "simulate", "encode", "train", "container", "metrics", "io"}) {
    EXPECT_GE(json["seconds"][phase].get<double>(), 0) << phase;
  }
  // What was saved is what was found.
  const SavedContainer saved = load_container(out_ / "container");
  EXPECT_EQ(saved.individuals.size(), summary.container_size);
  EXPECT_EQ(container_hash_text(saved.individuals), summary.container_hash);
  // metrics.csv has a header, a row for iteration 10 and one for the last.
  EXPECT_EQ(std::ranges::count(content(out_ / "metrics.csv"), '\n'), 3);
}

TEST_F(ARun, TheConfigurationItWritesRepeatsIt) {
  const RunSummary first = run_with(small_with({"variation.rate=0.2"}), "hc-csc-uniform");
  PlanRequest again;
  again.file = out_ / "config.toml";
  const RunSummary second = run(parts_, resolve(parts_, again), {.out = root_ / "again"}, stop_);
  EXPECT_EQ(second.container_hash, first.container_hash);
}

/// Writes down what it is told.
class Witness : public RunObserver {
 public:
  void stands(const Standing& standing) override {
    iterations.push_back(standing.iteration);
    EXPECT_EQ(standing.iterations, 12U);
    EXPECT_EQ(standing.evaluations, 32 * standing.iteration);
    EXPECT_EQ(standing.target_size, 100U);
    EXPECT_GT(standing.container_size, 0U);
    EXPECT_EQ(number_called(standing.row, "container_size", -1),
              static_cast<double>(standing.container_size));
    EXPECT_GT(number_called(standing.row, "coverage", -1), 0);
    trained = standing.training != nullptr;
  }
  void ended() override { ++ends; }
  void note(const std::string& text) override { words += text + "\n"; }
  void warn(const std::string& text) override { words += text + "\n"; }

  std::vector<std::size_t> iterations;
  bool trained = false;
  int ends = 0;
  std::string words;
};

TEST_F(ARun, TellsAnObserverAndPrintsNothing) {
  for (const char* variant : {"hc-csc-uniform", "aurora-csc-uniform-4"}) {
    Witness witness;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    run(parts_, plan_with(small_with({"run.log_every=5"}), variant),
        {.out = root_ / variant, .observer = &witness}, stop_);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(witness.iterations, (std::vector<std::size_t>{5, 10, 12}));
    EXPECT_EQ(witness.trained, variant == std::string("aurora-csc-uniform-4"));
    EXPECT_EQ(witness.ends, 1);
    EXPECT_EQ(witness.words, "");
  }
}

/// Always wants to know.
class Curious : public RunObserver {
 public:
  void stands(const Standing& standing) override {
    iterations.push_back(standing.iteration);
    EXPECT_EQ(standing.evaluations, 32 * standing.iteration);
    EXPECT_GT(number_called(standing.row, "coverage", -1), 0) << "measured once at least";
  }
  bool wants_standing() override { return true; }

  std::vector<std::size_t> iterations;
};

TEST_F(ARun, TellsWhoWantsToKnowFromItsFirstIterationAndComesToTheSame) {
  const Plan plan = plan_with(small_with({"run.log_every=5"}), "hc-csc-uniform");
  Curious curious;
  const RunSummary told = run(parts_, plan, {.out = root_ / "told", .observer = &curious}, stop_);
  const RunSummary alone = run(parts_, plan, {.out = root_ / "alone"}, stop_);
  EXPECT_EQ(curious.iterations,
            (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12}));
  EXPECT_EQ(told.container_hash, alone.container_hash);
  EXPECT_EQ(content(root_ / "told" / "metrics.csv"), content(root_ / "alone" / "metrics.csv"));
}

TEST_F(ARun, SaysWhatItMeasured) {
  const RunSummary summary = run_with(small_with({"metrics.grid.resolution=10"}), "hc-csc-uniform");
  const RunSummary read = read_summary(out_ / "run.json");
  EXPECT_EQ(read.metrics, summary.metrics);
  EXPECT_GT(summary.metric("coverage"), 10) << "of a hundred large cells";
  EXPECT_EQ(summary.metric("no such metric"), 0);
  EXPECT_GT(summary.metric("threshold"), 0);
}

TEST_F(ARun, StopsCleanlyWhenAsked) {
  stop_ = true;
  const RunSummary summary = run_with(kSmall, "hc-csc-uniform");
  EXPECT_EQ(summary.status, RunStatus::interrupted);
  EXPECT_EQ(summary.iterations, 0u);
  EXPECT_EQ(read_summary(out_ / "run.json").status, RunStatus::interrupted);
  EXPECT_TRUE(std::filesystem::exists(out_ / "container/manifest.json"));
}

TEST_F(ARun, NeverTouchesADirectoryThatHoldsSomething) {
  run_with(kSmall, "hc-csc-uniform");
  const std::string before = content(out_ / "run.json");
  EXPECT_THROW(run(parts_, plan_with(kSmall, "aurora-csc-uniform-10"), {.out = out_}, stop_),
               FileError);
  EXPECT_EQ(content(out_ / "run.json"), before);
}

/// A task without options, made anew by `make`.
TaskEntry task_called(const std::string& name, std::function<std::unique_ptr<Task>()> make) {
  return part<NoOptions>(name, "").made_by(
      [make = std::move(make)](const NoOptions&, TaskContext&) { return make(); });
}

/// A task that goes wrong in a chosen way.
class Broken : public Task {
 public:
  explicit Broken(bool throws) : throws_(throws) {
    spec_.name = "broken";
    spec_.genotype_size = 2;
    spec_.sensory = {{4}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    if (throws_) throw std::runtime_error("the motor is on fire");
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      out.fitness[i] = genotypes(i, 0) < 0.5F ? std::nanf("") : 0.0F;
      for (std::size_t j = 0; j < 4; ++j) out.sensory.row<float>(i)[j] = genotypes(i, j % 2);
      out.ground_truth(i, 0) = genotypes(i, 0);
      out.ground_truth(i, 1) = genotypes(i, 1);
    }
  }

 private:
  TaskSpec spec_;
  bool throws_;
};

TEST_F(ARun, AFailureIsSaidInRunJsonAndThrownOn) {
  parts_.tasks.add(task_called("broken", [] { return std::make_unique<Broken>(true); }));
  EXPECT_THROW(run_with({"run.iterations=3"}, "hc-csc-uniform", "broken"), Error);
  const RunSummary summary = read_summary(out_ / "run.json");
  EXPECT_EQ(summary.status, RunStatus::failed);
  EXPECT_NE(summary.error.find("the motor is on fire"), std::string::npos) << summary.error;
}

/// A task during whose evaluations something happens to the run directory, once.
class Meddling : public Task {
 public:
  Meddling(std::size_t when, std::function<void()> what) : when_(when), what_(std::move(what)) {
    spec_.name = "meddling";
    spec_.genotype_size = 2;
    spec_.sensory = {{2}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      if (++evaluations_ == when_) what_();
      out.fitness[i] = 0;
      for (std::size_t j = 0; j < 2; ++j) {
        out.sensory.row<float>(i)[j] = genotypes(i, j);
        out.ground_truth(i, j) = genotypes(i, j);
      }
    }
  }

 private:
  TaskSpec spec_;
  std::size_t when_;
  std::function<void()> what_;
  mutable std::size_t evaluations_ = 0;  // there is one thread
};

class WithAMeddler : public RunFixture {
 protected:
  // Rows come at iterations 3, 6, 9 and 12, snapshots at 4, 8 and 12, the results after 12. There
  // are 8 evaluations in each.
  Plan plan(const std::string& checkpoint_seconds = "0") {
    return plan_with({"run.iterations=12", "run.batch=8", "run.threads=1", "run.log_every=3",
                      "run.snapshot_every=4", "variation.rate=1",
                      "run.checkpoint_seconds=" + checkpoint_seconds},
                     "hc-csc-uniform", "meddling");
  }

  void meddle(std::size_t when, std::function<void()> what) {
    what_ = std::move(what);
    parts_ = builtin_parts();
    parts_.tasks.add(task_called("meddling", [this, when] {
      return std::make_unique<Meddling>(when, [this] { std::exchange(what_, [] {})(); });
    }));
  }

  /// The message of the error, or how the run ended.
  std::string outcome(const fs::path& out, const Plan& plan, bool resume = false) {
    try {
      return std::string(name_of(run(parts_, plan, {.out = out, .resume = resume}, stop_).status));
    } catch (const FileError& error) {
      return error.what();
    }
  }

  std::function<void()> what_;
};

/// Removes a directory that a checkpoint may just be written to.
void remove_used(const fs::path& directory) {
  std::error_code error;
  while (fs::exists(directory)) fs::remove_all(directory, error);
}

TEST_F(WithAMeddler, ADirectoryThatIsGoneStopsTheRunAndNothingIsMadeInItsPlace) {
  const fs::path out = root_ / "run";
  for (const std::size_t when : {1U, 20U, 28U, 44U, 60U, 90U}) {
    for (const char* checkpoint_seconds : {"0", "1e-9"}) {
      SCOPED_TRACE(testing::Message() << when << ", " << checkpoint_seconds);
      meddle(when, [&] { remove_used(out); });
      EXPECT_SAYS(outcome(out, plan(checkpoint_seconds)),
                  "run' was removed, renamed or replaced while the run went on");
      EXPECT_FALSE(fs::exists(out));
    }
  }
}

TEST_F(WithAMeddler, ARenamedDirectoryIsResumedUnderItsNewNameAndItsReplacementLeftAlone) {
  meddle(0, [] {});
  EXPECT_EQ(outcome(root_ / "whole", plan()), "finished");
  const fs::path out = root_ / "run";
  const fs::path moved = root_ / "moved";
  for (const std::size_t when : {1U, 28U, 90U}) {
    for (const char* checkpoint_seconds : {"0", "1e-9"}) {
      SCOPED_TRACE(testing::Message() << when << ", " << checkpoint_seconds);
      meddle(when, [&] {
        fs::rename(out, moved);
        fs::create_directories(out / "checkpoint");
        std::ofstream(out / "checkpoint" / "manifest.json") << "another's";
      });
      EXPECT_SAYS(outcome(out, plan(checkpoint_seconds)), "run' was removed, renamed or replaced");
      EXPECT_EQ(content(out / "checkpoint" / "manifest.json"), "another's");
      EXPECT_EQ(std::distance(fs::recursive_directory_iterator(out), {}), 2);
      EXPECT_EQ(outcome(moved, plan(), true), "finished");
      EXPECT_EQ(content(moved / "metrics.csv"), content(root_ / "whole" / "metrics.csv"));
      fs::remove_all(out);
      fs::remove_all(moved);
    }
  }
}

TEST_F(WithAMeddler, AFinishedRunHasEverythingWhateverFileWasRemoved) {
  meddle(0, [] {});
  EXPECT_EQ(outcome(root_ / "whole", plan()), "finished");
  const fs::path out = root_ / "run";
  for (const char* name :
       {"config.toml", "run.json", "metrics.csv", ".lock", "snapshots/000004", "checkpoint"}) {
    SCOPED_TRACE(name);
    meddle(60, [&] { remove_used(out / name); });
    const std::string first = outcome(out, plan("1e-9"));
    if (first != "finished") {
      // Rows and the lock cannot be replaced, but the run goes on from its checkpoint.
      EXPECT_SAYS(first, "was removed, renamed or replaced while the run went on");
      EXPECT_EQ(outcome(out, plan(), true), "finished");
    }
    EXPECT_EQ(first == "finished",
              name != std::string("metrics.csv") && name != std::string(".lock"));
    EXPECT_EQ(read_summary(out / "run.json").container_hash,
              read_summary(root_ / "whole" / "run.json").container_hash);
    EXPECT_EQ(content(out / "metrics.csv"), content(root_ / "whole" / "metrics.csv"));
    EXPECT_EQ(plan_of_run(parts_, out).run.iterations, 12U);
    EXPECT_TRUE(fs::exists(out / "checkpoint" / "manifest.json"));
    EXPECT_TRUE(fs::exists(out / "container" / "manifest.json"));
    fs::remove_all(out);
  }
}

TEST_F(ARun, BrokenEvaluationsAreCountedAndKeptOut) {
  parts_.tasks.add(task_called("broken", [] { return std::make_unique<Broken>(false); }));
  const RunSummary summary =
      run_with({"run.iterations=20", "encoder.kind=pca", "descriptor.dimension=2"},
               "aurora-csc-uniform", "broken");
  EXPECT_GT(summary.invalid, 0u);
  const SavedContainer saved = load_container(out_ / "container");
  EXPECT_GT(saved.individuals.size(), 0u);
  for (std::size_t i = 0; i < saved.individuals.size(); ++i) {
    EXPECT_GE(saved.individuals.genotypes(i, 0), 0.5F);
  }
}

}  // namespace
}  // namespace aurora
