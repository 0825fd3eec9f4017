#include "aurora/tasks/vases/vases.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "aurora/tasks/vases/drawing.hpp"
#include "aurora/tasks/vases/vase.hpp"

namespace aurora {
namespace {

constexpr std::size_t kPixels = 32;  // along each side, of 1 cm

TaskSpec vases_spec() {
  TaskSpec spec;
  spec.name = "vases";
  spec.title = "Vases";
  spec.genotype_size = vases::kGenes;
  spec.sensory = {{kPixels, kPixels, 1}, ElementType::uint8};
  spec.ground_truth = {{"holds", 0, 22.5, "l"}, {"centre", 4, 25, "cm"}, {"slope", 0, 3.5}};
  spec.worst_fitness = -4.5;  // a full cylinder takes 4.34 kg
  spec.defaults = {"run.iterations=4000", "container.target_size=3000", "variation.rate=0.1"};
  return spec;
}

/// White, with the outline in black; a pixel at its edge is as grey as its share of the middle
/// line of the pixels.
void draw_outline(const vases::Profile& profile, std::span<std::uint8_t> out) {
  for (std::size_t y = 0; y < kPixels; ++y) {
    const double radius = profile[2 * (kPixels - 1 - y) + 1];
    for (std::size_t x = 0; x < kPixels; ++x) {
      const double left = static_cast<double>(x) - kPixels / 2.0;
      const double share = std::min(radius, left + 1) - std::max(-radius, left);
      out[y * kPixels + x] = static_cast<std::uint8_t>(255.5 - 255 * std::clamp(share, 0.0, 1.0));
    }
  }
}

}  // namespace

Vases::Vases() : spec_(vases_spec()) {}

void Vases::evaluate(MatrixView<const float> genotypes, EvaluationView out) const {
  assert(out.fitness.size() == genotypes.rows());
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    const vases::Profile profile = vases::profile_of(genotypes.row(n));
    const vases::Measures measures = vases::measure(profile);
    out.fitness[n] = static_cast<float>(-measures.mass);
    out.ground_truth(n, 0) = static_cast<float>(measures.holds);
    out.ground_truth(n, 1) = static_cast<float>(measures.centre);
    out.ground_truth(n, 2) = static_cast<float>(measures.slope);
    draw_outline(profile, out.sensory.row<std::uint8_t>(n));
  }
}

Drawing Vases::draw(std::span<const float> genotype) const {
  return vases::draw_vase(vases::profile_of(genotype));
}

TaskEntry vases_task() {
  return part<NoOptions>("vases", "no robot: shapes from a potter's wheel; 32x32 picture")
      .made_by([](const NoOptions&, const TaskContext&) { return std::make_unique<Vases>(); });
}

}  // namespace aurora
