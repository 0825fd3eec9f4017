#include "aurora/runs/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "aurora/algorithms/encoder_schedule.hpp"
#include "aurora/algorithms/offspring.hpp"
#include "aurora/core/random.hpp"
#include "aurora/core/stopwatch.hpp"
#include "aurora/runs/retrain.hpp"

namespace aurora {
namespace {

constexpr double kShareThatJoins = 0.25;    // of the evaluations, until the container is full
constexpr double kShareOfEpochs = 0.5;      // until a training stops
constexpr std::size_t kMiniBatches = 4;     // of one timed epoch
constexpr std::size_t kFewestRows = 4;      // evaluated
constexpr std::size_t kMostExamples = 499;  // all are trained on, none held out

/// Sensory data of `rows` individuals: those that were evaluated, over and over. What they show
/// does not change how long it takes.
SensoryData repeated(SensoryView some, std::size_t rows) {
  SensoryData all(some.shape(), rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::ranges::copy(some.bytes(i % some.rows()), all.view().bytes(i).begin());
  }
  return all;
}

void measure_encoder(const TaskSpec& task, AlgorithmConfig config, SensoryView some, Costs& costs) {
  config.encoder.epochs = 1;
  const std::unique_ptr<Encoder> encoder = encoder_of(task, config);
  if (!encoder) return;
  const std::size_t rows = std::min(kMiniBatches * config.encoder.batch, kMostExamples);
  const SensoryData all = repeated(some, rows);
  Workers workers;
  Matrix<float> descriptors(rows, encoder->dimension());
  std::vector<float> errors(reads_surprise(config.selection) ? rows : 0);
  for (int round = 0; round < 2; ++round) {  // the first one fetches memory, the second counts
    costs.training = 0;
    costs.encoding = 0;
    {
      const Stopwatch watch(costs.training);
      Stream stream(config.seed, Purpose::encoder_training);
      encoder->train(all.view(), stream, workers);
    }
    const Stopwatch watch(costs.encoding);
    encoder->encode(all.view(), descriptors, errors, workers);
  }
  costs.training /= static_cast<double>(rows);
  costs.encoding /= static_cast<double>(rows);
}

/// Individuals in the container after so many iterations.
double expected_size(const AlgorithmConfig& config, std::size_t iteration) {
  if (config.kind != AlgorithmKind::quality_diversity) {
    return static_cast<double>(config.population.added * iteration);
  }
  return std::min(static_cast<double>(config.target_size),
                  kShareThatJoins * static_cast<double>(iteration * config.batch));
}

/// Seconds of a training at this iteration, and of encoding the container afterwards.
double update_seconds(const AlgorithmConfig& config, std::size_t iteration, std::size_t epochs,
                      const Costs& costs) {
  const double size = expected_size(config, iteration);
  const double examples = std::min(size, static_cast<double>(config.encoder.max_examples));
  return examples * kShareOfEpochs * static_cast<double>(epochs) * costs.training +
         size * costs.encoding;
}

}  // namespace

Costs measure_costs(const TaskRegistry& tasks, const RunConfig& config) {
  const auto task = tasks.make(config.task, config.task_options);
  const std::size_t rows = std::max(task->spec().preferred_batch, kFewestRows);
  Matrix<float> genotypes(rows, task->spec().genotype_size);
  for (std::size_t i = 0; i < rows; ++i) {
    Stream stream(1, Purpose::genotype, 0, address(i));
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  Evaluation evaluation(task->spec(), rows);
  Costs costs;
  {
    const Stopwatch watch(costs.evaluation);
    task->evaluate(genotypes, evaluation.view());
  }
  costs.evaluation /= static_cast<double>(rows);
  measure_encoder(task->spec(), config.algorithm, std::as_const(evaluation.sensory).view(), costs);
  return costs;
}

Estimate estimate(const PlannedRun& run, const Costs& costs) {
  const AlgorithmConfig& config = run.config.algorithm;
  const double evaluations = static_cast<double>(run.config.iterations * config.batch);
  Estimate result{evaluations * costs.evaluation, evaluations * costs.encoding};
  EncoderSchedule schedule(config.encoder_step);
  for (std::size_t i = 1; i <= run.config.iterations; ++i) {
    if (schedule.due(i)) result.encoder += update_seconds(config, i, config.encoder.epochs, costs);
  }
  result.encoder += estimate_retraining(run, costs).encoder;
  return result;
}

Estimate estimate_retraining(const PlannedRun& run, const Costs& costs) {
  if (!run.retrain) return {};
  return {0, update_seconds(run.config.algorithm, run.config.iterations, RetrainOptions{}.epochs,
                            costs)};
}

}  // namespace aurora
