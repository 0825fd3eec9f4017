// What many ranks would make of a batch: predicted, simulated and, up to 64 of them, measured.
//
//   rank_model [--latency US] [--message US] [--row US] [--measure]
//
// Predicted: a batch of B evaluations of t on R ranks, whose messages take L (one way), and of
// which rank 0 spends m on each message and r on each row. With k = ceil(B / R) evaluations to a
// rank the last one ends after
//
//   T = max(k t + R (2 m + r), B r + 2 m M + t) + 2 L,      efficiency = B t / (R T)
//
// the work of a rank and the first and last pieces of all of them, which rank 0 handles one after
// the other; or the work of rank 0, if that is more; and a message there and back. M is the number
// of pieces: they begin as a fourth of a share and become smaller, 4 R (1 + ln(B / 4 R)).
//
// Simulated: events on a clock of their own, with the program's own queue (PieceQueue): which piece
// goes to whom, when it is there, done and back, with rank 0 handling one message at a time.
//
// Measured (--measure): the program's own evaluator (RankEvaluator) with ranks that are threads of
// this process and messages that take as long as is said; the evaluations sleep.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "aurora/evaluation/piece_queue.hpp"
#include "aurora/evaluation/rank_evaluator.hpp"
#include "tests/evaluation/local_transport.hpp"

namespace aurora {
namespace {

/// Seconds.
struct Costs {
  double latency = 20e-6;
  double message = 5e-6;  // of rank 0: to send or to receive one
  double row = 2e-6;      // of rank 0: a picture of 12 KB is put in its place
};

double predicted(std::size_t ranks, std::size_t batch, double task, const Costs& costs) {
  const auto r = static_cast<double>(ranks);
  const auto b = static_cast<double>(batch);
  const double pieces = b > 4 * r ? 4 * r * (1 + std::log(b / (4 * r))) : b;
  const double work = std::ceil(b / r) * task + r * (2 * costs.message + costs.row);
  const double lead = b * costs.row + 2 * costs.message * pieces + task;
  return b * task / (r * (std::max(work, lead) + 2 * costs.latency));
}

double simulated(std::size_t ranks, std::size_t batch, double task, const Costs& costs) {
  struct Event {
    double time;
    std::size_t rank;  // a result is there; 0: rank 0 itself is free
    std::size_t rows;
    bool operator<(const Event& other) const { return time > other.time; }
  };
  PieceQueue queue(ranks, 1);
  queue.fill(batch);
  std::priority_queue<Event> events;
  std::vector<double> free(ranks);  // when a rank has done what it has
  std::vector<std::size_t> held(ranks);
  double lead = 0;  // when rank 0's communication is free
  double end = 0;
  const auto hand_out = [&](double now) {
    lead = std::max(lead, now);
    for (std::size_t level = 0; level < 2; ++level) {
      for (std::size_t rank = 1; rank < ranks; ++rank) {
        if (held[rank] != level) continue;
        const auto piece = queue.take(1, level);
        if (!piece) break;
        lead += costs.message;
        ++held[rank];
        const auto rows = static_cast<double>(piece->count);
        free[rank] = std::max(free[rank], lead + costs.latency) + rows * task;
        events.push({free[rank] + costs.latency, rank, piece->count});
      }
    }
  };
  events.push({0, 0, 0});
  hand_out(0);
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    end = std::max(end, event.time);
    if (event.rank == 0) {
      if (const auto piece = queue.take(1, 0)) {
        events.push({event.time + static_cast<double>(piece->count) * task, 0, piece->count});
      }
      continue;
    }
    lead = std::max(lead, event.time) + costs.message + static_cast<double>(event.rows) * costs.row;
    end = std::max(end, lead);
    --held[event.rank];
    hand_out(lead);
  }
  return static_cast<double>(batch) * task / (static_cast<double>(ranks) * end);
}

class Sleeper : public Task {
 public:
  explicit Sleeper(double seconds) : seconds_(seconds) {
    spec_.name = "sleeper";
    spec_.genotype_size = 42;
    spec_.sensory = {{64, 64, 3}, ElementType::uint8};
    spec_.ground_truth = {{"x", 0, 1}, {"y", 0, 1}};
  }
  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(seconds_ * static_cast<double>(genotypes.rows())));
    std::ranges::fill(out.fitness, 0.0F);
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      std::ranges::fill(out.ground_truth.row(i), 0.0F);
    }
  }

 private:
  double seconds_;
  TaskSpec spec_;
};

double measured(std::size_t ranks, std::size_t batch, double task, const Costs& costs) {
  const Sleeper sleeper(task);
  LocalNetwork network(static_cast<int>(ranks),
                       std::chrono::microseconds(std::lround(costs.latency * 1e6)));
  std::vector<std::thread> others;
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    others.emplace_back([&, rank] {
      Workers workers;
      RankEvaluator evaluator({sleeper, workers}, {},
                              [&] { return network.connect(static_cast<int>(rank)); });
      evaluator.serve();
    });
  }
  double best = 1e300;
  {
    Workers workers;
    RankEvaluator evaluator({sleeper, workers}, {}, [&] { return network.connect(0); });
    const Matrix<float> genotypes(batch, sleeper.spec().genotype_size);
    Evaluation evaluation(sleeper.spec(), batch);
    for (int round = 0; round < 3; ++round) {
      const auto start = std::chrono::steady_clock::now();
      evaluator.evaluate(genotypes, evaluation.view());
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, taken.count());
    }
  }
  for (std::thread& other : others) other.join();
  return static_cast<double>(batch) * task / (static_cast<double>(ranks) * best);
}

int print_table(int argc, char** argv) {
  Costs costs;
  bool measure = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--measure") {
      measure = true;
      continue;
    }
    double* const cost = word == "--latency"   ? &costs.latency
                         : word == "--message" ? &costs.message
                         : word == "--row"     ? &costs.row
                                               : nullptr;
    if (cost == nullptr || i + 1 == argc) {
      std::fprintf(stderr,
                   "usage: rank_model [--latency US] [--message US] [--row US] "
                   "[--measure]\n");
      return 2;
    }
    *cost = std::atof(argv[++i]) * 1e-6;
  }
  std::printf("messages take %.0f us, rank 0 spends %.0f us on one and %.1f us on a row\n\n",
              1e6 * costs.latency, 1e6 * costs.message, 1e6 * costs.row);
  std::printf("| ranks | batch | an evaluation | predicted | simulated |%s\n",
              measure ? " measured |" : "");
  std::printf("|---|---|---|---|---|%s\n", measure ? "---|" : "");
  for (const std::size_t ranks : {8U, 64U, 256U, 1024U}) {
    for (const std::size_t batch : {128U, 1024U, 8192U}) {
      if (batch < ranks) continue;
      for (const double task : {0.001, 0.01, 0.1}) {
        std::printf("| %zu | %zu | %.0f ms | %.1f %% | %.1f %% |", ranks, batch, 1e3 * task,
                    100 * predicted(ranks, batch, task, costs),
                    100 * simulated(ranks, batch, task, costs));
        const double seconds = static_cast<double>(batch) * task / static_cast<double>(ranks);
        if (measure && ranks <= 64 && seconds < 2) {
          std::printf(" %.1f %% |", 100 * measured(ranks, batch, task, costs));
        } else if (measure) {
          std::printf(" |");
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace aurora

int main(int argc, char** argv) {
  return aurora::print_table(argc, argv);
}
