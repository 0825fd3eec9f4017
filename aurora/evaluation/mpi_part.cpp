// MPI as a part. What knows MPI is in a library of its own, which is loaded when mpirun has started
// more than one process.
#include <memory>
#include <string>

#include "aurora/core/plugin.hpp"
#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/evaluation/rank_evaluator.hpp"
#include "aurora/evaluation/thread_evaluator.hpp"

namespace aurora {
namespace {

constexpr const char* kPlugin = "libaurora_mpi.so";

std::unique_ptr<Transport> connect_by_mpi() {
  using Maker = Transport* (*)();
  void* maker = find_in_plugin(kPlugin, "aurora_make_mpi_transport");
  if (!maker) throw UsageError(std::string(kPlugin) + " does not load: install libopenmpi3");
  return std::unique_ptr<Transport>(reinterpret_cast<Maker>(maker)());
}

}  // namespace

EvaluatorEntry mpi_evaluator() {
  return part<RankConfig>("mpi",
                          "the ranks of an mpirun, each with run.threads; the default under mpirun")
      .option("silence", &RankConfig::silence, Range{1, 1e6},
              "seconds after which a rank that says nothing is lost, and the run ends")
      .missing(missing_plugin(kPlugin, "install libopenmpi-dev, then make build"))
      .made_by(
          [](const RankConfig& config, EvaluatorContext& context) -> std::unique_ptr<Evaluator> {
            // A run that was made by many and is looked at, or goes on, in one process.
            if (mpi_launch().size <= 1) {
              return std::make_unique<ThreadEvaluator>(context.task, context.workers);
            }
            return std::make_unique<RankEvaluator>(context, config, connect_by_mpi);
          });
}

}  // namespace aurora
