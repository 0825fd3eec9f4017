#include "aurora/runs/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/storage/files.hpp"
#include "tests/storage/faults.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Individuals some_individuals(std::size_t rows, std::uint64_t seed) {
  IndividualsLayout layout;
  layout.genotype_size = 3;
  layout.descriptor_size = 2;
  layout.ground_truth_size = 2;
  layout.sensory = {{2, 2, 3}, ElementType::uint8};
  layout.extra = {"curiosity"};
  Individuals all(layout, rows);
  Stream draw(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    for (float& v : all.genotypes.row(i)) v = static_cast<float>(draw.uniform());
    for (float& v : all.descriptors.row(i)) v = static_cast<float>(draw.normal());
    for (float& v : all.ground_truth.row(i)) v = static_cast<float>(draw.normal());
    for (std::byte& b : all.sensory.mutable_view().bytes(i))
      b = static_cast<std::byte>(draw.below(256));
    for (float& v : all.extra.row(i)) v = static_cast<float>(draw.normal());
    all.fitness[i] = static_cast<float>(draw.normal());
    all.reconstruction_error[i] = static_cast<float>(draw.uniform());
    all.ids[i] = 1000 - i;  // rows are in no order
  }
  return all;
}

constexpr const char* kMetrics = "iteration,coverage\n10,0.5\n";

/// All different for different seeds.
Checkpoint some_checkpoint(std::uint64_t seed) {
  Checkpoint c;
  c.task = "arm";
  c.task_version = 3;
  c.settings = {{"run.seed", std::to_string(seed)}, {"run.task", "\"arm\""}};
  c.record.summary.version = "0.1.0";
  c.record.summary.started = "2022-01-01T00:00:00Z";
  c.record.summary.iterations = 40 + seed;
  c.record.summary.seconds.train = 0.1 + static_cast<double>(seed);
  c.record.summary.metrics = {{"coverage", 1.0 / 3}, {"threshold", 1e-300}};
  c.record.summary.units = {{"coverage", "%"}};
  c.record.since_row = {.added = 5, .replaced = 4, .rejected = 3, .invalid = 1, .lost = 2};
  c.record.lost = 77;
  c.record.container_updates = 9;
  c.algorithm.iteration = 40 + seed;
  c.algorithm.encoder_updates = 4;
  c.algorithm.container_state.numbers = {
      {"threshold.value", 1.0 / 3}, {"threshold.anchor", -0.1}, {"threshold.sum", 1e-300}};
  c.algorithm.container_state.arrays = {{"centres", {2, 1}, {0.3F, -1e-40F}}};
  c.algorithm.loop_state = {.numbers = {{"restarts", 3}, {"sigma.0", 1.0 / 7}},
                            .arrays = {{"mean", {1, 2}, {0.1F, 1e-9F}}}};
  c.algorithm.container = some_individuals(20, seed);
  c.algorithm.population = some_individuals(4, seed + 100);
  c.algorithm.encoder = {{"scaling.mean", {2, 2}, {1, 2, 3, 4}}, {"w", {1}, {0.1F}}};
  c.metrics = kMetrics;
  c.training = "";
  return c;
}

