#include "aurora/runs/run_directory.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>

#include "aurora/containers/container_hash.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/storage/npy.hpp"
#include "tests/storage/npy_file.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

TaskSpec picture_task() {
  TaskSpec spec;
  spec.name = "maze";
  spec.genotype_size = 5;
  spec.sensory = {{8, 6, 3}, ElementType::uint8};
  spec.ground_truth = {
      {"x", 0, 600, "m"}, {"y", 0, 600, "", Direction::down}, {"heading", -3.14, 3.14}};
  return spec;
}

TaskSpec sequence_task() {
  TaskSpec spec = picture_task();
  spec.name = "hexapod";
  spec.sensory = {{10, 2}, ElementType::float32};
  return spec;
}

Individuals make_individuals(const TaskSpec& spec, std::size_t rows, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  Individuals all({spec.genotype_size, 10, spec.ground_truth.size(), spec.sensory}, rows);
  const auto fill = [&](float* data, std::size_t n) {
    std::generate_n(data, n, [&] { return unit(random); });
  };
  fill(all.genotypes.data(), rows * all.genotypes.cols());
  fill(all.fitness.data(), rows);
  fill(all.descriptors.data(), rows * 10);
  fill(all.reconstruction_error.data(), rows);
  fill(all.ground_truth.data(), rows * all.ground_truth.cols());
  for (std::size_t i = 0; i < rows; ++i) {
    all.ids[i] = 1000 + 3 * i;
    if (spec.sensory.element == ElementType::uint8) {
      for (auto& value : all.sensory.mutable_view().row<std::uint8_t>(i)) {
        value = static_cast<std::uint8_t>(random());
      }
    } else {
      fill(all.sensory.mutable_view().row<float>(i).data(), spec.sensory.size());
    }
  }
  return all;
}

Individuals shuffled(const Individuals& all, const TaskSpec& spec) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  Individuals mixed({spec.genotype_size, 10, spec.ground_truth.size(), spec.sensory}, all.size());
  for (std::size_t i = 0; i < order.size(); ++i) mixed.copy_row(all, order[i], i);
  return mixed;
}

const Row kRow = {{"iteration", 10}, {"coverage", 0.5}};

std::vector<NamedArray> make_arrays() {
  return {{"scaling.mean", {3}, {1, 2, 3}},
          {"conv1-weight", {2, 1, 2}, {0.5f, -1, 1e-30f, 4}},
          {"empty", {0, 4}, {}},
          {"alone", {}, {42}}};
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Changes one byte in its place.
void put_byte(const fs::path& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

/// Every file below a directory, by its relative path.
std::map<std::string, std::string> tree(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), directory).string()] = slurp(entry.path());
    }
  }
  return files;
}

std::string checksum_of(std::string_view bytes) {
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(bytes)));
  return checksum.text();
}

/// Changes a manifest and makes its own checksum right again, so that the change itself is what a
/// reader stumbles over.
void edit_manifest(const fs::path& directory, const std::function<void(Json&)>& edit) {
  Json json = Json::parse(slurp(directory / "manifest.json"));
  json.erase("checksum");
  edit(json);
  json["checksum"] = checksum_of(json.dump(2) + '\n');
  put(directory / "manifest.json", json.dump(2) + '\n');
}

Json& file_entry(Json& manifest, const std::string& name) {
  for (Json& entry : manifest["files"]) {
    if (entry["name"] == name) return entry;
  }
  throw std::logic_error("no such entry");
}

/// Puts another array in place of a file, manifest and all.
template <class T>
void replace_array(const fs::path& directory, const std::string& name,
                   const std::vector<std::size_t>& shape, const std::vector<T>& values) {
  write_npy<T>(directory / name, shape, values);
  const std::string bytes = slurp(directory / name);
  edit_manifest(directory, [&](Json& json) {
    Json& entry = file_entry(json, name);
    entry["dtype"] = name_of(npy_type<T>());
    entry["shape"] = shape;
    entry["bytes"] = bytes.size();
    entry["xxh3"] = checksum_of(bytes);
  });
}

class RunDirectoryTest : public ::testing::Test {
 protected:
  RunDirectoryTest() {
    std::string name = (fs::temp_directory_path() / "aurora_run_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
    run_ = dir_ / "run";
  }
  ~RunDirectoryTest() override { fs::remove_all(dir_); }

  /// The message with which a container is refused.
  std::string refusal(const fs::path& directory) {
    try {
      load_container(directory);
    } catch (const DataError& error) {
      return error.what();
    }
    return "(accepted)";
  }

  fs::path dir_;
  fs::path run_;
};

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text) << " lacks " << (part)

void expect_equal(const Individuals& a, const Individuals& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.genotypes, b.genotypes);
  EXPECT_EQ(a.fitness, b.fitness);
  EXPECT_EQ(a.descriptors, b.descriptors);
  EXPECT_EQ(a.reconstruction_error, b.reconstruction_error);
  EXPECT_EQ(a.ground_truth, b.ground_truth);
}

// ---- The directory, tables, run.json ----

