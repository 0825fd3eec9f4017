// The unstructured archive as the specification (section 2) tells it, with plain loops over an
// array in age order: slow, and easy to check by eye. The archive must agree with it exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

class ArchiveOracle {
 public:
  struct Member {
    std::vector<float> descriptor;
    float fitness;
    std::uint64_t id;
    friend bool operator==(const Member&, const Member&) = default;
  };

  explicit ArchiveOracle(const ArchiveConfig& config) : config_(config) {}

  const std::vector<Member>& members() const { return members_; }  // oldest first
  std::vector<Member>& members() { return members_; }

  static float squared_distance(std::span<const float> a, std::span<const float> b) {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float difference = a[i] - b[i];
      const float square = difference * difference;
      sum = sum + square;
    }
    return sum;
  }

  /// Distances from a point to all members but one, ascending; of equals the older one first.
  std::vector<std::pair<float, std::size_t>> neighbours(std::span<const float> point,
                                                        std::size_t left_out) const {
    std::vector<std::pair<float, std::size_t>> all;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (i != left_out) all.emplace_back(squared_distance(point, members_[i].descriptor), i);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  /// By what the threshold is multiplied around a member: its rank among those who were there when
  /// they were ranked, where equals share theirs, decides.
  double factor(float fitness) const {
    if (config_.relevance == 0 || ranked_.empty()) return 1;
    double rank = 0;
    for (const float other : ranked_) rank += other < fitness ? 1 : other == fitness ? 0.5 : 0;
    return 1 + config_.relevance * (1 - 2 * rank / static_cast<double>(ranked_.size()));
  }

  void rank_anew() {
    ranked_.clear();
    for (const Member& member : members_) ranked_.push_back(member.fitness);
  }

  Outcome add(const Member& x, double l) {
    // In whose radius it is: nearest first, as a share of the radius; of equals the nearer one,
    // then the older one.
    std::vector<std::tuple<double, float, std::size_t>> close;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const float d = squared_distance(x.descriptor, members_[i].descriptor);
      const double share = factor(members_[i].fitness);
      if (std::sqrt(double{d}) <= l * share) close.emplace_back(std::sqrt(double{d}) / share, d, i);
    }
    std::sort(close.begin(), close.end());
    if (close.empty()) return append(x);
    if (members_.size() == 1) return Outcome::rejected;
    if (close.size() > 1 && std::get<0>(close[1]) < (1 - config_.epsilon) * l) {
      return Outcome::rejected;
    }
    const std::size_t nn1 = std::get<2>(close[0]);
    const double f = x.fitness;
    const double f1 = members_[nn1].fitness;
    const double v = mean(neighbours(x.descriptor, nn1), config_.k);
    const double v1 = mean(neighbours(members_[nn1].descriptor, nn1), config_.k);
    const double sign = f1 < 0 ? -1 : 1;
    const bool fit = f >= (1 - sign * config_.epsilon) * f1;
    const bool novel = v >= (1 - config_.epsilon) * v1;
    const bool better =
        f1 == 0 ? (f > f1 || v > v1) : (f - f1) * std::abs(v1) > -(v - v1) * std::abs(f1);
    if (!(fit && novel && better)) return Outcome::rejected;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(nn1));
    append(x);
    return Outcome::replaced;
  }

  std::size_t update(double l) {
    const std::vector<Member> all = std::exchange(members_, {});
    for (const Member& x : all) add(x, (1 - config_.epsilon) * l);
    return all.size() - members_.size();
  }

  double novelty(std::size_t i) const {
    return mean(neighbours(members_[i].descriptor, i), config_.k);
  }

 private:
  Outcome append(const Member& x) {
    members_.push_back(x);
    return Outcome::added;
  }

  /// Of the first `most` distances.
  static double mean(const std::vector<std::pair<float, std::size_t>>& sorted, std::size_t most) {
    const std::size_t end = std::min(most, sorted.size());
    double sum = 0;
    for (std::size_t i = 0; i < end; ++i) sum += std::sqrt(double{sorted[i].first});
    return end > 0 ? sum / static_cast<double>(end) : 0;
  }

  ArchiveConfig config_;
  std::vector<Member> members_;
  std::vector<float> ranked_;
};

inline IndividualsLayout small_layout(std::size_t n) {
  return {.genotype_size = 2,
          .descriptor_size = n,
          .ground_truth_size = 1,
          .sensory = {.extents = {3}, .element = ElementType::float32}};
}

/// An archive and its oracle, fed with the same random individuals.
class Twins {
 public:
  /// How candidates are scattered.
  enum class Scatter { uniform, lattice, clusters, clones };
  static constexpr std::size_t kLargestBatch = 40;

  Twins(std::size_t n, const ArchiveConfig& config, std::uint32_t seed)
      : archive(small_layout(n), config),
        oracle(config),
        batch_(small_layout(n), kLargestBatch),
        draw_(seed, Purpose::user) {}

  UnstructuredArchive archive;
  ArchiveOracle oracle;
  std::size_t outcomes[4] = {};

  Stream& draw() { return draw_; }

  /// Adds a random candidate to both; whether they agree on the outcome.
  bool add(Scatter scatter, double threshold) {
    draw_candidate(scatter, 0);
    const Outcome ours = archive.add(batch_, 0, threshold);
    ++outcomes[static_cast<std::size_t>(ours)];
    return ours == oracle_add(0, threshold);
  }

