// Numbers and arrays with names: what parts report and save without anybody having to know them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aurora {

struct NamedNumber {
  std::string name;
  double value = 0;

  friend bool operator==(const NamedNumber&, const NamedNumber&) = default;
};

/// Saved to and loaded from .npy files.
struct NamedArray {
  std::string name;
  std::vector<std::size_t> shape = {};
  std::vector<float> values = {};
};

/// What a part saves of itself, besides what stands elsewhere (the individuals of a container).
struct PartState {
  std::vector<NamedNumber> numbers = {};
  std::vector<NamedArray> arrays = {};
};

/// The number called `name`, or `otherwise` if there is none: a state that an older version wrote
/// does not have what came later.
double number_called(std::span<const NamedNumber> numbers, std::string_view name, double otherwise);

/// The array called `name`, or null if there is none.
const NamedArray* array_called(std::span<const NamedArray> arrays, std::string_view name);

/// DataError unless every number is finite.
void check_finite(std::span<const NamedNumber> numbers);

}  // namespace aurora
