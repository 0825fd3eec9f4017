// The quality-diversity loop: AURORA, its hand-coded twin HC, and Random Search (the paper's
// Algorithm 1; specification, section 1); with cells for a container, MAP-Elites.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/algorithms/config.hpp"
#include "aurora/algorithms/encoder_schedule.hpp"
#include "aurora/algorithms/offspring.hpp"
#include "aurora/containers/container.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

class QualityDiversity : public Algorithm {
 public:
  /// The evaluator and the workers must outlive the algorithm. UsageError for a configuration that
  /// makes no sense.
  QualityDiversity(const TaskSpec& task, const AlgorithmConfig& config, Evaluator& evaluator,
                   Workers& workers);

  StepReport step() override;
  std::size_t iteration() const override { return iteration_; }
  const Individuals& individuals() const override { return container_->individuals(); }
  double threshold() const override { return threshold_.value(); }
  const Encoder* encoder() const override { return encoder_.get(); }
  void save(AlgorithmState& out) const override;
  void restore(AlgorithmState state) override;

 private:
  void propose();
  std::vector<std::uint32_t> select(std::uint32_t draw);
  void add(StepReport& report);
  void update_encoder(StepReport& report);
  void update_threshold(bool update_due);
  bool container_update_due(bool update_due) const;

  AlgorithmConfig config_;
  Evaluator& evaluator_;
  Workers& workers_;
  std::unique_ptr<Encoder> encoder_;
  EncoderSchedule schedule_;
  Offspring offspring_;
  std::unique_ptr<Container> container_;
  Threshold threshold_;
  std::size_t iteration_ = 0;
};

}  // namespace aurora
