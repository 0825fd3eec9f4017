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

#include "aurora/tasks/hexapod/springs_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

template <class N>
class InteriorPoint {
 public:
  /// Solves with the first `rows` rows of every contact for the robots of `wanted`; the others
  /// keep what they have.
  HWY_NOINLINE void solve(const Model<N>& model, std::size_t rows, Mask<N> wanted,
                          Problem<N>& problem) {
    list_rows(rows, wanted, problem);
    start(model, problem);
    measure(problem);
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const Mask<N> live = wanted & ((gap_ > N(kSmallGap)) | (residual_ > N(kSmallResidual)));
      if (!any(live)) break;
      factorise_system(model, problem);
      pull_all<true>(problem);
      predict(problem);
      correct(problem);
      const N length = finish_direction(problem);
      step(live, length, problem);
    }
    for (Row<N>& row : problem.joints) row.impulse = select(wanted, row.trial, row.impulse);
    for (std::size_t c = 0; c < count_; ++c) {
      rows_[c]->impulse = select(wanted, rows_[c]->trial, rows_[c]->impulse);
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
  static constexpr double kStep = 0.9995;  // of the way to the nearest bound

  /// What nobody who is wanted has is left out: it would add zeros.
  void list_rows(std::size_t rows, Mask<N> wanted, Problem<N>& problem) {
    count_ = 0;
    for (std::size_t l = 0; l <= kLegs; ++l) {
      first_row_[l] = count_;
      for (std::size_t c = problem.first[l]; c < problem.first[l + 1]; ++c) {
        Contact<N>& contact = problem.contacts[c];
        if (!any(contact.rows[0].on & wanted)) continue;
        const std::size_t many = any(contact.rows[1].on & wanted) ? rows : 1;
        for (std::size_t d = 0; d < many; ++d) {
          legs_of_[count_] = l;
          rows_[count_++] = &contact.rows[d];
        }
      }
    }
    first_row_[kLegs + 1] = count_;
  }

  /// In the middle of two bounds; away from a single one, as far as the guess says.
  HWY_INLINE void start_row(Row<N>& row, N guess) {
    const N zero = 0;
    const N one = 1;
    row.has_low = row.on & (row.low > N(-kUnbounded));
    row.has_high = row.on & (row.high < N(kUnbounded));
    row.low = select(row.on, row.low, N(-1));
    row.high = select(row.on, row.high, one);
    row.trial = select(row.has_low & row.has_high, N(0.5) * (row.low + row.high),
                       select(row.has_low, row.low + max_of(guess, N(kFirstImpulse)),
                              select(row.has_high, row.high - N(kFirstImpulse), zero)));
    row.z_low = select(row.has_low, N(kFirstGap) / (row.trial - row.low), zero);
    row.z_high = select(row.has_high, N(kFirstGap) / (row.high - row.trial), zero);
    bounds_ += one_if<N>(row.has_low) + one_if<N>(row.has_high);
  }

  HWY_NOINLINE void start(const Model<N>& model, Problem<N>& problem) {
    const N zero = 0;
    bounds_ = zero;
    for (N& b : at_.base) b = zero;
    for (std::size_t j = 0; j < kJoints; ++j) {
      start_row(problem.joints[j], zero);
      at_.joints[j] = problem.joints[j].trial;
    }
    for (std::size_t l = 0; l <= kLegs; ++l) {
      for (std::size_t c = first_row_[l]; c < first_row_[l + 1]; ++c) {
        start_row(*rows_[c], rows_[c]->impulse);
        add_impulse(*rows_[c], rows_[c]->trial, at_.base, joints_of(l, at_));
      }
    }
    accelerate(model, at_.base, at_.joints);
  }

  static HWY_INLINE N* joints_of(std::size_t leg, Velocity<N>& velocity) {
    return leg < kLegs ? velocity.joints + leg * kLegJoints : nullptr;
  }

  /// How far this is from the end: the sum of all gaps, and the largest residual.
  struct Distance {
    N gap, residual;

    HWY_INLINE Distance() : gap(0.0), residual(0.0) {}
  };

  /// Inverse distances from the bounds (0 where there is none), stiffness, and how far this is from
  /// the end.
  static HWY_INLINE void measure_row(Row<N>& row, N speed, Distance& distance) {
    const N zero = 0;
    row.lack = select(row.on, neg_mul_add(row.softness, row.trial, row.wanted - speed), zero);
    const N low = row.trial - row.low;
    const N high = row.high - row.trial;
    // One division for the inverse of low * high and that of
    //   z_low / low + z_high / high + softness.
    const N area = low * high;
    const N resistance = mul_add(row.z_low, high, mul_add(row.z_high, low, row.softness * area));
    const N inverse = N(1) / (area * resistance);
    const N inverse_area = resistance * inverse;
    row.inverse_low = select(row.has_low, high * inverse_area, zero);
    row.inverse_high = select(row.has_high, low * inverse_area, zero);
    row.stiffness = select(row.on, area * (area * inverse), zero);
    distance.gap = mul_add(row.z_low, low, mul_add(row.z_high, high, distance.gap));
    distance.residual = max_of(distance.residual, abs_of(row.lack + row.z_low - row.z_high));
  }

  /// Does something with every row and how fast it moves.
  template <class Each>
  HWY_INLINE void for_contact_rows(const Velocity<N>& velocity, const Each& each) {
    const std::size_t legs = first_row_[kLegs];
    for (std::size_t c = 0; c < legs; ++c) each(*rows_[c], along(*rows_[c], legs_of_[c], velocity));
    for (std::size_t c = legs; c < count_; ++c) each(*rows_[c], along(*rows_[c], kLegs, velocity));
  }

  HWY_INLINE void keep(const Distance& distance) {
    gap_ = distance.gap / bounds_;
    residual_ = distance.residual;
  }

  HWY_NOINLINE void measure(Problem<N>& problem) {
    Distance distance;
    for (std::size_t j = 0; j < kJoints; ++j) {
      measure_row(problem.joints[j], at_.joints[j], distance);
    }
    for_contact_rows(at_, [&](Row<N>& row, N speed) { measure_row(row, speed, distance); });
    keep(distance);
  }

  /// The system's factor, and how the base moves with the predictor.
  HWY_NOINLINE void factorise_system(const Model<N>& model, Problem<N>& problem) {
    for (std::size_t l = 0; l < kLegs; ++l) {
      reduce_leg(model.legs[l], l, problem);
    }
    // In halves that fit into registers.
    reduce_base<0, 4>(model);
    reduce_base<4, 6>(model);
    factorise(matrix_);
  }

  HWY_INLINE void reduce_leg(const Leg<N>& leg, std::size_t l, const Problem<N>& problem) {
    ReducedLeg<N>& out = legs_[l];
    Block<N> block(leg);
    const Row<N>* joints = problem.joints + l * kLegJoints;
    block.a00 += joints[0].stiffness;
    block.a11 += joints[1].stiffness;
    block.a22 += joints[2].stiffness;
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i) out.coupling[k][i] = leg.coupling[k][i];
    }
    add_springs<N>(rows_of(l), block, out.coupling);
    out.inverse = block.inverse();
    out.reduce();
  }

  /// Rows kBegin to kEnd of the base's matrix, in registers from leg to leg.
  template <std::size_t kBegin, std::size_t kEnd>
  HWY_INLINE void reduce_base(const Model<N>& model) {
    BaseRows<kBegin, kEnd, N> part(model.base);
    for (std::size_t l = 0; l < kLegs; ++l) {
      part.add_springs(rows_of(l));
      part.eliminate(legs_[l]);
    }
    part.add_springs(rows_of(kLegs));
    part.write(matrix_);
  }

  ContactRows<N> rows_of(std::size_t l) const {
    return {rows_ + first_row_[l], first_row_[l + 1] - first_row_[l]};
  }

  /// The predictor's right-hand side is what is wrong now, the corrector's is kept.
  template <bool kPredictor>
  static HWY_INLINE N right_of(const Row<N>& row) {
    if constexpr (kPredictor) return row.lack;
    return row.right;
  }

  /// What a leg's rows pull at its joints and, through them and directly, at the base.
  template <bool kPredictor>
  HWY_INLINE void pull_leg(std::size_t l, const Problem<N>& problem, N (&base)[6]) {
    N pull[kLegJoints];
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      const Row<N>& row = problem.joints[l * kLegJoints + k];
      pull[k] = row.stiffness * right_of<kPredictor>(row);
    }
    for (std::size_t c = first_row_[l]; c < first_row_[l + 1]; ++c) {
      add_impulse(*rows_[c], rows_[c]->stiffness * right_of<kPredictor>(*rows_[c]), base, pull);
    }
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i) {
        base[i] = neg_mul_add(legs_[l].reduced[k][i], pull[k], base[i]);
      }
      legs_[l].right[k] = pull[k];
    }
  }

  /// How the base moves.
  template <bool kPredictor>
  HWY_NOINLINE void pull_all(const Problem<N>& problem) {
    N base[6];
    HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) base[i] = N(0);
    for (std::size_t l = 0; l < kLegs; ++l) pull_leg<kPredictor>(l, problem, base);
    for (std::size_t c = first_row_[kLegs]; c < first_row_[kLegs + 1]; ++c) {
      add_impulse(*rows_[c], rows_[c]->stiffness * right_of<kPredictor>(*rows_[c]), base,
                  static_cast<N*>(nullptr));
    }
    solve_lower(matrix_, base);
    solve_upper(matrix_, base);
    HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) move_.base[i] = base[i];
  }

  /// How the rows' impulses change, from how the base moves; and how the joints do.
  template <bool kPredictor, class Each>
  HWY_INLINE void direct(Problem<N>& problem, const Each& each) {
    for (std::size_t l = 0; l < kLegs; ++l) {
      N speeds[kLegJoints];
      legs_[l].inverse.times(legs_[l].right, speeds);
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        for (std::size_t i = 0; i < 6; ++i) {
          speeds[k] = neg_mul_add(legs_[l].reduced[k][i], move_.base[i], speeds[k]);
        }
        move_.joints[l * kLegJoints + k] = speeds[k];
        Row<N>& row = problem.joints[l * kLegJoints + k];
        row.direction = row.stiffness * (right_of<kPredictor>(row) - speeds[k]);
        each(row);
      }
    }
    for_contact_rows(move_, [&](Row<N>& row, N speed) {
      row.direction = row.stiffness * (right_of<kPredictor>(row) - speed);
      each(row);
    });
  }

  /// The extremes of how impulses move, each in distances from its bound. Of them, as rounding
  /// keeps an order, follows how far a step may go.
  struct Extremes {
    N low_least, low_most, high_least, high_most;

    HWY_INLINE Extremes() : low_least(0.0), low_most(0.0), high_least(0.0), high_most(0.0) {}
    HWY_INLINE void add(const Row<N>& row) {
      const N low = row.direction * row.inverse_low;
      const N high = row.direction * row.inverse_high;
      low_least = min_of(low_least, low);
      low_most = max_of(low_most, low);
      high_least = min_of(high_least, high);
      high_most = max_of(high_most, high);
    }
  };

  /// The gap that a predictor's step of this length leaves.
  static HWY_INLINE N gap_after(const Row<N>& row, N length, N sum) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = row.direction * row.inverse_high;
    const N left_low = mul_add(length, low, one) * neg_mul_add(length, one + low, one);
    const N left_high = neg_mul_add(length, high, one) * neg_mul_add(length, one - high, one);
    sum = mul_add((row.trial - row.low) * row.z_low, left_low, sum);
    return mul_add((row.high - row.trial) * row.z_high, left_high, sum);
  }

  /// The gap to aim at.
  HWY_NOINLINE void predict(Problem<N>& problem) {
    // The step ends at the nearest bound of an impulse or a multiplier.
    const N one = 1;
    Extremes moves;
    direct<true>(problem, [&](const Row<N>& row) { moves.add(row); });
    const N length = one / max_of(max_of(max_of(one, -moves.low_least), moves.high_most),
                                  max_of(one + moves.low_most, one - moves.high_least));
    N left = 0;
    for (const Row<N>& row : problem.joints) left = gap_after(row, length, left);
    for (std::size_t c = 0; c < count_; ++c) left = gap_after(*rows_[c], length, left);
    const N share = left / (bounds_ * gap_);
    target_ = max_of(share * share * share * gap_, N(0.1 * kSmallGap));
  }

  /// The right-hand side that aims at a gap of `target` and knows the predictor's curvature.
  static HWY_INLINE void correct_row(Row<N>& row, N target) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = row.direction * row.inverse_high;
    row.push_low = mul_add(row.direction * row.z_low, one + low, target) * row.inverse_low;
    row.push_high = neg_mul_add(row.direction * row.z_high, one - high, target) * row.inverse_high;
    row.right = row.push_low - row.push_high + row.lack;
  }

  HWY_NOINLINE void correct(Problem<N>& problem) {
    const N target = target_;
    for (Row<N>& row : problem.joints) correct_row(row, target);
    for (std::size_t c = 0; c < count_; ++c) correct_row(*rows_[c], target);
    pull_all<false>(problem);
  }

  /// How the multipliers change, in the place of what pushed them; and the largest of their falls.
  static HWY_INLINE void finish_row(Row<N>& row, N& least) {
    const N one = 1;
    const N low = row.direction * row.inverse_low;
    const N high = row.direction * row.inverse_high;
    row.push_low = neg_mul_add(row.z_low, one + low, row.push_low);
    row.push_high = neg_mul_add(row.z_high, one - high, row.push_high);
    const N z_low = select(row.has_low, row.z_low, one);
    const N z_high = select(row.has_high, row.z_high, one);
    least = min_of(least, min_of(row.push_low * z_high, row.push_high * z_low) / (z_low * z_high));
  }

  /// The length of a step.
  HWY_NOINLINE N finish_direction(Problem<N>& problem) {
    Extremes moves;
    N least = 0.0;
    direct<false>(problem, [&](Row<N>& row) {
      finish_row(row, least);
      moves.add(row);
    });
    const N largest = max_of(max_of(N(kStep), -least), max_of(-moves.low_least, moves.high_most));
    return N(kStep) / largest;
  }

  static HWY_INLINE void step_row(Row<N>& row, Mask<N> live, N length) {
    row.trial = select(live, mul_add(length, row.direction, row.trial), row.trial);
    row.z_low = select(live, mul_add(length, row.push_low, row.z_low), row.z_low);
    row.z_high = select(live, mul_add(length, row.push_high, row.z_high), row.z_high);
  }

  HWY_NOINLINE void step(Mask<N> live, N length, Problem<N>& problem) {
    for (std::size_t i = 0; i < 6; ++i) {
      at_.base[i] = select(live, mul_add(length, move_.base[i], at_.base[i]), at_.base[i]);
    }
    Distance distance;
    for (std::size_t j = 0; j < kJoints; ++j) {
      at_.joints[j] = select(live, mul_add(length, move_.joints[j], at_.joints[j]), at_.joints[j]);
      step_row(problem.joints[j], live, length);
      measure_row(problem.joints[j], at_.joints[j], distance);
    }
    for_contact_rows(at_, [&](Row<N>& row, N speed) {
      step_row(row, live, length);
      measure_row(row, speed, distance);
    });
    keep(distance);
  }

  static constexpr std::size_t kMostRows = 3 * Problem<N>::kMostContacts;

  // The contacts' rows; where each leg's begin.
  ContactRow<N>* rows_[kMostRows];
  std::size_t legs_of_[kMostRows];
  std::size_t first_row_[kLegs + 2];
  std::size_t count_ = 0;
  N bounds_, gap_, residual_, target_;
  N matrix_[21];
  ReducedLeg<N> legs_[kLegs];
  Velocity<N> at_;    // what the impulses do
  Velocity<N> move_;  // and the direction
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
