// A PID controller of the container's size: the threshold kind `pid`.
#pragma once

#include <cstddef>
#include <span>

#include "aurora/core/matrix.hpp"

namespace aurora {

class Container;

/// Gains of the PID controller, per iteration. They act on log(size / target) and change log d_min,
/// so they have no units and fit every descriptor space.
struct PidGains {
  double proportional = 1;
  double integral = 0.1;
  double derivative = 1;
  double horizon = 40;  // iterations ahead: the integral waits for a size that arrives by then
};

/// The largest threshold, up to a few per cent of size, with which a container update that re-adds
/// these descriptors in this order (oldest first) keeps at least `size` of them; rule 1 alone is
/// counted. By bisection, about ten re-adds. With fewer than `size` different descriptors, one that
/// keeps all of them. The radius around each is the threshold times its factor; none: times 1.
double reseed_threshold(MatrixView<const float> descriptors, std::size_t size, double epsilon,
                        std::span<const double> factors = {});
/// The same of the members of a container, to keep 97 % of the target, or of them if they are
/// fewer: not all, or the closest pair alone would decide.
double reseed_threshold(const Container& container, std::size_t target_size, double epsilon);

/// A PID controller from e = log(size / target) to log d_min:
///   log d_min = anchor + P e + I sum(e) + D (change of e per iteration, smoothed).
/// e is clamped, so that no size makes it jump; so is the sum, which moreover stands still while
/// the size is on its way to the target and about to arrive (anti-windup).
///
/// It steers the growth, which answers d_min in every iteration. The other half of the plant, the
/// container update, answers at once and steeply: d_min 2 % higher can cost it a tenth of the
/// members. No gain suits both; Threshold::for_update() takes care of that half.
class PidController {
 public:
  /// All there is to save and restore.
  struct State {
    double anchor = 0;
    double sum = 0;    // of the errors, times I
    double error = 0;  // of the last step
    double trend = 0;  // change of the error, smoothed
    friend bool operator==(const State&, const State&) = default;
  };

  explicit PidController(const PidGains& gains) : gains_(gains) {}

  /// Makes `threshold` the present output for a container of this size.
  void reset(double threshold, std::size_t size, std::size_t target_size);
  /// One iteration; returns d_min.
  double step(std::size_t size, std::size_t target_size);
  /// Multiplies this output and all later ones.
  void scale(double factor);

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  PidGains gains_;
  State state_;
};

}  // namespace aurora
