#include "aurora/runs/retrain.hpp"

#include <algorithm>
#include <map>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/verify.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

class Retrain : public RunFixture {
 protected:
  void SetUp() override { small_run("aurora-csc-uniform-2"); }

  void small_run(const std::string& variant) {
    run_with({"run.iterations=12", "run.batch=32", "container.target_size=100"}, variant);
  }

  /// Few epochs: what is learned does not matter here.
  static RetrainOptions quick() { return {.epochs = 3, .patience = 3}; }

  Retrained train(const RetrainOptions& options = quick()) {
    return retrain(parts_, out_, options);
  }

  std::string complaint(const RetrainOptions& options = quick()) {
    try {
      train(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  /// Every file below a directory, with its content.
  static std::map<std::string, std::string> files_of(const fs::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file()) {
        files[fs::relative(entry.path(), directory).string()] = content(entry.path());
      }
    }
    return files;
  }
};

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << text

TEST_F(Retrain, WritesBesideTheRunAndChangesNothingOfIt) {
  const auto before = files_of(out_);
  const Retrained done = train();
  EXPECT_FALSE(done.was_there);
  EXPECT_EQ(done.directory, out_ / "retrained");
  EXPECT_EQ(done.training.epochs, 3U);
  auto after = files_of(out_);
  const auto added =
      std::erase_if(after, [](const auto& file) { return file.first.starts_with("retrained/"); });
  EXPECT_GT(added, 4U);
  EXPECT_EQ(after, before);
  EXPECT_TRUE(is_retrained(out_));
  const Retrained loaded = load_retrained(out_ / "retrained");
  EXPECT_EQ(loaded.container_hash,
            container_hash_text(load_container(out_ / "container").individuals));
  EXPECT_EQ(loaded.options.dimension, 2U);
  EXPECT_EQ(loaded.training.validation_loss, done.training.validation_loss);
}

TEST_F(Retrain, BeginsWithWeightsOfItsOwn) {
  RetrainOptions one = quick();
  one.epochs = 1;
  train(one);
  const auto own = load_encoder(out_ / "encoder");
  const auto again = load_encoder(out_ / "retrained" / "encoder");
  ASSERT_EQ(own.size(), again.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].name, again[i].name);
    EXPECT_EQ(own[i].shape, again[i].shape);
    if (own[i].name.find("weight") == std::string::npos) continue;
    // Independent draws: no correlation between the run's weights and these.
    double product = 0, a = 0, b = 0;
    for (std::size_t j = 0; j < own[i].values.size(); ++j) {
      product += static_cast<double>(own[i].values[j]) * again[i].values[j];
      a += static_cast<double>(own[i].values[j]) * own[i].values[j];
      b += static_cast<double>(again[i].values[j]) * again[i].values[j];
    }
    if (own[i].values.size() < 1000) continue;
    EXPECT_LT(product * product, 0.1 * a * b) << own[i].name;
  }
}

TEST_F(Retrain, GivesTheSameBytesForAnyNumberOfThreads) {
  RetrainOptions options = quick();
  train(options);
  options.out = root_ / "elsewhere" / "other";
  options.threads = 3;
  train(options);
  EXPECT_EQ(files_of(out_ / "retrained"), files_of(options.out));
  options.out = root_ / "seed";
  options.seed = 2;
  train(options);
  EXPECT_NE(content(out_ / "retrained" / "descriptors.npy"),
            content(root_ / "seed" / "descriptors.npy"));
}

TEST_F(Retrain, LeavesTheSameAloneAndReplacesAnotherOnlyIfAsked) {
  train();
  const auto first = files_of(out_ / "retrained");
  EXPECT_TRUE(train().was_there);
  RetrainOptions other = quick();
  other.dimension = 3;
  EXPECT_SAYS(complaint(other), "with other settings or of another container: replace it by force");
  EXPECT_EQ(files_of(out_ / "retrained"), first);
  other.force = true;
  EXPECT_FALSE(train(other).was_there);
  EXPECT_EQ(load_retrained(out_ / "retrained").options.dimension, 3U);
  EXPECT_EQ(load_encoder(out_ / "retrained" / "encoder").size(),
            load_encoder(out_ / "encoder").size());
}

