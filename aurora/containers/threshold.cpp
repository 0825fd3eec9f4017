#include "aurora/containers/threshold.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

// Thresholds whose square is a normal float.
constexpr double kSmallestThreshold = 1e-18;
constexpr double kLargestThreshold = 1e18;
constexpr double kThresholdWithoutExtent = 1e-6;

double bounded(double threshold) {
  return std::isnan(threshold) ? kSmallestThreshold
                               : std::clamp(threshold, kSmallestThreshold, kLargestThreshold);
}

/// The extents of the descriptors along their principal axes.
Eigen::VectorXd principal_extents(MatrixView<const float> descriptors) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(descriptors.rows());
  const auto cols = static_cast<Eigen::Index>(descriptors.cols());
  Eigen::MatrixXd centred =
      Eigen::Map<const RowMajor>(descriptors.data(), rows, cols).cast<double>();
  centred.rowwise() -= centred.colwise().mean().eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(centred.transpose() * centred);
  const Eigen::MatrixXd rotated = centred * axes.eigenvectors();
  return (rotated.colwise().maxCoeff() - rotated.colwise().minCoeff()).transpose();
}

/// How many of the points, taken in order, have no earlier one that was kept within `radius`.
std::size_t kept_at(MatrixView<const float> points, double radius, NeighbourIndex& index,
                    NeighbourIndex::Workspace& workspace) {
  index.clear();
  const float bound = squared_radius(radius);
  for (std::size_t i = 0; i < points.rows(); ++i) {
    if (index.nearest(points.row(i), 1, workspace, bound).empty()) {
      index.insert(i, points.row(i), i, workspace);
    }
  }
  return index.size();
}

void require(bool holds, const char* key, const char* what, double value) {
  if (!holds) {
    throw UsageError(std::string(key) + " must be " + what + ", not " + std::to_string(value));
  }
}

/// The members' descriptors, oldest first.
Matrix<float> by_age(const Individuals& individuals) {
  std::vector<std::size_t> rows(individuals.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::sort(rows, {}, [&](std::size_t row) { return individuals.ids[row]; });
  Matrix<float> sorted(rows.size(), individuals.descriptors.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(individuals.descriptors.row(rows[i]), sorted.row(i).begin());
  }
  return sorted;
}

}  // namespace

double initial_threshold(MatrixView<const float> descriptors, std::size_t target_size) {
  if (descriptors.rows() == 0 || descriptors.cols() == 0) return kThresholdWithoutExtent;
  const Eigen::VectorXd extents = principal_extents(descriptors);
  // An extent below the rounding of float descriptors is none.
  constexpr double kRelativeRounding = 1e-6;
  const double least = kRelativeRounding * extents.maxCoeff();
  double log_volume = 0;
  double n = 0;
  for (const double extent : extents) {
    if (!(extent > least)) continue;
    log_volume += std::log(extent);
    n += 1;
  }
  if (n == 0) return kThresholdWithoutExtent;
  const double log_cells = std::log(static_cast<double>(std::max<std::size_t>(target_size, 1)));
  return bounded(0.5 * std::exp((log_volume - log_cells) / n));
}

double csc_threshold(double threshold, double gain, std::size_t size, std::size_t target_size) {
  // With a gain above 1 / target_size the rule itself can give 0 or less.
  constexpr double kSmallestFactor = 0.01;
  const double excess = static_cast<double>(size) - static_cast<double>(target_size);
  return bounded(threshold * std::max(1 + gain * excess, kSmallestFactor));
}

double vat_threshold(double diameter, double constant, std::size_t target_size, std::size_t n) {
  return bounded(diameter / std::pow(constant * static_cast<double>(target_size),
                                     1.0 / static_cast<double>(n)));
}

