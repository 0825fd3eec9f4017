#include "aurora/runs/verify.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/run_directory.hpp"
#include "run_fixture.hpp"
#include "tests/algorithms/arm.hpp"

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

  /// Makes manifest.json and run.json fit what is there now, as one would who knows how.
  void seal_again() {
    RunDirectory run = RunDirectory::reopen(out_);
    RunSummary summary = read_summary(out_ / "run.json");
    run.seal(summary);
    run.write_summary(summary);
  }

  /// run.json with a change, and a checksum that fits.
  void rewrite_summary(const std::function<void(RunSummary&)>& change) {
    RunDirectory run = RunDirectory::reopen(out_);
    RunSummary summary = read_summary(out_ / "run.json");
    change(summary);
    run.write_summary(summary);
  }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out_)) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    std::ranges::sort(all);
    return all;
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
  for (const std::filesystem::path& file : files()) {
    if (file.filename() == ".lock") continue;  // says who had the run open, to people
    const std::string good = content(file);
    for (const std::size_t place : {std::size_t{0}, good.size() / 2, good.size() - 2}) {
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ 4);
      std::ofstream(file, std::ios::binary) << bad;
      EXPECT_FALSE(complaints(0).empty()) << file << " at " << place;
    }
    std::ofstream(file, std::ios::binary) << good;
  }
  EXPECT_TRUE(complaints().empty());
}

TEST_F(Verify, AFileThatIsGoneOrLongerOrShorterIsFound) {
  for (const std::filesystem::path& file : files()) {
    if (file.filename() == ".lock") continue;
    const std::string good = content(file);
    std::filesystem::remove(file);
    EXPECT_FALSE(complaints(0).empty()) << file << " is gone";
    std::ofstream(file, std::ios::binary) << good << good.substr(0, 1);
    EXPECT_FALSE(complaints(0).empty()) << file << " is longer";
    std::ofstream(file, std::ios::binary) << good.substr(0, good.size() - 1);
    EXPECT_FALSE(complaints(0).empty()) << file << " is shorter";
    std::ofstream(file, std::ios::binary) << good;
  }
  EXPECT_TRUE(complaints().empty());
}

TEST_F(Verify, ATableWithAChangedRemovedOrAddedRowIsFound) {
  for (const char* table : {"metrics.csv", "encoder.csv"}) {
    const std::string good = content(out_ / table);
    const std::size_t last = good.rfind('\n', good.size() - 2) + 1;
    std::string changed = good;
    changed[good.size() - 2] = changed[good.size() - 2] == '1' ? '2' : '1';
    for (const std::string& bad :
         {changed, good.substr(0, last), good + good.substr(last), std::string("garbage\n")}) {
      std::ofstream(out_ / table, std::ios::binary) << bad;
      EXPECT_FALSE(complaints(0).empty()) << table << ":\n" << bad;
    }
    std::ofstream(out_ / table, std::ios::binary) << good;
  }
}

TEST_F(Verify, SaysWhatItDidNotLookAt) {
  std::ofstream(out_ / "notes.txt") << "mine";
  std::filesystem::create_directories(out_ / "show");
  std::ofstream(out_ / "show" / "a.png") << "1";
  std::filesystem::create_directories(out_ / "checkpoint.damaged");
  std::ofstream(out_ / "show" / "b.png") << "2";
  std::filesystem::create_symlink("/etc", out_ / "elsewhere");
  EXPECT_EQ(complaints(), std::vector<std::string>{});
  const std::vector<Check> checks = verify_run(parts_, out_, 0);
  const auto found = std::ranges::find(checks, "not looked at", &Check::subject);
  ASSERT_NE(found, checks.end());
  EXPECT_EQ(found->finding, "nothing vouches for elsewhere, notes.txt, show");
}

