#include "aurora/encoders/lane_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "aurora/core/random.hpp"

namespace aurora {
namespace {

TEST(LaneSums, AgreeWithPlainSumsForEveryLength) {
  Stream stream(1, Purpose::user);
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<float> a(n), b(n);
    double dot = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(stream.normal());
      b[i] = static_cast<float>(stream.normal());
      dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      square += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    }
    EXPECT_NEAR(lane_dot<double>(a, b), dot, 1e-12) << n;
    EXPECT_NEAR(lane_dot<float>(a, b), dot, 1e-5) << n;
    EXPECT_NEAR(lane_norm(a), std::sqrt(square), 1e-5) << n;
  }
}

}  // namespace
}  // namespace aurora
