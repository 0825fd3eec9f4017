// The quality-diversity loop: AURORA, its hand-coded twin HC, and Random Search (the paper's
// Algorithm 1); with cells for a container, MAP-Elites. Parents are members of the container.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"

namespace aurora {

class QualityDiversity final : public Algorithm {
 public:
  explicit QualityDiversity(LoopContext& context);

  const Individuals& individuals() const override { return container_->individuals(); }
  std::vector<NamedNumber> numbers() const override { return container_->numbers(); }
  PartState container_state() const override { return container_->state(); }

 private:
  void breed(MatrixView<const float> given) override;
  void take(StepReport& report) override;
  bool has_calendar() const override { return container_->size() > 0; }
  void describe_again(StepReport& report) override;
  void tidy(const IterationEnd& end, StepReport& report) override;
  void save_members(AlgorithmState& out) const override;
  void restore_members(AlgorithmState& state) override;

  std::vector<std::uint32_t> select(std::uint32_t draw);
  void teach_selector(std::span<const Outcome> outcomes);

  std::unique_ptr<Container> container_;
  // Of this iteration, for selectors that learn; empty if there are no parents.
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint64_t> parent_ids_;
};

}  // namespace aurora
