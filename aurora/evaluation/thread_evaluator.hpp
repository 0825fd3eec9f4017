// Evaluates a batch on the threads of this process.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "aurora/evaluation/evaluator.hpp"

namespace aurora {

class ThreadEvaluator final : public Evaluator {
 public:
  /// The task and the workers must outlive the evaluator.
  ThreadEvaluator(const Task& task, Workers& workers) : task_(task), workers_(workers) {}

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override;
  std::optional<std::vector<Piece>> busy() const override;

 private:
  const Task& task_;
  Workers& workers_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<Piece> busy_;
};

}  // namespace aurora
