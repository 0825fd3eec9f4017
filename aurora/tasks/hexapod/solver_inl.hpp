// The impulses of a step in DART's two stages: first without friction; then with friction of at
// most what the contacts bore in the first, everything solved again.
#if defined(AURORA_TASKS_HEXAPOD_SOLVER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef AURORA_TASKS_HEXAPOD_SOLVER_INL_HPP
#undef AURORA_TASKS_HEXAPOD_SOLVER_INL_HPP
#else
#define AURORA_TASKS_HEXAPOD_SOLVER_INL_HPP
#endif

#include "aurora/tasks/hexapod/interior_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace aurora::hexapod::HWY_NAMESPACE {

template <class N>
class Solver {
 public:
  /// problem.change
  void solve(const Model<N>& model, Problem<N>& problem) {
    const Mask<N> solved = pivoting_.solve(model, problem);
    if (any(!solved)) interior_point_.solve(model, 1, !solved, problem);
    const std::size_t count = problem.first[kLegs + 1];
    if (count == 0) return;
    Mask<N> touching = nowhere<N>();
    for (std::size_t c = 0; c < count; ++c) {
      allow_friction(problem.contacts[c]);
      touching = touching | problem.contacts[c].rows[0].on;
    }
    interior_point_.solve(model, 3, touching, problem);
  }

 private:
  static constexpr double kSmallImpulse = 1e-6;

  static HWY_INLINE void allow_friction(Contact<N>& contact) {
    const N zero = 0;
    const N normal = contact.rows[0].impulse;
    const Mask<N> bears = contact.rows[0].on & (normal > N(kSmallImpulse));
    const N bound = select(bears, normal, zero);
    for (std::size_t d = 1; d < 3; ++d) {
      ContactRow<N>& row = contact.rows[d];
      row.on = bears;
      row.low = -bound;
      row.high = bound;
    }
  }

  Pivoting<N> pivoting_;
  InteriorPoint<N> interior_point_;
};

}  // namespace aurora::hexapod::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
