// Evaluations that misbehave: the run goes on, and what happened can be looked up.
#include "aurora/runs/failures.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "apps/aurora/gene_reader.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

enum class Mischief {
  none,
  throws,
  throws_a_number,
  nan_fitness,
  nan_senses,
  too_few_senses,
  too_many_senses,
  senses_of_another_type,
  forgets_senses,
  forgets_ground_truth,
  hangs
};

/// Misbehaves for genotypes whose first gene is small.
class Wild : public Task {
 public:
  explicit Wild(Mischief mischief, float below = 0.2F) : mischief_(mischief), below_(below) {
    spec_.name = "wild";
    spec_.genotype_size = 2;
    spec_.sensory = {{2}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.worst_fitness = -1;
    spec_.preferred_batch = 4;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      const bool wild = genes[0] < below_;
      out.fitness[i] = -genes[1];
      if (!wild || mischief_ != Mischief::forgets_ground_truth) {
        std::ranges::copy(genes, out.ground_truth.row(i).begin());
      }
      if (!wild || mischief_ != Mischief::forgets_senses) out.sensory.set_row(i, genes);
      if (!wild) continue;
      if (mischief_ == Mischief::throws) throw std::runtime_error("the leg\nfell off");
      if (mischief_ == Mischief::throws_a_number) throw 42;
      if (mischief_ == Mischief::nan_fitness) out.fitness[i] = std::nanf("");
      if (mischief_ == Mischief::nan_senses) out.sensory.row<float>(i)[1] = INFINITY;
      if (mischief_ == Mischief::too_few_senses) out.sensory.set_row(i, genes.first(1));
      if (mischief_ == Mischief::too_many_senses) out.sensory.set_row(i, std::vector<float>(3));
      if (mischief_ == Mischief::senses_of_another_type) {
        std::ranges::fill(out.sensory.row<std::uint8_t>(i), std::uint8_t{7});
      }
      if (mischief_ == Mischief::hangs) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
  }

 private:
  TaskSpec spec_;
  Mischief mischief_;
  float below_;
};

class AMisbehavingTask : public RunFixture {
 protected:
  RunSummary run_wild(Mischief mischief, std::vector<std::string> more = {}, float below = 0.2F) {
    parts_ = builtin_parts();
    parts_.tasks.add(part<NoOptions>("wild", "").made_by([=](const NoOptions&, TaskContext&) {
      return std::make_unique<Wild>(mischief, below);
    }));
    std::vector<std::string> all{"run.iterations=20", "run.batch=32", "container.target_size=50"};
    all.insert(all.end(), more.begin(), more.end());
    return run_with(all, "hc-csc-uniform", "wild");
  }

