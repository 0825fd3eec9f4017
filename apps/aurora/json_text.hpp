// Numbers and lists as JSON, in the shortest text that reads back to the same bits.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "aurora/core/task_spec.hpp"

namespace aurora {

/// A float or double; JSON has no NaN and no infinity.
template <class Number>
std::string json_number(Number value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::to_string(value + Number{0});  // -0 becomes 0
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

inline std::string json_list(std::span<const float> values) {
  std::string text;
  for (const float value : values) text += (text.empty() ? "" : ", ") + json_number(value);
  return "[" + text + "]";
}

/// The ground truth by the names of its axes.
inline std::string json_truth(std::span<const Axis> axes, std::span<const float> values) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", nlohmann::json(axes[i].name).dump(),
                        json_number(values[i]));
  }
  return "{" + text + "}";
}

}  // namespace aurora