/// Everything that a checkpoint says, as text.
std::string shown(const Checkpoint& c) {
  std::ostringstream out;
  out.precision(17);
  const auto individuals = [&](const Individuals& all) {
    out << container_hash(all);
    for (const std::uint64_t id : all.ids) out << ' ' << id;
    for (const float e : all.reconstruction_error) out << ' ' << e;
    for (const std::string& name : all.extra_names) out << ' ' << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const float value : all.extra.row(i)) out << ' ' << value;
    }
    out << '\n';
  };
  const auto numbers = [&](const std::vector<NamedNumber>& all) {
    for (const NamedNumber& number : all) out << number.name << '=' << number.value << ' ';
    out << '\n';
  };
  const auto arrays = [&](const std::vector<NamedArray>& all) {
    for (const NamedArray& array : all) {
      out << array.name;
      for (const std::size_t extent : array.shape) out << ' ' << extent;
      for (const float value : array.values) out << ' ' << value;
      out << '\n';
    }
  };
  out << c.task << c.task_version << '\n';
  for (const auto& [key, value] : c.settings) out << key << '=' << value << '\n';
  const RunSummary& summary = c.record.summary;
  out << summary.started << summary.iterations << ' ' << summary.seconds.train << '\n';
  numbers(summary.metrics);
  for (const auto& [name, unit] : summary.units) out << name << ' ' << unit << '\n';
  const Counts& row = c.record.since_row;
  out << row.added << ' ' << row.replaced << ' ' << row.rejected << ' ' << row.invalid << ' '
      << row.lost << ' ' << c.record.lost << ' ' << c.record.container_updates << '\n';
  out << c.algorithm.iteration << ' ' << c.algorithm.encoder_updates << '\n';
  numbers(c.algorithm.container_state.numbers);
  arrays(c.algorithm.container_state.arrays);
  numbers(c.algorithm.loop_state.numbers);
  arrays(c.algorithm.loop_state.arrays);
  individuals(c.algorithm.container);
  individuals(c.algorithm.population);
  arrays(c.algorithm.encoder);
  out << c.metrics << c.training;
  return out.str();
}

class ACheckpoint : public testing::Test {
 protected:
  ACheckpoint() {
    std::string name = (fs::temp_directory_path() / "aurora_checkpoint_XXXXXX").string();
    run_ = ::mkdtemp(name.data());
    put(run_ / "metrics.csv", kMetrics);
  }
  ~ACheckpoint() override { fs::remove_all(run_); }

  /// Writes a checkpoint whose tables are the beginning of those that are there; what went wrong.
  std::string error_of_writing(Checkpoint checkpoint) const {
    CheckpointWriter writer(run_);
    const std::size_t metrics = checkpoint.metrics.size();
    const std::size_t training = checkpoint.training.size();
    writer.copy() = std::move(checkpoint);
    writer.start(metrics, training);
    writer.wait();
    return writer.outcome().value().error;
  }
  void write(Checkpoint checkpoint) const {
    ASSERT_EQ(error_of_writing(std::move(checkpoint)), "");
  }

  std::string found() const {
    const auto checkpoint = find_checkpoint(run_);
    return checkpoint ? shown(checkpoint->checkpoint) : "(none)";
  }
  std::string damage() const { return find_checkpoint(run_).value().damage; }

  /// The message of the error, "" without one.
  template <class E>
  std::string refusal() const {
    try {
      find_checkpoint(run_);
    } catch (const E& error) {
      return error.what();
    }
    return "";
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(run_ / "checkpoint")) {
      all.push_back(entry.path());
    }
    std::ranges::sort(all);
    return all;
  }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static void put(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  /// Changes the manifest and makes its checksum right again.
  void change(const std::function<void(Json&)>& edit) const {
    const fs::path path = run_ / "checkpoint" / "manifest.json";
    Json json = Json::parse(content(path));
    json.erase("checksum");
    edit(json);
    Checksum checksum;
    const std::string text = json.dump(2) + '\n';
    checksum.update(std::as_bytes(std::span(text)));
    json["checksum"] = checksum.text();
    put(path, json.dump(2) + '\n');
  }

  fs::path run_;
};

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

TEST_F(ACheckpoint, ComesBackAsItWas) {
  EXPECT_EQ(found(), "(none)");
  write(some_checkpoint(1));
  EXPECT_EQ(found(), shown(some_checkpoint(1)));
  EXPECT_EQ(damage(), "");

  Checkpoint bare = some_checkpoint(2);
  bare.algorithm.population = {};
  bare.algorithm.encoder.clear();
  bare.algorithm.container.resize(0);
  bare.metrics = "";
  write(bare);
  EXPECT_EQ(found(), shown(bare));
}

TEST_F(ACheckpoint, LeavesThePreviousOne) {
  for (const std::uint64_t seed : {1, 2, 3}) write(some_checkpoint(seed));
  EXPECT_EQ(found(), shown(some_checkpoint(3)));
  fs::remove_all(run_ / "checkpoint");
  EXPECT_EQ(found(), shown(some_checkpoint(2)));
  EXPECT_EQ(damage(), "") << "a crash between two renames is no damage";
}

