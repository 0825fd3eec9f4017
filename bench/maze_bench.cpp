// Cost of a Maze step on one core, random controllers: robots in lanes against one at a time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/tasks/maze/episodes.hpp"
#include "aurora/tasks/registry.hpp"

namespace {

using namespace aurora;

constexpr std::size_t kRobots = 1024;

template <class Function>
double ns_per_step(const Function& function) {
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    function();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 1e9 * best / static_cast<double>(kRobots * maze::kSteps);
}

}  // namespace

int main() {
  const auto task = builtin_tasks().make("maze");
  Matrix<float> genotypes(kRobots, task->spec().genotype_size);
  for (std::uint32_t i = 0; i < kRobots; ++i) {
    Stream stream(1, Purpose::genotype, 0, i);
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  Evaluation evaluation(task->spec(), kRobots);
  const maze::Map map;
  const maze::RayTable rays(map);
  std::vector<maze::Episode> episodes(kRobots);

  const double scalar = ns_per_step([&] {
    for (std::size_t n = 0; n < kRobots; ++n) {
      episodes[n] = maze::run_episode(map, rays, genotypes.row(n));
    }
  });
  const std::vector<maze::Episode> expected = episodes;
  const double lanes = ns_per_step([&] { maze::run_episodes(map, rays, genotypes, episodes); });
  std::printf("same bits: %s\n", episodes == expected ? "yes" : "NO");
  const double whole = ns_per_step([&] { task->evaluate(genotypes, evaluation.view()); });
  std::printf("%-36s %10s %12s %8s\n", "maze, one core", "ns/step", "episodes/s", "ratio");
  const auto print = [&](const char* name, double ns) {
    std::printf("%-36s %10.1f %12.0f %8.1f\n", name, ns, 1e9 / ns / maze::kSteps, scalar / ns);
  };
  print("one robot at a time (run_episode)", scalar);
  print("robots in lanes (run_episodes)", lanes);
  print("evaluate(), with pictures", whole);
}
