// The guard around an evaluator: a run goes on when an evaluation fails.
//
// A task is somebody's simulator: it may throw, give NaN or data of another shape, or never come
// back. An individual whose evaluation throws is handed on as NaN, which no container takes; who
// wants to know of it, and of results that are not finite or not all there, is the FailureLog.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aurora/evaluation/evaluator.hpp"

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

/// So that a number that the task leaves out is found, and not the one of another individual. Bytes
/// have no such value.
void mark_unwritten(const EvaluationView& out);

class Guard final : public Evaluator {
 public:
  /// Evaluations that take longer than `patience` seconds are reported. The evaluator and the log
  /// must outlive the guard.
  Guard(Evaluator& evaluator, FailureLog& log, double patience);
  ~Guard() override;

  /// Does not throw for what the task does; only the log may end it, an evaluator that is
  /// Interrupted, and that somebody is Lost.
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) override;
  std::optional<std::vector<Piece>> busy() const override { return evaluator_.busy(); }

 private:
  using Reasons = std::vector<std::pair<std::size_t, std::string>>;  // row, why

  void isolate(std::size_t begin, std::size_t count, Reasons& reasons);
  void attempt(std::size_t begin, std::size_t count);
  void watch(double patience);
  void report_hanging(double patience);

  Evaluator& evaluator_;
  FailureLog& log_;
  EvaluationView out_;
  MatrixView<const float> batch_;

  std::mutex mutex_;                   // of what follows
  MatrixView<const float> genotypes_;  // of the call that is going on; no rows if there is none
  std::chrono::steady_clock::time_point since_;
  /// Pieces of this call that were reported: their first row, and when they began.
  std::vector<std::pair<std::size_t, std::chrono::steady_clock::time_point>> reported_;
  bool over_ = false;
  std::condition_variable wake_;
  std::thread watcher_;
};

}  // namespace aurora