TEST_F(RunDirectoryTest, RefusesADirectoryWithSomethingInIt) {
  RunDirectory::create(run_).write_config("[run]\nseed = 1\n");
  EXPECT_EQ(slurp(run_ / "config.toml"), "[run]\nseed = 1\n");
  try {
    RunDirectory::create(run_);
    FAIL() << "accepted";
  } catch (const FileError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "'" + run_.string() +
            "' exists and is not empty; choose another directory, or resume the run that is in "
            "it");
  }
  EXPECT_THROW(RunDirectory::create(run_ / "config.toml"), FileError);
  EXPECT_THROW(RunDirectory::create(run_ / "config.toml" / "x"), FileError);
  EXPECT_EQ(tree(run_).size(), 1u);
}

TEST_F(RunDirectoryTest, TablesGoBackToWhatTheyWere) {
  std::string metrics;
  {
    RunDirectory directory = RunDirectory::create(run_);
    directory.write_config("x = 1\n");
    EXPECT_EQ(directory.metrics_bytes(), 0u);
    directory.append_metrics(kRow);
    metrics = slurp(run_ / "metrics.csv");
    EXPECT_EQ(directory.metrics_bytes(), metrics.size());
    directory.append_metrics(kRow);
    directory.append_encoder(kRow);
    EXPECT_EQ(directory.encoder_bytes(), slurp(run_ / "encoder.csv").size());
    EXPECT_THROW(RunDirectory::reopen(run_), FileError) << "it is in use";
  }
  RunDirectory directory = RunDirectory::reopen(run_);
  directory.restore_tables(metrics, {});
  EXPECT_EQ(slurp(run_ / "metrics.csv"), metrics);
  EXPECT_FALSE(fs::exists(run_ / "encoder.csv"));
  EXPECT_EQ(directory.metrics_bytes(), metrics.size());
  // The header is known, and stands there once.
  directory.append_metrics({{"coverage", 0.25}, {"iteration", 20}});
  directory.append_encoder(kRow);
  EXPECT_EQ(slurp(run_ / "metrics.csv"), metrics + "20,0.25\n");
  EXPECT_EQ(slurp(run_ / "encoder.csv"), metrics);
}

