#include "aurora/tasks/hexapod/simulation.hpp"

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"

namespace aurora::hexapod {
namespace {

class LaneSimulator : public Simulator {
 public:
  void run(std::span<const Controller> controllers, std::span<Bodies> ends) const override {
    run_episodes(controllers, ends);
  }

  std::vector<Bodies> trace(const Controller& controller) const override {
    const std::unique_ptr<Walker> robot = make_walker();
    std::vector<Bodies> moments;
    double time = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      robot->step(controller.targets(time));
      time += kTimeStep;
      moments.push_back(robot->bodies());
    }
    return moments;
  }
};

void* dart_maker() {
  return find_in_plugin("libaurora_dart.so", "aurora_make_dart_simulator");
}

std::unique_ptr<Simulator> make_dart_simulator(Actuators actuators) {
  using Maker = Simulator* (*)(Actuators);
  void* maker = dart_maker();
  if (!maker) {
    throw UsageError(
        "task.engine=dart needs DART, and libaurora_dart.so is not there or does not load: install "
        "libdart-dev and libdart-collision-bullet-dev, then make build");
  }
  return std::unique_ptr<Simulator>(reinterpret_cast<Maker>(maker)(actuators));
}

}  // namespace

bool has_engine(Engine engine) {
  return engine == Engine::lanes || dart_maker() != nullptr;
}

std::unique_ptr<Simulator> make_simulator(Engine engine, Actuators actuators) {
  if (engine == Engine::dart) return make_dart_simulator(actuators);
  if (actuators != Actuators::servo) {
    throw UsageError("task.actuators=velocity needs task.engine=dart");
  }
  return std::make_unique<LaneSimulator>();
}

}  // namespace aurora::hexapod
