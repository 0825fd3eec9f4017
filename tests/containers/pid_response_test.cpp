// The step response of the threshold's PID controller, in a simulated container.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "aurora/containers/threshold.hpp"
#include "simulated_container.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

constexpr double kEpsilon = 0.1;

struct Response {
  double largest = 0;  // size / target, once the size has come down to the target if it was above
  int settled = 0;     // iterations after which it stays within 5 %
};

Response follow(SimulatedContainer& container, Threshold& threshold, std::size_t target,
                int iterations, Workers& workers) {
  Response response;
  bool above = container.archive.size() > target;
  for (int i = 0; i < iterations; ++i) {
    container.iterate(threshold.value());
    threshold.follow(container.archive.size());
    const auto ratio = [&] {
      return static_cast<double>(container.archive.size()) / static_cast<double>(target);
    };
    // A run logs the size after a container update; the overshoot counts before it too.
    if (!above) response.largest = std::max(response.largest, ratio());
    if (container.update_due()) {
      container.archive.update(threshold.for_update(container.archive, kEpsilon), workers);
    }
    above = above && ratio() > 1;
    if (!above) response.largest = std::max(response.largest, ratio());
    if (std::abs(ratio() - 1) > 0.05) response.settled = i + 1;
  }
  return response;
}

struct Case {
  std::size_t dimension;
  std::size_t target;
  std::uint32_t seed;
};

class PidResponse : public testing::TestWithParam<Case> {};

// The gains and the limits of an update were chosen by looking at seeds 11 to 18 of this container,
// and judged once on 101 to 108, of which these are the first; bench/RESULTS.md has the numbers.
TEST_P(PidResponse, SettlesWithoutMuchOvershoot) {
  const auto [dimension, wanted, seed] = GetParam();
  SimulatedContainer container(dimension, seed);
  std::unique_ptr<Threshold> threshold = make_part(pid_threshold_part(), {wanted});
  Workers one(1);
  const auto expect_settled = [&](std::size_t target, int iterations, const char* what) {
    const Response response = follow(container, *threshold, target, iterations, one);
    EXPECT_LE(response.settled, 200) << what;
    EXPECT_LT(response.largest, 1.2) << what;
  };
  // From nothing; 10,000 members take 78 iterations at the least.
  container.iterate(threshold->value());
  threshold->start(container.archive);
  expect_settled(wanted, 300, "filling");
  // A third of the target, and back.
  for (const std::size_t target : {wanted / 3, wanted}) {
    const std::vector<NamedNumber> state = threshold->state();
    threshold = make_part(pid_threshold_part(), {target});
    threshold->restore(state);
    expect_settled(target, 300, "target moved by 3");
  }
  for (const std::size_t n : {2U, 3U, 5U}) {
    container.lose_all_but_one_in(n);
    expect_settled(wanted, 300, "members lost");
  }
  // The encoder moves the space by 3: the threshold is found anew.
  for (const double factor : {3.0, 1.0 / 9, 3.0}) {
    container.rescale(factor);
    threshold->encoder_updated(container.archive, kEpsilon, one);
    container.archive.update(threshold->for_update(container.archive, kEpsilon), one);
    expect_settled(wanted, 250, "space rescaled");
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::size_t dimension : {2U, 4U, 10U}) {
    for (const std::size_t target : {300U, 1000U, 3000U}) {
      for (const std::uint32_t seed : {101U, 102U}) all.push_back({dimension, target, seed});
    }
    all.push_back({dimension, 10'000, 101});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, PidResponse, testing::ValuesIn(cases()), [](const auto& instance) {
  return std::to_string(instance.param.dimension) + "Dimensions" +
         std::to_string(instance.param.target) + "MembersSeed" +
         std::to_string(instance.param.seed);
});

}  // namespace
}  // namespace aurora