TEST_F(ACheckpoint, ThatIsDamagedGivesWayToThePreviousOne) {
  for (const fs::path& file : [&] {
         write(some_checkpoint(1));
         return files();
       }()) {
    const auto damaged = [&](const std::function<void()>& harm) {
      fs::remove_all(run_ / "checkpoint");
      fs::remove_all(run_ / "checkpoint.previous");
      write(some_checkpoint(1));
      write(some_checkpoint(2));
      harm();
      EXPECT_EQ(found(), shown(some_checkpoint(1))) << file;
      EXPECT_SAYS(damage(), file.filename().string());
    };
    damaged([&] { fs::resize_file(file, fs::file_size(file) / 2); });
    damaged([&] { fs::resize_file(file, 0); });
    damaged([&] { fs::remove(file); });
    damaged([&] {
      fs::remove(file);
      fs::create_directory(file);
    });
    damaged([&] {
      std::string bytes = content(file);
      bytes[0] = static_cast<char>(bytes[0] ^ 4);
      put(file, bytes);
    });
  }
  // Set aside, it does not become the previous one.
  set_damaged_aside(run_);
  EXPECT_TRUE(fs::exists(run_ / "checkpoint.damaged" / "manifest.json"));
  EXPECT_EQ(damage(), "");
  write(some_checkpoint(5));
  EXPECT_EQ(found(), shown(some_checkpoint(5)));
  fs::remove_all(run_ / "checkpoint");
  EXPECT_EQ(found(), shown(some_checkpoint(1)));

  fs::remove(run_ / "checkpoint.previous" / "manifest.json");
  EXPECT_SAYS(refusal<DataError>(), "no checkpoint that can be used");
}

TEST_F(ACheckpoint, OfAnotherFormatIsRefusedEvenIfThereIsAPreviousOne) {
  write(some_checkpoint(1));
  write(some_checkpoint(2));
  for (const char* version : {"3", "0"}) {
    change([&](Json& j) { j["checkpoint_version"] = std::atoi(version); });
    EXPECT_SAYS(refusal<DataError>(),
                "checkpoint format version " + std::string(version) + " is not read; only up to 2");
  }
  change([](Json& j) { j["format_version"] = 7; });
  EXPECT_SAYS(refusal<DataError>(), "format version 7 is not read; only 1");
}

// Version 1 knew of no parts: the threshold had its own place, and there were no further columns.
TEST_F(ACheckpoint, OfVersionOneIsRead) {
  Checkpoint saved = some_checkpoint(1);
  for (Individuals* all : {&saved.algorithm.container, &saved.algorithm.population}) {
    all->extra_names.clear();
    all->extra = Matrix<float>(all->size(), 0);
  }
  saved.algorithm.container_state = {};
  saved.record.summary.units.clear();
  write(saved);
  change([](Json& j) {
    j["checkpoint_version"] = 1;
    j.erase("container");
    j.erase("extra_columns");
    j["threshold"] = {{"value", 0.25},  {"encoder_updated", true}, {"pid_anchor", -0.5},
                      {"pid_sum", 1.5}, {"pid_error", 2.5},        {"pid_trend", 3.5}};
    Json& summary = j["summary"];
    for (const char* key : {"format", "metrics", "units", "title", "evaluator"}) summary.erase(key);
    summary["coverage"] = 0.5;
    summary["grid_mean_fitness"] = -1;
    summary["qd_score"] = 7;
    summary["threshold"] = 0.25;
  });
  saved.algorithm.container_state.numbers = {
      {"threshold.value", 0.25}, {"threshold.encoder_updated", 1}, {"threshold.anchor", -0.5},
      {"threshold.sum", 1.5},    {"threshold.error", 2.5},         {"threshold.trend", 3.5}};
  saved.record.summary.metrics = {
      {"coverage", 0.5}, {"grid_mean_fitness", -1}, {"qd_score", 7}, {"threshold", 0.25}};
  EXPECT_EQ(found(), shown(saved));
  change([](Json& j) { j["threshold"]["encoder_updated"] = 1; });
  EXPECT_SAYS(refusal<DataError>(), "'encoder_updated' should be");
}

