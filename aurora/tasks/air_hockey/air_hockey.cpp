#include "aurora/tasks/air_hockey/air_hockey.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <numbers>

#include "aurora/tasks/air_hockey/drawing.hpp"
#include "aurora/tasks/air_hockey/episodes.hpp"
#include "aurora/tasks/genes.hpp"

namespace aurora {
namespace {

TaskSpec air_hockey_spec(air_hockey::Engine engine) {
  TaskSpec spec;
  spec.name = "air-hockey";
  spec.title = "Air-Hockey";
  spec.version = engine == air_hockey::Engine::box2d ? 1 : 2;
  spec.genotype_size = air_hockey::kGenes;
  spec.sensory = {{air_hockey::kSamples, 2}, ElementType::float32};
  const double half = air_hockey::kTableHalf;
  spec.ground_truth = {{"x", -half, half, "m"}, {"y", -half, half, "m"}};
  // Both angle and target lie within [-pi, pi].
  const double fastest = air_hockey::kGain * 2 * std::numbers::pi;
  spec.worst_fitness =
      -static_cast<double>(air_hockey::kSteps * air_hockey::kJoints) * fastest * fastest;
  if (engine == air_hockey::Engine::lanes) spec.preferred_batch = air_hockey::kRobotsAtOnce;
  spec.metrics = {"trajectory_diversity"};
  spec.defaults = {"run.iterations=1000", "container.target_size=10000", "variation.rate=0.15",
                   "variation.at_least_one=false"};
  return spec;
}

void check_angles(std::span<const float> genes) {
  check_genes(genes, air_hockey::kGenes, "controller of the air-hockey arm");
}

struct AirHockeyConfig {
  air_hockey::Engine engine = air_hockey::Engine::lanes;
};

}  // namespace

AirHockey::AirHockey(air_hockey::Engine engine)
    : spec_(air_hockey_spec(engine)), simulator_(air_hockey::make_simulator(engine)) {}

void AirHockey::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  std::array<air_hockey::Episode, air_hockey::kRobotsAtOnce> episodes;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) check_angles(genotypes.row(n));
  for (std::size_t begin = 0; begin < genotypes.rows(); begin += episodes.size()) {
    const std::size_t count = std::min(episodes.size(), genotypes.rows() - begin);
    simulator_->run(genotypes.slice(begin, count), std::span(episodes).first(count));
    for (std::size_t n = 0; n < count; ++n) {
      const air_hockey::Episode& episode = episodes[n];
      out.fitness[begin + n] = episode.fitness;
      std::ranges::copy(episode.puck, out.sensory.row<float>(begin + n).begin());
      std::ranges::copy(std::span(episode.puck).last<2>(), out.ground_truth.row(begin + n).begin());
    }
  }
}

Drawing AirHockey::draw(std::span<const float> genotype) const {
  return air_hockey::draw_episode(trace(genotype));
}

Image AirHockey::backdrop() const {
  return air_hockey::draw_backdrop();
}

std::vector<air_hockey::Moment> AirHockey::trace(std::span<const float> genotype) const {
  check_angles(genotype);
  return simulator_->trace(genotype);
}

TaskEntry air_hockey_task() {
  return part<AirHockeyConfig>("air-hockey",
                               "an arm with four joints pushes a puck; trajectory of 50 points")
      .option("engine", &AirHockeyConfig::engine,
              "lanes is our own; box2d, of which this build must know, is what it is held against")
      .made_by([](const AirHockeyConfig& config, const TaskContext&) {
        return std::make_unique<AirHockey>(config.engine);
      });
}

}  // namespace aurora
