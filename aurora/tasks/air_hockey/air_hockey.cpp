#include "aurora/tasks/air_hockey/air_hockey.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>

#include "aurora/tasks/air_hockey/drawing.hpp"

namespace aurora {
namespace {

TaskSpec air_hockey_spec() {
  TaskSpec spec;
  spec.name = "air-hockey";
  spec.title = "Air-Hockey";
  spec.genotype_size = air_hockey::kGenes;
  spec.sensory = {{air_hockey::kSamples, 2}, ElementType::float32};
  const double half = air_hockey::kTableHalf;
  spec.ground_truth = {{"x", -half, half, "m"}, {"y", -half, half, "m"}};
  // Both angle and target lie within [-pi, pi].
  const double fastest = air_hockey::kGain * 2 * std::numbers::pi;
  spec.worst_fitness =
      -static_cast<double>(air_hockey::kSteps * air_hockey::kJoints) * fastest * fastest;
  spec.metrics = {"trajectory_diversity"};
  spec.defaults = {"run.iterations=1000", "container.target_size=10000", "variation.rate=0.15",
                   "variation.at_least_one=false"};
  return spec;
}

}  // namespace

AirHockey::AirHockey() : spec_(air_hockey_spec()) {
  air_hockey::prepare_engine();
}

void AirHockey::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const air_hockey::Episode episode = air_hockey::run_episode(genotypes.row(n));
    out.fitness[n] = episode.fitness;
    std::ranges::copy(episode.puck, out.sensory.row<float>(n).begin());
    std::ranges::copy(std::span(episode.puck).last<2>(), out.ground_truth.row(n).begin());
  }
}

Drawing AirHockey::draw(std::span<const float> genotype) const {
  return air_hockey::draw_episode(trace(genotype));
}

Image AirHockey::backdrop() const {
  return air_hockey::draw_backdrop();
}

std::vector<air_hockey::Moment> AirHockey::trace(std::span<const float> genotype) const {
  std::vector<air_hockey::Moment> moments;
  air_hockey::trace_episode(genotype, moments);
  return moments;
}

}  // namespace aurora

extern "C" aurora::Task* aurora_make_air_hockey() {
  return new aurora::AirHockey();
}
