#include "aurora/runs/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/runs/files.hpp"
#include "faults.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Individuals some_individuals(std::size_t rows, std::uint64_t seed) {
  Individuals all({.genotype_size = 3,
                   .descriptor_size = 2,
                   .ground_truth_size = 2,
                   .sensory = {{2, 2, 3}, ElementType::uint8}},
                  rows);
  Stream draw(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    for (float& v : all.genotypes.row(i)) v = static_cast<float>(draw.uniform());
    for (float& v : all.descriptors.row(i)) v = static_cast<float>(draw.normal());
    for (float& v : all.ground_truth.row(i)) v = static_cast<float>(draw.normal());
    for (std::byte& b : all.sensory.view().bytes(i)) b = static_cast<std::byte>(draw.below(256));
    all.fitness[i] = static_cast<float>(draw.normal());
    all.reconstruction_error[i] = static_cast<float>(draw.uniform());
    all.ids[i] = 1000 - i;  // rows are in no order
  }
  return all;
}

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
  c.record.row.added = 5;
  c.record.row.lost = 2;
  c.record.lost = 77;
  c.record.container_updates = 9;
  c.algorithm.iteration = 40 + seed;
  c.algorithm.encoder_updates = 4;
  c.algorithm.threshold = {.value = 1.0 / 3,
                           .encoder_updated = true,
                           .pid = {.anchor = -0.1, .sum = 1e-300, .error = 0.7, .trend = -1.0 / 7}};
  c.algorithm.container = some_individuals(20, seed);
  c.algorithm.population = some_individuals(4, seed + 100);
  c.algorithm.encoder = {{"scaling.mean", {2, 2}, {1, 2, 3, 4}}, {"w", {1}, {0.1F}}};
  c.metrics = "iteration,coverage\n10,0.5\n";
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
    out << '\n';
  };
  out << c.task << c.task_version << '\n';
  for (const auto& [key, value] : c.settings) out << key << '=' << value << '\n';
  const RunSummary& summary = c.record.summary;
  out << summary.started << summary.iterations << ' ' << summary.seconds.train << '\n';
  const MetricsRow& row = c.record.row;
  out << row.added << ' ' << row.replaced << ' ' << row.rejected << ' ' << row.invalid << ' '
      << row.lost << ' ' << c.record.lost << ' ' << c.record.container_updates << '\n';
  const Threshold::State& t = c.algorithm.threshold;
  out << c.algorithm.iteration << ' ' << c.algorithm.encoder_updates << ' ' << t.value
      << t.encoder_updated << ' ' << t.pid.anchor << ' ' << t.pid.sum << ' ' << t.pid.error << ' '
      << t.pid.trend << '\n';
  individuals(c.algorithm.container);
  individuals(c.algorithm.population);
  for (const NamedArray& array : c.algorithm.encoder) {
    out << array.name;
    for (const std::size_t extent : array.shape) out << ' ' << extent;
    for (const float value : array.values) out << ' ' << value;
    out << '\n';
  }
  out << c.metrics << c.training;
  return out.str();
}

class ACheckpoint : public testing::Test {
 protected:
  ACheckpoint() {
    std::string name = (fs::temp_directory_path() / "aurora_checkpoint_XXXXXX").string();
    run_ = ::mkdtemp(name.data());
  }
  ~ACheckpoint() override { fs::remove_all(run_); }

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
  write_checkpoint(run_, some_checkpoint(1));
  EXPECT_EQ(found(), shown(some_checkpoint(1)));
  EXPECT_EQ(damage(), "");

  Checkpoint bare = some_checkpoint(2);
  bare.algorithm.population = {};
  bare.algorithm.encoder.clear();
  bare.algorithm.container.resize(0);
  bare.metrics = "";
  write_checkpoint(run_, bare);
  EXPECT_EQ(found(), shown(bare));
}

TEST_F(ACheckpoint, LeavesThePreviousOne) {
  for (const std::uint64_t seed : {1, 2, 3}) write_checkpoint(run_, some_checkpoint(seed));
  EXPECT_EQ(found(), shown(some_checkpoint(3)));
  fs::remove_all(run_ / "checkpoint");
  EXPECT_EQ(found(), shown(some_checkpoint(2)));
  EXPECT_EQ(damage(), "") << "a crash between two renames is no damage";
}

