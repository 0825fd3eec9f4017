// The rows' impulses by an interior point method (Mehrotra's predictor and corrector), which always
// comes to an end: for robots whose rows go round in circles when they are pivoted.
//
// The impulses minimise 1/2 lambda^T (J M^-1 J^T + softness) lambda - wanted^T lambda within their
// bounds. Every iteration solves (J M^-1 J^T + E^-1) d = r with a diagonal E, through velocities:
//   (M + J^T E J) v = J^T E r,   d = E (r - J v),
// which is the same arrow-shaped system as that of pivoting. Robots that are done stand still.
#if defined(AURORA_TASKS_HEXAPOD_INTERIOR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_INTERIOR_INL_HPP
#undef AURORA_TASKS_HEXAPOD_INTERIOR_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_INTERIOR_INL_HPP
#endif

#include "aurora/tasks/hexapod/pivoting_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

template <class N>
class InteriorPoint {
 public:
  /// Solves with the first `rows` rows of every contact for the robots of `wanted`; the others
  /// keep what they have.
  HWY_NOINLINE void solve(const Model<N>& model, std::size_t rows, Mask<N> wanted,
                          Problem<N>& problem) {
    list_rows(rows, problem);
    start(model, problem);
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      measure(problem);
      const Mask<N> live = wanted & ((gap_ > N(kSmallGap)) | (residual_ > N(kSmallResidual)));
      if (!any(live)) break;
      factorise_system(model, problem);
      find_direction(problem);
      correct(problem);
      find_direction(problem);
      step(live, problem);
    }
    for (Row<N>& row : problem.joints) row.impulse = select(wanted, row.trial, row.impulse);
    for (std::size_t c = 0; c < count_; ++c) {
      contacts_[c]->impulse = select(wanted, contacts_[c]->trial, contacts_[c]->impulse);
    }
    for (std::size_t i = 0; i < 6; ++i) {
      problem.change.base[i] = select(wanted, at_.base[i], problem.change.base[i]);
    }
    for (std::size_t j = 0; j < kJoints; ++j) {
      problem.change.joints[j] = select(wanted, at_.joints[j], problem.change.joints[j]);
    }
  }

 private:
  static constexpr int kIterations = 30;
  static constexpr double kFirstGap = 0.1;
  static constexpr double kFirstImpulse = 0.02;  // away from a single bound
  static constexpr double kSmallGap = 1e-9;
  static constexpr double kSmallResidual = 1e-7;
  static constexpr double kStep = 0.995;  // of the way to the nearest bound

  void list_rows(std::size_t rows, Problem<N>& problem) {
    count_ = 0;
    for (std::size_t l = 0; l <= kLegs; ++l) {
      for (std::size_t c = problem.first[l]; c < problem.first[l + 1]; ++c) {
        Contact<N>& contact = problem.contacts[c];
        rows_of_[c] = any(contact.rows[1].on) ? rows : 1;  // nobody has friction here
        for (std::size_t d = 0; d < rows_of_[c]; ++d) {
          legs_of_[count_] = l;
          contacts_[count_++] = &contact.rows[d];
        }
      }
    }
  }

  /// In the middle of two bounds; away from a single one, as far as the guess says.
  HWY_INLINE void start_row(Row<N>& row, N guess) {
    const N zero = 0;
    const N one = 1;
    row.has_low = one_if<N>(row.on & (row.low > N(-kUnbounded)));
    row.has_high = one_if<N>(row.on & (row.high < N(kUnbounded)));
    row.low = select(row.on, row.low, N(-1));
    row.high = select(row.on, row.high, one);
    const Mask<N> low = row.has_low > zero;
    const Mask<N> high = row.has_high > zero;
    row.trial = select(low & high, N(0.5) * (row.low + row.high),
                       select(low, row.low + max_of(guess, N(kFirstImpulse)),
                              select(high, row.high - N(kFirstImpulse), zero)));
    row.z_low = row.has_low * (N(kFirstGap) / (row.trial - row.low));
    row.z_high = row.has_high * (N(kFirstGap) / (row.high - row.trial));
    bounds_ += row.has_low + row.has_high;
  }

  HWY_NOINLINE void start(const Model<N>& model, Problem<N>& problem) {
    const N zero = 0;
    bounds_ = zero;
    for (N& b : at_.base) b = zero;
    for (std::size_t j = 0; j < kJoints; ++j) {
      start_row(problem.joints[j], zero);
      at_.joints[j] = problem.joints[j].trial;
    }
    for (std::size_t c = 0; c < count_; ++c) {
      start_row(*contacts_[c], contacts_[c]->impulse);
      add_impulse(*contacts_[c], contacts_[c]->trial, at_.base, joints_of(legs_of_[c], at_));
    }
    accelerate(model, at_.base, at_.joints);
  }

  static HWY_INLINE N* joints_of(std::size_t leg, Velocity<N>& velocity) {
    return leg < kLegs ? velocity.joints + leg * kLegJoints : nullptr;
  }

  /// Distances from the bounds, stiffness, and how far this is from the end.
  HWY_INLINE void measure_row(Row<N>& row, N speed) {
    row.gradient = mul_add(row.softness, row.trial, speed - row.wanted) * one_if<N>(row.on);
    row.right = -row.gradient;
    const N low = row.trial - row.low;
    const N high = row.high - row.trial;
    const N inverse = N(1) / (low * high);
    row.inverse_low = high * inverse;
    row.inverse_high = low * inverse;
    row.stiffness =
        one_if<N>(row.on) /
        mul_add(row.z_low, row.inverse_low, mul_add(row.z_high, row.inverse_high, row.softness));
    gap_ = mul_add(row.z_low, low, mul_add(row.z_high, high, gap_));
    residual_ = max_of(residual_, abs_of(row.gradient - row.z_low + row.z_high));
  }

  HWY_NOINLINE void measure(Problem<N>& problem) {
    gap_ = residual_ = N(0);
    for (std::size_t j = 0; j < kJoints; ++j) measure_row(problem.joints[j], at_.joints[j]);
    for (std::size_t c = 0; c < count_; ++c) {
      measure_row(*contacts_[c], along(*contacts_[c], legs_of_[c], at_));
    }
    gap_ = gap_ / bounds_;
  }

  HWY_NOINLINE void factorise_system(const Model<N>& model, Problem<N>& problem) {
    for (std::size_t i = 0; i < 21; ++i) matrix_[i] = model.base[i];
    for (std::size_t l = 0; l < kLegs; ++l) {
      const Leg<N>& leg = model.legs[l];
      ReducedLeg<N>& out = legs_[l];
      Block<N> block(leg);
      const Row<N>* joints = problem.joints + l * kLegJoints;
      block.a00 += joints[0].stiffness;
      block.a11 += joints[1].stiffness;
      block.a22 += joints[2].stiffness;
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        for (std::size_t i = 0; i < 6; ++i) out.coupling[k][i] = leg.coupling[k][i];
      }
      for (std::size_t c = problem.first[l]; c < problem.first[l + 1]; ++c) {
        const Contact<N>& contact = problem.contacts[c];
        if (rows_of_[c] == 1) {
          const N stiffness[1] = {contact.rows[0].stiffness};
          add_springs(contact, stiffness, matrix_);
          add_springs(contact, stiffness, out.coupling, block);
        } else {
          const N stiffness[3] = {contact.rows[0].stiffness, contact.rows[1].stiffness,
                                  contact.rows[2].stiffness};
          add_springs(contact, stiffness, matrix_);
          add_springs(contact, stiffness, out.coupling, block);
        }
      }
      out.inverse = block.inverse();
      out.reduce();
      eliminate(out.coupling, out.reduced, matrix_);
    }
    for (std::size_t c = problem.first[kLegs]; c < problem.first[kLegs + 1]; ++c) {
      const Contact<N>& contact = problem.contacts[c];
      for (std::size_t d = 0; d < rows_of_[c]; ++d) {
        const N stiffness[1] = {contact.rows[d].stiffness};
        add_springs(contact, stiffness, matrix_, d);
      }
    }
    factorise(matrix_);
  }

  /// move_ and the rows' directions from their right-hand sides.
  HWY_NOINLINE void find_direction(Problem<N>& problem) {
    N base[6];
    for (N& b : base) b = N(0);
    std::size_t next = 0;
    for (std::size_t l = 0; l <= kLegs; ++l) {
      N pull[kLegJoints];
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        if (l == kLegs) break;
        const Row<N>& row = problem.joints[l * kLegJoints + k];
        pull[k] = row.stiffness * row.right;
      }
      for (; next < count_ && legs_of_[next] == l; ++next) {
        const ContactRow<N>& row = *contacts_[next];
        add_impulse(row, row.stiffness * row.right, base, l < kLegs ? pull : nullptr);
      }
      if (l == kLegs) break;
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        for (std::size_t i = 0; i < 6; ++i) {
          base[i] = neg_mul_add(legs_[l].reduced[k][i], pull[k], base[i]);
        }
        move_.joints[l * kLegJoints + k] = pull[k];
      }
    }
    solve_lower(matrix_, base);
    solve_upper(matrix_, base);
    for (std::size_t i = 0; i < 6; ++i) move_.base[i] = base[i];
    for (std::size_t l = 0; l < kLegs; ++l) {
      N speeds[kLegJoints];
      legs_[l].inverse.times(move_.joints + l * kLegJoints, speeds);
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        for (std::size_t i = 0; i < 6; ++i) {
          speeds[k] = neg_mul_add(legs_[l].reduced[k][i], base[i], speeds[k]);
        }
        move_.joints[l * kLegJoints + k] = speeds[k];
      }
    }
    for (std::size_t j = 0; j < kJoints; ++j) {
      Row<N>& row = problem.joints[j];
      row.direction = row.stiffness * (row.right - move_.joints[j]);
    }
    for (std::size_t c = 0; c < count_; ++c) {
      Row<N>& row = *contacts_[c];
      row.direction = row.stiffness * (row.right - along(*contacts_[c], legs_of_[c], move_));
    }
  }

  /// The predictor's step ends at the nearest bound of an impulse or a multiplier.
  static HWY_INLINE N reach(const Row<N>& row, N largest) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = -(row.direction * row.inverse_high);
    largest = max_of(largest, max_of(-low, -high));
    return max_of(largest, max_of((one + low) * row.has_low, (one + high) * row.has_high));
  }

  /// The gap that a predictor's step of this length leaves.
  static HWY_INLINE N gap_after(const Row<N>& row, N length, N sum) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = -(row.direction * row.inverse_high);
    const N left_low = mul_add(length, low, one) * neg_mul_add(length, one + low, one);
    const N left_high = mul_add(length, high, one) * neg_mul_add(length, one + high, one);
    sum = mul_add((row.trial - row.low) * row.z_low, left_low, sum);
    return mul_add((row.high - row.trial) * row.z_high, left_high, sum);
  }

  /// The right-hand side that aims at a gap of `target` and knows the predictor's curvature.
  static HWY_INLINE void correct_row(Row<N>& row, N target) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = -(row.direction * row.inverse_high);
    row.push_low =
        row.has_low * (mul_add(row.direction * row.z_low, one + low, target) * row.inverse_low);
    row.push_high = row.has_high * (neg_mul_add(row.direction * row.z_high, one + high, target) *
                                    row.inverse_high);
    row.right = row.push_low - row.push_high - row.gradient;
  }

  HWY_NOINLINE void correct(Problem<N>& problem) {
    N largest = 1;
    for (const Row<N>& row : problem.joints) largest = reach(row, largest);
    for (std::size_t c = 0; c < count_; ++c) largest = reach(*contacts_[c], largest);
    const N length = N(1) / largest;
    N left = 0;
    for (const Row<N>& row : problem.joints) left = gap_after(row, length, left);
    for (std::size_t c = 0; c < count_; ++c) left = gap_after(*contacts_[c], length, left);
    const N share = left / (bounds_ * gap_);
    const N target = max_of(share * share * share * gap_, N(0.1 * kSmallGap));
    for (Row<N>& row : problem.joints) correct_row(row, target);
    for (std::size_t c = 0; c < count_; ++c) correct_row(*contacts_[c], target);
  }

  /// How the multipliers change, in the place of what pushed them; and the length of a step.
  static HWY_INLINE N finish_row(Row<N>& row, N largest) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = -(row.direction * row.inverse_high);
    row.push_low = neg_mul_add(row.z_low, one + low, row.push_low);
    row.push_high = neg_mul_add(row.z_high, one + high, row.push_high);
    const N z_low = row.z_low + (one - row.has_low);
    const N z_high = row.z_high + (one - row.has_high);
    const N fastest = max_of(-(row.push_low * z_high), -(row.push_high * z_low)) / (z_low * z_high);
    return max_of(largest, max_of(fastest, max_of(-low, -high)));
  }

  static HWY_INLINE void step_row(Row<N>& row, Mask<N> live, N length) {
    row.trial = select(live, mul_add(length, row.direction, row.trial), row.trial);
    row.z_low = select(live, mul_add(length, row.push_low, row.z_low), row.z_low);
    row.z_high = select(live, mul_add(length, row.push_high, row.z_high), row.z_high);
  }

  HWY_NOINLINE void step(Mask<N> live, Problem<N>& problem) {
    N largest = kStep;
    for (Row<N>& row : problem.joints) largest = finish_row(row, largest);
    for (std::size_t c = 0; c < count_; ++c) largest = finish_row(*contacts_[c], largest);
    const N length = N(kStep) / largest;
    for (Row<N>& row : problem.joints) step_row(row, live, length);
    for (std::size_t c = 0; c < count_; ++c) step_row(*contacts_[c], live, length);
    for (std::size_t i = 0; i < 6; ++i) {
      at_.base[i] = select(live, mul_add(length, move_.base[i], at_.base[i]), at_.base[i]);
    }
    for (std::size_t j = 0; j < kJoints; ++j) {
      at_.joints[j] = select(live, mul_add(length, move_.joints[j], at_.joints[j]), at_.joints[j]);
    }
  }

  static constexpr std::size_t kMostRows = 3 * Problem<N>::kMostContacts;

  ContactRow<N>* contacts_[kMostRows];
  std::size_t legs_of_[kMostRows];
  std::size_t rows_of_[Problem<N>::kMostContacts];
  std::size_t count_ = 0;
  N bounds_, gap_, residual_;
  N matrix_[21];
  ReducedLeg<N> legs_[kLegs];
  Velocity<N> at_;    // what the impulses do
  Velocity<N> move_;  // and the direction
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