TEST_F(Retrain, NeverReplacesWhatIsNotItsOwn) {
  RetrainOptions options = quick();
  options.out = root_ / "mine";
  options.force = true;
  fs::create_directories(options.out);
  std::ofstream(options.out / "notes.txt") << "keep";
  EXPECT_SAYS(complaint(options), "is no whole re-training of a run");
  EXPECT_EQ(content(options.out / "notes.txt"), "keep");
  options.out = out_ / "container";
  EXPECT_SAYS(complaint(options), "is no whole re-training of a run");
}

TEST_F(Retrain, SaysWhatIsMissing) {
  fs::rename(out_ / "container", root_ / "container");
  EXPECT_SAYS(complaint(), "container");
  fs::rename(root_ / "container", out_ / "container");

  small_run("hc-csc-uniform");
  EXPECT_SAYS(complaint(), "are hand-coded: there is no encoder to train again");

  stop_ = true;
  small_run("aurora-csc-uniform-2");
  EXPECT_SAYS(complaint(), "is not finished: its run.json says 'interrupted' at iteration 0");
  stop_ = false;

  out_ = root_ / "nowhere";
  EXPECT_SAYS(complaint(), "there is no run directory");
  fs::create_directories(out_);
  EXPECT_SAYS(complaint(), "is no run directory: there is no config.toml in it");
}

TEST_F(Retrain, NeedsTheContainerOfItsRun) {
  RunSummary summary = read_summary(out_ / "run.json");
  summary.container_hash = "0123456789abcdef";
  RunDirectory::reopen(out_).write_summary(summary);
  EXPECT_SAYS(complaint(), "is not the one that its run.json speaks of");
  EXPECT_FALSE(fs::exists(out_ / "retrained"));
}

TEST_F(Retrain, NeedsSensoryData) {
  run_with(
      {"run.iterations=12", "run.batch=32", "container.target_size=100", "run.snapshot_every=12"},
      "aurora-csc-uniform-2");
  fs::remove_all(out_ / "container");
  fs::rename(out_ / "snapshots" / "000012", out_ / "container");
  EXPECT_SAYS(complaint(), "has no sensory data to train on");
}

TEST_F(Retrain, IsPartOfWhatIsVerified) {
  train();
  const auto bad = [&] {
    std::vector<std::string> subjects;
    for (const Check& check : verify_run(parts_, out_, 0)) {
      if (!check.good) subjects.push_back(check.subject);
    }
    return subjects;
  };
  EXPECT_EQ(bad(), std::vector<std::string>{});
  for (const char* file : {"descriptors.npy", "encoder/decoder.conv1.bias.npy", "manifest.json"}) {
    const fs::path path = out_ / "retrained" / file;
    const std::string good = content(path);
    std::string changed = good;
    changed[changed.size() - 2] = static_cast<char>(changed[changed.size() - 2] ^ 4);
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_EQ(bad(), std::vector<std::string>{"retrained"}) << file;
    EXPECT_FALSE(is_retrained(out_));
    std::ofstream(path, std::ios::binary) << good;
  }
  EXPECT_TRUE(is_retrained(out_));
}

TEST_F(Retrain, LearnsMoreInMoreEpochs) {
  RetrainOptions options = quick();
  const double few = train(options).training.train_loss;
  options.epochs = 30;
  options.patience = 30;
  options.out = root_ / "long";
  EXPECT_LT(train(options).training.train_loss, few);
}

TEST_F(Retrain, TakesEveryKindOfEncoder) {
  for (const char* kind : {"pca", "mlp-ae"}) {
    run_with({"run.iterations=12", "run.batch=32", "container.target_size=100",
              std::string("encoder.kind=") + kind},
             "aurora-csc-uniform-2");
    EXPECT_GT(train().training.examples, 0U) << kind;
    EXPECT_TRUE(is_retrained(out_)) << kind;
  }
}

}  // namespace
}  // namespace aurora
