// Evaluations of the tasks with physics, on one core: Air-Hockey on Box2D and the Hexapod on DART
// against drivers that follow the specification word by word (the naive Air-Hockey driver has our
// clock-free b2Timer too), our own engines against those and against one robot at a time.
#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/runs/parts.hpp"
#include "aurora/tasks/air_hockey/air_hockey.hpp"
#include "aurora/tasks/air_hockey/episodes.hpp"
#include "aurora/tasks/hexapod/camera.hpp"
#include "aurora/tasks/hexapod/episodes.hpp"
#include "aurora/tasks/hexapod/hexapod.hpp"
#include "table.hpp"
#ifdef AURORA_WITH_BOX2D
#include "tests/tasks/air_hockey_oracle.hpp"
#endif
#ifdef AURORA_WITH_HEXAPOD_ORACLE
#include "tests/tasks/hexapod_oracle.hpp"
#endif

namespace aurora::bench {
namespace {

constexpr std::size_t kRows = 32;

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

/// Whole evaluations of a task on its own engine, on the best instruction set and on AVX2, against
/// those on the `other`, if this build has it.
template <class Task>
void lanes_against(Table& table, const std::string& row, const char* name,
                   const std::optional<Task>& other) {
  const Task lanes;
  const Matrix<float> genotypes = random_genotypes(lanes.spec().genotype_size);
  Evaluation evaluation(lanes.spec(), kRows);
  const auto evaluate = [&](const Task& task) {
    return Work{kRows, [&] { task.evaluate(genotypes, evaluation.view()); }};
  };
  std::optional<Work> baseline;
  if (other) baseline = evaluate(*other);
  const auto measure = [&](const std::string& label) {
    table.measure(label, "evaluations/s", evaluate(lanes), other ? name : "", baseline);
  };
  measure(row);
  // AVX2 alone, where AURORA_INSTRUCTIONS says so.
  const std::int64_t all = hwy::SupportedTargets();
  if ((all & HWY_AVX2) == 0 || all == HWY_AVX2) return;
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  measure(row + "/avx2");
  hwy::SetSupportedTargetsForTest(all);
}

void air_hockey_lanes(Table& table) {
  using air_hockey::Engine;
  std::optional<AirHockey> box2d;
  if (air_hockey::has_engine(Engine::box2d)) box2d.emplace(Engine::box2d);
  lanes_against(table, "air-hockey/lanes", "Box2D", box2d);

  const Matrix<float> genotypes = random_genotypes(air_hockey::kGenes);
  std::vector<air_hockey::Episode> episodes(kRows);
  std::vector<air_hockey::Moment> moments;
  table.measure("air-hockey/episodes", "episodes/s",
                {kRows, [&] { air_hockey::run_episodes(genotypes, episodes); }},
                "one robot at a time",
                Work{kRows, [&] {
                       for (std::size_t n = 0; n < kRows; ++n) {
                         air_hockey::trace_episode(genotypes.row(n), moments);
                       }
                     }});
}

void hexapod_lanes(Table& table) {
  using hexapod::Engine;
  std::optional<Hexapod> dart;
  if (hexapod::has_engine(Engine::dart)) dart.emplace(Engine::dart);
  lanes_against(table, "hexapod/lanes", "DART", dart);

  const Matrix<float> genotypes = random_genotypes(hexapod::kGenes);
  const Hexapod lanes;
  std::vector<hexapod::Controller> controllers;
  for (std::size_t n = 0; n < kRows; ++n) controllers.emplace_back(genotypes.row(n));
  std::vector<hexapod::Bodies> ends(kRows);
  const Work alone{kRows, [&] {
                     for (std::size_t n = 0; n < kRows; ++n) lanes.trace(genotypes.row(n));
                   }};
  table.measure("hexapod/episodes", "episodes/s",
                {kRows, [&] { hexapod::run_episodes(controllers, ends); }}, "one robot at a time",
                alone);
  std::vector<hexapod::Walk> walks(kRows);
  table.measure("hexapod/episodes/walks", "episodes/s",
                {kRows, [&] { hexapod::run_episodes(controllers, ends, walks); }},
                "keeping nothing", Work{kRows, [&] { hexapod::run_episodes(controllers, ends); }});
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
  if (air_hockey::has_engine(air_hockey::Engine::box2d)) {
    compare(table, "air-hockey/box2d", "air-hockey", {{"engine", {Value::Form::string, "box2d"}}},
            puck);
  }
  air_hockey_lanes(table);
  if (hexapod::has_engine(hexapod::Engine::dart)) {
    const std::pair<std::string, Value> dart{"engine", {Value::Form::string, "dart"}};
    compare(table, "hexapod/dart/servo", "hexapod", {dart}, servo);
    compare(table, "hexapod/dart/velocity", "hexapod",
            {dart, {"actuators", {Value::Form::string, "velocity"}}}, velocity);
  }
  hexapod_lanes(table);
  compare(table, "vases", "vases", {}, {});

  hexapod::Bodies bodies;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    bodies[b].position = {0.02 * static_cast<double>(b), 0.1, 0.15};
  }
  std::array<std::uint8_t, hexapod::kPictureBytes> out;
  table.measure("hexapod/picture", "pictures/s", {1, [&] { hexapod::draw(bodies, out); }});
}

}  // namespace aurora::bench
