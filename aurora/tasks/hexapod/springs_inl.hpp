// Springs along many rows of contacts at once, in the arrow-shaped system of a step. Their sums
// stay in registers from row to row, instead of being written to memory after each.
#if defined(AURORA_TASKS_HEXAPOD_SPRINGS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_SPRINGS_INL_HPP
#undef AURORA_TASKS_HEXAPOD_SPRINGS_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_SPRINGS_INL_HPP
#endif

#include <cstddef>
#include <span>

#include "aurora/tasks/hexapod/pivoting_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

/// The contacts' rows that count, leg by leg.
template <class N>
using ContactRows = std::span<ContactRow<N>* const>;

/// Row k of a leg's system, its block and its coupling to the base, with springs along the rows.
/// Sums stay in registers, which is why there is a function for each row.
template <std::size_t k, class N>
HWY_INLINE void add_joint_springs(ContactRows<N> rows, N (&own)[k + 1], N (&coupling)[6]) {
  N block[k + 1];
  N sums[6];
  HWY_UNROLL(3) for (std::size_t i = 0; i <= k; ++i) block[i] = own[i];
  HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) sums[i] = coupling[i];
  for (const ContactRow<N>* row : rows) {
    const N pull = row->stiffness * row->torques[k];
    HWY_UNROLL(3) for (std::size_t i = 0; i <= k; ++i) {
      block[i] = mul_add(pull, row->torques[i], block[i]);
    }
    HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) {
      sums[i] = mul_add(pull, row->wrench[i], sums[i]);
    }
  }
  HWY_UNROLL(3) for (std::size_t i = 0; i <= k; ++i) own[i] = block[i];
  HWY_UNROLL(6) for (std::size_t i = 0; i < 6; ++i) coupling[i] = sums[i];
}

/// A leg's block and coupling with springs along the rows.
template <class N>
HWY_INLINE void add_springs(ContactRows<N> rows, Block<N>& block, N (&coupling)[kLegJoints][6]) {
  N first[1] = {block.a00};
  N second[2] = {block.a10, block.a11};
  N third[3] = {block.a20, block.a21, block.a22};
  add_joint_springs<0, N>(rows, first, coupling[0]);
  add_joint_springs<1, N>(rows, second, coupling[1]);
  add_joint_springs<2, N>(rows, third, coupling[2]);
  block.a00 = first[0];
  block.a10 = second[0];
  block.a11 = second[1];
  block.a20 = third[0];
  block.a21 = third[1];
  block.a22 = third[2];
}

/// Rows kBegin to kEnd of the base's packed matrix: as many as fit into registers.
template <std::size_t kBegin, std::size_t kEnd, class N>
struct BaseRows {
  static constexpr std::size_t kFirst = at(kBegin, 0);
  static constexpr std::size_t kCount = at(kEnd, 0) - kFirst;
  N sums[kCount];

  HWY_INLINE explicit BaseRows(const N (&matrix)[21]) {
    HWY_UNROLL(16) for (std::size_t i = 0; i < kCount; ++i) sums[i] = matrix[kFirst + i];
  }
  HWY_INLINE void write(N (&matrix)[21]) const {
    HWY_UNROLL(16) for (std::size_t i = 0; i < kCount; ++i) matrix[kFirst + i] = sums[i];
  }
  /// With springs along the rows.
  HWY_INLINE void add_springs(ContactRows<N> rows) {
    for (const ContactRow<N>* row : rows) {
      HWY_UNROLL(6) for (std::size_t i = kBegin; i < kEnd; ++i) {
        const N pull = row->stiffness * row->wrench[i];
        HWY_UNROLL(6) for (std::size_t j = 0; j <= i; ++j) {
          sums[at(i, j) - kFirst] = mul_add(pull, row->wrench[j], sums[at(i, j) - kFirst]);
        }
      }
    }
  }
  /// Without what the leg's joints take away.
  HWY_INLINE void eliminate(const ReducedLeg<N>& leg) {
    const auto& e = leg.reduced;
    const auto& c = leg.coupling;
    HWY_UNROLL(6) for (std::size_t i = kBegin; i < kEnd; ++i) {
      HWY_UNROLL(6) for (std::size_t j = 0; j <= i; ++j) {
        N& sum = sums[at(i, j) - kFirst];
        sum = neg_mul_add(e[0][i], c[0][j],
                          neg_mul_add(e[1][i], c[1][j], neg_mul_add(e[2][i], c[2][j], sum)));
      }
    }
  }
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
