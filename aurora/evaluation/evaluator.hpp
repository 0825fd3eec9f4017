// Evaluators: genotypes in, evaluations out. Threads of this process or whatever else there is; the
// algorithm cannot tell which, and evaluations are pure functions of the genotype, so neither can
// the results.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/part.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// Genotypes that are being evaluated at this moment.
struct Piece {
  std::size_t begin = 0;  // rows of the batch
  std::size_t count = 0;
  std::chrono::steady_clock::time_point since;
};

/// Somebody whom an evaluator needs is gone (a process on another machine). No evaluation is to
/// blame: the run saves itself and ends.
class Lost : public Error {
 public:
  using Error::Error;
};

/// What a program ends with then.
inline constexpr int kLostStatus = 69;  // EX_UNAVAILABLE

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Evaluates every row into the same row of `out`. If that throws, what is in `out` is of no use;
  /// the guard (guard.hpp) finds out whose fault it was. Interrupted is nobody's fault: the batch
  /// cannot be evaluated now, and the run ends before it.
  virtual void evaluate(MatrixView<const float> genotypes, EvaluationView out) = 0;
  /// What evaluate() is at, asked from another thread; nothing if it cannot tell.
  virtual std::optional<std::vector<Piece>> busy() const { return std::nullopt; }
  /// In a process that only evaluates for another one: does so until that one has all it wants, and
  /// says true. Anywhere else: false, at once.
  virtual bool serve() { return false; }
  /// Who evaluates, for people: "5 ranks on a (3), b (2)". Empty if the evaluator's name says it.
  virtual std::string describe() const { return {}; }
};

/// What an evaluator is made with; task and workers must outlive it.
struct EvaluatorContext {
  const Task& task;
  Workers& workers;
  /// Called, from any thread, with what people should know although the evaluator goes on.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

using EvaluatorEntry = Entry<Evaluator, EvaluatorContext>;

EvaluatorEntry thread_evaluator();
EvaluatorEntry mpi_evaluator();

}  // namespace aurora