  /// The same for several at once.
  bool add_all(Scatter scatter, std::size_t count, double threshold) {
    std::vector<Outcome> ours(count);
    std::vector<std::uint32_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i] = static_cast<std::uint32_t>(count - 1 - i);
      draw_candidate(scatter, rows[i]);
    }
    archive.add_all(batch_, rows, threshold, workers_, ours);
    for (std::size_t i = 0; i < count; ++i) {
      ++outcomes[static_cast<std::size_t>(ours[i])];
      if (ours[i] != oracle_add(rows[i], threshold)) return false;
    }
    return true;
  }

  bool update(double threshold) {
    archive.rank_anew();
    oracle.rank_anew();
    return archive.update(threshold, workers_) == oracle.update(threshold);
  }

  /// Whether both hold the same individuals, every column moved along with its row.
  bool equal() const {
    const Individuals& rows = archive.individuals();
    std::vector<ArchiveOracle::Member> ours;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto x = rows.descriptors.row(i);
      ours.push_back({{x.begin(), x.end()}, rows.fitness[i], rows.ids[i]});
      if (rows.genotypes(i, 0) != rows.sensory.view().row<float>(i)[1]) return false;
    }
    std::ranges::sort(ours, {}, &ArchiveOracle::Member::id);
    return ours == oracle.members();
  }

 private:
  void draw_candidate(Scatter scatter, std::size_t row) {
    const std::span<float> x = batch_.descriptors.row(row);
    const auto copy_of_a_member = [&] {
      const auto& members = oracle.members();
      std::ranges::copy(members[draw_.below(members.size())].descriptor, x.begin());
    };
    for (float& value : x) {
      value = scatter == Scatter::lattice ? static_cast<float>(draw_.below(5))
                                          : static_cast<float>(draw_.uniform() * 4);
    }
    if (scatter == Scatter::clones && !oracle.members().empty() && draw_.uniform() < 0.5) {
      copy_of_a_member();
    }
    if (scatter == Scatter::clusters && !oracle.members().empty()) {
      copy_of_a_member();
      for (float& value : x) value += static_cast<float>(0.3 * draw_.normal());
    }
    // A few levels, so that equal fitness is frequent; zero and both signs; sometimes any value.
    batch_.fitness[row] = draw_.uniform() < 0.5 ? static_cast<float>(draw_.below(5)) - 2
                                                : static_cast<float>(draw_.normal());
    batch_.genotypes(row, 0) = x[0];
    batch_.sensory.mutable_view().row<float>(row)[1] = x[0];
    batch_.ids[row] = next_id_++;
  }

  Outcome oracle_add(std::size_t row, double threshold) {
    const auto x = batch_.descriptors.row(row);
    return oracle.add({{x.begin(), x.end()}, batch_.fitness[row], batch_.ids[row]}, threshold);
  }

  Individuals batch_;
  Stream draw_;
  std::uint64_t next_id_ = 0;
  Workers workers_{2};
};

/// Fills and updates archives of every kind of scatter and threshold, `insertions` in all for each
/// dimension and relevance; returns a description of the first disagreement, empty if there is
/// none.
inline std::string first_disagreement(std::size_t n, double relevance, std::size_t insertions,
                                      std::size_t per_archive, std::size_t (&outcomes)[4],
                                      std::size_t& lost) {
  using Scatter = Twins::Scatter;
  constexpr Scatter kScatters[] = {Scatter::uniform, Scatter::lattice, Scatter::clusters,
                                   Scatter::clones};
  constexpr double kThresholds[] = {0.0, 0.3, 1.0, 1.5};
  for (std::uint32_t run = 0; run * per_archive < insertions; ++run) {
    const Scatter scatter = kScatters[run % 4];
    double threshold = kThresholds[run / 4 % 4];
    // In many dimensions everything is far from everything.
    if (scatter != Scatter::lattice) threshold *= std::sqrt(static_cast<double>(n) / 2);
    Twins twins(n,
                {.k = run % 3 == 0 ? std::size_t{3} : std::size_t{15},
                 .epsilon = 0.1,
                 .relevance = relevance},
                run);
    const auto where = [&](std::size_t i) {
      return "relevance " + std::to_string(relevance) + ", n " + std::to_string(n) +
             ", run (= seed) " + std::to_string(run) + ", insertion " + std::to_string(i);
    };
    for (std::size_t i = 0, updated = 0, count = 0; i < per_archive; i += count) {
      // One by one, or several at once.
      const bool one = twins.draw().uniform() < 0.5;
      count = one ? 1 : std::min(twins.draw().below(Twins::kLargestBatch) + 1, per_archive - i);
      const bool agree =
          one ? twins.add(scatter, threshold) : twins.add_all(scatter, count, threshold);
      if (!agree) return where(i) + ": other outcome";
      if (i + count >= updated + 50) {
        updated = i + count;
        // Up and down, so that there are losses.
        threshold *= twins.draw().uniform() + 0.55;
        const std::size_t before = twins.archive.size();
        if (!twins.update(threshold)) return where(i) + ": other losses";
        lost += before - twins.archive.size();
      }
    }
    if (!twins.equal()) return where(per_archive) + ": other members";
    for (std::size_t o = 0; o < 4; ++o) outcomes[o] += twins.outcomes[o];
  }
  return "";
}

}  // namespace aurora
