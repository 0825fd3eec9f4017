// The rows' impulses by principal pivoting: guess which rows are within their bounds, solve for
// those, move all rows to the other side that then break their conditions, and again. Exact when it
// ends, which without friction it does after a few rounds but for some robots; those, and friction,
// are left to interior_inl.hpp.
//
// A contact row that is free is a stiff spring: lambda = (wanted - J v) / softness. A joint row
// that is free is a joint with a known velocity. Then velocities follow from one arrow-shaped
// system,
//   (M + sum of J^T J / softness) v = J^T lambda,
// leg by leg.
#if defined(AURORA_TASKS_HEXAPOD_PIVOTING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_PIVOTING_INL_HPP
#undef AURORA_TASKS_HEXAPOD_PIVOTING_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_PIVOTING_INL_HPP
#endif

#include "aurora/tasks/hexapod/rows_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// A symmetric 3 x 3 matrix: a leg's block D, and what contacts add to it.
template <class N>
struct Block {
  N a00, a10, a11, a20, a21, a22;

  HWY_INLINE explicit Block(const Leg<N>& leg)
      : a00(leg.d00), a10(0.0), a11(leg.d11), a20(0.0), a21(leg.d12), a22(leg.d22) {}
  HWY_INLINE Block() = default;

  HWY_INLINE void add(N stiffness, const N (&t)[kLegJoints]) {
    const N t0 = stiffness * t[0];
    const N t1 = stiffness * t[1];
    const N t2 = stiffness * t[2];
    a00 = mul_add(t0, t[0], a00);
    a10 = mul_add(t1, t[0], a10);
    a11 = mul_add(t1, t[1], a11);
    a20 = mul_add(t2, t[0], a20);
    a21 = mul_add(t2, t[1], a21);
    a22 = mul_add(t2, t[2], a22);
  }

  HWY_INLINE void times(const N* x, N (&out)[kLegJoints]) const {
    out[0] = mul_add(a00, x[0], mul_add(a10, x[1], a20 * x[2]));
    out[1] = mul_add(a10, x[0], mul_add(a11, x[1], a21 * x[2]));
    out[2] = mul_add(a20, x[0], mul_add(a21, x[1], a22 * x[2]));
  }

  /// By way of L D L^T.
  HWY_INLINE Block inverse() const {
    const N one = 1;
    const N i0 = one / a00;
    const N l10 = a10 * i0;
    const N l20 = a20 * i0;
    const N i1 = one / neg_mul_add(l10, a10, a11);
    const N e21 = neg_mul_add(l10, a20, a21);
    const N l21 = e21 * i1;
    const N i2 = one / neg_mul_add(l21, e21, neg_mul_add(l20, a20, a22));
    const N n20 = mul_add(l10, l21, -l20);
    Block inverse;
    inverse.a22 = i2;
    inverse.a21 = -(l21 * i2);
    inverse.a20 = n20 * i2;
    inverse.a11 = mul_add(l21 * l21, i2, i1);
    inverse.a10 = -mul_add(l10, i1, n20 * l21 * i2);
    inverse.a00 = mul_add(n20 * n20, i2, mul_add(l10 * l10, i1, i0));
    return inverse;
  }
};

/// A leg of the system, reduced to the base: velocity = inverse * right - reduced * base.
template <class N>
struct ReducedLeg {
  N coupling[kLegJoints][6];
  Block<N> inverse;
  N reduced[kLegJoints][6];  // inverse times coupling
  N right[kLegJoints];

  HWY_INLINE void reduce() {
    const Block<N>& g = inverse;
    for (std::size_t i = 0; i < 6; ++i) {
      const N c[kLegJoints] = {coupling[0][i], coupling[1][i], coupling[2][i]};
      N e[kLegJoints];
      g.times(c, e);
      for (std::size_t k = 0; k < kLegJoints; ++k) reduced[k][i] = e[k];
    }
  }
};

/// Adds a spring along a contact's row to the base's part of the system.
template <class N>
HWY_INLINE void add_spring(const ContactRow<N>& row, N stiffness, N (&base)[21]) {
  HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) {
    const N pull = stiffness * row.wrench[i];
    HWY_UNROLL(6) for (std::size_t j = 0; j <= i; ++j) {
      base[at(i, j)] = mul_add(pull, row.wrench[j], base[at(i, j)]);
    }
  }
}

