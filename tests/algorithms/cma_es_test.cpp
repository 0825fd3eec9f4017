#include "aurora/algorithms/cma_es.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace aurora {
namespace {

using Vector = std::vector<double>;
using Function = std::function<double(const Vector&)>;

/// Evaluations until the function is below `goal`; `most` if it is not.
std::size_t evaluations_to(const Function& function, std::size_t n, double goal, std::size_t most,
                           std::uint64_t seed) {
  const std::size_t lambda = 4 + static_cast<std::size_t>(3 * std::log(static_cast<double>(n)));
  CmaEs search(std::vector<float>(n, 0.5F), 0.2);
  std::size_t evaluations = 0;
  for (std::uint32_t generation = 0; evaluations < most; ++generation) {
    std::vector<std::pair<double, Vector>> all;
    for (std::uint32_t i = 0; i < lambda; ++i) {
      Stream stream(seed, Purpose::user, generation, i);
      Vector x(n);
      search.sample(stream, x);
      all.emplace_back(function(x), x);
      ++evaluations;
    }
    std::ranges::sort(all);
    if (all[0].first < goal) return evaluations;
    Matrix<double> parents(lambda / 2, n);
    for (std::size_t i = 0; i < parents.rows(); ++i) {
      std::ranges::copy(all[i].second, parents.row(i).begin());
    }
    search.update(parents);
  }
  return most;
}

/// An orthonormal basis, which Gram and Schmidt make of random vectors.
Matrix<double> rotation(std::size_t n) {
  Stream draw(77, Purpose::user);
  Matrix<double> basis(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (double& x : basis.row(i)) x = draw.normal();
    for (std::size_t j = 0; j < i; ++j) {
      const double along =
          std::inner_product(basis.row(i).begin(), basis.row(i).end(), basis.row(j).begin(), 0.0);
      for (std::size_t a = 0; a < n; ++a) basis(i, a) -= along * basis(j, a);
    }
    const double length = std::sqrt(
        std::inner_product(basis.row(i).begin(), basis.row(i).end(), basis.row(i).begin(), 0.0));
    for (double& x : basis.row(i)) x /= length;
  }
  return basis;
}

TEST(CmaEs, FindsTheMiddleOfASphere) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto sphere = [](const Vector& x) {
      double sum = 0;
      for (const double gene : x) sum += (gene - 0.3) * (gene - 0.3);
      return sum;
    };
    EXPECT_LT(evaluations_to(sphere, 10, 1e-10, 4000, seed), 2000U);
  }
}

TEST(CmaEs, FindsTheMiddleOfARotatedEllipsoid) {
  const Matrix<double> basis = rotation(10);
  const auto ellipsoid = [&](const Vector& x) {  // the longest axis is 1000 times the shortest
    double sum = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      double along = 0;
      for (std::size_t a = 0; a < 10; ++a) along += basis(i, a) * (x[a] - 0.3);
      sum += std::pow(10, 6 * static_cast<double>(i) / 9) * along * along;
    }
    return sum;
  };
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_LT(evaluations_to(ellipsoid, 10, 1e-10, 20'000, seed), 8000U);
  }
}

TEST(CmaEs, HasTheCoefficientsOfTheTutorial) {
  const CmaEsCoefficients c(5, 10);  // of ten children
  const Vector weights = {0.4563, 0.2708, 0.1622, 0.0852, 0.0255};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(c.weights[i], weights[i], 1e-4);
  EXPECT_NEAR(c.effective, 3.1673, 1e-3);
  EXPECT_NEAR(c.sigma_rate, 0.28443, 1e-4);
  EXPECT_NEAR(c.sigma_damping, 1.28443, 1e-4);
  EXPECT_NEAR(c.path_rate, 0.29498, 1e-4);
  EXPECT_NEAR(c.rank_one_rate, 0.015284, 1e-5);
  EXPECT_NEAR(c.rank_mu_rate, 0.023552, 1e-5);
  const CmaEsCoefficients lone(1, 4);
  EXPECT_EQ(lone.weights, Vector{1});
  EXPECT_EQ(lone.effective, 1);
  EXPECT_GE(lone.rank_mu_rate, 0);
  // Many parents in few dimensions must not forget more than there is.
  const CmaEsCoefficients many(1000, 2);
  EXPECT_LE(many.rank_one_rate + many.rank_mu_rate, 1);
}

// --- Against plain loops -----------------------------------------------------------------------

