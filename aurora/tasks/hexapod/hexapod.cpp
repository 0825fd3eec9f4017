#include "aurora/tasks/hexapod/hexapod.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>
#include <span>
#include <vector>

#include "aurora/tasks/hexapod/camera.hpp"
#include "aurora/tasks/hexapod/drawing.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/outcome.hpp"

namespace aurora {
namespace {

TaskSpec hexapod_spec(hexapod::Engine engine) {
  constexpr double kPi = std::numbers::pi;
  TaskSpec spec;
  spec.name = "hexapod";
  spec.title = "Hexapod";
  spec.version = engine == hexapod::Engine::dart ? 1 : 3;
  spec.genotype_size = hexapod::kGenes;
  spec.sensory = {{hexapod::kPictureSide, hexapod::kPictureSide, hexapod::kChannels},
                  ElementType::uint8};
  spec.ground_truth = {{"x", -1.2, 1.2, "m"},      {"y", -1, 1, "m"},
                       {"z", 0, 0.5, "m"},         {"pitch", -kPi, kPi, "rad"},
                       {"roll", -kPi, kPi, "rad"}, {"yaw", -kPi, kPi, "rad"}};
  spec.worst_fitness = -kPi;
  if (engine == hexapod::Engine::lanes) spec.preferred_batch = hexapod::kRobotsAtOnce;
  spec.metrics = {"orientation_coverage"};
  spec.defaults = {"run.iterations=15000", "container.target_size=5000", "threshold.gain=5e-6",
                   "variation.at_least_one=false"};
  return spec;
}

void judge(const hexapod::Bodies& bodies, EvaluationView out) {
  const hexapod::Transform& base = bodies[0];
  out.fitness[0] = static_cast<float>(hexapod::fitness(base));
  const std::span<float> truth = out.ground_truth.row(0);
  for (std::size_t i = 0; const double value : hexapod::ground_truth(base)) {
    truth[i++] = static_cast<float>(value);
  }
  hexapod::draw(bodies, out.sensory.row<std::uint8_t>(0).first<hexapod::kPictureBytes>());
}

}  // namespace

Hexapod::Hexapod(hexapod::Engine engine, hexapod::Actuators actuators)
    : spec_(hexapod_spec(engine)), simulator_(hexapod::make_simulator(engine, actuators)) {}

void Hexapod::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  std::vector<hexapod::Controller> controllers;
  std::vector<hexapod::Bodies> ends(std::min(genotypes.rows(), hexapod::kCrowd));
  for (std::size_t begin = 0; begin < genotypes.rows(); begin += hexapod::kCrowd) {
    const std::size_t count = std::min(hexapod::kCrowd, genotypes.rows() - begin);
    controllers.clear();
    for (std::size_t n = begin; n < begin + count; ++n) controllers.emplace_back(genotypes.row(n));
    simulator_->run(controllers, std::span(ends).first(count));
    for (std::size_t n = 0; n < count; ++n) judge(ends[n], out.slice(begin + n, 1));
  }
}

Drawing Hexapod::draw(std::span<const float> genotype) const {
  return hexapod::draw_episode(trace(genotype));
}

std::vector<hexapod::Bodies> Hexapod::trace(std::span<const float> genotype) const {
  return simulator_->trace(hexapod::Controller(genotype));
}

namespace {

struct HexapodConfig {
  hexapod::Engine engine = hexapod::Engine::lanes;
  hexapod::Actuators actuators = hexapod::Actuators::servo;
};

}  // namespace

TaskEntry hexapod_task() {
  return part<HexapodConfig>("hexapod", "a robot with six legs walks on a floor; 64x64 picture")
      .option("engine", &HexapodConfig::engine,
              "lanes is our own; dart, of which this build must know, is what it is held against")
      .option("actuators", &HexapodConfig::actuators,
              "what moves the joints; velocity, with dart only, is less true")
      .made_by([](const HexapodConfig& config, const TaskContext&) {
        return std::make_unique<Hexapod>(config.engine, config.actuators);
      });
}

}  // namespace aurora
