// What the encoder of a run makes of a few of its individuals, for pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aurora/core/individuals.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

struct Reconstructions {
  std::vector<std::uint64_t> ids;
  Matrix<float> values;  // a row each, in the units of the sensory data (bytes as value / 255)
};

/// Rows that lie far from each other in the first two axes of the ground truth, in units of the
/// axes' lengths: the first is the one with the lowest id, each further one is the farthest from
/// all before. `count` of them, or all. The same individuals in whatever order they are stored.
std::vector<std::size_t> spread_rows(const Individuals& individuals, const std::vector<Axis>& axes,
                                     std::size_t count);

/// A dozen individuals, spread over the container, as the encoder reconstructs them.
Reconstructions reconstruct_some(const Encoder& encoder, const Individuals& individuals,
                                 const TaskSpec& task);

}  // namespace aurora
