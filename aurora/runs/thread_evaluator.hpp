// Evaluates a batch on the threads of this process.
#pragma once

#include <algorithm>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

class ThreadEvaluator : public Evaluator {
 public:
  /// The task and the workers must outlive the evaluator.
  ThreadEvaluator(const Task& task, Workers& workers) : task_(task), workers_(workers) {}

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override {
    const std::size_t grain = std::max<std::size_t>(task_.spec().preferred_batch, 1);
    workers_.parallel_for(genotypes.rows(), grain, [&](std::size_t begin, std::size_t end) {
      task_.evaluate(genotypes.slice(begin, end - begin), out.slice(begin, end - begin));
    });
  }

 private:
  const Task& task_;
  Workers& workers_;
};

}  // namespace aurora
