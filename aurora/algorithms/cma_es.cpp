#include "aurora/algorithms/cma_es.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "aurora/core/individuals.hpp"

namespace aurora {
namespace {

/// The nearest number that is the sum of two floats.
double in_two_floats(double x) {
  const auto high = static_cast<float>(x);
  return static_cast<double>(high) +
         static_cast<double>(static_cast<float>(x - static_cast<double>(high)));
}

double norm(std::span<const double> vector) {
  double sum = 0;
  for (const double x : vector) sum += x * x;
  return std::sqrt(sum);
}

/// E |N(0, I)|
double expected_norm(double n) {
  return std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

}  // namespace

CmaEsCoefficients::CmaEsCoefficients(std::size_t parents, std::size_t dimension)
    : weights(parents) {
  assert(parents > 0 && dimension > 0);
  const auto mu = static_cast<double>(parents);
  const auto n = static_cast<double>(dimension);
  double sum = 0;
  for (std::size_t i = 0; i < parents; ++i) {
    weights[i] = std::log(mu + 0.5) - std::log(static_cast<double>(i + 1));
    sum += weights[i];
  }
  double squares = 0;
  for (double& weight : weights) {
    weight /= sum;
    squares += weight * weight;
  }
  effective = 1 / squares;
  sigma_rate = (effective + 2) / (n + effective + 5);
  sigma_damping = 1 + 2 * std::max(0.0, std::sqrt((effective - 1) / (n + 1)) - 1) + sigma_rate;
  path_rate = (4 + effective / n) / (n + 4 + 2 * effective / n);
  rank_one_rate = 2 / ((n + 1.3) * (n + 1.3) + effective);
  rank_mu_rate = std::min(1 - rank_one_rate, 2 * (0.25 + effective + 1 / effective - 2) /
                                                 ((n + 2) * (n + 2) + effective));
}

CmaEs::CmaEs(std::span<const float> mean, double sigma) {
  const std::size_t n = mean.size();
  state_.mean.assign(mean.begin(), mean.end());
  state_.sigma_path.assign(n, 0);
  state_.path.assign(n, 0);
  state_.covariance.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) state_.covariance[i * n + i] = 1;
  state_.sigma = sigma;
  decompose();
}

CmaEs::CmaEs(State state) : state_(std::move(state)) {
  decompose();
}

void CmaEs::decompose() {
  const std::size_t n = dimension();
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::Map<const RowMajor>(state_.covariance.data(), size, size));
  axes_ = Matrix<double>(n, n);
  Eigen::Map<RowMajor>(axes_.data(), size, size) = solver.eigenvectors();
  scales_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    scales_[i] = std::sqrt(std::max(0.0, solver.eigenvalues()[static_cast<Eigen::Index>(i)]));
  }
}

void CmaEs::sample(Stream& stream, std::span<double> out) const {
  const std::size_t n = dimension();
  std::vector<double> z(n);
  for (std::size_t i = 0; i < n; ++i) z[i] = scales_[i] * stream.normal();
  for (std::size_t i = 0; i < n; ++i) {
    const double step = std::inner_product(z.begin(), z.end(), axes_.row(i).begin(), 0.0);
    out[i] = state_.mean[i] + state_.sigma * step;
  }
}

void CmaEs::update(MatrixView<const double> parents) {
  const std::size_t n = dimension();
  const CmaEsCoefficients c(parents.rows(), n);
  // Steps in units of sigma, and their weighted mean (41, 42).
  Matrix<double> steps(parents.rows(), n);
  std::vector<double> mean_step(n);
  for (std::size_t p = 0; p < parents.rows(); ++p) {
    for (std::size_t i = 0; i < n; ++i) {
      steps(p, i) = (parents(p, i) - state_.mean[i]) / state_.sigma;
      mean_step[i] += c.weights[p] * steps(p, i);
    }
  }
  // Step size (43, 44): B D^-1 B^T takes the shape out of the step.
  std::vector<double> along(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) along[i] += axes_(j, i) * mean_step[j];
    along[i] = scales_[i] > 0 ? along[i] / scales_[i] : 0;
  }
  const double keep = 1 - c.sigma_rate;
  const double gain = std::sqrt(c.sigma_rate * (2 - c.sigma_rate) * c.effective);
  for (std::size_t i = 0; i < n; ++i) {
    const double shapeless =
        std::inner_product(along.begin(), along.end(), axes_.row(i).begin(), 0.0);
    state_.sigma_path[i] = in_two_floats(keep * state_.sigma_path[i] + gain * shapeless);
    state_.mean[i] = in_two_floats(state_.mean[i] + state_.sigma * mean_step[i]);
  }
  ++state_.generation;
  const double length = norm(state_.sigma_path);
  const double expected = expected_norm(static_cast<double>(n));
  state_.sigma *= std::exp(c.sigma_rate / c.sigma_damping * (length / expected - 1));
  // Covariance (45 to 47); after a sudden long path the rank-one part waits.
  const double settled = std::sqrt(1 - std::pow(keep, 2 * static_cast<double>(state_.generation)));
  const bool calm = length / settled < (1.4 + 2 / (static_cast<double>(n) + 1)) * expected;
  const double path_gain = calm ? std::sqrt(c.path_rate * (2 - c.path_rate) * c.effective) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    state_.path[i] = in_two_floats((1 - c.path_rate) * state_.path[i] + path_gain * mean_step[i]);
  }
  const double waited = calm ? 0 : c.path_rate * (2 - c.path_rate);
  const double old = 1 + c.rank_one_rate * waited - c.rank_one_rate - c.rank_mu_rate;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rank_mu = 0;
      for (std::size_t p = 0; p < parents.rows(); ++p) {
        rank_mu += c.weights[p] * steps(p, i) * steps(p, j);
      }
      state_.covariance[i * n + j] = in_two_floats(
          old * state_.covariance[i * n + j] + c.rank_one_rate * state_.path[i] * state_.path[j] +
          c.rank_mu_rate * rank_mu);
      state_.covariance[j * n + i] = state_.covariance[i * n + j];
    }
  }
  decompose();
}

bool CmaEs::is_degenerate(double smallest) const {
  constexpr double kCondition = 1e14;
  const double largest = scales_.back();
  const bool finite = all_finite(state_.mean) && all_finite(scales_) && all_finite(axes_.row(0)) &&
                      std::isfinite(state_.sigma);
  return !finite || !(largest * largest <= kCondition * scales_.front() * scales_.front()) ||
         !(state_.sigma * largest >= smallest);
}

}  // namespace aurora
