// An episode of the hexapod on a physics engine. The engine is in a library of its own, which is
// loaded when somebody makes a hexapod: it brings dozens of others along.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "aurora/core/names.hpp"
#include "aurora/tasks/hexapod/controller.hpp"
#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

inline constexpr double kTimeStep = 0.03;  // s
inline constexpr std::size_t kSteps = 100;

/// servo: joints follow their commands with at most 4 N m. velocity: they follow exactly, which is
/// a simpler problem and less than half of the work.
enum class Actuators { servo, velocity };

class Simulator {
 public:
  virtual ~Simulator() = default;
  /// Where the bodies are after an episode. A pure function; may be called from several threads at
  /// once. `observe` sees the bodies after every step.
  virtual Bodies run(const Controller& controller,
                     const std::function<void(const Bodies&)>& observe = {}) const = 0;
};

/// The simulator on DART. UsageError if this build does not have it.
std::unique_ptr<Simulator> make_simulator(Actuators actuators);

}  // namespace aurora::hexapod

namespace aurora {

template <>
struct Names<hexapod::Actuators> {
  static constexpr std::pair<hexapod::Actuators, std::string_view> entries[] = {
      {hexapod::Actuators::servo, "servo"}, {hexapod::Actuators::velocity, "velocity"}};
};

}  // namespace aurora