TEST_F(ACheckpoint, ThatIsDamagedGivesWayToThePreviousOne) {
  for (const fs::path& file : [&] {
         write_checkpoint(run_, some_checkpoint(1));
         return files();
       }()) {
    const auto damaged = [&](const std::function<void()>& harm) {
      fs::remove_all(run_ / "checkpoint");
      fs::remove_all(run_ / "checkpoint.previous");
      write_checkpoint(run_, some_checkpoint(1));
      write_checkpoint(run_, some_checkpoint(2));
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
  write_checkpoint(run_, some_checkpoint(5));
  EXPECT_EQ(found(), shown(some_checkpoint(5)));
  fs::remove_all(run_ / "checkpoint");
  EXPECT_EQ(found(), shown(some_checkpoint(1)));

  fs::remove(run_ / "checkpoint.previous" / "manifest.json");
  EXPECT_SAYS(refusal<DataError>(), "no checkpoint that can be used");
}

TEST_F(ACheckpoint, OfAnotherFormatIsRefusedEvenIfThereIsAPreviousOne) {
  write_checkpoint(run_, some_checkpoint(1));
  write_checkpoint(run_, some_checkpoint(2));
  change([](Json& j) { j["checkpoint_version"] = 2; });
  EXPECT_SAYS(refusal<DataError>(), "checkpoint format version 2 is not read; only 1");
  change([](Json& j) { j["format_version"] = 7; });
  EXPECT_SAYS(refusal<DataError>(), "format version 7 is not read; only 1");
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
      {"'encoder_updated' should be", [](Json& j) { j["threshold"]["encoder_updated"] = 1; }},
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
    write_checkpoint(run_, some_checkpoint(1));
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
  write_checkpoint(run_, some_checkpoint(1));
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
    write_checkpoint(run_, some_checkpoint(1));
    write_checkpoint(run_, some_checkpoint(2));
    fault_.no_exchange = GetParam();
    fault_.removals = true;
  }

  /// The last good one, or the new one; and the next write works.
  void expect_whole() {
    const std::string text = found();
    EXPECT_TRUE(text == shown(some_checkpoint(2)) || text == shown(some_checkpoint(3)))
        << "call " << fault_.fail_at;
    EXPECT_EQ(damage(), "") << "call " << fault_.fail_at;
    write_checkpoint(run_, some_checkpoint(4));
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
      write_checkpoint(run_, some_checkpoint(3));
      calls = faults.calls;
    }
    EXPECT_GT(calls, 80);
    fault_.error = error;
    for (fault_.fail_at = 0; fault_.fail_at < calls; ++fault_.fail_at) {
      prepare();
      try {
        const WithFaults with(fault_);
        write_checkpoint(run_, some_checkpoint(3));
      } catch (const FileError&) {
        // As it should be, unless only the removal of what is done with has failed.
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
      write_checkpoint(run_, some_checkpoint(3));
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

TEST_F(ACheckpoint, BelongsToOneConfigurationAndOneVersionOfTheTask) {
  RunConfig config;
  config.task = "arm";
  TaskSpec task;
  task.name = "arm";
  Checkpoint saved;
  saved.settings = settings_of(config);
  saved.algorithm.iteration = 100;
  const auto refused = [&](const RunConfig& other) {
    try {
      check_resumable(saved, task, other);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(config), "");
  RunConfig other = config;
  other.iterations = 5000;
  other.threads = 7;
  other.log_every = 3;
  other.snapshot_every = 0;
  other.checkpoint_seconds = 1;
  EXPECT_EQ(refused(other), "");
  other.iterations = 99;
  EXPECT_SAYS(refused(other), "has done 100 iterations already");
  other = config;
  other.algorithm.archive.k = 3;
  EXPECT_SAYS(refused(other), "container.k was 15, now it is 3");
  other = config;
  other.task_options["colour"] = "red";
  EXPECT_SAYS(refused(other), "task.colour was not there, now it is \"red\"");
  saved.settings.emplace_back("task.old", "\"1\"");
  EXPECT_SAYS(refused(config), "task.old was \"1\", now it is not there");
  saved.settings.pop_back();
  task.version = 2;
  EXPECT_SAYS(refused(config), "'arm' was version 1, now it is 2");
}

}  // namespace
}  // namespace aurora