double reseed_threshold(MatrixView<const float> descriptors, std::size_t size, double epsilon) {
  constexpr int kMaxSteps = 40;
  constexpr double kTolerance = 0.01;  // of the size
  NeighbourIndex index(descriptors.cols());
  NeighbourIndex::Workspace workspace;
  const auto kept = [&](double threshold) {
    return static_cast<double>(kept_at(descriptors, (1 - epsilon) * threshold, index, workspace));
  };
  if (descriptors.rows() < 2) return kThresholdWithoutExtent;
  const double enough = std::min(static_cast<double>(size), kept(0));
  // A bracket around the start value: `low` keeps enough (or all that differ), `high` too few.
  constexpr double kStep = 2;
  double low = initial_threshold(descriptors, std::max<std::size_t>(size, 1));
  double high = low;
  double kept_low = kept(low);
  for (int i = 0; i < kMaxSteps && kept_low < enough; ++i) {
    high = low;
    low = bounded(low / kStep);
    kept_low = kept(low);
  }
  for (int i = 0; i < kMaxSteps && high == low; ++i) {
    const double next = bounded(high * kStep);
    if (const double count = kept(next); count >= enough) {
      low = next;
      kept_low = count;
    }
    high = next;
  }
  for (int i = 0; i < kMaxSteps && kept_low > (1 + kTolerance) * enough && high > 1.0001 * low;
       ++i) {
    const double middle = std::sqrt(low * high);
    if (const double count = kept(middle); count >= enough) {
      low = middle;
      kept_low = count;
    } else {
      high = middle;
    }
  }
  return low;
}

namespace {

constexpr double kErrorLimit = 1;      // sizes beyond e times the target, or below 1/e, are alike
constexpr double kSumLimit = 7;        // the integral moves d_min by at most a factor 1000
constexpr double kSmoothing = 0.1;     // weight of the newest change in the trend
constexpr double kChangeLimit = 0.1;   // a jump (of the target, say) is no trend
constexpr double kLossLimit = 0.03;    // an update may leave less than it should by this share,
constexpr double kExcessLimit = 0.01;  // or more by this one: the size only grows until the next

double log_ratio(std::size_t size, std::size_t target_size) {
  const auto at_least_one = [](std::size_t n) {
    return static_cast<double>(std::max<std::size_t>(n, 1));
  };
  return std::log(at_least_one(size) / at_least_one(target_size));
}

double limited(double error) {
  return std::clamp(error, -kErrorLimit, kErrorLimit);
}

/// How many a container update of the PID leaves at the least.
std::size_t least_kept(std::size_t size, std::size_t target_size) {
  return static_cast<std::size_t>((1 - kLossLimit) *
                                  static_cast<double>(std::min(size, target_size)));
}

}  // namespace

void PidController::reset(double threshold, std::size_t size, std::size_t target_size) {
  const double error = log_ratio(size, target_size);
  state_ = {.anchor = std::log(bounded(threshold)) - gains_.proportional * limited(error),
            .sum = 0,
            .error = error,
            .trend = 0};
}

double PidController::step(std::size_t size, std::size_t target_size) {
  const double error = log_ratio(size, target_size);
  const double change = std::clamp(error - state_.error, -kChangeLimit, kChangeLimit);
  state_.trend += kSmoothing * (change - state_.trend);
  state_.error = error;
  const bool about_to_arrive = error * (error + gains_.horizon * state_.trend) < 0;
  if (!about_to_arrive) {
    state_.sum = std::clamp(state_.sum + gains_.integral * limited(error), -kSumLimit, kSumLimit);
  }
  return bounded(std::exp(state_.anchor + gains_.proportional * limited(error) + state_.sum +
                          gains_.derivative * limited(state_.trend)));
}

void PidController::scale(double factor) {
  state_.anchor += std::log(factor);
}

