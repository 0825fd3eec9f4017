#include "aurora/runs/thread_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace aurora {
namespace {

/// So that a number that the task leaves out is found, and not the one of another individual. Bytes
/// have no such value.
void mark_unwritten(const EvaluationView& out) {
  constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
  std::ranges::fill(out.fitness, kUnwritten);
  for (std::size_t row = 0; row < out.fitness.size(); ++row) {
    std::ranges::fill(out.ground_truth.row(row), kUnwritten);
    if (out.sensory.shape().element != ElementType::float32) continue;
    std::ranges::fill(out.sensory.row<float>(row), kUnwritten);
  }
}

/// What is not finite about a row; empty if all is.
std::string not_finite(const EvaluationView& out, std::size_t row) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!finite(out.fitness[row])) return "the fitness is not finite, or not written";
  if (!std::ranges::all_of(out.ground_truth.row(row), finite)) {
    return "the ground truth is not finite, or not all of it is written";
  }
  if (out.sensory.shape().element == ElementType::float32 &&
      !std::ranges::all_of(out.sensory.row<float>(row), finite)) {
    return "the sensory data is not finite, or not all of it is written";
  }
  return {};
}

/// Of the exception that is being handled.
std::string message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return *error.what() != 0 ? error.what() : "an exception without a message";
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// A result that no container takes.
void make_invalid(const EvaluationView& out, std::size_t row) {
  out.fitness[row] = std::numeric_limits<float>::quiet_NaN();
  std::ranges::fill(out.ground_truth.row(row), 0.0F);
  std::ranges::fill(out.sensory.bytes(row), std::byte{0});
}

}  // namespace

ThreadEvaluator::ThreadEvaluator(const Task& task, Workers& workers, FailureLog& log,
                                 double patience)
    : task_(task), workers_(workers), log_(&log), watcher_([this, patience] { watch(patience); }) {}

ThreadEvaluator::~ThreadEvaluator() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void ThreadEvaluator::evaluate(MatrixView<const float> genotypes, EvaluationView out) {
  const std::size_t grain = std::max<std::size_t>(task_.spec().preferred_batch, 1);
  workers_.parallel_for(genotypes.rows(), grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    if (log_ == nullptr) {
      task_.evaluate(genotypes.slice(begin, count), out.slice(begin, count));
    } else {
      evaluate_piece(genotypes.slice(begin, count), out.slice(begin, count), begin);
    }
  });
  if (failures_.empty()) return;
  std::ranges::sort(failures_, {}, &Failure::row);
  const std::vector<Failure> failures = std::exchange(failures_, {});
  for (const Failure& failure : failures) log_->failed(genotypes.row(failure.row), failure.reason);
}

void ThreadEvaluator::evaluate_piece(MatrixView<const float> genotypes, EvaluationView out,
                                     std::size_t first) {
  std::vector<std::string> reasons(genotypes.rows());
  try {
    evaluate_watched(genotypes, out);
  } catch (...) {
    // Which one was it? Evaluations are pure: the others give the same as before.
    for (std::size_t row = 0; row < genotypes.rows(); ++row) {
      try {
        evaluate_watched(genotypes.slice(row, 1), out.slice(row, 1));
      } catch (...) {
        make_invalid(out, row);
        reasons[row] = message();
      }
    }
  }
  for (std::size_t row = 0; row < genotypes.rows(); ++row) {
    if (reasons[row].empty()) reasons[row] = not_finite(out, row);
    if (reasons[row].empty()) continue;
    const std::scoped_lock lock(mutex_);
    failures_.push_back({first + row, std::move(reasons[row])});
  }
}

void ThreadEvaluator::evaluate_watched(MatrixView<const float> genotypes, EvaluationView out) {
  Busy busy{genotypes, std::chrono::steady_clock::now()};
  {
    const std::scoped_lock lock(mutex_);
    busy_.push_back(&busy);
  }
  const auto leave = [&] {
    const std::scoped_lock lock(mutex_);
    std::erase(busy_, &busy);
  };
  mark_unwritten(out);
  try {
    task_.evaluate(genotypes, out);
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

void ThreadEvaluator::watch(double patience) {
  const auto limit = std::chrono::duration<double>(patience);
  std::unique_lock lock(mutex_);
  while (!over_) {
    wake_.wait_for(lock,
                   std::min<std::chrono::duration<double>>(limit / 2, std::chrono::seconds(1)));
    const auto now = std::chrono::steady_clock::now();
    for (Busy* busy : busy_) {
      const std::chrono::duration<double> taken = now - busy->since;
      if (busy->reported || taken < limit) continue;
      busy->reported = true;
      log_->hangs(busy->genotypes, taken.count());
    }
  }
}

}  // namespace aurora
