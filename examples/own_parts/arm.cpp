// A task: a planar arm with a few joints. It senses where its joints are; its fitness says how
// little it bends.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "examples/own_parts/parts.hpp"

using namespace aurora;

namespace {

struct ArmConfig {
  std::size_t joints = 4;
};

class Arm final : public Task {
 public:
  explicit Arm(const ArmConfig& config) : joints_(config.joints) {
    spec_.name = "arm";
    spec_.title = "Arm";
    spec_.genotype_size = joints_;
    spec_.sensory = {{joints_, 2}, ElementType::float32};
    spec_.ground_truth = {{"x", -1, 1, "m"}, {"y", -1, 1, "m"}};  // where the arm ends
    spec_.worst_fitness = -1;
    spec_.metrics = {"spread"};  // measured for this task without being asked for
    spec_.defaults = {"run.iterations=500", "container.target_size=500", "variation.rate=0.2"};
  }

  const TaskSpec& spec() const override { return spec_; }

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const double length = 1.0 / static_cast<double>(joints_);
      double x = 0, y = 0, angle = 0, bend = 0;
      std::vector<float> places;
      for (const float gene : genotypes.row(i)) {
        const double turn = 2.0 * gene - 1;
        angle += 3 * turn;
        bend += length * turn * turn;
        x += length * std::cos(angle);
        y += length * std::sin(angle);
        places.insert(places.end(), {static_cast<float>(x), static_cast<float>(y)});
      }
      out.sensory.set_row(i, places);
      out.fitness[i] = static_cast<float>(-bend);
      out.ground_truth(i, 0) = static_cast<float>(x);
      out.ground_truth(i, 1) = static_cast<float>(y);
    }
  }

 private:
  std::size_t joints_;
  TaskSpec spec_;
};

}  // namespace

TaskEntry arm_task() {
  return part<ArmConfig>("arm", "a planar arm; where its joints are")
      .option("joints", &ArmConfig::joints, 1, 100, "joints of the arm")
      .made_by([](const ArmConfig& config, const TaskContext&) {
        return std::make_unique<Arm>(config);
      });
}
