// The container that a configuration asks for.
#pragma once

#include <memory>

#include "aurora/algorithms/config.hpp"
#include "aurora/containers/container.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// UsageError, with the reason, if the kind of container does not go with the loop, the descriptor
/// or the threshold.
void check_container(const AlgorithmConfig& config);

/// An empty container. UsageError as above, or for numbers that make no sense.
std::unique_ptr<Container> container_of(const TaskSpec& task, const AlgorithmConfig& config,
                                        Workers& workers);

}  // namespace aurora