/// And to its leg's.
template <class N>
HWY_INLINE void add_spring(const ContactRow<N>& row, N stiffness, N (&coupling)[kLegJoints][6],
                           Block<N>& block) {
  block.add(stiffness, row.torques);
  HWY_UNROLL(3) for (std::size_t k = 0; k < kLegJoints; ++k) {
    const N pull = stiffness * row.torques[k];
    HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) {
      coupling[k][i] = mul_add(pull, row.wrench[i], coupling[k][i]);
    }
  }
}

/// base and right += impulse * row
template <class N>
HWY_INLINE void add_impulse(const ContactRow<N>& row, N impulse, N (&base)[6], N* right) {
  for (std::size_t i = 0; i < 6; ++i) base[i] = mul_add(impulse, row.wrench[i], base[i]);
  if (right == nullptr) return;
  for (std::size_t k = 0; k < kLegJoints; ++k)
    right[k] = mul_add(impulse, row.torques[k], right[k]);
}

template <class N>
class Pivoting {
 public:
  /// Solves without friction. Says where it did.
  HWY_NOINLINE Mask<N> solve(const Model<N>& model, Problem<N>& problem) {
    N wrong = 0;
    for (int round = 0; round < kRounds; ++round) {
      solve_system(model, problem);
      wrong = move_rows(model, problem);
      if (!any(wrong > N(0))) break;
    }
    return !(wrong > N(0));
  }

 private:
  static constexpr int kRounds = 8;
  static constexpr double kSmallImpulse = 1e-9;
  static constexpr double kSmallSpeed = 1e-10;

  /// Velocities for the present guess.
  HWY_NOINLINE void solve_system(const Model<N>& model, Problem<N>& problem) {
    const N zero = 0;
    N matrix[21];
    for (std::size_t i = 0; i < 21; ++i) matrix[i] = model.base[i];
    N base[6];
    for (N& b : base) b = zero;
    bool moves[kLegs];
    for (std::size_t l = 0; l <= kLegs; ++l) {
      const std::size_t first = problem.first[l];
      const std::size_t last = problem.first[l + 1];
      if (l == kLegs) {
        for (std::size_t c = first; c < last; ++c) {
          const ContactRow<N>& row = problem.contacts[c].rows[0];
          const N stiffness = select(row.free, row.stiff, zero);
          add_spring(row, stiffness, matrix);
          add_impulse(row, stiffness * row.wanted, base, static_cast<N*>(nullptr));
        }
        break;
      }
      moves[l] = reduce_leg(model.legs[l], l, problem, matrix, base);
    }
    factorise(matrix);
    solve_lower(matrix, base);
    solve_upper(matrix, base);
    for (std::size_t i = 0; i < 6; ++i) problem.change.base[i] = base[i];
    for (std::size_t l = 0; l < kLegs; ++l) {
      const ReducedLeg<N>& leg = legs_[l];
      N speeds[kLegJoints];
      if (moves[l]) leg.inverse.times(leg.right, speeds);
      for (std::size_t k = 0; k < kLegJoints; ++k) {
        const std::size_t j = l * kLegJoints + k;
        N& change = problem.change.joints[j];
        change = problem.joints[j].wanted;
        if (!moves[l]) continue;
        for (std::size_t i = 0; i < 6; ++i) {
          speeds[k] = neg_mul_add(leg.reduced[k][i], base[i], speeds[k]);
        }
        change = select(problem.locked[j], change, speeds[k]);
      }
    }
  }

