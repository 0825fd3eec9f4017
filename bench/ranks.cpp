// What it costs to evaluate on the ranks of an mpirun:
//
//   mpirun --oversubscribe -n 8 build/bin/ranks [pictures]
//
// The efficiency of a task that sleeps 10 ms for an evaluation, in batches of 128 and 1,024; or how
// much longer than its evaluation a batch of 128 Maze pictures takes: every piece of 16 of them
// sleeps 2 ms, wherever it is evaluated. Columns: what, ranks, at best, measured (medians).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"
#include "aurora/runs/parts.hpp"

namespace aurora {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// Sleeps for a while, and gives what the maze gave of the same genotype.
class Sleeper : public Task {
 public:
  Sleeper(const Task& maze, std::size_t at_once, Milliseconds pause)
      : pause_(pause), pictures_(maze.spec(), 128) {
    spec_ = maze.spec();
    spec_.name = "sleeper";
    spec_.preferred_batch = at_once;
    genotypes_ = Matrix<float>(128, spec_.genotype_size);
    for (std::size_t i = 0; i < 128; ++i) {
      Stream stream(1, Purpose::genotype, 0, address(i));
      for (float& gene : genotypes_.row(i)) gene = static_cast<float>(stream.uniform());
    }
    maze.evaluate(genotypes_, pictures_.view());
    // The first gene is the row from now on.
    for (std::size_t i = 0; i < 128; ++i) genotypes_(i, 0) = static_cast<float>(i);
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); i += spec_.preferred_batch) {
      std::this_thread::sleep_for(pause_);
    }
    const SensoryView from = pictures_.sensory.view();
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const auto row = static_cast<std::size_t>(genotypes(i, 0));
      out.fitness[i] = pictures_.fitness[row];
      std::ranges::copy(pictures_.ground_truth.row(row), out.ground_truth.row(i).begin());
      std::ranges::copy(from.bytes(row), out.sensory.bytes(i).begin());
    }
  }
  /// As many genotypes as are wanted.
  Matrix<float> batch(std::size_t rows) const {
    Matrix<float> all(rows, spec_.genotype_size);
    for (std::size_t i = 0; i < rows; ++i) {
      std::ranges::copy(genotypes_.row(i % 128), all.row(i).begin());
    }
    return all;
  }

 private:
  TaskSpec spec_;
  Milliseconds pause_;
  Evaluation pictures_;
  Matrix<float> genotypes_;
};

double median_ms(int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    work();
    times.push_back(Milliseconds(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

int measure(const std::string& which) {
  const Parts parts = builtin_parts();
  const auto maze = parts.task(parts.tasks.find("maze"), {});
  const Sleeper task(*maze, which == "pictures" ? 16 : 1,
                     Milliseconds(which == "pictures" ? 2 : 10));
  Workers workers(1);
  EvaluatorContext context{task, workers};
  const auto entry = parts.evaluators.find("mpi");
  Values values;
  for (const Option& option : entry->options) values[option.name] = option.fallback;
  const std::unique_ptr<Evaluator> evaluator = entry->make(values, context);
  if (evaluator->serve()) return 0;
  ThreadEvaluator alone(task, workers);
  const auto ranks = static_cast<double>(mpi_launch().size);
  const auto time = [&](Evaluator& by, std::size_t rows, int rounds) {
    const Matrix<float> genotypes = task.batch(rows);
    Evaluation evaluation(task.spec(), rows);
    by.evaluate(genotypes, evaluation.view());  // connections are made, pages are there
    return median_ms(rounds, [&] { by.evaluate(genotypes, evaluation.view()); });
  };
  if (which == "pictures") {
    const double pieces = 128 / 16;
    const double rounds = std::ceil(pieces / ranks);
    const double piece = time(alone, 16, 50);
    const double batch = time(*evaluator, 128, 100);
    std::printf("| 128 Maze pictures | %.0f | %.2f ms | %.2f ms | overhead %.2f ms |\n", ranks,
                rounds * piece, batch, batch - rounds * piece);
    return 0;
  }
  const double one = time(alone, 8, 5) / 8;
  for (const std::size_t rows : {128U, 1024U}) {
    const double batch = time(*evaluator, rows, rows == 128 ? 10 : 3);
    const double ideal = static_cast<double>(rows) * one / ranks;
    std::printf("| %zu that sleep 10 ms | %.0f | %.1f ms | %.1f ms | efficiency %.1f %% |\n", rows,
                ranks, ideal, batch, 100 * ideal / batch);
  }
  return 0;
}

}  // namespace
}  // namespace aurora

int main(int argc, char** argv) {
  return aurora::measure(argc > 1 ? argv[1] : "sleep");
}