TEST_F(RunDirectoryTest, MetricsAreATableWithOneHeader) {
  RunDirectory directory = RunDirectory::create(run_);
  directory.append_metrics({{"iteration", 10},
                            {"evaluations", 128'000'000'000},
                            {"coverage", 0.1},
                            {"grid_mean_fitness", -1.0 / 3},
                            {"threshold", std::numeric_limits<double>::infinity()},
                            {"loss_per_update", std::nan("")}});
  directory.append_metrics({{"iteration", 20},
                            {"evaluations", 256'000'000'000},
                            {"coverage", 0.1},
                            {"grid_mean_fitness", -1.0 / 3},
                            {"threshold", 1e-300},
                            {"loss_per_update", 0}});
  EXPECT_EQ(slurp(run_ / "metrics.csv"),
            "iteration,evaluations,coverage,grid_mean_fitness,threshold,loss_per_update\n"
            "10,128000000000,0.1,-0.3333333333333333,inf,nan\n"
            "20,256000000000,0.1,-0.3333333333333333,1e-300,0\n");
}

TEST_F(RunDirectoryTest, ColumnsAreFixedByTheFirstRow) {
  RunDirectory directory = RunDirectory::create(run_);
  directory.append_metrics({{"orientation", 0.25}, {"reach", 3}});
  EXPECT_TRUE(directory.left_out().empty());
  directory.append_metrics({{"reach", 4}, {"orientation", 0.5}});
  directory.append_metrics({{"orientation", 1}});
  EXPECT_TRUE(directory.left_out().empty());
  directory.append_metrics({{"new", 9}, {"reach", 5}, {"orientation", 0.75}, {"newer", 9}});
  directory.append_metrics({{"reach", 6}, {"orientation", 1}, {"newer", 9}});
  const std::string table = slurp(run_ / "metrics.csv");
  EXPECT_EQ(table, "orientation,reach\n0.25,3\n0.5,4\n1,nan\n0.75,5\n1,6\n");
  EXPECT_EQ(directory.left_out(), (std::vector<std::string>{"new", "newer"}));
  for (const Row& row : std::vector<Row>{{{"orientation", 1}, {"orientation", 1}},
                                         {{"a,b", 1}},
                                         {{"a\nb", 1}},
                                         {{"a\"b", 1}},
                                         {{"", 1}}}) {
    EXPECT_THROW(directory.append_metrics(row), DataError);
    EXPECT_THROW(directory.append_encoder(row), DataError);
  }
  EXPECT_EQ(slurp(run_ / "metrics.csv"), table);
  EXPECT_FALSE(fs::exists(run_ / "encoder.csv"));
}

TEST_F(RunDirectoryTest, EncoderUpdatesAreATable) {
  RunDirectory directory = RunDirectory::create(run_);
  EXPECT_FALSE(fs::exists(run_ / "encoder.csv"));
  directory.append_encoder({{"iteration", 10}, {"train_loss", 0.5}, {"seconds", 1.5}});
  directory.append_encoder({{"iteration", 30}, {"train_loss", 0.125}, {"seconds", 2}});
  EXPECT_EQ(slurp(run_ / "encoder.csv"),
            "iteration,train_loss,seconds\n"
            "10,0.5,1.5\n"
            "30,0.125,2\n");
}

RunSummary make_summary() {
  RunSummary s;
  s.version = "0.1.0";
  s.host = "robot";
  s.started = "2024-01-02T03:04:05Z";
  s.ended = "2024-01-02T03:05:06Z";
  s.task = "maze";
  s.title = "Maze";
  s.variant = "aurora-csc-uniform-10";
  s.seed = std::numeric_limits<std::uint64_t>::max();
  s.status = RunStatus::failed;
  s.error = "a \"quoted\" line\nand another";
  s.iterations = 1;
  s.evaluations = 2;
  s.simulations = 3;
  s.invalid = 4;
  s.container_size = 5;
  s.container_hash = "0123456789abcdef";
  s.metrics = {
      {"coverage", 0.1}, {"grid_mean_fitness", -1.0 / 3}, {"qd_score", 1e300}, {"bound", 5e-324}};
  s.units = {{"coverage", "%"}, {"qd_score", "m/s"}};
  s.loss_per_update = 6;
  s.threads = 7;
  s.evaluator = "threads";
  s.seconds = {8, 9, 10, 11, 12};
  s.seconds_metrics = 13;
  s.seconds_io = 14;
  s.seconds_total = 15;
  return s;
}

TEST_F(RunDirectoryTest, TheSummaryComesBack) {
  RunDirectory directory = RunDirectory::create(run_);
  directory.write_summary(make_summary());
  const std::string first = slurp(run_ / "run.json");
  const RunSummary read = read_summary(run_ / "run.json");
  EXPECT_EQ(read.error, make_summary().error);
  EXPECT_EQ(read.seed, make_summary().seed);
  EXPECT_EQ(read.metrics, make_summary().metrics);
  EXPECT_EQ(read.metric("bound"), 5e-324);
  EXPECT_EQ(read.metric("nobody's"), 0);
  EXPECT_EQ(read.units, make_summary().units);
  EXPECT_EQ(read.status, RunStatus::failed);
  // Every other field: written again, the same bytes.
  directory.write_summary(read);
  EXPECT_EQ(slurp(run_ / "run.json"), first);

  const Json json = Json::parse(first);
  std::set<std::string> keys;
  for (const auto& item : json.items()) keys.insert(item.key());
  EXPECT_EQ(keys,
            (std::set<std::string>{
                "format",         "version",        "host",        "task",        "title",
                "variant",        "seed",           "status",      "error",       "started",
                "ended",          "iterations",     "evaluations", "simulations", "invalid",
                "container_size", "container_hash", "metrics",     "units",       "loss_per_update",
                "threads",        "evaluator",      "seconds",     "outside",     "checksum"}));
  EXPECT_EQ(json["format"], 3);
  EXPECT_EQ(json["metrics"].dump(),
            R"({"coverage":0.1,"grid_mean_fitness":-0.3333333333333333,"qd_score":1e+300,)"
            R"("bound":5e-324})");
  EXPECT_EQ(json["units"].dump(), R"({"coverage":"%","qd_score":"m/s"})");
  EXPECT_EQ(json["seconds"].dump(),
            R"({"total":15.0,"simulate":8.0,"encode":9.0,"train":10.0,"container":11.0,)"
            R"("variation":12.0,"metrics":13.0,"io":14.0})");
}

TEST_F(RunDirectoryTest, TheSummaryFillsInHostAndTimes) {
  RunDirectory directory = RunDirectory::create(run_);
  RunSummary summary;
  directory.write_summary(summary);
  Json json = Json::parse(slurp(run_ / "run.json"));
  EXPECT_EQ(json["status"], "running");
  EXPECT_FALSE(json["host"].get<std::string>().empty());
  EXPECT_EQ(json["started"].get<std::string>().size(), 20u);
  EXPECT_FALSE(json.contains("ended"));
  EXPECT_FALSE(json.contains("error"));

  summary.status = RunStatus::interrupted;
  summary.error = "not shown";
  summary.metrics = {{"coverage", std::nan("")}};
  summary.task = "not \xff UTF-8";
  directory.write_summary(summary);
  json = Json::parse(slurp(run_ / "run.json"));
  EXPECT_EQ(json["status"], "interrupted");
  EXPECT_EQ(json["ended"].get<std::string>().back(), 'Z');
  EXPECT_FALSE(json.contains("error"));
  EXPECT_TRUE(std::isnan(read_summary(run_ / "run.json").metric("coverage")));
}

// As version 0.1.0 wrote it.
TEST_F(RunDirectoryTest, ASummaryOfTheFirstFormatIsRead) {
  RunDirectory::create(run_).write_summary(make_summary());
  Json json = Json::parse(slurp(run_ / "run.json"));
  for (const char* key :
       {"format", "title", "metrics", "units", "evaluator", "outside", "checksum"}) {
    json.erase(key);
  }
  json["coverage"] = 0.25;
  json["grid_mean_fitness"] = -2;
  json["qd_score"] = 30;
  json["threshold"] = 0.5;
  put(run_ / "run.json", json.dump());
  const RunSummary read = read_summary(run_ / "run.json");
  EXPECT_EQ(
      read.metrics,
      (std::vector<NamedNumber>{
          {"coverage", 0.25}, {"grid_mean_fitness", -2}, {"qd_score", 30}, {"threshold", 0.5}}));
  EXPECT_EQ(read.title, "maze");
  EXPECT_EQ(read.evaluator, "");
  EXPECT_EQ(read.seconds_total, 15);
}

TEST_F(RunDirectoryTest, EveryBrokenFieldOfTheSummaryIsNamed) {
  RunDirectory::create(run_).write_summary(make_summary());
  const fs::path path = run_ / "run.json";
  const Json good = Json::parse(slurp(path));
  const auto expect_refused = [&](const Json& bad, const std::string& key) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(bad.dump());
    json.erase("checksum");
    const std::string text = json.dump(2) + '\n';
    Checksum checksum;
    checksum.update(std::as_bytes(std::span(text)));
    json["checksum"] = checksum.text();
    put(path, json.dump(2) + '\n');
    try {
      read_summary(path);
      ADD_FAILURE() << key << " accepted";
    } catch (const DataError& error) {
      EXPECT_CONTAINS(error.what(), "'" + key + "'");
      EXPECT_CONTAINS(error.what(), path.string());
    }
  };
  for (const auto& item : good.items()) {
    Json bad = good;
    bad.erase(item.key());
    if (item.key() == "checksum") continue;  // below
    // Without a format it is the first, which had this; some may be left out.
    if (item.key() != "title" && item.key() != "outside")
      expect_refused(bad, item.key() == "format" ? "coverage" : item.key());
    bad[item.key()] = Json::array({1});
    expect_refused(bad, item.key());
    if (good[item.key()].is_number_unsigned()) {
      bad[item.key()] = -1;
      expect_refused(bad, item.key());
      bad[item.key()] = 0.5;
      expect_refused(bad, item.key());
    }
  }
  for (const auto& item : good["seconds"].items()) {
    Json bad = good;
    bad["seconds"][item.key()] = "x";
    expect_refused(bad, item.key());
    bad["seconds"].erase(item.key());
    expect_refused(bad, item.key());
  }
  Json bad = good;
  bad["metrics"]["coverage"] = "0.1";
  expect_refused(bad, "coverage");
  bad = good;
  bad["units"]["qd_score"] = 1;
  expect_refused(bad, "qd_score");
  bad = good;
  bad["format"] = 4;
  expect_refused(bad, "format");
  bad = good;
  bad["status"] = "asleep";
  expect_refused(bad, "status");
  bad = good;
  bad.erase("checksum");
  put(path, bad.dump(2) + '\n');
  EXPECT_THROW(read_summary(path), DataError);
}

TEST_F(RunDirectoryTest, ATruncatedSummaryIsRefused) {
  RunDirectory::create(run_).write_summary(make_summary());
  const std::string good = slurp(run_ / "run.json");
  for (std::size_t length = good.size(); length-- > 0;) {
    fs::resize_file(run_ / "run.json", length);
    EXPECT_THROW(read_summary(run_ / "run.json"), DataError);
  }
  put(run_ / "run.json", "[]");
  EXPECT_THROW(read_summary(run_ / "run.json"), DataError);
  put(run_ / "run.json", std::string(1 << 25, ' '));
  EXPECT_THROW(read_summary(run_ / "run.json"), DataError);
  EXPECT_THROW(read_summary(run_ / "none.json"), FileError);
}

// ---- Containers ----

TEST_F(RunDirectoryTest, AContainerComesBack) {
  for (const TaskSpec& spec : {picture_task(), sequence_task()}) {
    for (const std::size_t rows : {0, 1, 100}) {
      fs::remove_all(run_);
      RunDirectory directory = RunDirectory::create(run_);
      const Individuals all = make_individuals(spec, rows);
      directory.write_container(shuffled(all, spec), {}, spec);
      const SavedContainer saved = load_container(run_ / "container");
      EXPECT_EQ(saved.task, spec.name);
      ASSERT_EQ(saved.ground_truth.size(), 3u);
      EXPECT_EQ(saved.ground_truth[2].name, "heading");
      EXPECT_EQ(saved.ground_truth[2].min, -3.14);
      EXPECT_EQ(saved.ground_truth[2].max, 3.14);
      EXPECT_EQ(saved.ground_truth[0].unit, "m");
      EXPECT_EQ(saved.ground_truth[0].direction, Direction::up);
      EXPECT_EQ(saved.ground_truth[1].unit, "");
      EXPECT_EQ(saved.ground_truth[1].direction, Direction::down);
      EXPECT_TRUE(saved.has_sensory);
      EXPECT_EQ(saved.individuals.sensory.shape(), spec.sensory);
      expect_equal(saved.individuals, all);
      EXPECT_EQ(container_hash(saved.individuals), container_hash(all));
    }
  }
}

TEST_F(RunDirectoryTest, WhatPartsKeepForThemselvesComesBackToo) {
  const TaskSpec spec = picture_task();
  const std::size_t rows = 6;
  Individuals all = make_individuals(spec, rows);
  all.extra_names = {"curiosity", "age"};
  all.extra = Matrix<float>(rows, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    all.extra(i, 0) = static_cast<float>(i);
    all.extra(i, 1) = -0.5F;
  }
  std::ranges::reverse(all.ids);  // rows are stored oldest first
  const PartState state{.numbers = {{"threshold.value", 1.0 / 3}, {"spacing", 1e-300}},
                        .arrays = {}};
  RunDirectory directory = RunDirectory::create(run_);
  directory.write_container(all, state, spec);
  directory.write_snapshot(5, all, spec);
  for (const char* name : {"container", "snapshots/000005"}) {
    const SavedContainer saved = load_container(run_ / name);
    EXPECT_EQ(saved.individuals.extra_names, all.extra_names);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(saved.individuals.extra(i, 0), static_cast<float>(rows - 1 - i));
      EXPECT_EQ(saved.individuals.extra(i, 1), -0.5F);
    }
  }
  EXPECT_EQ(load_container(run_ / "container").state.numbers, state.numbers);
  EXPECT_TRUE(load_container(run_ / "snapshots" / "000005").state.numbers.empty());
  EXPECT_EQ(read_npy<float>(run_ / "container" / "age.npy").values,
            std::vector<float>(rows, -0.5F));

  replace_array<float>(run_ / "container", "age.npy", {rows, 1}, std::vector<float>(rows));
  EXPECT_CONTAINS(refusal(run_ / "container"), "one value per individual");
}

