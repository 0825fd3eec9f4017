// A search that somebody else evaluates for: ask() for genotypes, tell() what they do. It is a run
// without a directory: the same parts in the same order, so the same container to the bit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/metrics/metric.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/records.hpp"

namespace aurora {

class Search {
 public:
  explicit Search(Plan plan);

  /// The genotypes of the next iteration. They, and where their results belong, stay where they are
  /// until tell(). Those that are `given` take the place of children, and the rest of the batch is
  /// then drawn. UsageError if the last ones have not been told, or these are no genotypes.
  MatrixView<const float> ask(MatrixView<const float> given = {});
  EvaluationView evaluation();
  /// Takes what was written to evaluation(). A row that is not finite enters no container.
  /// UsageError if nothing was asked. If it throws half-way, because an encoder did, the search is
  /// of no use any more, and says so, until it is loaded anew.
  StepReport tell();
  bool asked() const { return asked_; }

  const Plan& plan() const { return plan_; }
  const Algorithm& algorithm() const { return *algorithm_; }
  /// Iterations that were told.
  std::size_t iterations() const { return record_.summary.iterations; }
  const RunRecord& record() const { return record_; }
  /// The metrics of the plan, and the container's own numbers.
  std::vector<NamedNumber> measure() const;

  /// Writes the whole state into a directory: config.toml and checkpoint/, as a run has them, so
  /// that run() can go on from there. What was asked and not told is asked again by whoever goes
  /// on. FileError if something else is in the directory, a run with results too.
  void save(const std::filesystem::path& directory) const;
  /// Goes on from such a directory, or from that of a run, to the very bits. UsageError if it is of
  /// another plan; FileError or DataError if it cannot be used.
  void load(const Parts& parts, const std::filesystem::path& directory);

 private:
  void check_whole() const;

  Plan plan_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Algorithm> algorithm_;
  std::vector<std::unique_ptr<Metric>> metrics_;
  RunRecord record_;
  bool asked_ = false;
  bool broken_ = false;
};

}  // namespace aurora
