#include "aurora/containers/pid.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "aurora/containers/container.hpp"
#include "aurora/containers/threshold.hpp"

namespace aurora {
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

/// How many of the points, taken in order, have no earlier one that was kept within its radius,
/// which is `radius` times the factor of that one.
std::size_t kept_at(MatrixView<const float> points, std::span<const double> factors, double radius,
                    NeighbourIndex& index, NeighbourIndex::Workspace& workspace) {
  index.clear();
  const float bound =
      squared_radius(radius * (factors.empty() ? 1 : *std::ranges::max_element(factors)));
  for (std::size_t i = 0; i < points.rows(); ++i) {
    bool kept = true;
    visit_nearest(index, points.row(i), 1, workspace, bound, NeighbourIndex::kAnyAge,
                  [&](const Neighbour& other) {
                    const double factor = factors.empty() ? 1 : factors[other.slot];
                    kept = distance_of(other) > radius * factor;
                    return kept;
                  });
    if (kept) index.insert(i, points.row(i), i, workspace);
  }
  return index.size();
}

/// The members' descriptors and the factors of their radii, oldest first.
struct ByAge {
  explicit ByAge(const Container& container)
      : descriptors(container.size(), container.individuals().descriptors.cols()),
        factors(container.radius_factors()) {
    const std::vector<double> unsorted = factors;
    const std::vector<std::uint32_t> rows = rows_by_age(container.individuals());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = container.individuals().descriptors.row(rows[i]);
      std::ranges::copy(row, descriptors.row(i).begin());
      if (!factors.empty()) factors[i] = unsorted[rows[i]];
    }
  }

  Matrix<float> descriptors;
  std::vector<double> factors;
};

}  // namespace

double reseed_threshold(MatrixView<const float> descriptors, std::size_t size, double epsilon,
                        std::span<const double> factors) {
  constexpr int kMaxSteps = 40;
  constexpr double kTolerance = 0.01;  // of the size
  NeighbourIndex index(descriptors.cols());
  NeighbourIndex::Workspace workspace;
  const auto kept = [&](double threshold) {
    return static_cast<double>(
        kept_at(descriptors, factors, (1 - epsilon) * threshold, index, workspace));
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
    low = bounded_threshold(low / kStep);
    kept_low = kept(low);
  }
  for (int i = 0; i < kMaxSteps && high == low; ++i) {
    const double next = bounded_threshold(high * kStep);
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

double reseed_threshold(const Container& container, std::size_t target_size, double epsilon) {
  const ByAge members(container);
  return reseed_threshold(members.descriptors, least_kept(container.size(), target_size), epsilon,
                          members.factors);
}

void PidController::reset(double threshold, std::size_t size, std::size_t target_size) {
  const double error = log_ratio(size, target_size);
  state_ = {.anchor = std::log(bounded_threshold(threshold)) - gains_.proportional * limited(error),
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
  return bounded_threshold(std::exp(state_.anchor + gains_.proportional * limited(error) +
                                    state_.sum + gains_.derivative * limited(state_.trend)));
}

void PidController::scale(double factor) {
  state_.anchor += std::log(factor);
}

namespace {

/// start: initial_threshold. encoder_updated: reseed_threshold. follow: the controller. for_update:
/// bounded by reseed_threshold, so that the update leaves about the target.
class Pid final : public Threshold {
 public:
  Pid(const PidGains& gains, std::size_t target_size)
      : Threshold(kThresholdWithoutExtent), controller_(gains), target_size_(target_size) {}

  void start(const Container& container) override {
    value_ = initial_threshold(container.individuals().descriptors, target_size_);
    controller_.reset(value_, container.size(), target_size_);
  }

  void encoder_updated(const Container& container, double epsilon, Workers&) override {
    value_ = reseed_threshold(container, target_size_, epsilon);
    controller_.reset(value_, container.size(), target_size_);
  }

  void follow(std::size_t size) override { value_ = controller_.step(size, target_size_); }

  /// value(), unless an update with it would leave less than 97 % of the target, or of the members
  /// if those are fewer: then the largest threshold that leaves as many, for this update only. And
  /// unless it would leave more than 101 % of the target: then value() itself rises to the
  /// threshold that leaves the target. Costs one re-add, and about ten more in these two cases.
  double for_update(const Container& container, double epsilon) override {
    if (container.size() == 0) return value_;
    const ByAge members(container);
    NeighbourIndex index(members.descriptors.cols());
    NeighbourIndex::Workspace workspace;
    const auto reseeded = [&](std::size_t size) {
      return reseed_threshold(members.descriptors, size, epsilon, members.factors);
    };
    const std::size_t kept =
        kept_at(members.descriptors, members.factors, (1 - epsilon) * value_, index, workspace);
    const std::size_t least = least_kept(container.size(), target_size_);
    if (kept < least) return std::min(value_, reseeded(least));
    if (static_cast<double>(kept) > (1 + kExcessLimit) * static_cast<double>(target_size_)) {
      // The controller goes on from there: its sum need not find the way.
      const double raised = std::max(value_, reseeded(target_size_));
      controller_.scale(raised / value_);
      value_ = raised;
    }
    return value_;
  }

 private:
  void save(std::vector<NamedNumber>& numbers) const override {
    const PidController::State& state = controller_.state();
    numbers.push_back({"threshold.anchor", state.anchor});
    numbers.push_back({"threshold.sum", state.sum});
    numbers.push_back({"threshold.error", state.error});
    numbers.push_back({"threshold.trend", state.trend});
  }
  void load(std::span<const NamedNumber> numbers) override {
    controller_.restore({.anchor = number_called(numbers, "threshold.anchor", 0),
                         .sum = number_called(numbers, "threshold.sum", 0),
                         .error = number_called(numbers, "threshold.error", 0),
                         .trend = number_called(numbers, "threshold.trend", 0)});
  }

  PidController controller_;
  std::size_t target_size_;
};

}  // namespace

ThresholdEntry pid_threshold_part() {
  constexpr Range kUpToTen{0, 10};
  return part<PidGains>("pid", "a PID controller on the logarithms of size and threshold")
      .option("proportional", &PidGains::proportional, kUpToTen, "pid: gain on log(size / N)")
      .option("integral", &PidGains::integral, kUpToTen, "pid: gain on its sum")
      .option("derivative", &PidGains::derivative, kUpToTen, "pid: gain on its change")
      .option("horizon", &PidGains::horizon, Range{0, 1e6},
              "pid: iterations ahead for which its sum waits")
      .made_by([](const PidGains& gains, const ThresholdContext& context) {
        return std::make_unique<Pid>(gains, context.target_size);
      });
}

}  // namespace aurora
