// Episodes of the hexapod on one of two engines: our own, or DART. DART is in a library of its own,
// which is loaded when somebody asks for it: it brings dozens of others along.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/tasks/hexapod/controller.hpp"
#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

/// lanes: our own (episodes.hpp), several robots at once. dart: DART with Bullet's collision
/// detection, what lanes is held against.
enum class Engine { lanes, dart };

/// servo: joints follow their commands with at most 4 N m. velocity (DART only): they follow
/// exactly, which is a simpler problem.
enum class Actuators { servo, velocity };

class Simulator {
 public:
  virtual ~Simulator() = default;
  /// Where the bodies are after an episode of each controller. A pure function; may be called from
  /// several threads at once.
  virtual void run(std::span<const Controller> controllers, std::span<Bodies> ends) const = 0;
  /// Where the bodies are after every step of an episode; the same bits.
  virtual std::vector<Bodies> trace(const Controller& controller) const = 0;
};

/// Does this build have it?
bool has_engine(Engine engine);

/// UsageError if this build does not have the engine, or if it does not have the actuators.
std::unique_ptr<Simulator> make_simulator(Engine engine, Actuators actuators);

}  // namespace aurora::hexapod

namespace aurora {

template <>
struct Names<hexapod::Engine> {
  static constexpr std::pair<hexapod::Engine, std::string_view> entries[] = {
      {hexapod::Engine::lanes, "lanes"}, {hexapod::Engine::dart, "dart"}};
};

template <>
struct Names<hexapod::Actuators> {
  static constexpr std::pair<hexapod::Actuators, std::string_view> entries[] = {
      {hexapod::Actuators::servo, "servo"}, {hexapod::Actuators::velocity, "velocity"}};
};

}  // namespace aurora
