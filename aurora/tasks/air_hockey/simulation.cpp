#include "aurora/tasks/air_hockey/simulation.hpp"

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"
#include "aurora/tasks/air_hockey/episodes.hpp"

namespace aurora::air_hockey {
namespace {

class LaneSimulator : public Simulator {
 public:
  void run(MatrixView<const float> genotypes, std::span<Episode> episodes) const override {
    run_episodes(genotypes, episodes);
  }

  std::vector<Moment> trace(std::span<const float> genes) const override {
    std::vector<Moment> moments;
    trace_episode(genes, moments);
    return moments;
  }
};

void* box2d_maker() {
  return find_in_plugin("libaurora_box2d.so", "aurora_make_box2d_simulator");
}

}  // namespace

bool has_engine(Engine engine) {
  return engine == Engine::lanes || box2d_maker() != nullptr;
}

std::unique_ptr<Simulator> make_simulator(Engine engine) {
  if (engine == Engine::lanes) return std::make_unique<LaneSimulator>();
  using Maker = Simulator* (*)();
  void* maker = box2d_maker();
  if (!maker) {
    throw UsageError(
        "task.engine=box2d needs Box2D, and libaurora_box2d.so is not there or does not load: "
        "install libbox2d-dev, then make build");
  }
  return std::unique_ptr<Simulator>(reinterpret_cast<Maker>(maker)());
}

}  // namespace aurora::air_hockey