// Version 0.1.0 knew neither units nor states nor further columns.
TEST_F(RunDirectoryTest, AContainerOfTheFirstVersionIsRead) {
  const TaskSpec spec = picture_task();
  const Individuals all = make_individuals(spec, 5);
  RunDirectory::create(run_).write_container(all, {.numbers = {{"spacing", 1}}, .arrays = {}},
                                             spec);
  edit_manifest(run_ / "container", [](Json& json) {
    for (const char* key : {"title", "extra_columns", "state"}) json.erase(key);
    for (Json& axis : json["ground_truth"]) {
      axis.erase("unit");
      axis.erase("direction");
    }
  });
  const SavedContainer saved = load_container(run_ / "container");
  expect_equal(saved.individuals, all);
  EXPECT_EQ(saved.ground_truth[1].direction, Direction::up);
  EXPECT_TRUE(saved.state.numbers.empty());
}

TEST_F(RunDirectoryTest, ThePicturesAreAnArrayOfFourAxes) {
  const TaskSpec spec = picture_task();
  RunDirectory::create(run_).write_container(make_individuals(spec, 7), {}, spec);
  const NpyHeader header = read_npy_header(run_ / "container" / "sensory.npy");
  EXPECT_EQ(header, (NpyHeader{NpyType::uint8, {7, 8, 6, 3}}));
}

