// aurora evaluate: genotypes in, fitness and ground truth out, a line each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/aurora/commands.hpp"
#include "apps/aurora/gene_reader.hpp"
#include "apps/aurora/json_text.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/processors.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/storage/film.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMaxRows = 1024;                           // genotypes evaluated at once
constexpr std::size_t kMaxSensoryBytes = std::size_t{64} << 20;  // of them
constexpr std::size_t kMaxThreads = 4096;

struct Arguments {
  Words words;
  std::string genes;
  std::optional<std::string> image;
  bool force = false;
  std::size_t threads = processors();
};

void check_assignments(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    if (assignment.starts_with("task.") || assignment.starts_with("run.evaluator") ||
        assignment.starts_with("evaluator.")) {
      continue;
    }
    throw UsageError(fmt::format(
        "'{}' means nothing here: an evaluation has only the task's own options, task.NAME=VALUE, "
        "and the evaluator's",
        assignment));
  }
}

std::string json_line(const TaskSpec& spec, const Evaluation& evaluation, std::size_t row) {
  return fmt::format("{{\"fitness\": {}, \"ground_truth\": {}}}\n",
                     json_number(evaluation.fitness[row]),
                     json_truth(spec.ground_truth, evaluation.ground_truth.row(row)));
}

/// Everything that can be wrong with the picture is said before anything is evaluated.
void check_image(const Arguments& arguments, const TaskSpec& spec) {
  if (!arguments.image) return;
  if (!spec.sensory.is_picture()) {
    throw UsageError(fmt::format(
        "--image is for tasks whose sensory data is a picture; that of '{}' is {} numbers",
        spec.name, fmt::join(spec.sensory.extents, " x ")));
  }
  std::error_code ignored;
  if (!arguments.force && std::filesystem::exists(*arguments.image, ignored)) {
    throw FileError(
        fmt::format("{} exists already; choose another --image, or add --force to replace it",
                    *arguments.image));
  }
}

void write_image(const std::string& path, const Evaluation& evaluation) {
  const SensoryShape& shape = evaluation.sensory.shape();
  const Image image = to_image(evaluation.sensory.view().row<std::uint8_t>(0), shape.extents[0],
                               shape.extents[1], shape.extents[2]);
  write_film(path, {&image, 1}, 0, "aurora evaluate");
}

int act(const Arguments& arguments, const Parts& parts) {
  Words words = sorted(arguments.words);
  if (words.task.empty()) words.task = parts.usual_task;
  if (words.task.empty()) {
    throw UsageError(fmt::format("which TASK? Known: {}", fmt::join(parts.tasks.names(), ", ")));
  }
  check_assignments(words.assignments);
  PlanRequest request;
  request.task = words.task;
  request.variant = "random-search";  // any will do: nothing is searched
  request.assignments = words.assignments;
  const Plan plan = resolve(parts, request);
  const TaskSpec& spec = plan.spec();
  check_image(arguments, spec);

  GeneReader reader(arguments.genes, spec.genotype_size);
  Workers workers(arguments.threads);
  const std::unique_ptr<Evaluator> evaluator = plan.make_evaluator(workers);
  const std::size_t rows = std::clamp<std::size_t>(
      kMaxSensoryBytes / std::max<std::size_t>(spec.sensory.row_bytes(), 1), 1, kMaxRows);
  Matrix<float> genotypes;
  for (bool first = true;; first = false) {
    reader.read(genotypes, rows);
    if (genotypes.rows() == 0) {
      if (first) throw DataError(fmt::format("there is no genotype in {}", arguments.genes));
      return 0;
    }
    Evaluation evaluation(spec, genotypes.rows());
    evaluator->evaluate(genotypes, evaluation.view());
    if (first && arguments.image) write_image(*arguments.image, evaluation);
    std::string lines;
    for (std::size_t i = 0; i < genotypes.rows(); ++i) lines += json_line(spec, evaluation, i);
    print(lines);
  }
}

}  // namespace

Command add_evaluate(Parser& program, const Parts& parts) {
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar =
      program.command("evaluate", "Evaluate genotypes: a JSON line with the result of each");
  add_words(grammar, arguments->words, "task.KEY=VALUE", "The task's own options");
  grammar.add("--genes", arguments->genes,
              "Genotypes, one a line: numbers from 0 to 1, separated by spaces or commas; blank "
              "lines and # comments are skipped; or a CSV file with a header and columns gene_0, "
              "gene_1, ..., as aurora export writes it; - is standard input",
              {.value = "FILE", .required = true});
  grammar.add("--image", arguments->image, "Write the first one's sensory picture here, as PNG",
              {.value = "FILE.png"});
  grammar.add("--force", arguments->force, "Let --image replace a file");
  grammar.add("--threads", arguments->threads, "Threads; all the machine has unless said",
              {.value = "T", .least = 1, .most = kMaxThreads});
  grammar.footer(
      "Examples:\n"
      "  aurora evaluate maze --genes genotypes.txt > results.jsonl\n"
      "  aurora export runs/demo --csv && aurora evaluate maze --genes demo.csv\n"
      "  yes 0.5 | head -42 | tr '\\n' ' ' | aurora evaluate maze --genes - --image maze.png");
  return {grammar, [arguments, &parts] { return act(*arguments, parts); }};
}

}  // namespace aurora