Threshold::Threshold(const ThresholdConfig& config, std::size_t target_size,
                     const ArchiveConfig& archive)
    : config_(config), target_size_(target_size), epsilon_(archive.epsilon) {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const auto gain = [](double x) { return std::isfinite(x) && x >= 0; };
  require(target_size > 0, "container.target_size", "at least 1", 0);
  require(gain(config.gain), "threshold.gain", "finite and at least 0", config.gain);
  require(positive(config.vat_constant), "threshold.vat_constant", "finite and above 0",
          config.vat_constant);
  require(gain(config.pid.proportional), "threshold.pid.proportional", "finite and at least 0",
          config.pid.proportional);
  require(gain(config.pid.integral), "threshold.pid.integral", "finite and at least 0",
          config.pid.integral);
  require(gain(config.pid.derivative), "threshold.pid.derivative", "finite and at least 0",
          config.pid.derivative);
  require(gain(config.pid.horizon), "threshold.pid.horizon", "finite and at least 0",
          config.pid.horizon);
  require(positive(config.value), "threshold.value", "finite and above 0", config.value);
  switch (config.kind) {
    case ThresholdKind::csc:
    case ThresholdKind::pid:
      state_.value = kThresholdWithoutExtent;
      break;
    case ThresholdKind::vat:
    case ThresholdKind::none:
      state_.value = 0;
      break;
    case ThresholdKind::fixed:
      state_.value = config.value;
      break;
  }
}

void Threshold::restore(const State& state) {
  const PidController::State& pid = state.pid;
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!finite(state.value) || state.value < 0 || !finite(pid.anchor) || !finite(pid.sum) ||
      !finite(pid.error) || !finite(pid.trend)) {
    throw DataError("a threshold and its controller must be finite, and the threshold 0 or more");
  }
  state_ = state;
}

void Threshold::start(const Container& container) {
  if (config_.kind != ThresholdKind::csc && config_.kind != ThresholdKind::pid) return;
  state_.value = initial_threshold(container.individuals().descriptors, target_size_);
  PidController pid(config_.pid);
  pid.reset(state_.value, container.size(), target_size_);
  state_.pid = pid.state();
}

void Threshold::encoder_updated(const Container& container, Workers& workers) {
  const bool first = !std::exchange(state_.encoder_updated, true);
  if (container.size() == 0) return;
  switch (config_.kind) {
    case ThresholdKind::fixed:
    case ThresholdKind::none:
      return;
    case ThresholdKind::csc:
      if (first) start(container);
      return;
    case ThresholdKind::vat:
      state_.value = vat_threshold(container.diameter(workers), config_.vat_constant, target_size_,
                                   container.individuals().descriptors.cols());
      return;
    case ThresholdKind::pid: {
      // Not all of them: the closest pair alone would then decide.
      state_.value = reseed_threshold(by_age(container.individuals()),
                                      least_kept(container.size(), target_size_), epsilon_);
      PidController pid(config_.pid);
      pid.reset(state_.value, container.size(), target_size_);
      state_.pid = pid.state();
      return;
    }
  }
}

void Threshold::follow(std::size_t size) {
  if (config_.kind == ThresholdKind::csc) {
    state_.value = csc_threshold(state_.value, config_.gain, size, target_size_);
  } else if (config_.kind == ThresholdKind::pid) {
    PidController pid(config_.pid, state_.pid);
    state_.value = pid.step(size, target_size_);
    state_.pid = pid.state();
  }
}

double Threshold::for_update(const Container& container) {
  if (config_.kind != ThresholdKind::pid || container.size() == 0) return state_.value;
  const Matrix<float> descriptors = by_age(container.individuals());
  NeighbourIndex index(descriptors.cols());
  NeighbourIndex::Workspace workspace;
  const std::size_t kept = kept_at(descriptors, (1 - epsilon_) * state_.value, index, workspace);
  const std::size_t least = least_kept(container.size(), target_size_);
  if (kept < least) {
    return std::min(state_.value, reseed_threshold(descriptors, least, epsilon_));
  }
  if (static_cast<double>(kept) > (1 + kExcessLimit) * static_cast<double>(target_size_)) {
    // The controller goes on from there: its sum need not find the way.
    const double raised =
        std::max(state_.value, reseed_threshold(descriptors, target_size_, epsilon_));
    PidController pid(config_.pid, state_.pid);
    pid.scale(raised / state_.value);
    state_.pid = pid.state();
    state_.value = raised;
  }
  return state_.value;
}

}  // namespace aurora