TEST_F(ACheckpoint, WithAnImpossibleManifestIsRefused) {
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> cases = {
      {"plain file name", [](Json& j) { j["files"][0]["name"] = "../config.toml"; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = "/etc/passwd"; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = ".."; }},
      {"type or shape", [](Json& j) { j["files"][0]["shape"] = {1000000000000}; }},
      {"20), but the container has 1000000000000",  // before any memory is taken
       [](Json& j) { j["container_size"] = 1000000000000; }},
      {"the manifest says", [](Json& j) { j["files"][0]["bytes"] = 1; }},
      {"checksum", [](Json& j) { j["files"][0]["xxh3"] = "0"; }},
      {"'kind' should be", [](Json& j) { j["kind"] = "container"; }},
      {"'iteration' should be", [](Json& j) { j["iteration"] = -1; }},
      {"'threshold.value' should be", [](Json& j) { j["container"]["threshold.value"] = "1"; }},
      {"there is no file 'container.other.npy'",
       [](Json& j) {
         j["extra_columns"] = {"curiosity", "other"};
       }},
      {"'extra_columns' should be", [](Json& j) { j["extra_columns"] = {1}; }},
      {"'coverage' should be", [](Json& j) { j["summary"]["units"]["coverage"] = 1; }},
      {"at most 3", [](Json& j) { j["summary"]["format"] = 4; }},
      {"'run.seed' should be", [](Json& j) { j["settings"]["run.seed"] = 1; }},
      {"'summary' is missing", [](Json& j) { j.erase("summary"); }},
      {"a text was expected",
       [](Json& j) {
         for (Json& file : j["files"]) {
           if (file["name"] == "metrics.csv.npy") file["name"] = "other.npy";
           if (file["name"] == "container.ids.npy") file["name"] = "metrics.csv.npy";
         }
       }},
  };
  for (const auto& [says, edit] : cases) {
    fs::remove_all(run_ / "checkpoint");
    fs::remove_all(run_ / "checkpoint.previous");
    write(some_checkpoint(1));
    if (std::string_view(says) == "a text was expected") {
      fs::copy_file(run_ / "checkpoint" / "metrics.csv.npy", run_ / "checkpoint" / "other.npy");
      fs::copy_file(run_ / "checkpoint" / "container.ids.npy",
                    run_ / "checkpoint" / "metrics.csv.npy", fs::copy_options::overwrite_existing);
    }
    change(edit);
    EXPECT_SAYS(refusal<DataError>(), says);
  }
}

// A few thousand here; AURORA_FLIPS=100000 for the full sweep.
TEST_F(ACheckpoint, EveryFlippedBitIsFoundOrHarmless) {
  const char* wanted = std::getenv("AURORA_FLIPS");
  const int flips = wanted ? std::atoi(wanted) : 2000;
  write(some_checkpoint(1));
  const std::string whole = shown(some_checkpoint(1));
  const std::vector<fs::path> all = files();
  std::vector<std::size_t> sizes;
  for (const fs::path& file : all) sizes.push_back(fs::file_size(file));
  const std::size_t bits = 8 * std::reduce(sizes.begin(), sizes.end());
  Stream draw(6, Purpose::user);
  int harmless = 0;
  for (int i = 0; i < flips; ++i) {
    std::size_t bit = draw.below(bits);
    std::size_t file = 0;
    while (bit >= 8 * sizes[file]) bit -= 8 * sizes[file++];
    const std::string before = content(all[file]);
    std::string after = before;
    after[bit / 8] = static_cast<char>(after[bit / 8] ^ (1 << bit % 8));
    put(all[file], after);
    if (refusal<Error>().empty()) {
      ASSERT_EQ(found(), whole) << "bit " << bit << " of " << all[file];
      ++harmless;
    }
    put(all[file], before);
  }
  EXPECT_EQ(found(), whole);
  // White space of the manifest is most of what does not matter.
  EXPECT_LT(harmless, flips / 4);
}