  /// Adds a leg to the base's system. Does any robot have a joint in it that is not locked?
  HWY_INLINE bool reduce_leg(const Leg<N>& leg, std::size_t l, Problem<N>& problem, N (&matrix)[21],
                             N (&base)[6]) {
    const N zero = 0;
    const Mask<N>* locked = problem.locked + l * kLegJoints;
    const bool moves = any(!(locked[0] & locked[1] & locked[2]));
    ReducedLeg<N>& out = legs_[l];
    Block<N> block(leg);
    N known[kLegJoints];
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      const Row<N>& row = problem.joints[l * kLegJoints + k];
      for (std::size_t i = 0; i < 6; ++i) out.coupling[k][i] = leg.coupling[k][i];
      out.right[k] = row.impulse;
      known[k] = select(locked[k], row.wanted, zero);
    }
    for (std::size_t c = problem.first[l]; c < problem.first[l + 1]; ++c) {
      const ContactRow<N>& row = problem.contacts[c].rows[0];
      const N stiffness = select(row.free, row.stiff, zero);
      add_spring(row, stiffness, matrix);
      add_spring(row, stiffness, out.coupling, block);
      add_impulse(row, stiffness * row.wanted, base, out.right);
    }
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i)
        base[i] = neg_mul_add(out.coupling[k][i], known[k], base[i]);
    }
    if (!moves) return false;

    // Without the rows and columns of the joints that are locked.
    N pull[kLegJoints];
    N moving[kLegJoints];
    block.times(known, pull);
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      moving[k] = select(locked[k], zero, N(1));
      out.right[k] = (out.right[k] - pull[k]) * moving[k];
      for (std::size_t i = 0; i < 6; ++i) out.coupling[k][i] = out.coupling[k][i] * moving[k];
    }
    block.a00 = select(locked[0], N(1), block.a00);
    block.a11 = select(locked[1], N(1), block.a11);
    block.a22 = select(locked[2], N(1), block.a22);
    block.a10 = block.a10 * (moving[0] * moving[1]);
    block.a20 = block.a20 * (moving[0] * moving[2]);
    block.a21 = block.a21 * (moving[1] * moving[2]);
    out.inverse = block.inverse();
    out.reduce();
    eliminate(out.coupling, out.reduced, matrix);
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      for (std::size_t i = 0; i < 6; ++i) {
        base[i] = neg_mul_add(out.reduced[k][i], out.right[k], base[i]);
      }
    }
    return true;
  }

  /// Moves the rows that break their conditions; how many they were.
  HWY_NOINLINE N move_rows(const Model<N>& model, Problem<N>& problem) {
    const N zero = 0;
    const N small = kSmallImpulse;
    N wrong = 0;
    for (std::size_t l = 0; l <= kLegs; ++l) {
      N torques[kLegJoints] = {zero, zero, zero};  // of the contacts on the joints
      for (std::size_t c = problem.first[l]; c < problem.first[l + 1]; ++c) {
        ContactRow<N>& row = problem.contacts[c].rows[0];
        const N needed = (row.wanted - along(row, l, problem.change)) * row.stiff;
        const Mask<N> pulls = row.free & (needed < -small);
        const Mask<N> sinks = (!row.free) & row.on & (needed > small);
        row.impulse = select(row.free, needed, zero);
        for (std::size_t k = 0; k < kLegJoints; ++k) {
          torques[k] = mul_add(row.torques[k], row.impulse, torques[k]);
        }
        row.free = (row.free & (!pulls)) | sinks;
        wrong += one_if<N>(pulls | sinks);
      }
      if (l < kLegs) wrong += move_joints(model.legs[l], l, torques, problem);
    }
    return wrong;
  }

  HWY_INLINE N move_joints(const Leg<N>& leg, std::size_t l, const N (&torques)[kLegJoints],
                           Problem<N>& problem) {
    const N small = kSmallImpulse;
    const N slow = kSmallSpeed;
    const N* x = problem.change.joints + l * kLegJoints;
    const N alone[kLegJoints] = {leg.d00 * x[0], mul_add(leg.d11, x[1], leg.d12 * x[2]),
                                 mul_add(leg.d12, x[1], leg.d22 * x[2])};
    N wrong = 0;
    for (std::size_t k = 0; k < kLegJoints; ++k) {
      Row<N>& row = problem.joints[l * kLegJoints + k];
      Mask<N>& locked = problem.locked[l * kLegJoints + k];
      N needed = alone[k] - torques[k];
      for (std::size_t i = 0; i < 6; ++i) {
        needed = mul_add(leg.coupling[k][i], problem.change.base[i], needed);
      }
      const N error = x[k] - row.wanted;
      const Mask<N> low = locked & (needed < row.low - small);
      const Mask<N> high = locked & (needed > row.high + small);
      const Mask<N> back = (!locked) & (((row.impulse >= row.high) & (error > slow)) |
                                        ((row.impulse <= row.low) & (error < -slow)));
      locked = (locked & (!(low | high))) | back;
      row.impulse = select(low, row.low, select(high, row.high, row.impulse));
      wrong += one_if<N>(low | high | back);
    }
    return wrong;
  }

  ReducedLeg<N> legs_[kLegs];
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
