// Steps of the Maze: robots in lanes against one robot at a time; growth with batch and threads.
#include <vector>

#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/runs/parts.hpp"
#include "aurora/tasks/maze/episodes.hpp"
#include "table.hpp"

namespace aurora::bench {
namespace {

// What design and instruction counts put at 15 to 30 ns a step for 16 robots in a register.
constexpr double kFloor = 1e9 / 15;

Matrix<float> random_genotypes(std::size_t count) {
  Matrix<float> genotypes(count, maze::kGenes);
  for (std::size_t i = 0; i < count; ++i) {
    Stream stream(1, Purpose::genotype, 0, static_cast<std::uint32_t>(i));
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  return genotypes;
}

}  // namespace

void maze_rows(Table& table) {
  table.heading("Maze: steps of random controllers (libfastsim: 1.3 to 2.4 M steps/s on a core)");
  const Parts parts = builtin_parts();
  const auto task = parts.task(parts.tasks.find("maze"), {});
  const maze::Map map;
  const maze::RayTable rays(map);
  const Matrix<float> genotypes = random_genotypes(1024);
  std::vector<maze::Episode> episodes(genotypes.rows());
  Evaluation evaluation(task->spec(), genotypes.rows());

  const Work one_by_one{128 * maze::kSteps, [&] {
                          for (std::size_t n = 0; n < 128; ++n) {
                            episodes[n] = maze::run_episode(map, rays, genotypes.row(n));
                          }
                        }};
  const auto first = [&](std::size_t count) { return genotypes.view().slice(0, count); };
  const Work lanes{128 * maze::kSteps, [&] {
                     maze::run_episodes(map, rays, first(128), std::span(episodes).first(128));
                   }};
  table.measure("maze/lanes", "steps/s", lanes, "one robot at a time", one_by_one, kFloor);
  std::vector<maze::History> histories(128);
  table.measure("maze/lanes/histories", "steps/s",
                {128 * maze::kSteps,
                 [&] {
                   maze::run_episodes(map, rays, first(128), std::span(episodes).first(128),
                                      histories);
                 }},
                "keeping nothing", lanes);
  for (const std::size_t batch : {16, 128, 1024}) {
    for (const std::size_t threads : {1, 2}) {
      Workers workers(threads);
      ThreadEvaluator evaluator(*task, workers);
      table.measure(
          "maze/evaluate/batch=" + std::to_string(batch) + "/threads=" + std::to_string(threads),
          "steps/s", {batch * maze::kSteps, [&] {
                        evaluator.evaluate(first(batch), evaluation.view().slice(0, batch));
                      }});
    }
  }
}

}  // namespace aurora::bench