/// A third checkpoint is written over two others, with a fault at every call in turn.
class WithAFault : public ACheckpoint, public testing::WithParamInterface<bool> {
 protected:
  void prepare() {
    for (const char* name :
         {"checkpoint", "checkpoint.previous", ".checkpoint.new", ".checkpoint.old"}) {
      fs::remove_all(run_ / name);
    }
    write(some_checkpoint(1));
    write(some_checkpoint(2));
    fault_.no_exchange = GetParam();
    fault_.removals = true;
  }

  /// The last good one, or the new one; and the next write works.
  void expect_whole() {
    const std::string text = found();
    EXPECT_TRUE(text == shown(some_checkpoint(2)) || text == shown(some_checkpoint(3)))
        << "call " << fault_.fail_at;
    EXPECT_EQ(damage(), "") << "call " << fault_.fail_at;
    write(some_checkpoint(4));
    EXPECT_EQ(found(), shown(some_checkpoint(4)));
  }

  Faults fault_;
};

TEST_P(WithAFault, AnErrorNeverHarmsTheLastGoodOne) {
  for (const int error : {ENOSPC, EIO}) {
    fault_ = {};
    prepare();
    int calls = 0;
    {
      const WithFaults with(fault_);
      write(some_checkpoint(3));
      calls = faults.calls;
    }
    EXPECT_GT(calls, 80);
    fault_.error = error;
    for (fault_.fail_at = 0; fault_.fail_at < calls; ++fault_.fail_at) {
      prepare();
      {
        const WithFaults with(fault_);
        error_of_writing(some_checkpoint(3));  // none if only a removal has failed
      }
      expect_whole();
    }
  }
}

