#include "aurora/tasks/hexapod/hexapod.hpp"

#include <cassert>
#include <numbers>

#include "aurora/tasks/hexapod/camera.hpp"
#include "aurora/tasks/hexapod/drawing.hpp"
#include "aurora/tasks/hexapod/outcome.hpp"

namespace aurora {
namespace {

TaskSpec hexapod_spec() {
  constexpr double kPi = std::numbers::pi;
  TaskSpec spec;
  spec.name = "hexapod";
  spec.title = "Hexapod";
  spec.genotype_size = hexapod::kGenes;
  spec.sensory = {{hexapod::kPictureSide, hexapod::kPictureSide, hexapod::kChannels},
                  ElementType::uint8};
  spec.ground_truth = {{"x", -1.2, 1.2, "m"},      {"y", -1, 1, "m"},
                       {"z", 0, 0.5, "m"},         {"pitch", -kPi, kPi, "rad"},
                       {"roll", -kPi, kPi, "rad"}, {"yaw", -kPi, kPi, "rad"}};
  spec.worst_fitness = -kPi;
  spec.metrics = {"orientation_coverage"};
  spec.defaults = {"run.iterations=15000", "container.target_size=5000", "threshold.gain=5e-6",
                   "variation.at_least_one=false"};
  return spec;
}

}  // namespace

Hexapod::Hexapod(hexapod::Actuators actuators)
    : spec_(hexapod_spec()), simulator_(hexapod::make_simulator(actuators)) {}

void Hexapod::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const hexapod::Bodies bodies = simulator_->run(hexapod::Controller(genotypes.row(n)));
    const hexapod::Transform& base = bodies[0];
    out.fitness[n] = static_cast<float>(hexapod::fitness(base));
    const std::span<float> truth = out.ground_truth.row(n);
    for (std::size_t i = 0; const double value : hexapod::ground_truth(base)) {
      truth[i++] = static_cast<float>(value);
    }
    hexapod::draw(bodies, out.sensory.row<std::uint8_t>(n).first<hexapod::kPictureBytes>());
  }
}

Drawing Hexapod::draw(std::span<const float> genotype) const {
  return hexapod::draw_episode(trace(genotype));
}

std::vector<hexapod::Bodies> Hexapod::trace(std::span<const float> genotype) const {
  std::vector<hexapod::Bodies> moments;
  simulator_->run(hexapod::Controller(genotype),
                  [&](const hexapod::Bodies& bodies) { moments.push_back(bodies); });
  return moments;
}

namespace {

struct HexapodConfig {
  hexapod::Actuators actuators = hexapod::Actuators::servo;
};

}  // namespace

TaskEntry hexapod_task() {
#ifdef AURORA_WITH_DART
  const std::string missing;
#else
  const std::string missing =
      "install libdart-dev and libdart-collision-bullet-dev and build again with AURORA_DART=ON";
#endif
  return part<HexapodConfig>("hexapod", "a robot with six legs walks on a floor; 64x64 picture")
      .option("actuators", &HexapodConfig::actuators,
              "what moves the joints; velocity is faster and less true")
      .missing(missing)
      .made_by([](const HexapodConfig& config, const TaskContext&) {
        return std::make_unique<Hexapod>(config.actuators);
      });
}

}  // namespace aurora
