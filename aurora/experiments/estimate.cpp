#include "aurora/experiments/estimate.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
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
constexpr std::size_t kUsualBatch = 32;     // of encoders that do not say
constexpr std::size_t kFewestRows = 4;      // evaluated
constexpr std::size_t kMostExamples = 499;  // all are trained on, none held out
constexpr std::size_t kNumbersOfARow = 8;   // fitness, error, id, and what containers keep besides

/// Sensory data of `rows` individuals: those that were evaluated, over and over. What they show
/// does not change how long it takes.
SensoryData repeated(SensoryView some, std::size_t rows) {
  SensoryData all(some.shape(), rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::ranges::copy(some.bytes(i % some.rows()), all.mutable_view().bytes(i).begin());
  }
  return all;
}

void measure_encoder(Plan plan, SensoryView some, Costs& costs) {
  if (!plan.encoder) return;
  plan.encoder->set("epochs", 1);
  Stream weights(plan.run.seed, Purpose::encoder_weights);
  const std::unique_ptr<Encoder> encoder = plan.make_encoder(plan.run.dimension, weights);
  const std::size_t batch = plan.encoder->integer("batch").value_or(kUsualBatch);
  const std::size_t rows = std::min(kMiniBatches * batch, kMostExamples);
  const SensoryData all = repeated(some, rows);
  // Any fitness will do, but encoders may ask for one.
  std::vector<float> fitness(rows);
  for (std::size_t i = 0; i < rows; ++i) fitness[i] = static_cast<float>(i);
  Workers workers;
  SelectorContext selection{plan.run.seed};
  Matrix<float> descriptors(rows, encoder->dimension());
  std::vector<float> errors(plan.selector.make(selection)->reads_errors() ? rows : 0);
  for (int round = 0; round < 2; ++round) {  // the first one fetches memory, the second counts
    costs.training = 0;
    costs.encoding = 0;
    {
      const Stopwatch watch(costs.training);
      Stream stream(plan.run.seed, Purpose::encoder_training);
      encoder->train({all.view(), fitness}, stream, workers);
    }
    const Stopwatch watch(costs.encoding);
    encoder->encode(all.view(), descriptors, errors, workers);
  }
  costs.training /= static_cast<double>(rows);
  costs.encoding /= static_cast<double>(rows);
}

/// Individuals in the container after so many iterations.
double expected_size(const Plan& plan, std::size_t iteration) {
  if (const auto added = plan.loop.integer("population.added")) {
    return static_cast<double>(*added * iteration);
  }
  return std::min(static_cast<double>(plan.run.target_size),
                  kShareThatJoins * static_cast<double>(iteration * plan.run.batch));
}

/// How many of a container a training takes.
double expected_examples(const Plan& plan, double size) {
  const auto most = plan.encoder->integer("max_examples");
  return most ? std::min(size, static_cast<double>(*most)) : size;
}

double peak_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * static_cast<double>(usage.ru_maxrss) : 0;
}

/// Bytes of the container at the end, of its copy, and of the examples of a training.
double container_memory(const Plan& plan) {
  const TaskSpec& spec = plan.spec();
  const double rows = expected_size(plan, plan.run.iterations);
  const double numbers = static_cast<double>(spec.genotype_size + plan.run.dimension +
                                             spec.ground_truth.size() + kNumbersOfARow);
  const double row = sizeof(float) * numbers + static_cast<double>(spec.sensory.row_bytes());
  const double example = static_cast<double>(sizeof(float) * spec.sensory.size());
  return 2 * rows * row + (plan.encoder ? expected_examples(plan, rows) * example : 0);
}

/// Seconds of a training at this iteration, and of encoding the container afterwards.
double update_seconds(const Plan& plan, std::size_t iteration, std::uint64_t epochs,
                      const Costs& costs) {
  if (!plan.encoder) return 0;
  const double size = expected_size(plan, iteration);
  return expected_examples(plan, size) * kShareOfEpochs * static_cast<double>(epochs) *
             costs.training +
         size * costs.encoding;
}

}  // namespace

Costs measure_costs(const Plan& plan) {
  const TaskSpec& spec = plan.spec();
  const std::size_t rows = std::max(spec.preferred_batch, kFewestRows);
  Matrix<float> genotypes(rows, spec.genotype_size);
  for (std::size_t i = 0; i < rows; ++i) {
    Stream stream(1, Purpose::genotype, 0, address(i));
    for (float& gene : genotypes.row(i)) gene = static_cast<float>(stream.uniform());
  }
  Evaluation evaluation(spec, rows);
  Workers alone;
  const std::unique_ptr<Evaluator> evaluator = plan.make_evaluator(alone);
  Costs costs;
  {
    const Stopwatch watch(costs.evaluation);
    evaluator->evaluate(genotypes, evaluation.view());
  }
  costs.evaluation /= static_cast<double>(rows);
  measure_encoder(plan, evaluation.sensory.view(), costs);
  costs.memory = peak_memory();
  return costs;
}

Estimate estimate(const PlannedRun& run, const Costs& costs) {
  const Plan& plan = run.plan;
  const double evaluations = static_cast<double>(plan.run.iterations * plan.run.batch);
  Estimate result{evaluations * costs.evaluation, evaluations * costs.encoding,
                  costs.memory + container_memory(plan)};
  const std::uint64_t epochs = plan.encoder ? plan.encoder->integer("epochs").value_or(1) : 0;
  EncoderSchedule schedule(plan.run.encoder_step);
  for (std::size_t i = 1; i <= plan.run.iterations; ++i) {
    if (schedule.due(i)) result.encoder += update_seconds(plan, i, epochs, costs);
  }
  result.encoder += estimate_retraining(run, costs).encoder;
  return result;
}

double simulation_speedup(const Plan& plan, std::size_t threads) {
  const auto parts = [](std::size_t whole, std::size_t of) { return (whole + of - 1) / of; };
  const std::size_t pieces =
      parts(plan.run.batch, std::max<std::size_t>(plan.spec().preferred_batch, 1));
  return static_cast<double>(pieces) /
         static_cast<double>(parts(pieces, std::max<std::size_t>(threads, 1)));
}

Estimate estimate_retraining(const PlannedRun& run, const Costs& costs) {
  if (!run.retrain) return {};
  return {0, update_seconds(run.plan, run.plan.run.iterations, RetrainOptions{}.epochs, costs),
          costs.memory + container_memory(run.plan)};
}

}  // namespace aurora
