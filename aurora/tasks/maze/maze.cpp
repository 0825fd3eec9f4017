#include "aurora/tasks/maze/maze.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>

#include "aurora/tasks/maze/drawing.hpp"
#include "aurora/tasks/maze/episodes.hpp"

namespace aurora {
namespace {

SensoryShape shape_of(maze::Sensory sensory) {
  if (sensory == maze::Sensory::picture) {
    return {{maze::kPictureSide, maze::kPictureSide, maze::kChannels}, ElementType::uint8};
  }
  const std::size_t values = sensory == maze::Sensory::trajectory ? 2 : 3;
  return {{maze::kSamples, values}, ElementType::float32};
}

TaskSpec maze_spec(maze::Sensory sensory) {
  TaskSpec spec;
  spec.name = "maze";
  spec.title = "Maze";
  spec.genotype_size = maze::kGenes;
  spec.sensory = shape_of(sensory);
  spec.ground_truth = {{"x", 0, maze::kWorldSize},
                       {"y", 0, maze::kWorldSize, "", Direction::down},
                       {"heading", -std::numbers::pi, std::numbers::pi, "rad"}};
  spec.worst_fitness = -2.0 * maze::kSteps;
  spec.preferred_batch = maze::kRobotsAtOnce;
  spec.defaults = {"run.iterations=10000", "container.target_size=10000",
                   "threshold.vat_constant=25", "variation.at_least_one=false"};
  return spec;
}

/// A row of sensory data from what was kept of an episode.
void write_history(const maze::History& history, maze::Sensory sensory, std::span<float> out) {
  auto next = out.begin();
  for (const maze::Sample& sample : history) {
    if (sensory == maze::Sensory::trajectory) {
      *next++ = sample.x;
      *next++ = sample.y;
    } else {
      next = std::ranges::copy(sample.lasers, next).out;
    }
  }
}

}  // namespace

Maze::Maze(maze::Sensory sensory)
    : sensory_(sensory), spec_(maze_spec(sensory)), rays_(map_), picture_(map_) {}

void Maze::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  std::vector<maze::Episode> episodes(genotypes.rows());
  const bool sees = sensory_ == maze::Sensory::picture;
  std::vector<maze::History> histories(sees ? 0 : genotypes.rows());
  maze::run_episodes(map_, rays_, genotypes, episodes, histories);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const maze::Episode& episode = episodes[n];
    out.fitness[n] = episode.fitness;
    const std::span<float> truth = out.ground_truth.row(n);
    truth[0] = episode.end.x;
    truth[1] = episode.end.y;
    truth[2] = episode.end.heading;
    if (sees) {
      picture_.draw(episode.end.x, episode.end.y,
                    out.sensory.row<std::uint8_t>(n).first<maze::kPictureBytes>());
    } else {
      write_history(histories[n], sensory_, out.sensory.row<float>(n));
    }
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

namespace {

struct MazeConfig {
  maze::Sensory sensory = maze::Sensory::picture;
};

}  // namespace

TaskEntry maze_task() {
  return part<MazeConfig>("maze",
                          "a wheeled robot with lasers and bumpers in a hard maze; 64x64 picture")
      .option("sensory", &MazeConfig::sensory,
              "64x64 pixels at the end, or (x, y) or the three lasers at 50 moments on the way")
      .made_by([](const MazeConfig& config, const TaskContext&) {
        return std::make_unique<Maze>(config.sensory);
      });
}

}  // namespace aurora
