// On what a robot stands, and the order of its legs in a register.
//
// A register of robots has room for a contact where any of them has one. So each has its legs in an
// order of its own, the busiest first, and robots that stand on as many legs share registers: on
// which ones does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "aurora/tasks/hexapod/contacts.hpp"

namespace aurora::hexapod {

/// Legs as robot.hpp numbers them; the base (kLegs) is last.
using LegOrder = std::array<std::size_t, kLegs + 1>;

struct Stance {
  Touches touches;
  /// In which the legs take part in a step, added up one after another: a robot's bits depend on
  /// it, and it on nobody else.
  LegOrder legs = {0, 1, 2, 3, 4, 5, kLegs};

  /// Puts the legs with the most contacts first; of those with as many, the smaller number.
  void arrange();

  /// The contacts of the legs in their order, as one number: robots that are sorted by it stand
  /// like their neighbours.
  std::uint64_t key() const;
};

}  // namespace aurora::hexapod
