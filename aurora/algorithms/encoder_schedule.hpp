// When the encoder is updated: at iterations T, 3T, 6T, 10T, ...; the gap grows by T each time
// (paper, section IV-A).
#pragma once

#include <cstddef>
#include <string>

#include "aurora/core/errors.hpp"

namespace aurora {

class EncoderSchedule {
 public:
  explicit EncoderSchedule(std::size_t step) : step_(step), next_(step) {
    if (step == 0) throw UsageError("the encoder step T_E must be at least 1");
  }

  /// Whether an update is due; a yes counts as the update. An update that is asked for late comes
  /// late.
  bool due(std::size_t iteration) {
    if (iteration < next_) return false;
    ++updates_;
    next_ += step_ * (updates_ + 1);
    return true;
  }
  /// Updates so far; the only state.
  std::size_t updates() const { return updates_; }
  /// DataError if there cannot have been so many by this iteration.
  void restore(std::size_t updates, std::size_t iteration) {
    if (updates > iteration || updates * (updates + 1) / 2 > iteration / step_) {
      throw DataError("there cannot have been " + std::to_string(updates) +
                      " encoder updates by iteration " + std::to_string(iteration));
    }
    updates_ = updates;
    next_ = step_ * ((updates + 1) * (updates + 2) / 2);
  }

 private:
  std::size_t step_;
  std::size_t next_;
  std::size_t updates_ = 0;
};

}  // namespace aurora
