// The distance threshold d_min of the unstructured archive and how it follows the container
// (paper, section IV-B). Finite and positive for ever, in every kind, except that VAT has none (0)
// before the first encoder update.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/named.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/part.hpp"

namespace aurora {

class Container;
struct IterationEnd;

/// The archive that owns it calls, at the end of an iteration, once it holds individuals,
///   start()            before the first encoder update (hand-coded descriptors: through iteration
///                      T_E);
///   encoder_updated()  after each encoder update, when the members have their new descriptors and
///                      before the container update;
///   follow()           after the first encoder update (or after T_E);
///   wants_update()     whether a container update is due, and
///   for_update()       for its threshold.
/// Each kind does in these calls what it has to do, or nothing.
class Threshold {
 public:
  virtual ~Threshold() = default;

  double value() const { return value_; }

  virtual void start(const Container& /*container*/) {}
  /// `epsilon` is the tolerance of the archive, as below.
  virtual void encoder_updated(const Container& /*container*/, double /*epsilon*/,
                               Workers& /*workers*/) {}
  virtual void follow(std::size_t /*size*/) {}
  /// `period` is T_C: every so many iterations, and whenever descriptors have changed.
  virtual bool wants_update(const IterationEnd& end, std::size_t period) const;
  virtual double for_update(const Container& /*container*/, double /*epsilon*/) { return value_; }

  /// All there is to save.
  std::vector<NamedNumber> state() const;
  /// DataError if a number is not finite, or the value below 0.
  void restore(std::span<const NamedNumber> state);

 protected:
  explicit Threshold(double value) : value_(value) {}

  double value_;

 private:
  virtual void save(std::vector<NamedNumber>& /*numbers*/) const {}
  virtual void load(std::span<const NamedNumber> /*numbers*/) {}
};

/// What a threshold is made with.
struct ThresholdContext {
  std::size_t target_size = 0;  // N
};

using ThresholdEntry = Entry<Threshold, ThresholdContext>;

ThresholdEntry csc_threshold_part();
ThresholdEntry vat_threshold_part();
ThresholdEntry fixed_threshold_part();
ThresholdEntry pid_threshold_part();
ThresholdEntry growing_threshold_part();

/// The start value: rotate the centred descriptors onto their principal axes (in double), V = the
/// product of the extents, l = 0.5 * (V / target_size)^(1/n). Axes without extent are left out of
/// both V and n; without any, the result is kThresholdWithoutExtent.
double initial_threshold(MatrixView<const float> descriptors, std::size_t target_size);
inline constexpr double kThresholdWithoutExtent = 1e-6;

/// Within the thresholds whose square is a normal float; NaN becomes the smallest.
double bounded_threshold(double threshold);

/// CSC: l * (1 + gain * (size - target_size)), kept finite and positive.
double csc_threshold(double threshold, double gain, std::size_t size, std::size_t target_size);

/// VAT: diameter / (constant * target_size)^(1/n), kept finite and positive.
double vat_threshold(double diameter, double constant, std::size_t target_size, std::size_t n);

}  // namespace aurora
