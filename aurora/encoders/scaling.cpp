#include "aurora/encoders/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr double kStdFloor = 0.001;
constexpr std::size_t kFeatureGrain = 512;  // features per task: a stretch of each row stays in L1

void store(InputScaling& scaling, std::size_t feature, double mean, double variance) {
  scaling.mean[feature] = static_cast<float>(mean);
  scaling.scale[feature] =
      static_cast<float>(1.0 / (std::sqrt(std::max(variance, 0.0)) + kStdFloor));
}

void fit_bytes(SensoryView data, std::size_t begin, std::size_t end, InputScaling& scaling) {
  // Sums of 32 bits, the fastest, for as many rows as they hold; then into those of 64 bits.
  constexpr std::size_t kRows = 1U << 16;  // 255 * 255 times this fits 32 bits
  const std::size_t features = end - begin;
  std::vector<std::uint64_t> sum(features), squares(features);
  std::vector<std::uint32_t> some_sum(features), some_squares(features);
  for (std::size_t first = 0; first < data.rows(); first += kRows) {
    std::ranges::fill(some_sum, 0U);
    std::ranges::fill(some_squares, 0U);
    for (std::size_t i = first; i < std::min(first + kRows, data.rows()); ++i) {
      const std::uint8_t* row = data.row<std::uint8_t>(i).data() + begin;
      for (std::size_t j = 0; j < features; ++j) {
        some_sum[j] += row[j];
        some_squares[j] += static_cast<std::uint16_t>(row[j] * row[j]);
      }
    }
    for (std::size_t j = 0; j < features; ++j) {
      sum[j] += some_sum[j];
      squares[j] += some_squares[j];
    }
  }
  const double n = static_cast<double>(data.rows());
  for (std::size_t j = 0; j < sum.size(); ++j) {
    const double mean = static_cast<double>(sum[j]) / n;
    const double variance = static_cast<double>(squares[j]) / n - mean * mean;
    store(scaling, begin + j, mean / 255.0, variance / (255.0 * 255.0));
  }
}

void fit_floats(SensoryView data, std::size_t begin, std::size_t end, InputScaling& scaling) {
  const double n = static_cast<double>(data.rows());
  std::vector<double> mean(end - begin), variance(end - begin);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const float* row = data.row<float>(i).data() + begin;
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += static_cast<double>(row[j]);
  }
  for (double& m : mean) m /= n;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const float* row = data.row<float>(i).data() + begin;
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double d = static_cast<double>(row[j]) - mean[j];
      variance[j] += d * d;
    }
  }
  for (std::size_t j = 0; j < mean.size(); ++j) store(scaling, begin + j, mean[j], variance[j] / n);
}

}  // namespace

InputScaling InputScaling::identity(std::size_t features) {
  return {std::vector<float>(features, 0.0F), std::vector<float>(features, 1.0F)};
}

InputScaling InputScaling::fit(SensoryView data, Workers& workers) {
  if (data.rows() == 0) throw DataError("the input scaling cannot be fitted on no data");
  InputScaling scaling = identity(data.shape().size());
  const bool bytes = data.shape().element == ElementType::uint8;
  workers.parallel_for(data.shape().size(), kFeatureGrain, [&](std::size_t begin, std::size_t end) {
    if (bytes) {
      fit_bytes(data, begin, end, scaling);
    } else {
      fit_floats(data, begin, end, scaling);
    }
  });
  return scaling;
}

void InputScaling::apply(SensoryView data, std::size_t i, std::span<float> out) const {
  if (data.shape().element == ElementType::uint8) {
    const auto row = data.row<std::uint8_t>(i);
    for (std::size_t j = 0; j < out.size(); ++j) {
      out[j] = (static_cast<float>(row[j]) * (1.0F / 255.0F) - mean[j]) * scale[j];
    }
  } else {
    const auto row = data.row<float>(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = (row[j] - mean[j]) * scale[j];
  }
}

}  // namespace aurora