TEST_P(WithAFault, ACrashNeverHarmsTheLastGoodOne) {
  fault_.fail_at = 0;
  for (bool died = true; died; ++fault_.fail_at) {
    prepare();
    const pid_t child = ::fork();
    if (child == 0) {
      const WithFaults with(fault_);
      write(some_checkpoint(3));
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    died = WIFEXITED(status) && WEXITSTATUS(status) == 77;
    expect_whole();
  }
  EXPECT_GT(fault_.fail_at, 80);
}

INSTANTIATE_TEST_SUITE_P(FileSystems, WithAFault, testing::Bool(), [](const auto& instance) {
  return instance.param ? "WithoutExchange" : "WithExchange";
});

TEST_F(ACheckpoint, IsTheStateOfItsMomentWhateverTheRunDoesWhileItIsWritten) {
  put(run_ / "metrics.csv", kMetrics);
  Individuals members = some_individuals(500, 1);
  members.sensory.freeze();
  Individuals batch = some_individuals(500, 2);
  CheckpointWriter writer(run_);
  for (std::size_t round = 0; round < 5; ++round) {
    writer.copy() = some_checkpoint(1);
    writer.copy().algorithm.container = members;
    EXPECT_EQ(writer.copy().algorithm.container.sensory.view().bytes(7).data(),
              members.sensory.view().bytes(7).data());
    const std::uint64_t hash = container_hash(members);
    writer.start(0, 0);
    for (std::size_t row = 0; row < members.size(); ++row) {
      std::ranges::fill(batch.sensory.mutable_view().bytes(row), static_cast<std::byte>(round));
      members.copy_row(batch, row, row);
    }
    writer.wait();
    EXPECT_EQ(writer.outcome().value().error, "");
    EXPECT_NE(container_hash(members), hash);
    EXPECT_EQ(container_hash(find_checkpoint(run_)->checkpoint.algorithm.container), hash);
  }
}

TEST_F(ACheckpoint, IsWrittenInTheBackgroundAndFailsWithoutHarm) {
  put(run_ / "metrics.csv", "iteration\n10\n20\n");
  CheckpointWriter writer(run_);
  EXPECT_TRUE(writer.idle());
  EXPECT_FALSE(writer.outcome());
  writer.copy() = some_checkpoint(1);
  writer.start(13, 0);  // the row 20 is younger than the state
  writer.wait();
  EXPECT_TRUE(writer.idle());
  EXPECT_EQ(writer.outcome().value().error, "");
  EXPECT_FALSE(writer.outcome());
  EXPECT_EQ(find_checkpoint(run_)->checkpoint.metrics, "iteration\n10\n");

  faults.no_directory = ".checkpoint.new";
  writer.copy() = some_checkpoint(2);
  writer.start(13, 0);
  writer.wait();
  EXPECT_SAYS(writer.outcome().value().error, "No space left on device");
  EXPECT_EQ(find_checkpoint(run_)->checkpoint.algorithm.iteration, 41U);

  EXPECT_EQ(writer.copy().algorithm.container.size(), 0U) << "the memory is given back";

  faults.no_directory = nullptr;
  writer.copy() = some_checkpoint(2);
  writer.start(13, 0);
  writer.wait();
  const auto outcome = writer.outcome();
  EXPECT_EQ(outcome.value().error, "");
  EXPECT_EQ(outcome.value().iteration, 42U);
  EXPECT_EQ(find_checkpoint(run_)->checkpoint.algorithm.iteration, 42U);
}

struct ArmOptions {
  std::string colour = "blue";
  std::size_t joints = 2;
};

/// Never evaluated.
class Arm : public Task {
 public:
  explicit Arm(std::size_t version) {
    spec_.name = "arm";
    spec_.version = version;
    spec_.genotype_size = 2;
    spec_.sensory = {{20}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> /*genotypes*/, EvaluationView /*out*/) const override {}

 private:
  TaskSpec spec_;
};

Parts parts_with_arm(std::size_t version) {
  Parts parts = builtin_parts();
  parts.tasks.add(
      part<ArmOptions>("arm", "")
          .option("colour", &ArmOptions::colour, std::vector<std::string>{"blue", "red"}, "")
          .option("joints", &ArmOptions::joints, 1, 9, "")
          .made_by([version](const ArmOptions&, const TaskContext&) {
            return std::make_unique<Arm>(version);
          }));
  return parts;
}

TEST_F(ACheckpoint, BelongsToOneConfigurationAndOneVersionOfTheTask) {
  const Parts parts = parts_with_arm(1);
  const auto plan = [&](std::vector<std::string> assignments) {
    PlanRequest request;
    request.task = "arm";
    request.assignments = std::move(assignments);
    return resolve(parts, request);
  };
  Checkpoint saved;
  saved.settings = plan({}).settings();
  saved.algorithm.iteration = 100;
  const auto refused_by = [&](const Parts& by, const Plan& other) {
    try {
      check_resumable(by, saved, other);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto refused = [&](std::vector<std::string> assignments) {
    return refused_by(parts, plan(std::move(assignments)));
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({"run.iterations=5000", "run.threads=7", "run.log_every=3",
                     "run.snapshot_every=0", "run.checkpoint_seconds=1"}),
            "");
  EXPECT_SAYS(refused({"run.iterations=99"}), "has done 100 iterations already");
  EXPECT_SAYS(refused({"container.k=3"}), "container.k was 15, now it is 3");
  EXPECT_SAYS(refused({"task.colour=red"}), "task.colour was \"blue\", now it is \"red\"");
  EXPECT_SAYS(refused({"task.joints=3"}), "task.joints was 2, now it is 3");
  EXPECT_SAYS(refused({"encoder.kind=pca"}), "encoder.kind was \"auto\", now it is \"pca\"");

  // A run that was begun before there was a key has its default.
  for (const std::string key : {"container.k", "task.joints"}) {
    const Settings complete = saved.settings;
    std::erase_if(saved.settings, [&](const auto& entry) { return entry.first == key; });
    ASSERT_EQ(saved.settings.size() + 1, complete.size());
    EXPECT_EQ(refused({}), "") << key;
    EXPECT_EQ(refused({"task.colour=blue"}), "") << key;
    EXPECT_SAYS(refused({key + "=4"}), key + " was ");
    saved.settings = complete;
  }
  // What nobody reads any more says nothing.
  saved.settings.emplace_back("variation.old", "1");
  EXPECT_EQ(refused({}), "");
  saved.settings.pop_back();

  const Parts later = parts_with_arm(2);
  PlanRequest request;
  request.task = "arm";
  EXPECT_SAYS(refused_by(later, resolve(later, request)), "'arm' was version 1, now it is 2");
}

}  // namespace
}  // namespace aurora