TEST_F(RunDirectoryTest, ASnapshotHasNoSensoryData) {
  const TaskSpec spec = picture_task();
  const Individuals all = make_individuals(spec, 20);
  RunDirectory directory = RunDirectory::create(run_);
  directory.write_snapshot(500, all, spec);
  directory.write_snapshot(1234567, all, spec);
  EXPECT_TRUE(fs::exists(run_ / "snapshots" / "1234567"));
  EXPECT_FALSE(fs::exists(run_ / "snapshots" / "000500" / "sensory.npy"));
  const SavedContainer saved = load_container(run_ / "snapshots" / "000500");
  EXPECT_FALSE(saved.has_sensory);
  expect_equal(saved.individuals, all);
  EXPECT_EQ(saved.individuals.sensory.rows(), 20u);
  EXPECT_EQ(saved.individuals.sensory.shape().row_bytes(), 0u);
}

TEST_F(RunDirectoryTest, EqualContentGivesEqualBytes) {
  const TaskSpec spec = picture_task();
  const Individuals all = make_individuals(spec, 50);
  std::vector<std::map<std::string, std::string>> trees;
  for (const Individuals& stored : {all, shuffled(all, spec)}) {
    fs::remove_all(run_);
    RunDirectory directory = RunDirectory::create(run_);
    directory.write_config("x = 1\n");
    directory.write_container(stored, {}, spec);
    directory.write_snapshot(3, stored, spec);
    directory.write_encoder(make_arrays());
    directory.append_metrics(kRow);
    trees.push_back(tree(run_));
  }
  EXPECT_EQ(trees[0], trees[1]);
  EXPECT_EQ(trees[0].size(), 1u + 8 + 7 + 5 + 1 + 1);  // the last is the lock
}

TEST_F(RunDirectoryTest, AContainerIsReplacedAsAWhole) {
  const TaskSpec spec = picture_task();
  RunDirectory directory = RunDirectory::create(run_);
  directory.write_container(make_individuals(spec, 50, 1), {}, spec);
  put(run_ / "container" / "stray", "x");
  const Individuals next = make_individuals(spec, 30, 2);
  directory.write_container(next, {}, spec);
  expect_equal(load_container(run_ / "container").individuals, next);
  EXPECT_FALSE(fs::exists(run_ / "container" / "stray"));
}

