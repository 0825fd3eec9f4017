#include "aurora/tasks/hexapod/walking.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "aurora/tasks/hexapod/drawing.hpp"

namespace aurora {
namespace {

using hexapod::kJoints;
using hexapod::kLegs;
using hexapod::kSteps;

constexpr std::size_t kStepsPerMoment = 2;  // of the sensory data

TaskSpec walking_spec() {
  TaskSpec spec;
  spec.name = "hexapod-walking";
  spec.title = "Hexapod Straight Walking";
  spec.version = 2;
  spec.genotype_size = hexapod::kGenes;
  spec.sensory = {{kSteps / kStepsPerMoment, kJoints + kLegs}, ElementType::float32};
  for (const char* leg : hexapod::kLegNames) spec.ground_truth.push_back({leg, 0, 1});
  spec.hand_coded_size = kLegs;
  spec.worst_fitness = -2.2;  // as far back and to the side as the Hexapod's bounds go
  spec.preferred_batch = hexapod::kRobotsAtOnce;
  spec.metrics = {"descriptor_coverage"};
  spec.defaults = {"run.iterations=15000", "container.target_size=5000",
                   "variation.at_least_one=false"};
  return spec;
}

void judge_walk(const hexapod::Bodies& end, const hexapod::Walk& walk, EvaluationView out) {
  const hexapod::Vector& place = end[0].position;
  out.fitness[0] = static_cast<float>(place.x - std::abs(place.y));
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const auto stood = std::ranges::count_if(
        walk, [leg](const hexapod::Moment& moment) { return moment.stands_on[leg]; });
    out.ground_truth(0, leg) = static_cast<float>(stood) / static_cast<float>(kSteps);
  }
  auto next = out.sensory.row<float>(0).begin();
  for (std::size_t step = kStepsPerMoment - 1; step < kSteps; step += kStepsPerMoment) {
    for (const double angle : walk[step].angles) *next++ = static_cast<float>(angle);
    for (const bool stands : walk[step].stands_on) *next++ = stands ? 1.0F : 0.0F;
  }
}

}  // namespace

HexapodWalking::HexapodWalking()
    : spec_(walking_spec()),
      simulator_(hexapod::make_simulator(hexapod::Engine::lanes, hexapod::Actuators::servo)) {}

void HexapodWalking::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  std::vector<hexapod::Controller> controllers;
  for (std::size_t n = 0; n < genotypes.rows(); ++n) controllers.emplace_back(genotypes.row(n));
  std::vector<hexapod::Bodies> ends(genotypes.rows());
  std::vector<hexapod::Walk> walks(genotypes.rows());
  hexapod::run_episodes(controllers, ends, walks);
  for (std::size_t n = 0; n < genotypes.rows(); ++n) judge_walk(ends[n], walks[n], out.slice(n, 1));
}

Drawing HexapodWalking::draw(std::span<const float> genotype) const {
  Drawing drawing = hexapod::draw_episode(simulator_->trace(hexapod::Controller(genotype)));
  if (drawing.picture.empty()) return drawing;
  constexpr std::size_t kGap = 16;
  const Image robot = drawing.picture;
  const Image gait = hexapod::draw_gait(walk(genotype), robot.width);
  drawing.picture = Image(robot.width, robot.height + kGap + gait.height);
  paste(drawing.picture, robot, 0, 0);
  paste(drawing.picture, gait, 0, robot.height + kGap);
  return drawing;
}

hexapod::Walk HexapodWalking::walk(std::span<const float> genotype) const {
  const hexapod::Controller controller(genotype);
  hexapod::Bodies end;
  hexapod::Walk walk;
  hexapod::run_episodes({&controller, 1}, {&end, 1}, {&walk, 1});
  return walk;
}

TaskEntry hexapod_walking_task() {
  return part<NoOptions>("hexapod-walking",
                         "the hexapod walks straight ahead; angles and contacts at 50 moments")
      .made_by(
          [](const NoOptions&, const TaskContext&) { return std::make_unique<HexapodWalking>(); });
}

}  // namespace aurora
