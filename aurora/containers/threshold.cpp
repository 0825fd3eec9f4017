#include "aurora/containers/threshold.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "aurora/containers/container.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

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

}  // namespace

double bounded_threshold(double threshold) {
  constexpr double kSmallest = 1e-18;
  constexpr double kLargest = 1e18;
  return std::isnan(threshold) ? kSmallest : std::clamp(threshold, kSmallest, kLargest);
}

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
  return bounded_threshold(0.5 * std::exp((log_volume - log_cells) / n));
}

bool Threshold::wants_update(const IterationEnd& end, std::size_t period) const {
  return end.descriptors_changed || end.iteration % period == 0;
}

std::vector<NamedNumber> Threshold::state() const {
  std::vector<NamedNumber> numbers = {{"threshold.value", value_}};
  save(numbers);
  return numbers;
}

void Threshold::restore(std::span<const NamedNumber> state) {
  check_finite(state);
  const double value = number_called(state, "threshold.value", value_);
  if (value < 0) throw DataError("a threshold must be 0 or more");
  value_ = value;
  load(state);
}

}  // namespace aurora