TEST_F(RunDirectoryTest, AFullDiskHarmsNothing) {
  const TaskSpec spec = picture_task();
  RunDirectory directory = RunDirectory::create(run_);
  directory.write_container(make_individuals(spec, 10, 1), {}, spec);
  directory.write_encoder(make_arrays());
  directory.write_summary(make_summary());
  directory.append_metrics(kRow);
  const auto before = tree(run_);

  // No file may grow beyond this: writes are short first, then fail, as on a full disk.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit limit = old_limit;
  limit.rlim_cur = slurp(run_ / "metrics.csv").size() + 5;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(directory.write_container(make_individuals(spec, 2000, 2), {}, spec), FileError);
  EXPECT_THROW(directory.write_snapshot(5, make_individuals(spec, 2000, 2), spec), FileError);
  EXPECT_THROW(
      directory.write_encoder(std::vector<NamedArray>{{"big", {1000}, std::vector<float>(1000)}}),
      FileError);
  EXPECT_THROW(directory.write_summary(make_summary()), FileError);
  EXPECT_THROW(directory.append_metrics(kRow), FileError);
  EXPECT_THROW(directory.write_config(std::string(100'000, '#')), FileError);
  EXPECT_EQ(tree(run_), before);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, handler);

  // When there is room again, the run goes on.
  directory.append_metrics(kRow);
  const std::string metrics = slurp(run_ / "metrics.csv");
  EXPECT_EQ(std::ranges::count(metrics, '\n'), 3);
  directory.write_container(make_individuals(spec, 2000, 2), {}, spec);
  EXPECT_EQ(load_container(run_ / "container").individuals.size(), 2000u);
}

TEST_F(RunDirectoryTest, ADirectoryRemovedUnderTheRunIsAnError) {
  const TaskSpec spec = picture_task();
  RunDirectory directory = RunDirectory::create(run_);
  fs::remove_all(run_);
  EXPECT_THROW(directory.write_container(make_individuals(spec, 2), {}, spec), FileError);
  EXPECT_THROW(directory.write_summary(make_summary()), FileError);
  EXPECT_THROW(directory.append_metrics(kRow), FileError);
}

TEST_F(RunDirectoryTest, LeftoversOfACrashAreTolerated) {
  const TaskSpec spec = picture_task();
  const Individuals all = make_individuals(spec, 10);
  RunDirectory directory = RunDirectory::create(run_);
  fs::create_directory(run_ / ".container.new");
  put(run_ / ".container.new" / "manifest.json", "half");
  put(run_ / ".run.json.1.new", "half");
  directory.write_container(all, {}, spec);
  directory.write_summary(make_summary());
  expect_equal(load_container(run_ / "container").individuals, all);

  // A crash between the two renames: the old version lies aside, and is found and put back.
  fs::rename(run_ / "container", run_ / ".container.old");
  expect_equal(load_container(run_ / "container").individuals, all);
  directory.write_container(all, {}, spec);
  EXPECT_FALSE(fs::exists(run_ / ".container.old"));
  EXPECT_FALSE(fs::exists(run_ / ".container.new"));
  expect_equal(load_container(run_ / "container").individuals, all);
}

TEST_F(RunDirectoryTest, LeftoversAreGoneWhenTheRunGoesOn) {
  RunDirectory::create(run_).write_summary(make_summary());
  put(run_ / "config.toml", "");
  put(run_ / ".metrics.csv.1.new", "half");
  put(run_ / ".run.json.12.new", "half");
  put(run_ / "mine.new", "not ours");
  fs::create_directories(run_ / ".checkpoint.new" / "deep");
  fs::create_directories(run_ / "snapshots" / ".000500.new");
  fs::create_directory(run_ / ".container.old");  // the whole one, if a crash came between renames
  RunDirectory::reopen(run_);
  EXPECT_FALSE(fs::exists(run_ / ".metrics.csv.1.new"));
  EXPECT_FALSE(fs::exists(run_ / ".run.json.12.new"));
  EXPECT_FALSE(fs::exists(run_ / ".checkpoint.new"));
  EXPECT_FALSE(fs::exists(run_ / "snapshots" / ".000500.new"));
  for (const char* name : {"config.toml", "run.json", "mine.new", ".container.old"}) {
    EXPECT_TRUE(fs::exists(run_ / name)) << name;
  }
}

// ---- Damage ----

TEST_F(RunDirectoryTest, EveryTruncatedFileIsRefused) {
  const TaskSpec spec = picture_task();
  RunDirectory::create(run_).write_container(make_individuals(spec, 3), {}, spec);
  for (const auto& [name, bytes] : tree(run_ / "container")) {
    const fs::path path = run_ / "container" / name;
    for (const std::size_t length : {std::size_t{0}, bytes.size() / 2, bytes.size() - 2}) {
      put(path, bytes.substr(0, length));
      EXPECT_NE(refusal(run_ / "container"), "(accepted)") << name << " " << length;
    }
    put(path, bytes + "x");
    EXPECT_NE(refusal(run_ / "container"), "(accepted)") << name;
    fs::remove(path);
    EXPECT_THROW(load_container(run_ / "container"), FileError) << name;
    put(path, bytes);
  }
  EXPECT_EQ(refusal(run_ / "container"), "(accepted)");
}

TEST_F(RunDirectoryTest, EveryFlippedBitIsFoundOrHarmless) {
  TaskSpec spec = picture_task();
  spec.sensory.extents = {2, 2, 3};
  const Individuals all = make_individuals(spec, 2);
  RunDirectory::create(run_).write_container(all, {}, spec);
  std::size_t harmless = 0;
  for (const auto& [name, bytes] : tree(run_ / "container")) {
    const fs::path path = run_ / "container" / name;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      put_byte(path, i, static_cast<char>(bytes[i] ^ (1 << i % 8)));
      try {
        const SavedContainer saved = load_container(run_ / "container");
        EXPECT_EQ(name, "manifest.json") << i;  // where the bit was white space
        EXPECT_EQ(container_hash(saved.individuals), container_hash(all));
        EXPECT_EQ(saved.ground_truth[0].max, 600);
        ++harmless;
      } catch (const DataError&) {
      }
      put_byte(path, i, bytes[i]);
    }
  }
  EXPECT_EQ(refusal(run_ / "container"), "(accepted)");
  EXPECT_LT(harmless, 200u);
}

TEST_F(RunDirectoryTest, EveryBrokenFieldOfAManifestIsRefused) {
  const TaskSpec spec = picture_task();
  RunDirectory::create(run_).write_container(make_individuals(spec, 4), {}, spec);
  const fs::path container = run_ / "container";
  const std::string good = slurp(container / "manifest.json");
  struct Case {
    const char* says;
    std::function<void(Json&)> edit;
  };
  const std::vector<Case> cases = {
      {"'format_version' is missing", [](Json& j) { j.erase("format_version"); }},
      {"format version 2 is not read", [](Json& j) { j["format_version"] = 2; }},
      {"'format_version' should be", [](Json& j) { j["format_version"] = "1"; }},
      {"'kind' is missing", [](Json& j) { j.erase("kind"); }},
      {"'kind' should be", [](Json& j) { j["kind"] = "encoder"; }},
      {"'task' should be", [](Json& j) { j["task"] = 3; }},
      {"'count' should be", [](Json& j) { j["count"] = -4; }},
      {"'count' should be", [](Json& j) { j["count"] = 4.0; }},
      {"but the container has 5 individuals", [](Json& j) { j["count"] = 5; }},
      {"individuals", [](Json& j) { j["count"] = std::uint64_t{1} << 62; }},
      {"'ground_truth' should be a list", [](Json& j) { j["ground_truth"] = 1; }},
      {"number 1: an object", [](Json& j) { j["ground_truth"][0] = 1; }},
      {"3 columns, but there are 2 axes", [](Json& j) { j["ground_truth"].erase(0); }},
      {"'name' should be", [](Json& j) { j["ground_truth"][1]["name"] = 1; }},
      {"'min' should be", [](Json& j) { j["ground_truth"][1]["min"] = nullptr; }},
      {"'max' should be", [](Json& j) { j["ground_truth"][1]["max"] = -1; }},
      {"'unit' should be", [](Json& j) { j["ground_truth"][1]["unit"] = 1; }},
      {"'direction' should be", [](Json& j) { j["ground_truth"][1]["direction"] = 1; }},
      {"'extra_columns' should be", [](Json& j) { j["extra_columns"] = 1; }},
      {"no file 'age.npy'", [](Json& j) { j["extra_columns"] = {"age"}; }},
      {"'state': an object", [](Json& j) { j["state"] = 1; }},
      {"'spacing' should be", [](Json& j) { j["state"]["spacing"] = "1"; }},
      {"'files' is missing", [](Json& j) { j.erase("files"); }},
      {"'files' should be a list", [](Json& j) { j["files"] = Json::object(); }},
      {"no file 'ids.npy'", [](Json& j) { j["files"] = Json::array(); }},
      {"no file 'sensory.npy'", [](Json& j) { j["files"].erase(6); }},
      {"different in every entry", [](Json& j) { j["files"][1] = j["files"][0]; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = "../ids.npy"; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = "/etc/passwd"; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = "a/ids.npy"; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = ".."; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = ""; }},
      {"plain file name", [](Json& j) { j["files"][0]["name"] = std::string("ids\0.npy", 8); }},
      {"'name' should be", [](Json& j) { j["files"][0]["name"] = 1; }},
      {"'dtype' should be one of", [](Json& j) { j["files"][0]["dtype"] = "float64"; }},
      {"not those of the manifest", [](Json& j) { j["files"][0]["dtype"] = "int64"; }},
      {"'shape' should be", [](Json& j) { j["files"][0]["shape"] = 4; }},
      {"'shape' should be", [](Json& j) { j["files"][0]["shape"][0] = -4; }},
      {"not those of the manifest", [](Json& j) { j["files"][0]["shape"][0] = 3; }},
      {"'bytes' should be", [](Json& j) { j["files"][0]["bytes"] = "160"; }},
      {"the manifest says 161", [](Json& j) { j["files"][0]["bytes"] = 161; }},
      {"'xxh3' should be", [](Json& j) { j["files"][0]["xxh3"] = 1; }},
      {"damaged", [](Json& j) { j["files"][0]["xxh3"] = "0000000000000000"; }},
  };
  for (const Case& c : cases) {
    edit_manifest(container, c.edit);
    EXPECT_CONTAINS(refusal(container), c.says);
    put(container / "manifest.json", good);
  }
  EXPECT_EQ(refusal(container), "(accepted)");

  Json json = Json::parse(good);
  json["task"] = "hexapod";
  put(container / "manifest.json", json.dump());
  EXPECT_CONTAINS(refusal(container), "file is damaged");
  json.erase("checksum");
  put(container / "manifest.json", json.dump());
  EXPECT_CONTAINS(refusal(container), "'checksum' is missing");
}

TEST_F(RunDirectoryTest, ColumnsThatMakeNoSenseAreRefused) {
  const TaskSpec spec = sequence_task();
  const fs::path container = run_ / "container";
  const float nan = std::nanf("");
  const std::vector<std::pair<const char*, std::function<void()>>> cases = {
      {"ascending",
       [&] {
         replace_array<std::uint64_t>(container, "ids.npy", {2}, {5, 5});
       }},
      {"ascending",
       [&] {
         replace_array<std::uint64_t>(container, "ids.npy", {2}, {6, 5});
       }},
      {"cannot be in it",
       [&] {
         replace_array<std::int64_t>(container, "ids.npy", {2}, {5, 6});
       }},
      {"individuals", [&] { replace_array<std::uint64_t>(container, "ids.npy", {1}, {5}); }},
      {"individuals", [&] { replace_array<std::uint64_t>(container, "ids.npy", {}, {5}); }},
      {"one value",
       [&] {
         replace_array<std::uint64_t>(container, "ids.npy", {2, 1}, {5, 6});
       }},
      {"[0, 1]",
       [&] {
         replace_array<float>(container, "genotypes.npy", {2, 1}, {0, 1.5});
       }},
      {"[0, 1]",
       [&] {
         replace_array<float>(container, "genotypes.npy", {2, 1}, {0, nan});
       }},
      {"two axes",
       [&] {
         replace_array<float>(container, "genotypes.npy", {2}, {0, 1});
       }},
      {"finite",
       [&] {
         replace_array<float>(container, "fitness.npy", {2}, {0, nan});
       }},
      {"finite",
       [&] {
         replace_array<float>(container, "descriptors.npy", {2, 1}, {nan, 0});
       }},
      {"finite",
       [&] {
         replace_array<float>(container, "ground_truth.npy", {2, 3}, {0, 0, 0, 0, 0, nan});
       }},
      {"axes",
       [&] {
         replace_array<float>(container, "ground_truth.npy", {2, 1}, {0, 0});
       }},
      {"finite",
       [&] {
         replace_array<float>(container, "sensory.npy", {2, 1}, {0, nan});
       }},
      {"cannot be in it",
       [&] {
         replace_array<std::uint64_t>(container, "sensory.npy", {2, 1}, {0, 1});
       }},
      {"(accepted)",
       [&] {
         replace_array<float>(container, "reconstruction_error.npy", {2}, {0, nan});
       }},
  };
  for (const auto& [says, damage] : cases) {
    fs::remove_all(run_);
    RunDirectory::create(run_).write_container(make_individuals(spec, 2), {}, spec);
    damage();
    EXPECT_CONTAINS(refusal(container), says);
  }
}

// ---- Encoders ----

TEST_F(RunDirectoryTest, AnEncoderComesBackInOrder) {
  RunDirectory directory = RunDirectory::create(run_);
  const std::vector<NamedArray> arrays = make_arrays();
  directory.write_encoder(arrays);
  const std::vector<NamedArray> read = load_encoder(run_ / "encoder");
  ASSERT_EQ(read.size(), arrays.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, arrays[i].name);
    EXPECT_EQ(read[i].shape, arrays[i].shape);
    EXPECT_EQ(read[i].values, arrays[i].values);
  }
  EXPECT_EQ(read_npy<float>(run_ / "encoder" / "conv1-weight.npy").values, arrays[1].values);
  directory.write_encoder({});
  EXPECT_TRUE(load_encoder(run_ / "encoder").empty());
}

