#include "aurora/containers/threshold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "archive_oracle.hpp"
#include "aurora/containers/pid.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "simulated_container.hpp"
#include "tests/core/values.hpp"

namespace aurora {
namespace {

Matrix<float> matrix(std::size_t cols, const std::vector<float>& values) {
  Matrix<float> m(values.size() / cols, cols);
  std::ranges::copy(values, m.data());
  return m;
}

Matrix<float> random_points(std::size_t rows, std::size_t n, std::uint32_t seed) {
  Stream draw(seed, Purpose::user);
  Matrix<float> m(rows, n);
  for (std::size_t i = 0; i < rows * n; ++i) m.data()[i] = static_cast<float>(draw.uniform());
  return m;
}

TEST(InitialThreshold, IsHalfTheSideOfACellOfTheRotatedBox) {
  // A 4 x 1 rectangle, turned by 30 degrees: V = 4, n = 2, l = 0.5 * sqrt(4 / 100).
  const double c = std::cos(M_PI / 6);
  const double s = std::sin(M_PI / 6);
  std::vector<float> values;
  for (const double x : {-2.0, 0.0, 2.0}) {
    for (const double y : {-0.5, 0.5}) {
      values.push_back(static_cast<float>(c * x - s * y + 7));
      values.push_back(static_cast<float>(s * x + c * y - 3));
    }
  }
  EXPECT_NEAR(initial_threshold(matrix(2, values), 100), 0.5 * std::sqrt(4.0 / 100), 1e-6);
  EXPECT_NEAR(initial_threshold(matrix(1, {1, 4, 2}), 6), 0.5 * 3.0 / 6, 1e-12);
}

TEST(InitialThreshold, LeavesOutAxesWithoutExtent) {
  // On a line of length 5 in three dimensions: V = 5, n = 1.
  EXPECT_NEAR(initial_threshold(matrix(3, {0, 0, 1, 3, 4, 1, 1.5F, 2, 1}), 10), 0.5 * 5.0 / 10,
              1e-6);
  EXPECT_NEAR(initial_threshold(matrix(2, {0, 0.1F, 0.3F, 0.1F, 0.7F, 0.1F}), 10),
              0.5 * double{0.7F} / 10, 1e-9);
}

TEST(InitialThreshold, IsSmallAndPositiveWithoutAnyExtent) {
  const double nothing = initial_threshold(Matrix<float>(0, 3), 10);
  for (const auto& points : {matrix(2, {1, 2}), matrix(2, {1, 2, 1, 2, 1, 2}), matrix(1, {0, 0}),
                             Matrix<float>(5, 20)}) {
    EXPECT_EQ(initial_threshold(points, 10), nothing);
  }
  EXPECT_GT(nothing, 0);
  EXPECT_LT(nothing, 1e-3);
}

TEST(InitialThreshold, IsFiniteAndPositiveForExtremePoints) {
  for (const float scale : {1e-38F, 1e-20F, 1.0F, 1e20F, 1e38F}) {
    Matrix<float> points = random_points(50, 3, 1);
    for (std::size_t i = 0; i < 150; ++i) points.data()[i] *= scale;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
      const double l = initial_threshold(points, size);
      EXPECT_TRUE(std::isfinite(l) && l > 0) << scale << ' ' << size << ' ' << l;
    }
  }
}

TEST(CscThreshold, FollowsTheFormula) {
  EXPECT_DOUBLE_EQ(csc_threshold(0.2, 5e-6, 12'000, 10'000), 0.2 * (1 + 5e-6 * 2000));
  EXPECT_DOUBLE_EQ(csc_threshold(0.2, 5e-6, 0, 10'000), 0.2 * (1 - 5e-6 * 10'000));
  EXPECT_EQ(csc_threshold(0.2, 5e-6, 10'000, 10'000), 0.2);
}

TEST(CscThreshold, StaysFiniteAndPositive) {
  for (const double gain : {0.0, 5e-6, 1.0, 1e300}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{10'000}, SIZE_MAX}) {
      double l = 0.1;
      for (int i = 0; i < 2000; ++i) {
        l = csc_threshold(l, gain, size, 10'000);
        ASSERT_TRUE(std::isfinite(l) && l > 0) << gain << ' ' << size;
      }
      // And it can come back.
      const double turned = csc_threshold(l, 1e-5, size > 10'000 ? 0 : 20'000, 10'000);
      EXPECT_TRUE(size > 10'000 ? turned < l : turned > l);
    }
  }
}

TEST(VatThreshold, FollowsTheFormula) {
  EXPECT_DOUBLE_EQ(vat_threshold(3, 25, 10'000, 2), 3 / std::sqrt(25.0 * 10'000));
  EXPECT_DOUBLE_EQ(vat_threshold(3, 18, 5'000, 10), 3 / std::pow(18.0 * 5'000, 0.1));
  EXPECT_GT(vat_threshold(0, 25, 10'000, 2), 0);
  EXPECT_TRUE(std::isfinite(vat_threshold(std::numeric_limits<double>::infinity(), 25, 10, 2)));
}

/// How many a container update keeps, by rule 1 alone.
std::size_t kept(const Matrix<float>& points, double threshold, double epsilon,
                 const std::vector<double>& factors = {}) {
  std::vector<std::size_t> in;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    if (std::ranges::all_of(in, [&](std::size_t j) {
          return std::sqrt(double{ArchiveOracle::squared_distance(points.row(i), points.row(j))}) >
                 (1 - epsilon) * threshold * (factors.empty() ? 1 : factors[j]);
        })) {
      in.push_back(i);
    }
  }
  return in.size();
}

TEST(ReseedThreshold, KeepsTheSizeInEverySpace) {
  for (const std::size_t n : {1U, 2U, 3U, 10U}) {
    for (const float scale : {1e-6F, 1.0F, 1e6F}) {
      Matrix<float> points = random_points(600, n, 3);
      for (std::size_t i = 0; i < 600 * n; ++i) points.data()[i] *= scale;
      for (const std::size_t size : {1U, 30U, 300U, 570U}) {
        const std::size_t count = kept(points, reseed_threshold(points, size, 0.1), 0.1);
        EXPECT_GE(count, size) << "n " << n << " scale " << scale;
        EXPECT_LE(static_cast<double>(count), 1.05 * static_cast<double>(size) + 2)
            << "n " << n << " scale " << scale;
      }
    }
  }
}

TEST(ReseedThreshold, KeepsTheSizeWhereRadiiDiffer) {
  for (const std::size_t n : {1U, 2U, 10U}) {
    const Matrix<float> points = random_points(600, n, 4);
    Stream draw(4, Purpose::user, 1);
    std::vector<double> factors(points.rows());
    for (double& factor : factors) factor = 0.3 + 1.4 * draw.uniform();
    for (const std::size_t size : {1U, 30U, 300U, 570U}) {
      const double threshold = reseed_threshold(points, size, 0.1, factors);
      const std::size_t count = kept(points, threshold, 0.1, factors);
      EXPECT_GE(count, size) << "n " << n;
      EXPECT_LE(static_cast<double>(count), 1.05 * static_cast<double>(size) + 2) << "n " << n;
    }
  }
}

TEST(ReseedThreshold, IsFiniteAndPositiveForDegenerateInputs) {
  for (const auto& points : {Matrix<float>(0, 2), Matrix<float>(1, 2), Matrix<float>(100, 2),
                             matrix(1, {0, 0, 1, 1, 2, 2})}) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 1000U}) {
      const double l = reseed_threshold(points, size, 0.1);
      EXPECT_TRUE(std::isfinite(l) && l > 0) << points.rows() << ' ' << size << ' ' << l;
    }
  }
  // Three different values: all three can be kept, not more.
  EXPECT_EQ(kept(matrix(1, {0, 0, 1, 1, 2, 2}),
                 reseed_threshold(matrix(1, {0, 0, 1, 1, 2, 2}), 1000, 0.1), 0.1),
            3U);
}

TEST(PidController, OutputsItsAnchorAtTheTargetAndStaysFinite) {
  PidController pid({});
  pid.reset(0.25, 500, 1000);
  PidController at_target({});
  at_target.reset(0.25, 1000, 1000);
  EXPECT_NEAR(at_target.step(1000, 1000), 0.25, 1e-12);
  double l = 0.25;
  for (const std::size_t size : {std::size_t{0}, SIZE_MAX, std::size_t{1}, std::size_t{1000}}) {
    for (int i = 0; i < 10'000; ++i) {
      l = pid.step(size, 1000);
      ASSERT_TRUE(std::isfinite(l) && l > 0);
    }
  }
  EXPECT_GT(l, 0.25e-4);
  EXPECT_LT(l, 0.25e4);
}

TEST(PidController, GoesOnFromARestoredState) {
  const PidGains gains;
  PidController a(gains);
  a.reset(0.1, 100, 1000);
  for (std::size_t i = 0; i < 50; ++i) a.step(100 + 10 * i, 1000);
  PidController b(gains);
  b.restore(a.state());
  EXPECT_EQ(a.state(), b.state());
  EXPECT_EQ(a.step(900, 1000), b.step(900, 1000));
}

using State = std::vector<NamedNumber>;

constexpr double kEpsilon = 0.1;

void set_number(State& state, const std::string& name, double value) {
  const auto number = std::ranges::find(state, name, &NamedNumber::name);
  ASSERT_NE(number, state.end()) << name;
  number->value = value;
}

TEST(Threshold, DoesWhatEachKindHasToDo) {
  Workers one(1);
  SimulatedContainer container(2, 5);
  for (int i = 0; i < 5; ++i) container.iterate(0.01);
  const Matrix<float>& points = container.archive.individuals().descriptors;
  constexpr std::size_t kTarget = 400;
  const double start = initial_threshold(points, kTarget);

  const auto csc = make_part(csc_threshold_part(), {kTarget});
  csc->start(container.archive);
  EXPECT_EQ(csc->value(), start);
  csc->follow(500);
  EXPECT_EQ(csc->value(), csc_threshold(start, 5e-6, 500, kTarget));
  csc->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(csc->value(), start);  // the first time
  csc->follow(500);
  const double followed = csc->value();
  csc->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(csc->value(), followed);

  const auto vat = make_part(vat_threshold_part(), {kTarget}, {"vat_constant=18"});
  vat->start(container.archive);
  vat->follow(500);
  EXPECT_EQ(vat->value(), 0);
  vat->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(vat->value(), vat_threshold(container.archive.diameter(one), 18, kTarget, 2));
  const double once = vat->value();
  vat->follow(1000);
  EXPECT_EQ(vat->value(), once);

  const auto fixed = make_part(fixed_threshold_part(), {kTarget}, {"value=0.3"});
  fixed->start(container.archive);
  fixed->encoder_updated(container.archive, kEpsilon, one);
  fixed->follow(10'000);
  EXPECT_EQ(fixed->value(), 0.3);

  const auto pid = make_part(pid_threshold_part(), {kTarget});
  pid->start(container.archive);
  EXPECT_EQ(pid->value(), start);
  pid->follow(2 * kTarget);
  EXPECT_GT(pid->value(), start);
  const auto other = make_part(pid_threshold_part(), {kTarget});
  other->restore(pid->state());
  other->follow(kTarget / 2);
  pid->follow(kTarget / 2);
  EXPECT_EQ(other->state(), pid->state());
  State broken = pid->state();
  set_number(broken, "threshold.trend", std::nan(""));
  EXPECT_THROW(other->restore(broken), DataError);
  broken = pid->state();
  set_number(broken, "threshold.value", -1);
  EXPECT_THROW(other->restore(broken), DataError);
  EXPECT_EQ(other->state(), pid->state());
}

TEST(Growing, BeginsWithAllOfItForSelectorsThatExplore) {
  const ThresholdEntry entry = growing_threshold_part();
  const auto start = std::ranges::find(
      entry.depends, "start", &std::pair<std::string, std::function<double(const Mix&)>>::first);
  ASSERT_NE(start, entry.depends.end());
  Mix mix;
  for (const char* selection : {"novelty", "surprise", "novelty+surprise", "exploring"}) {
    mix.selection = selection;
    EXPECT_EQ(start->second(mix), 1) << selection;
  }
  for (const char* selection : {"uniform", "curiosity", "tournament", "none", ""}) {
    mix.selection = selection;
    EXPECT_EQ(start->second(mix), 0.1) << selection;
  }
}

TEST(Threshold, GrowingFollowsATargetThatGrows) {
  Workers one(1);
  SimulatedContainer container(2, 5);
  for (int i = 0; i < 5; ++i) container.iterate(0.01);
  const Matrix<float>& points = container.archive.individuals().descriptors;
  const auto growing = make_part(growing_threshold_part(), {1000},
                                 {"start=0.2", "iterations=8", "rate=0.1", "reseed=true"});
  // The target after i iterations: 200 + 100 i, and 1000 from the eighth on.
  growing->start(container.archive);
  EXPECT_EQ(growing->value(), initial_threshold(points, 300));
  growing->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(growing->value(), initial_threshold(points, 400));
  double expected = growing->value();
  for (int i = 3; i < 20; ++i) {
    const std::size_t target = i < 8 ? 200 + 100 * static_cast<std::size_t>(i) : 1000;
    expected = csc_threshold(expected, 0.1 / static_cast<double>(target), 650, target);
    growing->follow(650);
    EXPECT_DOUBLE_EQ(growing->value(), expected) << i;
  }
  const auto other = make_part(growing_threshold_part(), {1000},
                               {"start=0.2", "iterations=8", "rate=0.1", "reseed=false"});
  other->restore(growing->state());
  other->follow(10);
  growing->follow(10);
  EXPECT_EQ(other->state(), growing->state());
  // A later encoder update: one leaves it, the other asks the members.
  const double before = other->value();
  other->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(other->value(), before);
  growing->encoder_updated(container.archive, kEpsilon, one);
  EXPECT_EQ(growing->value(), reseed_threshold(container.archive, 1000, kEpsilon));
}

TEST(Threshold, FollowsWithTheGainThatItWasMadeWith) {
  SimulatedContainer container(2, 5);
  container.iterate(0.01);
  for (const char* gain : {"1e-4", "1"}) {
    const auto csc = make_part(csc_threshold_part(), {400}, {std::string("gain=") + gain});
    csc->start(container.archive);
    const double start = csc->value();
    csc->follow(500);
    EXPECT_EQ(csc->value(), csc_threshold(start, std::stod(gain), 500, 400));
  }
  const auto after = [&](const char* integral) {
    const auto pid = make_part(pid_threshold_part(), {400}, {integral});
    pid->start(container.archive);
    for (int i = 0; i < 5; ++i) pid->follow(800);
    return pid->value();
  };
  EXPECT_GT(after("integral=0.2"), after("integral=0.1"));
  EXPECT_GT(after("integral=0.1"), after("integral=0"));
}

TEST(Threshold, OfThePidLetsAnUpdateLeaveTheTarget) {
  constexpr std::size_t kTarget = 300;
  Workers one(1);
  for (const std::size_t n : {2U, 10U}) {
    SimulatedContainer container(n, 6);
    for (int i = 0; i < 10; ++i) container.iterate(1e-3);
    const std::size_t size = container.archive.size();
    ASSERT_GT(size, 2 * kTarget);
    // A threshold far too low, about right and far too high; more members than the target, and
    // fewer.
    for (const double threshold : {1e-3, 0.05, 10.0}) {
      for (const std::size_t target : {kTarget, 2 * size}) {
        UnstructuredArchive archive(small_layout(n), {});
        archive.restore(container.archive.individuals());
        const auto pid = make_part(pid_threshold_part(), {target});
        State state = pid->state();
        set_number(state, "threshold.value", threshold);
        set_number(state, "threshold.anchor", std::log(threshold));
        pid->restore(state);
        archive.update(pid->for_update(archive, kEpsilon), one);
        const auto left = static_cast<double>(archive.size());
        const auto wanted = static_cast<double>(std::min(size, target));
        // Rule 1 alone is counted: replacements during the update make a difference.
        EXPECT_GT(left, 0.94 * wanted) << "n " << n << " threshold " << threshold;
        EXPECT_LT(left, 1.1 * static_cast<double>(target)) << "n " << n << ' ' << threshold;
        // Only a threshold that is too low changes for good.
        if (threshold == 1e-3 && target == kTarget) {
          EXPECT_GT(pid->value(), threshold);
          const double raised = pid->value();
          pid->follow(target);
          EXPECT_NEAR(pid->value() / raised, 1, 0.01);
        } else if (threshold == 10.0 || target > size) {
          EXPECT_EQ(pid->state(), state);
        }
      }
    }
  }
}

TEST(Threshold, OfTheOtherKindsIsThatOfTheUpdate) {
  SimulatedContainer container(2, 7);
  for (int i = 0; i < 5; ++i) container.iterate(0.01);
  for (const ThresholdEntry& entry :
       {csc_threshold_part(), vat_threshold_part(), fixed_threshold_part()}) {
    const auto threshold = make_part(entry, {10});
    threshold->start(container.archive);
    const State state = threshold->state();
    EXPECT_EQ(threshold->for_update(container.archive, kEpsilon), threshold->value());
    EXPECT_EQ(threshold->state(), state);
  }
}

TEST(Threshold, IsPositiveBeforeThereIsAnybody) {
  const UnstructuredArchive empty(small_layout(2), {});
  Workers one(1);
  for (const ThresholdEntry& entry :
       {csc_threshold_part(), pid_threshold_part(), fixed_threshold_part()}) {
    const auto threshold = make_part(entry, {100});
    EXPECT_GT(threshold->value(), 0);
    threshold->start(empty);
    threshold->encoder_updated(empty, kEpsilon, one);
    threshold->follow(0);
    EXPECT_TRUE(std::isfinite(threshold->value()) && threshold->value() > 0);
    EXPECT_EQ(threshold->for_update(empty, kEpsilon), threshold->value());
  }
}

TEST(Threshold, WantsAnUpdateWhenItsKindDoes) {
  constexpr std::size_t kPeriod = 10;
  const auto wants = [&](const ThresholdEntry& entry, const IterationEnd& end) {
    return make_part(entry, {100})->wants_update(end, kPeriod);
  };
  const IterationEnd nothing{.iteration = 9, .encoder_updates = 1};
  const IterationEnd period{.iteration = 20, .encoder_updates = 1};
  const IterationEnd due{.iteration = 9, .encoder_updates = 1, .update_due = true};
  const IterationEnd changed{.iteration = 9, .encoder_updates = 1, .descriptors_changed = true};
  for (const ThresholdEntry& entry : {csc_threshold_part(), pid_threshold_part()}) {
    EXPECT_FALSE(wants(entry, nothing)) << entry.name;
    EXPECT_TRUE(wants(entry, period)) << entry.name;
    EXPECT_FALSE(wants(entry, due)) << entry.name;
    EXPECT_TRUE(wants(entry, changed)) << entry.name;
  }
  EXPECT_FALSE(wants(vat_threshold_part(), nothing));
  EXPECT_FALSE(wants(vat_threshold_part(), period));
  EXPECT_TRUE(wants(vat_threshold_part(), due));
  EXPECT_FALSE(wants(fixed_threshold_part(), nothing));
  EXPECT_FALSE(wants(fixed_threshold_part(), period));
  EXPECT_FALSE(wants(fixed_threshold_part(), due));
  EXPECT_TRUE(wants(fixed_threshold_part(), changed));
}

TEST(Threshold, RefusesSenselessConfigurations) {
  const auto allowed = [](const ThresholdEntry& entry, const std::string& assignment) {
    return read_option(entry, assignment).has_value();
  };
  for (const char* bad : {"gain=-1", "gain=0", "gain=inf", "gain=nan"}) {
    EXPECT_FALSE(allowed(csc_threshold_part(), bad)) << bad;
  }
  EXPECT_TRUE(allowed(csc_threshold_part(), "gain=1"));
  for (const char* bad : {"value=0", "value=-1", "value=inf", "value=nan"}) {
    EXPECT_FALSE(allowed(fixed_threshold_part(), bad)) << bad;
  }
  EXPECT_TRUE(allowed(fixed_threshold_part(), "value=1e-9"));
  for (const char* bad : {"vat_constant=0", "vat_constant=-18", "vat_constant=nan"}) {
    EXPECT_FALSE(allowed(vat_threshold_part(), bad)) << bad;
  }
  for (const char* gain : {"proportional", "integral", "derivative", "horizon"}) {
    for (const char* bad : {"=-1", "=nan", "=inf"}) {
      EXPECT_FALSE(allowed(pid_threshold_part(), std::string(gain) + bad)) << gain << bad;
    }
    EXPECT_TRUE(allowed(pid_threshold_part(), std::string(gain) + "=0")) << gain;
  }
}

TEST(Threshold, HasNamesAndDefaults) {
  const auto described = [](const ThresholdEntry& entry) {
    std::string text = entry.name;
    for (const Option& option : entry.options) {
      text += " " + option.name + "=" + option.fallback.toml();
    }
    return text;
  };
  EXPECT_EQ(described(csc_threshold_part()), "csc gain=5e-06");
  EXPECT_EQ(described(vat_threshold_part()), "vat vat_constant=18.0");
  EXPECT_EQ(described(fixed_threshold_part()), "fixed value=1.0");
  EXPECT_EQ(described(pid_threshold_part()),
            "pid proportional=1.0 integral=0.1 derivative=1.0 horizon=40.0");
}

TEST(Threshold, RestoresWhatASmallerStateSaysAndKeepsTheRest) {
  const auto fixed = make_part(fixed_threshold_part(), {100}, {"value=0.3"});
  fixed->restore({});
  EXPECT_EQ(fixed->value(), 0.3);
  const State state = {{"threshold.value", 0.7}, {"something.else", 5}};
  fixed->restore(state);
  EXPECT_EQ(fixed->value(), 0.7);
  const State infinite = {{"threshold.value", std::numeric_limits<double>::infinity()}};
  EXPECT_THROW(fixed->restore(infinite), DataError);
  EXPECT_EQ(fixed->value(), 0.7);
}

}  // namespace
}  // namespace aurora
