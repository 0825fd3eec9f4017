// Cost of a Maze step: one core, random controllers. Baseline: libfastsim, 0.42 to 0.76 us a step.
#include <chrono>
#include <cstdio>

#include "aurora/core/random.hpp"
#include "aurora/tasks/registry.hpp"

int main() {
  constexpr std::size_t kRobots = 1024;
  constexpr double kSteps = 2000;
  const auto maze = aurora::builtin_tasks().make("maze");
  aurora::Matrix<float> genotypes(kRobots, maze->spec().genotype_size);
  for (std::uint32_t i = 0; i < kRobots; ++i) {
    aurora::Stream stream(1, aurora::Purpose::genotype, 0, i);
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  aurora::Evaluation evaluation(maze->spec(), kRobots);
  std::printf("%-28s %12s %14s\n", "maze, one core", "ns/step", "episodes/s");
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    maze->evaluate(genotypes, evaluation.view());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-28s %12.1f %14.0f\n", "random controllers", 1e9 * seconds / (kRobots * kSteps),
                kRobots / seconds);
  }
}
