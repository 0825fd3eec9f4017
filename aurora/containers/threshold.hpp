// The distance threshold d_min of the unstructured archive and how it follows the container
// (paper, section IV-B; specification, section 1). Finite and positive for ever, in every kind,
// except that VAT has none (0) before the first encoder update, and the kind `none` never has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/names.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

/// csc: container size control, the paper's proportional rule. vat: volume adaptive threshold, from
/// the diameter of the container. pid: a PID controller on the logarithms of size and threshold.
/// none: 0, for containers that look at no threshold.
enum class ThresholdKind { csc, fixed, vat, pid, none };

template <>
struct Names<ThresholdKind> {
  static constexpr std::pair<ThresholdKind, std::string_view> entries[] = {
      {ThresholdKind::csc, "csc"},
      {ThresholdKind::vat, "vat"},
      {ThresholdKind::fixed, "fixed"},
      {ThresholdKind::pid, "pid"},
      {ThresholdKind::none, "none"}};
};

/// Gains of the PID controller, per iteration. They act on log(size / target) and change log d_min,
/// so they have no units and fit every descriptor space.
struct PidGains {
  double proportional = 1;
  double integral = 0.1;
  double derivative = 1;
  double horizon = 40;  // iterations ahead: the integral waits for a size that arrives by then
};

struct ThresholdConfig {
  ThresholdKind kind = ThresholdKind::csc;
  double gain = 5e-6;        // K_CSC
  double value = 1.0;        // the threshold of kind `fixed`
  double vat_constant = 25;  // K_VAT
  PidGains pid{};
};

/// The start value: rotate the centred descriptors onto their principal axes (in double), V = the
/// product of the extents, l = 0.5 * (V / target_size)^(1/n). Axes without extent are left out of
/// both V and n; without any, the result is a small positive constant.
double initial_threshold(MatrixView<const float> descriptors, std::size_t target_size);

/// CSC: l * (1 + gain * (size - target_size)), kept finite and positive.
double csc_threshold(double threshold, double gain, std::size_t size, std::size_t target_size);

/// VAT: diameter / (constant * target_size)^(1/n), kept finite and positive.
double vat_threshold(double diameter, double constant, std::size_t target_size, std::size_t n);

/// The largest threshold, up to a few per cent of size, with which a container update that re-adds
/// these descriptors in this order (oldest first) keeps at least `size` of them; rule 1 alone is
/// counted. By bisection, about ten re-adds. With fewer than `size` different descriptors, one that
/// keeps all of them.
double reseed_threshold(MatrixView<const float> descriptors, std::size_t size, double epsilon);

/// A PID controller from e = log(size / target) to log d_min:
///   log d_min = anchor + P e + I sum(e) + D (change of e per iteration, smoothed).
/// e is clamped, so that no size makes it jump; so is the sum, which moreover stands still while
/// the size is on its way to the target and about to arrive (anti-windup).
///
/// It steers the growth, which answers d_min in every iteration. The other half of the plant, the
/// container update, answers at once and steeply: d_min 2 % higher can cost it a tenth of the
/// members. No gain suits both; Threshold::for_update takes care of that half.
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
  PidController(const PidGains& gains, const State& state) : gains_(gains), state_(state) {}

  /// Makes `threshold` the present output for a container of this size.
  void reset(double threshold, std::size_t size, std::size_t target_size);
  /// One iteration; returns d_min.
  double step(std::size_t size, std::size_t target_size);
  /// Multiplies this output and all later ones.
  void scale(double factor);

  const State& state() const { return state_; }

 private:
  PidGains gains_;
  State state_;
};

/// d_min of a run, for every kind. The loop calls
///   start()            each iteration before the first encoder update (hand-coded descriptors:
///                      through iteration T_E), once the container holds individuals;
///   encoder_updated()  after each encoder update, when the container has its new descriptors and
///                      before the container update;
///   follow()           each iteration after the first encoder update (or after T_E);
///   for_update()       for the threshold of a container update.
/// Each kind does in these calls what it has to do, or nothing:
///   csc    start, first encoder_updated: initial_threshold    follow: csc_threshold
///   vat    encoder_updated: vat_threshold                     (0 before)
///   pid    start: initial_threshold    encoder_updated: reseed_threshold    follow: PidController
///          for_update: bounded by reseed_threshold, so that the update leaves about the target
///   fixed, none  nothing
/// for_update() is value() in every kind but pid.
class Threshold {
 public:
  /// All there is to save and restore.
  struct State {
    double value = 0;
    bool encoder_updated = false;
    PidController::State pid;
    friend bool operator==(const State&, const State&) = default;
  };

  /// UsageError if a number of the configuration is not finite or not positive (the gains of the
  /// controller may be 0), or target_size is 0.
  Threshold(const ThresholdConfig& config, std::size_t target_size, const ArchiveConfig& archive);

  double value() const { return state_.value; }

  void start(const Container& container);
  void encoder_updated(const Container& container, Workers& workers);
  void follow(std::size_t size);

  /// pid: value(), unless an update with it would leave less than 97 % of the target, or of the
  /// members if those are fewer: then the largest threshold that leaves as many, for this update
  /// only. And unless it would leave more than 101 % of the target: then value() itself rises to
  /// the threshold that leaves the target. Costs one re-add, and about ten more in these two cases.
  double for_update(const Container& container);

  const State& state() const { return state_; }
  /// DataError if a number is not finite, or the value below 0.
  void restore(const State& state);

 private:
  ThresholdConfig config_;
  std::size_t target_size_;
  double epsilon_;
  State state_;
};

}  // namespace aurora