TEST_F(RunDirectoryTest, NamesThatCannotBeFilesAreRefused) {
  RunDirectory directory = RunDirectory::create(run_);
  for (const std::string name : {"", "a/b", "..", ".hidden", "-rf", "a b", "\xc3\xa4"}) {
    EXPECT_THROW(directory.write_encoder(std::vector<NamedArray>{{name, {1}, {1}}}), DataError)
        << name;
  }
  EXPECT_THROW(directory.write_encoder(std::vector<NamedArray>{{"a", {1}, {1}}, {"a", {1}, {1}}}),
               DataError);
  EXPECT_FALSE(fs::exists(run_ / "encoder"));
}

TEST_F(RunDirectoryTest, ArraysThatNobodyCouldReadAreNotWritten) {
  RunDirectory directory = RunDirectory::create(run_);
  for (const std::size_t values : {0, 5, 7}) {
    const std::vector<NamedArray> arrays = {{"good", {1}, {1}},
                                            {"bad", {2, 3}, std::vector<float>(values)}};
    try {
      directory.write_encoder(arrays);
      ADD_FAILURE() << values;
    } catch (const DataError& error) {
      EXPECT_CONTAINS(std::string(error.what()),
                      "'bad' has " + std::to_string(values) + " values, its shape (2, 3) says 6");
    }
  }
  EXPECT_FALSE(fs::exists(run_ / "encoder"));
}

