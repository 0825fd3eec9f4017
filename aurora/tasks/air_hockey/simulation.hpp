// Episodes of the Air-Hockey arm on one of two engines: our own, or Box2D. Box2D, and the timers
// that we put in the place of its own, are in a library that is loaded when somebody asks for it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/names.hpp"
#include "aurora/tasks/air_hockey/table.hpp"

namespace aurora::air_hockey {

/// lanes: our own (episodes.hpp), several robots at once. box2d: what lanes is held against.
enum class Engine { lanes, box2d };

/// Genes lie in [0, 1], which has been checked, and map to angles in [-pi, pi]: four a phase.
class Simulator {
 public:
  virtual ~Simulator() = default;
  /// An episode of every row. A pure function; may be called from several threads at once.
  virtual void run(MatrixView<const float> genotypes, std::span<Episode> episodes) const = 0;
  /// Every step of an episode; the same bits.
  virtual std::vector<Moment> trace(std::span<const float> genes) const = 0;
};

/// Does this build have it?
bool has_engine(Engine engine);

/// UsageError if this build does not have the engine.
std::unique_ptr<Simulator> make_simulator(Engine engine);

}  // namespace aurora::air_hockey

namespace aurora {

template <>
struct Names<air_hockey::Engine> {
  static constexpr std::pair<air_hockey::Engine, std::string_view> entries[] = {
      {air_hockey::Engine::lanes, "lanes"}, {air_hockey::Engine::box2d, "box2d"}};
};

}  // namespace aurora