using Square = std::vector<Vector>;

/// By elimination with pivots.
Square inverse(Square a) {
  const std::size_t n = a.size();
  Square b(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t i = column; i < n; ++i) {
      if (std::abs(a[i][column]) > std::abs(a[pivot][column])) pivot = i;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == column) continue;
      const double factor = a[i][column] / a[column][column];
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[column][j];
        b[i][j] -= factor * b[column][j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) b[i][j] /= a[i][i];
  }
  return b;
}

/// C^-1/2 without eigenvectors (Denman & Beavers).
Square inverse_root(Square y) {
  const std::size_t n = y.size();
  Square z(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) z[i][i] = 1;
  for (int round = 0; round < 40; ++round) {
    const Square y_inverse = inverse(y);
    const Square z_inverse = inverse(z);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        y[i][j] = (y[i][j] + z_inverse[i][j]) / 2;
        z[i][j] = (z[i][j] + y_inverse[i][j]) / 2;
      }
    }
  }
  return z;
}

/// The equations of the tutorial, one after the other.
struct Oracle {
  Vector mean, sigma_path, path;
  Square covariance;
  double sigma;
  int generation = 0;

  void update(const Matrix<double>& parents) {
    const std::size_t n = mean.size();
    const CmaEsCoefficients c(parents.rows(), n);
    Vector step(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t p = 0; p < parents.rows(); ++p) {
        step[i] += c.weights[p] * (parents(p, i) - mean[i]) / sigma;
      }
    }
    const Square root = inverse_root(covariance);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double shapeless = 0;
      for (std::size_t j = 0; j < n; ++j) shapeless += root[i][j] * step[j];
      sigma_path[i] = (1 - c.sigma_rate) * sigma_path[i] +
                      std::sqrt(c.sigma_rate * (2 - c.sigma_rate) * c.effective) * shapeless;
      squares += sigma_path[i] * sigma_path[i];
    }
    ++generation;
    const auto dimension = static_cast<double>(n);
    const double expected =
        std::sqrt(dimension) * (1 - 1 / (4 * dimension) + 1 / (21 * dimension * dimension));
    const double settled = std::sqrt(1 - std::pow(1 - c.sigma_rate, 2 * generation));
    const double h = std::sqrt(squares) / settled < (1.4 + 2 / (dimension + 1)) * expected ? 1 : 0;
    calm += h > 0 ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) {
      path[i] = (1 - c.path_rate) * path[i] +
                h * std::sqrt(c.path_rate * (2 - c.path_rate) * c.effective) * step[i];
    }
    const double delta = (1 - h) * c.path_rate * (2 - c.path_rate);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < parents.rows(); ++p) {
          sum += c.weights[p] * (parents(p, i) - mean[i]) * (parents(p, j) - mean[j]);
        }
        covariance[i][j] =
            (1 + c.rank_one_rate * delta - c.rank_one_rate - c.rank_mu_rate) * covariance[i][j] +
            c.rank_one_rate * path[i] * path[j] + c.rank_mu_rate * sum / (sigma * sigma);
      }
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] += sigma * step[i];
    sigma *= std::exp(c.sigma_rate / c.sigma_damping * (std::sqrt(squares) / expected - 1));
  }

  int calm = 0;  // updates in which the rank-one part did not wait
};

TEST(CmaEs, FollowsTheEquations) {
  for (const std::size_t n : {2U, 5U}) {
    Stream draw(5, Purpose::user);
    const std::vector<float> start(n, 0.5F);
    CmaEs search(start, 0.2);
    Oracle oracle{Vector(n, 0.5), Vector(n), Vector(n), Square(n, Vector(n)), 0.2};
    for (std::size_t i = 0; i < n; ++i) oracle.covariance[i][i] = 1;
    int restless = 0;
    for (int generation = 0; generation < 60; ++generation) {
      // Another number of parents each time; now and then they leap.
      Matrix<double> parents(1 + draw.below(6), n);
      const double leap = generation % 10 == 9 ? 3 : 0;
      for (std::size_t p = 0; p < parents.rows(); ++p) {
        search.sample(draw, parents.row(p));
        for (double& x : parents.row(p)) x += leap * oracle.sigma;
      }
      search.update(parents);
      const int calm = oracle.calm;
      oracle.update(parents);
      restless += oracle.calm == calm ? 1 : 0;
      const CmaEs::State& state = search.state();
      EXPECT_NEAR(state.sigma, oracle.sigma, 1e-9 * oracle.sigma);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(state.mean[i], oracle.mean[i], 1e-9);
        EXPECT_NEAR(state.sigma_path[i], oracle.sigma_path[i], 1e-8);
        EXPECT_NEAR(state.path[i], oracle.path[i], 1e-8);
        for (std::size_t j = 0; j < n; ++j) {
          EXPECT_NEAR(state.covariance[i * n + j], oracle.covariance[i][j], 1e-8) << generation;
        }
      }
    }
    EXPECT_GT(restless, 0) << "the rank-one part never waited";
    EXPECT_LT(restless, 40);
  }
}

