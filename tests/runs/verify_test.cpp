#include "aurora/runs/verify.hpp"

#include <algorithm>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

class Verify : public RunFixture {
 protected:
  void SetUp() override {
    run_with(
        {"run.iterations=12", "run.batch=32", "container.target_size=100", "run.snapshot_every=6"},
        "aurora-csc-uniform-4");
  }

  /// The subjects of the checks that failed.
  std::vector<std::string> complaints(std::size_t replay = 5) const {
    std::vector<std::string> subjects;
    for (const Check& check : verify_run(parts_, out_, replay)) {
      if (!check.good) subjects.push_back(check.subject);
    }
    return subjects;
  }

  void replace_in(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = content(out_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(out_ / file, std::ios::binary) << text;
  }

  /// The container with one change, written with checksums that match.
  void rewrite_container(const std::function<void(Individuals&)>& change) {
    SavedContainer saved = load_container(out_ / "container");
    change(saved.individuals);
    std::filesystem::remove_all(root_ / "other");
    RunDirectory other = RunDirectory::create(root_ / "other");
    other.write_container(saved.individuals, saved.state, plan_of_run(parts_, out_).spec());
    std::filesystem::remove_all(out_ / "container");
    std::filesystem::rename(root_ / "other" / "container", out_ / "container");
  }

  void write_checkpoint(Checkpoint checkpoint) {
    CheckpointWriter writer(out_);
    const std::size_t metrics = checkpoint.metrics.size();
    const std::size_t training = checkpoint.training.size();
    writer.copy() = std::move(checkpoint);
    writer.start(metrics, training);
    writer.wait();
    ASSERT_EQ(writer.outcome().value().error, "");
  }
};

TEST_F(Verify, AGoodRunPasses) {
  EXPECT_EQ(complaints(), std::vector<std::string>{});
  const std::vector<Check> checks = verify_run(parts_, out_, 3);
  EXPECT_EQ(checks.back().subject, "replay");
  EXPECT_EQ(checks.back().finding, "3 individuals evaluate to the stored bits");
}

TEST_F(Verify, EveryFamilyOfVariantsPasses) {
  for (const char* variant : {"hc-csc-uniform", "random-search", "ns", "taxons-4", "map-elites",
                              "cvt-map-elites", "aurora-vat-novelty-4", "aurora-pid-uniform-4"}) {
    run_with({"run.iterations=40", "run.batch=32", "container.target_size=100"}, variant);
    EXPECT_EQ(complaints(), std::vector<std::string>{}) << variant;
  }
}

TEST_F(Verify, AFlippedBitInAnyFileIsFound) {
  for (const char* file :
       {"container/fitness.npy", "container/sensory.npy", "encoder/decoder.conv1.bias.npy",
        "container/manifest.json", "snapshots/000006/ids.npy"}) {
    const std::string good = content(out_ / file);
    std::string bad = good;
    bad[bad.size() - 2] = static_cast<char>(bad[bad.size() - 2] ^ 4);
    std::ofstream(out_ / file, std::ios::binary) << bad;
    EXPECT_FALSE(complaints().empty()) << file;
    std::ofstream(out_ / file, std::ios::binary) << good;
  }
  EXPECT_TRUE(complaints().empty());
}

TEST_F(Verify, AnotherFitnessIsFoundThoughItsChecksumMatches) {
  rewrite_container([](Individuals& members) { members.fitness[3] += 1; });
  const std::vector<std::string> found = complaints(1000);
  EXPECT_NE(std::ranges::find(found, "container hash"), found.end());
  EXPECT_NE(std::ranges::find(found, "replay"), found.end());
}

TEST_F(Verify, ACheckpointThatNoRunCouldGoOnFromIsFoundThoughItsChecksumsMatch) {
  const Checkpoint good = find_checkpoint(out_)->checkpoint;
  Checkpoint senseless = good;
  senseless.algorithm.container.ids[0] = senseless.algorithm.container.ids[1];
  write_checkpoint(senseless);
  EXPECT_EQ(complaints(), std::vector<std::string>{"resuming"});
  write_checkpoint(good);
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

TEST_F(Verify, MembersTooCloseTogetherAreFound) {
  for (const char* variant : {"aurora-csc-uniform-4", "map-elites", "cvt-map-elites"}) {
    run_with({"run.iterations=12", "run.batch=32", "container.target_size=100"}, variant);
    rewrite_container([](Individuals& members) {
      std::ranges::copy(members.descriptors.row(0), members.descriptors.row(1).begin());
    });
    const std::vector<std::string> found = complaints();
    EXPECT_NE(std::ranges::find(found, "promise"), found.end()) << variant;
  }
}

TEST_F(Verify, MetricsThatDoNotFitAreFound) {
  const std::string json = content(out_ / "run.json");
  replace_in("run.json", "\"coverage\": ", "\"coverage\": 1");
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics"});
  std::ofstream(out_ / "run.json", std::ios::binary) << json;
  replace_in("run.json", "\"container_size\": ", "\"container_size\": 1");
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics"});
  std::ofstream(out_ / "run.json", std::ios::binary) << json;

  replace_in("metrics.csv", "\n10,", "\nten,");
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics.csv"});
}

TEST_F(Verify, ARunThatHasNotEndedHasNoResultToCheck) {
  replace_in("run.json", "\"finished\"", "\"running\"");
  std::filesystem::remove_all(out_ / "container");
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

TEST_F(Verify, AMissingDirectoryIsSaid) {
  EXPECT_THROW(verify_run(parts_, root_ / "nowhere", 0), FileError);
  std::filesystem::create_directories(root_ / "empty");
  EXPECT_FALSE(verify_run(parts_, root_ / "empty", 0).front().good);
}

}  // namespace
}  // namespace aurora
