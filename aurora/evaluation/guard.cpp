#include "aurora/evaluation/guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

using Seconds = std::chrono::duration<double>;

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

void mark_unwritten(const EvaluationView& out) {
  constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
  std::ranges::fill(out.fitness, kUnwritten);
  for (std::size_t row = 0; row < out.fitness.size(); ++row) {
    std::ranges::fill(out.ground_truth.row(row), kUnwritten);
    if (out.sensory.shape().element != ElementType::float32) continue;
    std::ranges::fill(out.sensory.row<float>(row), kUnwritten);
  }
}

Guard::Guard(Evaluator& evaluator, FailureLog& log, double patience)
    : evaluator_(evaluator), log_(log) {
  try {
    watcher_ = std::thread([this, patience] { watch(patience); });
  } catch (const std::system_error&) {
    // No thread to be had: then hanging evaluations are not reported.
  }
}

Guard::~Guard() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Guard::evaluate(MatrixView<const float> genotypes, EvaluationView out) {
  batch_ = genotypes;
  out_ = out;
  Reasons reasons;
  isolate(0, genotypes.rows(), reasons);
  for (std::size_t row = 0; row < genotypes.rows(); ++row) {
    std::string reason = not_finite(out, row);
    // Those that threw are not finite either, and have their reason.
    if (reason.empty() ||
        std::ranges::find(reasons, row, &Reasons::value_type::first) != reasons.end()) {
      continue;
    }
    reasons.emplace_back(row, std::move(reason));
  }
  std::ranges::sort(reasons);
  for (const auto& [row, reason] : reasons) log_.failed(genotypes.row(row), reason);
}

/// Evaluates rows, and, if that throws, each half of them by itself, down to single ones: which one
/// was it? Evaluations are pure, so the others give the same as before.
void Guard::isolate(std::size_t begin, std::size_t count, Reasons& reasons) {
  try {
    attempt(begin, count);
    return;
  } catch (const Interrupted&) {
    throw;  // nobody's fault
  } catch (const Lost&) {
    throw;
  } catch (...) {
    if (count == 1) {
      make_invalid(out_, begin);
      reasons.emplace_back(begin, message());
      return;
    }
  }
  isolate(begin, count / 2, reasons);
  isolate(begin + count / 2, count - count / 2, reasons);
}

void Guard::attempt(std::size_t begin, std::size_t count) {
  if (count == 0) return;
  const EvaluationView out = out_.slice(begin, count);
  mark_unwritten(out);
  const auto enter = [&](MatrixView<const float> genotypes) {
    const std::scoped_lock lock(mutex_);
    genotypes_ = genotypes;
    since_ = std::chrono::steady_clock::now();
    reported_.clear();
  };
  enter(batch_.slice(begin, count));
  try {
    evaluator_.evaluate(batch_.slice(begin, count), out);
  } catch (...) {
    enter({});
    throw;
  }
  enter({});
}

void Guard::watch(double patience) {
  std::unique_lock lock(mutex_);
  while (!over_) {
    wake_.wait_for(lock, std::min(Seconds(patience) / 2, Seconds(1)));
    if (genotypes_.rows() > 0) report_hanging(patience);
  }
}

/// Those of the pieces, or the whole call if its evaluator cannot tell, that began too long ago.
void Guard::report_hanging(double patience) {
  const std::vector<Piece> whole = {{0, genotypes_.rows(), since_}};
  const auto now = std::chrono::steady_clock::now();
  for (const Piece& piece : evaluator_.busy().value_or(whole)) {
    const Seconds taken = now - piece.since;
    const std::pair name(piece.begin, piece.since);
    const bool known = std::ranges::find(reported_, name) != reported_.end();
    if (known || taken.count() < patience || piece.begin + piece.count > genotypes_.rows()) {
      continue;
    }
    reported_.push_back(name);
    log_.hangs(genotypes_.slice(piece.begin, piece.count), taken.count());
  }
}

}  // namespace aurora