TEST(CmaEs, SamplesHaveItsMeanAndCovariance) {
  CmaEs::State state{.mean = {0.25, 0.5},
                     .sigma_path = {0, 0},
                     .path = {0, 0},
                     .covariance = {2, 1.5, 1.5, 4},
                     .sigma = 0.5};
  const CmaEs search(state);
  constexpr std::size_t kSamples = 200'000;
  Stream draw(6, Purpose::user);
  Vector sum(2);
  Square squares(2, Vector(2));
  for (std::size_t s = 0; s < kSamples; ++s) {
    Vector x(2);
    search.sample(draw, x);
    for (std::size_t i = 0; i < 2; ++i) {
      sum[i] += x[i] / kSamples;
      for (std::size_t j = 0; j < 2; ++j) {
        squares[i][j] += (x[i] - state.mean[i]) * (x[j] - state.mean[j]) / kSamples;
      }
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(sum[i], state.mean[i], 0.01);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(squares[i][j], 0.25 * state.covariance[2 * i + j], 0.015);
    }
  }
}

TEST(CmaEs, GoesOnFromItsStateWhichTwoFloatsHold) {
  Stream draw(7, Purpose::user);
  CmaEs search(std::vector<float>(4, 0.1F), 0.3);
  const auto step = [](CmaEs& one, Stream stream) {
    Matrix<double> parents(3, 4);
    for (std::size_t p = 0; p < 3; ++p) one.sample(stream, parents.row(p));
    one.update(parents);
  };
  for (std::uint32_t i = 0; i < 20; ++i) step(search, Stream(1, Purpose::user, i));
  const auto fits = [](double x) {
    const auto high = static_cast<float>(x);
    const auto low = static_cast<float>(x - static_cast<double>(high));
    return static_cast<double>(high) + static_cast<double>(low) == x;
  };
  for (const Vector* values : {&search.state().mean, &search.state().sigma_path,
                               &search.state().path, &search.state().covariance}) {
    EXPECT_TRUE(std::ranges::all_of(*values, fits));
  }
  CmaEs restored(search.state());
  for (std::uint32_t i = 20; i < 40; ++i) {
    step(search, Stream(1, Purpose::user, i));
    step(restored, Stream(1, Purpose::user, i));
    ASSERT_EQ(search.state().covariance, restored.state().covariance);
    ASSERT_EQ(search.state().mean, restored.state().mean);
    ASSERT_EQ(search.state().sigma, restored.state().sigma);
  }
}

TEST(CmaEs, SaysWhenItIsOfNoUse) {
  const auto degenerate = [](const auto& change) {
    CmaEs::State state{.mean = {0.25, 0.5},
                       .sigma_path = {0, 0},
                       .path = {0, 0},
                       .covariance = {1, 0, 0, 1},
                       .sigma = 0.5};
    change(state);
    return CmaEs(state).is_degenerate(1e-6);
  };
  using State = CmaEs::State;
  EXPECT_FALSE(degenerate([](State&) {}));
  EXPECT_FALSE(degenerate([](State& s) { s.covariance = {1, 0, 0, 1e-13}; }));
  EXPECT_TRUE(degenerate([](State& s) { s.covariance = {1, 0, 0, 1e-15}; }));
  EXPECT_TRUE(degenerate([](State& s) { s.covariance = {1, 2, 2, 1}; }));
  EXPECT_TRUE(degenerate([](State& s) { s.covariance = {0, 0, 0, 0}; }));
  EXPECT_TRUE(degenerate([](State& s) { s.sigma = 1e-7; }));
  EXPECT_TRUE(degenerate([](State& s) { s.sigma = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(degenerate([](State& s) { s.mean[0] = std::nan(""); }));
}

}  // namespace
}  // namespace aurora
