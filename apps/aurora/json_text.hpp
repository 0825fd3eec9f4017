// Numbers and lists as JSON, in the shortest text that reads back to the same bits.
#pragma once

#include <span>
#include <string>

#include "aurora/core/task_spec.hpp"

namespace aurora {

/// JSON has no NaN and no infinity: they are null.
std::string json_number(float value);
std::string json_number(double value);

std::string json_list(std::span<const float> values);

/// The ground truth by the names of its axes.
std::string json_truth(std::span<const Axis> axes, std::span<const float> values);

}  // namespace aurora
