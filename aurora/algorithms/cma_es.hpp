// CMA-ES: a normal distribution that follows the best of what is drawn from it (Hansen, "The CMA
// Evolution Strategy: A Tutorial", arXiv:1604.00772; equation numbers are its own). Positive
// weights alone, and as many parents as one has: their number may change from update to update.
//
// An update is O(G^3) for G variables, most of it for the eigenvectors. All sums run in a fixed
// order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

/// Of some parents, best first, in G dimensions (table 1).
struct CmaEsCoefficients {
  CmaEsCoefficients(std::size_t parents, std::size_t dimension);

  std::vector<double> weights;  // of the parents; their sum is 1
  double effective = 1;         // mu_eff
  double sigma_rate = 0;        // c_sigma
  double sigma_damping = 1;     // d_sigma
  double path_rate = 0;         // c_c
  double rank_one_rate = 0;     // c_1
  double rank_mu_rate = 0;      // c_mu
};

class CmaEs {
 public:
  /// All that it depends on. Every number but `generation` and `sigma` has 48 bits, so that two
  /// floats hold it.
  struct State {
    std::vector<double> mean;
    std::vector<double> sigma_path;  // p_sigma
    std::vector<double> path;        // p_c
    std::vector<double> covariance;  // C, row by row
    double sigma = 0;                // step size
    std::size_t generation = 0;      // updates so far
  };

  /// Begins around `mean`, alike in all directions.
  CmaEs(std::span<const float> mean, double sigma);
  /// Goes on; the sizes must be those of a state().
  explicit CmaEs(State state);

  std::size_t dimension() const { return state_.mean.size(); }
  const State& state() const { return state_; }

  /// m + sigma B D z, with z from the stream (38 to 40).
  void sample(Stream& stream, std::span<double> out) const;

  /// Moves to the parents: a row each, best first, at least one.
  void update(MatrixView<const double> parents);

  /// No use any more: a number is not finite, C is hardly positive definite (condition above
  /// 1e14), or the largest standard deviation below `smallest`.
  bool is_degenerate(double smallest) const;

 private:
  void decompose();

  State state_;
  Matrix<double> axes_;         // B: columns are eigenvectors of C
  std::vector<double> scales_;  // D: square roots of the eigenvalues, ascending; 0 below 0
};

}  // namespace aurora
