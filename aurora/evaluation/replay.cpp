#include "aurora/evaluation/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace aurora {
namespace {

std::string compare(const char* what, std::span<const float> stored, std::span<const float> now) {
  if (stored.size() == now.size() &&
      std::memcmp(stored.data(), now.data(), stored.size_bytes()) == 0) {
    return {};
  }
  return fmt::format("{} is {}, stored is {}", what, fmt::join(now, ", "), fmt::join(stored, ", "));
}

}  // namespace

Evaluation replay(Evaluator& evaluator, const TaskSpec& spec, const Individuals& individuals,
                  std::size_t row) {
  Evaluation again(spec, 1);
  evaluator.evaluate(individuals.genotypes.view().slice(row, 1), again.view());
  return again;
}

std::string difference(const Individuals& individuals, std::size_t row, const Evaluation& again,
                       bool with_sensory) {
  std::vector<std::string> found = {
      compare("fitness", std::span(&individuals.fitness[row], 1), again.fitness),
      compare("ground truth", individuals.ground_truth.row(row), again.ground_truth.row(0))};
  if (with_sensory &&
      !std::ranges::equal(individuals.sensory.view().bytes(row), again.sensory.view().bytes(0))) {
    found.emplace_back("the sensory data is not what is stored");
  }
  std::erase(found, std::string());
  return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace aurora
