#include "aurora/evaluation/thread_evaluator.hpp"

#include <algorithm>
#include <memory>

namespace aurora {
namespace {

/// Keeps a piece in a list while it is worked on.
class Mark {
 public:
  Mark(std::mutex& mutex, std::vector<Piece>& list, const Piece& piece)
      : mutex_(mutex), list_(list), begin_(piece.begin) {
    const std::scoped_lock lock(mutex_);
    list_.push_back(piece);
  }
  ~Mark() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(list_, [&](const Piece& piece) { return piece.begin == begin_; });
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

 private:
  std::mutex& mutex_;
  std::vector<Piece>& list_;
  std::size_t begin_;
};

/// Tasks that work on several genotypes at once gain from still more of them (the Hexapod puts
/// those together that stand alike), as long as each thread has two pieces; what hangs should be
/// found among few. Others are handed one after the other.
std::size_t piece_size(std::size_t preferred, std::size_t rows, std::size_t threads) {
  constexpr std::size_t kMostTimes = 8;
  if (preferred <= 1) return 1;
  return std::clamp<std::size_t>(rows / (2 * threads * preferred), 1, kMostTimes) * preferred;
}

}  // namespace

void ThreadEvaluator::evaluate(MatrixView<const float> genotypes, EvaluationView out) {
  const std::size_t grain =
      piece_size(task_.spec().preferred_batch, genotypes.rows(), workers_.threads());
  workers_.parallel_for(genotypes.rows(), grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    const Mark mark(mutex_, busy_, {begin, count, std::chrono::steady_clock::now()});
    task_.evaluate(genotypes.slice(begin, count), out.slice(begin, count));
  });
}

std::optional<std::vector<Piece>> ThreadEvaluator::busy() const {
  const std::scoped_lock lock(mutex_);
  return busy_;
}

EvaluatorEntry thread_evaluator() {
  return part<NoOptions>("threads", "the threads of this process (run.threads)")
      .made_by([](const NoOptions&, EvaluatorContext& context) {
        return std::make_unique<ThreadEvaluator>(context.task, context.workers);
      });
}

}  // namespace aurora
