#include "aurora/tasks/hexapod/grouping.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace aurora::hexapod {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101U;
constexpr std::uint64_t kTops = 0x8080808080808080U;

}  // namespace

Grouping::Robot Grouping::robot_of(std::size_t index, const Touches& touches) {
  static_assert(kLegs + 1 <= sizeof(Counts) && Touches::kMost < 128);
  Robot robot{0, 0, static_cast<std::uint32_t>(index)};
  for (std::size_t leg = 0; leg <= kLegs; ++leg) {
    robot.counts |= static_cast<Counts>(touches.counts[leg]) << (8 * leg);
    robot.contacts += static_cast<std::uint32_t>(touches.counts[leg]);
  }
  return robot;
}

/// By how much the bytes of `robot` are above those of `group`; 0 where they are not.
Grouping::Counts Grouping::excess(Counts robot, Counts group) {
  const Counts difference = (robot | kTops) - group;  // the top bit stays where robot >= group
  const Counts above = ((difference & kTops) >> 7) * 0x7F;
  return difference & above;
}

/// How many more contacts a group has room for if a robot joins it.
std::uint32_t Grouping::growth(Counts robot, Counts group) {
  return static_cast<std::uint32_t>((excess(robot, group) * kOnes) >> 56);
}

/// The robot that makes the group grow least; of those the first.
std::size_t Grouping::next_for(Counts group) const {
  std::size_t best = 0;
  std::uint32_t least = growth(robots_[0].counts, group);
  for (std::size_t i = 1; i < robots_.size() && least > 0; ++i) {
    const std::uint32_t more = growth(robots_[i].counts, group);
    if (more < least) {
      least = more;
      best = i;
    }
  }
  return best;
}

std::span<const std::size_t> Grouping::order(std::span<const Touches> touches, std::size_t width) {
  robots_.clear();
  for (std::size_t n = 0; n < touches.size(); ++n) robots_.push_back(robot_of(n, touches[n]));
  // Those with the most contacts first: they are the hardest to find company for.
  std::ranges::sort(robots_, std::greater{},
                    [](const Robot& robot) { return std::pair(robot.contacts, robot.counts); });
  order_.clear();
  Counts group = 0;
  while (!robots_.empty()) {
    const bool begins = order_.size() % width == 0;
    const std::size_t next = begins ? 0 : next_for(group);
    group = begins ? robots_[next].counts : group + excess(robots_[next].counts, group);
    order_.push_back(robots_[next].index);
    robots_.erase(robots_.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return order_;
}

}  // namespace aurora::hexapod