TEST_F(RunDirectoryTest, DamagedEncodersAreRefused) {
  const TaskSpec spec = picture_task();
  RunDirectory directory = RunDirectory::create(run_);
  const fs::path encoder = run_ / "encoder";
  const std::vector<std::function<void()>> damages = {
      [&] { edit_manifest(encoder, [](Json& j) { j["kind"] = "container"; }); },
      [&] { edit_manifest(encoder, [](Json& j) { j["count"] = 3; }); },
      [&] { edit_manifest(encoder, [](Json& j) { j["files"].erase(0); }); },
      [&] { replace_array<std::uint8_t>(encoder, "alone.npy", {1}, {1}); },
      [&] {
        fs::rename(encoder / "alone.npy", encoder / "alone");
        edit_manifest(encoder, [](Json& j) { file_entry(j, "alone.npy")["name"] = "alone"; });
      },
      [&] {
        std::string bytes = slurp(encoder / "alone.npy");
        bytes.back() ^= 1;
        put(encoder / "alone.npy", bytes);
      },
  };
  for (const auto& damage : damages) {
    directory.write_encoder(make_arrays());
    damage();
    EXPECT_THROW(load_encoder(encoder), DataError);
  }
  EXPECT_THROW(load_encoder(run_ / "none"), FileError);
}

}  // namespace
}  // namespace aurora
