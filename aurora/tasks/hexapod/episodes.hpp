// Episodes of the hexapod without a physics engine: our own, in double precision, several robots at
// once. docs/tasks/hexapod.md has the equations.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "aurora/tasks/hexapod/contacts.hpp"
#include "aurora/tasks/hexapod/controller.hpp"
#include "aurora/tasks/hexapod/robot.hpp"

namespace aurora::hexapod {

/// Robots that fill the widest registers; batches that are a multiple of this are the fastest.
inline constexpr std::size_t kRobotsAtOnce = 8;

/// Of a batch's robots, so many at a time, those that stand on as many legs share registers: larger
/// batches are faster, up to this.
inline constexpr std::size_t kCrowd = 64;

/// A step of a robot: the angles of its joints after it, and the legs that it stood on in it.
struct Moment {
  std::array<double, kJoints> angles{};
  std::array<bool, kLegs> stands_on{};

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// All steps of an episode.
using Walk = std::array<Moment, kSteps>;

/// Where the bodies of every robot are after its episode: the same bits at any place in any batch
/// and on every processor. `walks` has a place for each, or none at all.
void run_episodes(std::span<const Controller> controllers, std::span<Bodies> ends,
                  std::span<Walk> walks = {});

/// What moves: the base, with its velocity in its own frame, and the joints.
struct Motion {
  Transform base;
  Vector angular, linear;
  std::array<double, kJoints> angles{}, speeds{};
};

/// One robot, one number at a time, with the same bits as those of a batch: what they are tested
/// against. It begins at the start of an episode.
class Walker {
 public:
  virtual ~Walker() = default;
  virtual void step(const std::array<double, kJoints>& targets) = 0;
  /// A step with these contacts instead of those that it finds.
  virtual void step(const std::array<double, kJoints>& targets, const Touches& touches) = 0;
  virtual Bodies bodies() const = 0;
  virtual Motion motion() const = 0;
  /// The last step, if it found its contacts itself.
  virtual Moment moment() const = 0;
  /// Puts it elsewhere; its contacts of the step before stay.
  virtual void set(const Motion& motion) = 0;
};
std::unique_ptr<Walker> make_walker();

}  // namespace aurora::hexapod