  /// The genotypes of a file in failures/, as `aurora evaluate --genes` would read them.
  Matrix<float> kept(const char* file) {
    GeneReader reader((out_ / "failures" / file).string(), 2);
    Matrix<float> genotypes;
    reader.read(genotypes, 100'000);
    return genotypes;
  }
};

TEST_F(AMisbehavingTask, IsCountedKeptAndSurvived) {
  for (const Mischief mischief :
       {Mischief::throws, Mischief::throws_a_number, Mischief::nan_fitness, Mischief::nan_senses,
        Mischief::too_few_senses, Mischief::too_many_senses, Mischief::senses_of_another_type,
        Mischief::forgets_senses, Mischief::forgets_ground_truth}) {
    SCOPED_TRACE(static_cast<int>(mischief));
    const RunSummary one = run_wild(mischief, {"run.threads=1"});
    EXPECT_EQ(one.status, RunStatus::finished);
    EXPECT_GT(one.invalid, 0U);
    const Matrix<float> genotypes = kept("genotypes.txt");
    EXPECT_EQ(genotypes.rows(), one.invalid);
    for (std::size_t i = 0; i < genotypes.rows(); ++i) EXPECT_LT(genotypes(i, 0), 0.2F);
    const SavedContainer saved = load_container(out_ / "container");
    EXPECT_GT(saved.individuals.size(), 20U);
    for (std::size_t i = 0; i < saved.individuals.size(); ++i) {
      EXPECT_GE(saved.individuals.genotypes(i, 0), 0.2F);
    }
    // Who shared a piece of work with a failure lost nothing, and threads change nothing.
    const std::string list = content(out_ / "failures" / "genotypes.txt");
    EXPECT_EQ(run_wild(mischief, {"run.threads=3"}).container_hash, one.container_hash);
    EXPECT_EQ(content(out_ / "failures" / "genotypes.txt"), list);
  }
}

TEST_F(AMisbehavingTask, IsToldWhatShapeItsDataShouldHave) {
  run_wild(Mischief::too_few_senses);
  EXPECT_TRUE(content(out_ / "failures" / "genotypes.txt")
                  .starts_with("# the sensory data is 2 floats, not 1 floats\n"));
  run_wild(Mischief::senses_of_another_type);
  EXPECT_TRUE(content(out_ / "failures" / "genotypes.txt")
                  .starts_with("# the sensory data is 2 floats, not 2 bytes\n"));
}

TEST_F(AMisbehavingTask, IsWorthAWarningOnce) {
  class Witness : public RunObserver {
   public:
    void warn(const std::string& text) override { warnings.push_back(text); }
    std::vector<std::string> warnings;
  } witness;
  run_wild(Mischief::throws);
  run(parts_, plan_with({"run.iterations=20", "run.batch=32"}, "hc-csc-uniform", "wild"),
      {.out = root_ / "watched", .observer = &witness}, stop_);
  ASSERT_EQ(witness.warnings.size(), 1U);
  EXPECT_NE(witness.warnings[0].find("an evaluation failed (the leg fell off)"), std::string::npos)
      << witness.warnings[0];
}

TEST_F(AMisbehavingTask, IsStoppedWhenTooMuchFails) {
  try {
    run_wild(Mischief::throws, {"run.failure_share=0.1", "run.batch=128"}, 0.9F);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("run.failure_share"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("the leg"), std::string::npos);
  }
  EXPECT_EQ(read_summary(out_ / "run.json").status, RunStatus::failed);
  EXPECT_EQ(run_wild(Mischief::throws, {"run.failure_share=1"}, 0.9F).status, RunStatus::finished);
}

TEST_F(AMisbehavingTask, IsReportedWhenItHangs) {
  run_wild(Mischief::hangs, {"run.iterations=2", "run.evaluation_seconds=0.1", "run.threads=2"});
  const Matrix<float> genotypes = kept("hanging.txt");
  ASSERT_GT(genotypes.rows(), 0U);
}

TEST_F(AMisbehavingTask, IsKeptOnceAlsoByARunThatGoesOn) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  out_ = root_;
  const std::vector<std::array<float, 2>> wild{{0.1F, 0.25F}, {0.2F, 0.5F}, {0.3F, 1}};
  const auto keep = [&](std::size_t first, std::size_t last) {
    Failures failures(out_ / "failures", 1, warn);
    for (std::size_t i = first; i <= last; ++i) failures.failed(wild[i], "fell");
  };
  keep(0, 1);
  keep(1, 2);  // goes on from a checkpoint before the second
  EXPECT_EQ(content(out_ / "failures" / "genotypes.txt"),
            "# fell\n0.1 0.25\n# fell\n0.2 0.5\n# fell\n0.3 1\n");
  EXPECT_EQ(warnings.size(), 2U);
  std::filesystem::remove(out_ / "failures" / "genotypes.txt");
  std::filesystem::create_directory(out_ / "failures" / "genotypes.txt");
  keep(0, 1);  // what cannot be read or written ends nothing, and is said once
  EXPECT_EQ(warnings.size(), 5U);
}

TEST_F(AMisbehavingTask, IsKeptAsSoonAsThereIsAPlace) {
  out_ = root_;
  std::size_t warnings = 0;
  Failures failures(out_ / "failures", 1, [&](const std::string&) { ++warnings; });
  std::filesystem::create_directory(out_ / "failures");
  std::filesystem::create_directory(out_ / "failures" / "genotypes.txt");  // in the way
  failures.failed(std::array{0.5F}, "fell");
  failures.count(128);
  EXPECT_EQ(warnings, 3U);
  std::filesystem::remove(out_ / "failures" / "genotypes.txt");
  failures.count(128);
  EXPECT_EQ(content(out_ / "failures" / "genotypes.txt"), "# fell\n0.5\n");
}

TEST_F(AMisbehavingTask, LeavesNoTraceIfItBehaves) {
  EXPECT_EQ(run_wild(Mischief::none).invalid, 0U);
  EXPECT_FALSE(std::filesystem::exists(out_ / "failures"));
}

}  // namespace
}  // namespace aurora
