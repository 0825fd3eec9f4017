// The quality-diversity loop: AURORA, its hand-coded twin HC, and Random Search (the paper's
// Algorithm 1); with cells for a container, MAP-Elites. Parents are members of the container.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"

namespace aurora {

struct QualityDiversityConfig {
  std::size_t extinction_period = 0;   // iterations between two extinctions; 0: there are none
  double extinction_survivors = 0.05;  // share of the members that outlive one
  std::size_t recent = 0;              // individuals evaluated last that the encoder learns from
};

class QualityDiversity : public Algorithm {
 public:
  /// UsageError if nobody, or more than everybody, would survive an extinction.
  QualityDiversity(LoopContext& context, const QualityDiversityConfig& config);

  const Individuals& individuals() const override { return container_->individuals(); }
  /// Those of the container and, if there are extinctions, how many they have taken.
  std::vector<NamedNumber> numbers() const override;
  PartState container_state() const override { return container_->state(); }

 protected:
  void breed(MatrixView<const float> given) override;
  PartState loop_state() const override;
  void restore_loop(const PartState& state) override;

  /// Fills the offspring: with these genotypes first, then with children of selected members. There
  /// must be members, and a selector that selects.
  void breed_after(MatrixView<const float> first);
  /// So many rows of the container; `draw` tells one selection of an iteration from another.
  virtual std::vector<std::uint32_t> select(std::size_t count, std::uint32_t draw);
  /// Fills `parents` with rows of a container, as the selector says.
  void draw_parents(Container& container, std::span<std::uint32_t> parents, Stream& stream);
  /// What became of the offspring, child by child.
  virtual void learn(std::span<const Outcome> /*outcomes*/) {}

  std::unique_ptr<Container> container_;

 private:
  void take(StepReport& report) override;
  Examples examples() const override { return recent_.with(container_->individuals()); }
  bool has_calendar() const override { return container_->size() > 0; }
  void describe_again(StepReport& report) override;
  void tidy(const IterationEnd& end, StepReport& report) override;
  void save_members(AlgorithmState& out) const override;
  void restore_members(AlgorithmState& state) override;

  void teach_selector(std::span<const Outcome> outcomes);
  void remember_offspring();
  void extinguish(StepReport& report);

  QualityDiversityConfig config_;
  Recent recent_;
  std::size_t extinct_ = 0;  // members that extinctions have taken so far
  // Of the last children of this iteration, for selectors that learn; empty if there are no
  // parents.
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint64_t> parent_ids_;
};

/// The options of QualityDiversityConfig, for loops that have them.
template <class Config>
void add_quality_diversity_options(Options<Config>& options) {
  options
      .add("extinction_period", static_cast<std::size_t Config::*>(&Config::extinction_period), 0,
           1'000'000'000, "iterations between two extinctions, 50 say; 0: none")
      .add("extinction_survivors", static_cast<double Config::*>(&Config::extinction_survivors),
           Range{.low = 0, .high = 1, .above_low = true},
           "share of the members that outlive an extinction")
      .add("recent", static_cast<std::size_t Config::*>(&Config::recent), 0, 10'000'000,
           "individuals evaluated last, members or not, that the encoder learns from, too");
}

/// Why such options do not go with the rest; empty if they do.
std::string refuses(const QualityDiversityConfig& config, const Mix& mix);

/// Which of them mean nothing.
Idle idle(const QualityDiversityConfig& config);

}  // namespace aurora
