#include "apps/aurora/json_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace aurora {
namespace {

template <class Number>
std::string shortest(Number value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::to_string(value + Number{0});  // -0 becomes 0
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string json_number(float value) {
  return shortest(value);
}

std::string json_number(double value) {
  return shortest(value);
}

std::string json_list(std::span<const float> values) {
  std::string text;
  for (const float value : values) text += (text.empty() ? "" : ", ") + json_number(value);
  return "[" + text + "]";
}

std::string json_truth(std::span<const Axis> axes, std::span<const float> values) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", nlohmann::json(axes[i].name).dump(),
                        json_number(values[i]));
  }
  return "{" + text + "}";
}

}  // namespace aurora
