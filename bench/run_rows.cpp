// Whole runs on the Maze: evaluations a second, and where the time goes.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "aurora/runs/run.hpp"
#include "table.hpp"

namespace aurora::bench {
namespace {

RunSummary run_once(const std::string& variant, std::size_t threads) {
  PlanRequest request;
  request.task = "maze";
  request.variant = variant;
  request.assignments = {"run.iterations=300", "run.threads=" + std::to_string(threads)};
  const Parts parts = builtin_parts();
  const auto out =
      std::filesystem::temp_directory_path() /
      ("aurora-bench-" + std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id())));
  std::filesystem::remove_all(out);
  const std::atomic<bool> stop{false};
  RunSummary summary = run(parts, resolve(parts, request), {.out = out}, stop);
  std::filesystem::remove_all(out);
  return summary;
}

}  // namespace

void run_rows(Table& table) {
  table.heading(
      "Whole runs: 300 iterations of 128 controllers, N = 10,000 (QDax + Kheperax on an "
      "H200: about 190 evaluations/s)");
  for (const char* variant : {"aurora-csc-uniform-10", "aurora-csc-novelty-10", "hc-csc-uniform"}) {
    for (const std::size_t threads : {1U, 2U}) {
      const std::string name =
          std::string("run/") + variant + "/threads=" + std::to_string(threads);
      if (!table.wanted(name)) continue;
      const RunSummary summary = run_once(variant, threads);
      table.add({.name = name,
                 .rate = static_cast<double>(summary.evaluations) / summary.seconds_total,
                 .unit = "evaluations/s"});
      const PhaseSeconds& s = summary.seconds;
      std::printf(
          "    seconds: simulate %.2f, encode %.2f, train %.2f, container %.2f, variation "
          "%.2f, metrics %.2f, files %.2f; in all %.2f\n",
          s.simulate, s.encode, s.train, s.container, s.variation, summary.seconds_metrics,
          summary.seconds_io, summary.seconds_total);
    }
  }
}

}  // namespace aurora::bench
