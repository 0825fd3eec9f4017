// An individual evaluated again and held against what is stored of it, to the bit.
#pragma once

#include <cstddef>
#include <string>

#include "aurora/core/individuals.hpp"
#include "aurora/evaluation/evaluator.hpp"

namespace aurora {

/// Evaluates the individual of a row by itself.
Evaluation replay(Evaluator& evaluator, const TaskSpec& spec, const Individuals& individuals,
                  std::size_t row);

/// What differs, with both values; empty if every bit is the same. Sensory data is looked at if it
/// is stored.
std::string difference(const Individuals& individuals, std::size_t row, const Evaluation& again,
                       bool with_sensory);

}  // namespace aurora
