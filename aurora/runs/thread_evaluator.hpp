// Evaluates a batch on the threads of this process, and keeps going when an evaluation fails.
//
// A task is somebody's simulator: it may throw, give NaN or data of another shape, or never come
// back. An individual whose evaluation throws is handed on as NaN, which no container takes; who
// wants to know of it, and of results that are not finite or not all there, passes a FailureLog.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// Told of evaluations that went wrong.
class FailureLog {
 public:
  virtual ~FailureLog() = default;
  /// After each batch in which some failed, in the order of its rows. May throw to end the run.
  virtual void failed(std::span<const float> genotype, const std::string& reason) = 0;
  /// An evaluation has been going on for `seconds`. Called from a thread of its own, once for each
  /// such evaluation; it goes on.
  virtual void hangs(MatrixView<const float> genotypes, double seconds) = 0;
};

class ThreadEvaluator : public Evaluator {
 public:
  /// The task and the workers must outlive the evaluator. Without a log an exception of the task is
  /// the caller's.
  ThreadEvaluator(const Task& task, Workers& workers) : task_(task), workers_(workers) {}
  /// Evaluations that take longer than `patience` seconds are reported.
  ThreadEvaluator(const Task& task, Workers& workers, FailureLog& log, double patience);
  ~ThreadEvaluator() override;

  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override;

 private:
  /// What a thread is at.
  struct Busy {
    MatrixView<const float> genotypes;
    std::chrono::steady_clock::time_point since;
    bool reported = false;
  };
  struct Failure {
    std::size_t row;
    std::string reason;
  };

  void evaluate_piece(MatrixView<const float> genotypes, EvaluationView out, std::size_t first);
  void evaluate_watched(MatrixView<const float> genotypes, EvaluationView out);
  void watch(double patience);

  const Task& task_;
  Workers& workers_;
  FailureLog* log_ = nullptr;

  std::mutex mutex_;  // of what follows
  std::vector<Failure> failures_;
  std::vector<Busy*> busy_;
  bool over_ = false;
  std::condition_variable wake_;
  std::thread watcher_;
};

}  // namespace aurora
