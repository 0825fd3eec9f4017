// Evaluations of the tasks on physics engines, on one core, against drivers that follow the
// specification word by word. (The naive Air-Hockey driver has our clock-free b2Timer too.)
#include <array>
#include <cstdint>

#include "aurora/core/random.hpp"
#include "aurora/runs/parts.hpp"
#include "aurora/tasks/hexapod/camera.hpp"
#include "table.hpp"
#ifdef AURORA_WITH_BOX2D
#include "tests/tasks/air_hockey_oracle.hpp"
#endif
#ifdef AURORA_WITH_HEXAPOD_ORACLE
#include "tests/tasks/hexapod_oracle.hpp"
#endif

namespace aurora::bench {
namespace {

constexpr std::size_t kRows = 16;

Matrix<float> random_genotypes(std::size_t genes) {
  Matrix<float> genotypes(kRows, genes);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    Stream stream(1, Purpose::genotype, 0, i);
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  return genotypes;
}

/// A task against `naive(genes)`, if there is one. What `values` do not say is the default.
void compare(Table& table, const std::string& row, const char* name, const Values& values,
             const std::function<void(std::span<const float>)>& naive) {
  const Parts parts = builtin_parts();
  const auto entry = parts.tasks.find(name);
  if (!table.wanted(row) || !entry->missing.empty()) return;
  const auto task = parts.task(entry, values);
  const Matrix<float> genotypes = random_genotypes(task->spec().genotype_size);
  Evaluation evaluation(task->spec(), kRows);
  std::optional<Work> baseline;
  if (naive) {
    baseline = Work{kRows, [&] {
                      for (std::size_t i = 0; i < kRows; ++i) naive(genotypes.row(i));
                    }};
  }
  table.measure(row, "evaluations/s",
                {kRows, [&] { task->evaluate(genotypes, evaluation.view()); }},
                naive ? "naive driver" : "", baseline);
}

}  // namespace

void robot_rows(Table& table) {
  table.heading("Robots: evaluations on one core");
  std::function<void(std::span<const float>)> puck, servo, velocity;
#ifdef AURORA_WITH_BOX2D
  puck = [](auto genes) { air_hockey::oracle_episode(genes); };
#endif
#ifdef AURORA_WITH_HEXAPOD_ORACLE
  servo = [](auto genes) { hexapod::oracle_episode(genes, hexapod::Actuators::servo); };
  velocity = [](auto genes) { hexapod::oracle_episode(genes, hexapod::Actuators::velocity); };
#endif
  compare(table, "air-hockey", "air-hockey", {}, puck);
  compare(table, "hexapod/servo", "hexapod", {}, servo);
  compare(table, "hexapod/velocity", "hexapod", {{"actuators", {Value::Form::string, "velocity"}}},
          velocity);

  hexapod::Bodies bodies;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    bodies[b].position = {0.02 * static_cast<double>(b), 0.1, 0.15};
  }
  std::array<std::uint8_t, hexapod::kPictureBytes> out;
  table.measure("hexapod/picture", "pictures/s", {1, [&] { hexapod::draw(bodies, out); }});
}

}  // namespace aurora::bench
