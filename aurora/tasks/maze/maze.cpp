#include "aurora/tasks/maze/maze.hpp"

#include <cassert>
#include <numbers>

#include "aurora/tasks/maze/drawing.hpp"
#include "aurora/tasks/maze/episodes.hpp"

namespace aurora {
namespace {

TaskSpec maze_spec() {
  TaskSpec spec;
  spec.name = "maze";
  spec.title = "Maze";
  spec.genotype_size = maze::kGenes;
  spec.sensory = {{maze::kPictureSide, maze::kPictureSide, maze::kChannels}, ElementType::uint8};
  spec.ground_truth = {{"x", 0, maze::kWorldSize},
                       {"y", 0, maze::kWorldSize, "", Direction::down},
                       {"heading", -std::numbers::pi, std::numbers::pi, "rad"}};
  spec.worst_fitness = -2.0 * maze::kSteps;
  spec.preferred_batch = maze::kRobotsAtOnce;
  spec.defaults = {"run.iterations=10000", "container.target_size=10000",
                   "threshold.vat_constant=25", "variation.at_least_one=false"};
  return spec;
}

}  // namespace

Maze::Maze() : spec_(maze_spec()), rays_(map_), picture_(map_) {}

void Maze::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  std::vector<maze::Episode> episodes(genotypes.rows());
  maze::run_episodes(map_, rays_, genotypes, episodes);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const maze::Episode& episode = episodes[n];
    out.fitness[n] = episode.fitness;
    const std::span<float> truth = out.ground_truth.row(n);
    truth[0] = episode.end.x;
    truth[1] = episode.end.y;
    truth[2] = episode.end.heading;
    picture_.draw(episode.end.x, episode.end.y,
                  out.sensory.row<std::uint8_t>(n).first<maze::kPictureBytes>());
  }
}

Drawing Maze::draw(std::span<const float> genotype) const {
  return maze::draw_episode(trace(genotype));
}

Image Maze::backdrop() const {
  return maze::draw_backdrop();
}

std::vector<maze::Moment> Maze::trace(std::span<const float> genotype) const {
  std::vector<maze::Moment> moments;
  maze::trace_episode(map_, rays_, genotype, moments);
  return moments;
}

TaskEntry maze_task() {
  return part<NoOptions>("maze",
                         "a wheeled robot with lasers and bumpers in a hard maze; 64x64 picture")
      .made_by([](const NoOptions&, const TaskContext&) { return std::make_unique<Maze>(); });
}

}  // namespace aurora
