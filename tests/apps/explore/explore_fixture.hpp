// Small runs of a task without a simulator, and answers about them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/aurora/explore/answers.hpp"
#include "aurora/runs/run.hpp"

namespace aurora::explore {

using Json = nlohmann::json;

/// Two genes; a picture, a film of three frames and a backdrop.
class Tiny : public Task {
 public:
  Tiny() {
    spec_.name = "tiny";
    spec_.genotype_size = 2;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1, "m"}, {"y", 0, 1, "m", Direction::down}};
    spec_.worst_fitness = -1;
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      out.fitness[i] = -genes[0] * genes[1];
      std::ranges::copy(genes, out.ground_truth.row(i).begin());
      out.sensory.set_row(i, std::vector<float>{genes[0], genes[1], genes[0] - genes[1]});
    }
  }
  Drawing draw(std::span<const float> genes) const override {
    const auto shade = [](float gene) { return static_cast<std::uint8_t>(255 * gene); };
    Drawing drawing{Image(8, 6, {shade(genes[0]), shade(genes[1]), 0}), {}, 0.1};
    for (std::uint8_t i = 0; i < 3; ++i)
      drawing.film.emplace_back(8, 6, Colour{i, shade(genes[0]), 9});
    return drawing;
  }
  Image backdrop() const override { return Image(4, 4, {1, 2, 3}); }

 private:
  TaskSpec spec_;
};

inline Parts parts_with_tiny() {
  Parts parts = builtin_parts();
  parts.tasks.add(part<NoOptions>("tiny", "").made_by([](const NoOptions&, const TaskContext&) {
    return std::make_unique<Tiny>();
  }));
  return parts;
}

class ExploreFixture : public testing::Test {
 protected:
  ExploreFixture() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() /
            ("aurora-" + std::string(test->test_suite_name()) + "-" + test->name() + "-" +
             std::to_string(getpid()));
    std::filesystem::create_directories(root_);
  }
  ~ExploreFixture() override { std::filesystem::remove_all(root_); }

  std::filesystem::path make_run(const std::string& name,
                                 const std::string& variant = "aurora-csc-uniform-2",
                                 std::vector<std::string> more = {}) {
    PlanRequest request;
    request.task = "tiny";
    request.variant = variant;
    request.where_they_matter = {"run.iterations=20", "run.batch=8", "container.target_size=20",
                                 "run.snapshot_every=10", "run.threads=1"};
    request.where_they_matter.insert(request.where_they_matter.end(), more.begin(), more.end());
    const std::atomic<bool> stop = false;
    run(parts_, resolve(parts_, request), {.out = root_ / name}, stop);
    return root_ / name;
  }

  static std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  /// What is said to an address that is right.
  static Answer ask(Answers& answers, const std::string& target, const std::string& etag = {}) {
    return answers.respond({"GET", target, {"localhost"}, "", "", etag}, {});
  }
  static Json json(Answers& answers, const std::string& target) {
    const Answer answer = ask(answers, target);
    EXPECT_EQ(answer.status, 200) << target << ": " << (answer.body ? *answer.body : "");
    return answer.status == 200 ? Json::parse(*answer.body) : Json();
  }

  Parts parts_ = parts_with_tiny();
  std::filesystem::path root_;
};

/// A container as the page reads it.
struct Decoded {
  Json header;
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<std::uint32_t>> wholes;
};

inline Decoded decode(const std::string& bytes) {
  Decoded decoded;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), 4);
  EXPECT_EQ((4 + length) % 4, 0u);
  decoded.header = Json::parse(bytes.substr(4, length));
  std::size_t at = 4 + length;
  for (const Json& column : decoded.header["columns"]) {
    const std::size_t count =
        decoded.header["count"].get<std::size_t>() * column["components"].get<std::size_t>();
    const auto read = [&](auto& values) {
      values.resize(count);
      std::memcpy(values.data(), bytes.data() + at, 4 * count);
    };
    if (column["type"] == "u32") {
      read(decoded.wholes[column["name"]]);
    } else {
      read(decoded.floats[column["name"]]);
    }
    at += 4 * count;
  }
  EXPECT_EQ(at, bytes.size());
  return decoded;
}

}  // namespace aurora::explore
