#include "aurora/tasks/hexapod/simulation.hpp"

#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"

namespace aurora::hexapod {

std::unique_ptr<Simulator> make_simulator(Actuators actuators) {
  using Maker = Simulator* (*)(Actuators);
  void* maker = find_in_plugin("libaurora_dart.so", "aurora_make_dart_simulator");
  if (!maker) {
    throw UsageError(
        "the hexapod needs DART, which this build does not have: install libdart-dev and "
        "libdart-collision-bullet-dev and build again");
  }
  return std::unique_ptr<Simulator>(reinterpret_cast<Maker>(maker)(actuators));
}

}  // namespace aurora::hexapod
