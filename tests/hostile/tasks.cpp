// Tasks that misbehave, each in a way of its own, for scripts/hostile, which compiles this program
// against a build as a user's own would be. It is the whole command line with these tasks besides:
//
//   tasks run tame --variant hc-csc-uniform --iterations 50
//   tasks checksum FILE...     # as manifests have it, one a line
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "apps/aurora/command_line.hpp"
#include "aurora/runs/parts.hpp"
#include "aurora/storage/files.hpp"

namespace {

using namespace aurora;

/// The evaluation at which those misbehave that do so once: a few iterations are done then.
constexpr int kLate = 400;

class Wild : public Task {
 public:
  explicit Wild(const std::string& kind) : kind_(kind) {
    spec_.name = kind;
    spec_.genotype_size = 2;
    spec_.sensory = {{3}, ElementType::float32};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
    spec_.worst_fitness = -1;
    if (const char* bound = std::getenv("HOSTILE_BOUND")) {
      spec_.ground_truth[0].max = std::atof(bound);
    }
  }

  const TaskSpec& spec() const override { return spec_; }

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto genes = genotypes.row(i);
      const std::array<float, 3> sensed = {genes[0], genes[1], genes[0] - genes[1]};
      out.sensory.set_row(i, std::span<const float>(sensed));
      out.fitness[i] = -genes[0] * genes[1];
      out.ground_truth(i, 0) = genes[0];
      out.ground_truth(i, 1) = genes[1];
      misbehave(i, genes, out);
    }
  }

 private:
  void misbehave(std::size_t i, std::span<const float> genes, EvaluationView out) const {
    const int number = ++evaluations_;
    if (kind_ == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (kind_ == "restless") out.fitness[i] -= 1e-3F * static_cast<float>(number % 7);
    if (kind_ == "exits" && number == kLate) std::exit(0);
    if (kind_ == "forks" && number == kLate && fork() == 0) {
      for (;;) pause();
    }
    while (kind_ == "hangs" && number >= kLate) pause();
    if (genes[0] > 0.1F) return;
    if (kind_ == "throws") throw std::runtime_error("the leg\nfell off");
    if (kind_ == "throws-a-number") throw 42;
    if (kind_ == "nan") out.fitness[i] = std::nanf("");
    if (kind_ == "short") out.sensory.set_row(i, genes.first(1));
  }

  TaskSpec spec_;
  std::string kind_;
  mutable std::atomic<int> evaluations_ = 0;
};

int print_checksums(std::span<char*> files) {
  for (const char* name : files) {
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Checksum checksum;
    checksum.update(std::as_bytes(std::span(text)));
    std::puts(checksum.text().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string_view(argv[1]) == "checksum") {
    return print_checksums(std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
  }
  Parts parts = builtin_parts();
  const auto add = [&](const std::string& kind) {
    parts.tasks.add(part<NoOptions>(kind, "one of scripts/hostile")
                        .made_by([=](const NoOptions&, const TaskContext&) {
                          return std::make_unique<Wild>(kind);
                        }));
  };
  for (const char* kind : {"tame", "slow", "restless", "exits", "forks", "hangs", "throws",
                           "throws-a-number", "nan", "short"}) {
    add(kind);
  }
  if (std::getenv("HOSTILE_EVIL")) add("../../evil");
  return command_line(argc, argv, parts);
} catch (const std::exception& error) {
  std::fprintf(stderr, "aurora: error: %s\n", error.what());
  return 2;
}