TEST_F(Verify, TheSealGoesWhenARunGoesOnAndComesBackAtItsEnd) {
  const std::string before = content(out_ / "manifest.json");
  const Plan longer = plan_with(
      {"run.iterations=20", "run.batch=32", "container.target_size=100", "run.snapshot_every=6"},
      "aurora-csc-uniform-4");
  struct Looking : RunObserver {
    std::filesystem::path manifest;
    void stands(const Standing&) override { EXPECT_FALSE(std::filesystem::exists(manifest)); }
  } looking;
  looking.manifest = out_ / "manifest.json";
  run(parts_, longer, {.out = out_, .resume = true, .observer = &looking}, stop_);
  EXPECT_NE(content(out_ / "manifest.json"), before);
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

/// Every byte of every file of a small run, one bit of each. AURORA_FLIPS asks for as many flips,
/// and gets every bit of every file of one kind of run after the other; AURORA_FLIPS_AFTER leaves
/// out the first ones, so that a sweep that was stopped goes on.
TEST_F(Verify, NoFlippedBitIsSilent) {
  parts_ = arm_parts();
  const bool wanted = std::getenv("AURORA_FLIPS") != nullptr;
  const std::size_t most = number_from("AURORA_FLIPS", std::numeric_limits<std::size_t>::max());
  const std::size_t after = number_from("AURORA_FLIPS_AFTER", 0);
  std::vector<std::string> kinds = {"aurora-csc-uniform-1"};
  if (wanted) {
    // Last whoever takes a hundred times as long: its cells are made anew to be compared.
    for (const char* kind :
         {"hc-csc-uniform", "map-elites", "taxons-1", "ns", "aurora-dns-1", "aurora-vat-novelty-1",
          "cma-me", "aurora-ensemble-1", "aurora-uniform-1", "aurora-csc-surprise-1",
          "random-search", "cvt-map-elites"}) {
      kinds.emplace_back(kind);
    }
  }
  std::size_t flips = 0, silent = 0;
  for (const std::string& kind : kinds) {
    if (flips == most) break;
    std::vector<std::string> small = {"run.iterations=4",        "run.batch=4",
                                      "container.target_size=4", "run.snapshot_every=3",
                                      "encoder.kind=pca",        "run.log_every=1"};
    if (kind == "taxons-1" || kind == "ns") small.emplace_back("population.added=2");
    run_with(small, kind, "arm");
    ASSERT_TRUE(complaints(0).empty()) << kind;
    std::size_t bytes = 0, bits = 0;
    for (const std::filesystem::path& file : files()) {
      if (file.filename() == ".lock") continue;
      const std::string before = content(file);
      bytes += before.size();
      for (std::size_t bit = 0; bit < 8 * before.size() && flips < most; ++bit) {
        const std::size_t place = bit / 8;
        if (!wanted && bit % 8 != place % 8) continue;
        if (flips++ < after) continue;
        const auto put = [&](char byte) {
          std::fstream(file, std::ios::binary | std::ios::in | std::ios::out)
              .seekp(static_cast<std::streamoff>(place))
              .put(byte);
        };
        put(static_cast<char>(before[place] ^ (1 << bit % 8)));
        if (complaints(0).empty()) {
          ++silent;
          ADD_FAILURE() << file << ", bit " << bit % 8 << " of byte " << place;
        }
        put(before[place]);
        ++bits;
      }
    }
    std::printf("%-22s %zu flips in %zu bytes, %zu silent in all\n", kind.c_str(), bits, bytes,
                silent);
    std::fflush(stdout);
    EXPECT_TRUE(complaints(0).empty()) << kind;
  }
  std::printf("%zu flips, the first %zu left out, %zu silent\n", flips, std::min(after, flips),
              silent);
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
  seal_again();
  EXPECT_EQ(complaints(), std::vector<std::string>{"resuming"});
  write_checkpoint(good);
  seal_again();
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
  rewrite_summary([](RunSummary& summary) {
    std::ranges::find(summary.metrics, "coverage", &NamedNumber::name)->value += 1;
  });
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics"});
  rewrite_summary([](RunSummary& summary) {
    std::ranges::find(summary.metrics, "coverage", &NamedNumber::name)->value -= 1;
    ++summary.container_size;
  });
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics"});
  rewrite_summary([](RunSummary& summary) { --summary.container_size; });

  replace_in("metrics.csv", "\n10,", "\nten,");
  seal_again();
  EXPECT_EQ(complaints(), std::vector<std::string>{"metrics.csv"});
}

TEST_F(Verify, ARunThatHasNotEndedHasNoResultToCheck) {
  rewrite_summary([](RunSummary& summary) {
    summary.status = RunStatus::running;
    summary.manifest.clear();
  });
  std::filesystem::remove_all(out_ / "container");
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

TEST_F(Verify, ATaskThatIsNotInThisProgramIsNoDamage) {
  Parts fewer = parts_;
  fewer.tasks = Registry<TaskEntry>("task");
  bool said = false;
  for (const Check& check : verify_run(fewer, out_, 3)) {
    EXPECT_TRUE(check.good) << check.subject << ": " << check.finding;
    said = said || (check.subject == "not looked at" &&
                    check.finding.find("no task 'maze'") != std::string::npos);
  }
  EXPECT_TRUE(said);
  std::ofstream(out_ / "config.toml", std::ios::app) << "# more\n";
  EXPECT_FALSE(std::ranges::all_of(verify_run(fewer, out_, 0), &Check::good));
}

TEST_F(Verify, AMissingDirectoryIsSaid) {
  EXPECT_THROW(verify_run(parts_, root_ / "nowhere", 0), FileError);
  std::filesystem::create_directories(root_ / "empty");
  EXPECT_FALSE(verify_run(parts_, root_ / "empty", 0).front().good);
}

}  // namespace
}  // namespace aurora
