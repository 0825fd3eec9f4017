// Which robots share a register. A register has room for a contact where any of its robots has one,
// so robots that stand on the same legs belong together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/tasks/hexapod/contacts.hpp"

namespace aurora::hexapod {

class Grouping {
 public:
  /// An order of the robots in which each `width` of them, one after another, have contacts in
  /// common; good until the next call. Quadratic in their number. What a robot does depends on
  /// nobody, so that this is for speed alone.
  std::span<const std::size_t> order(std::span<const Touches> touches, std::size_t width);

 private:
  /// How many contacts each leg has, a byte each: all legs are compared at once.
  using Counts = std::uint64_t;
  struct Robot {
    Counts counts = 0;
    std::uint32_t contacts = 0;  // their sum
    std::uint32_t index = 0;
  };

  static Robot robot_of(std::size_t index, const Touches& touches);
  static Counts excess(Counts robot, Counts group);
  static std::uint32_t growth(Counts robot, Counts group);
  std::size_t next_for(Counts group) const;

  std::vector<Robot> robots_;  // that are in no group yet
  std::vector<std::size_t> order_;
};

}  // namespace aurora::hexapod
