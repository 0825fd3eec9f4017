#include "aurora/core/named.hpp"

#include <algorithm>
#include <cmath>

#include "aurora/core/errors.hpp"

namespace aurora {

double number_called(std::span<const NamedNumber> numbers, std::string_view name,
                     double otherwise) {
  const auto found = std::ranges::find(numbers, name, &NamedNumber::name);
  return found == numbers.end() ? otherwise : found->value;
}

const NamedArray* array_called(std::span<const NamedArray> arrays, std::string_view name) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

void check_finite(std::span<const NamedNumber> numbers) {
  for (const NamedNumber& number : numbers) {
    if (!std::isfinite(number.value)) {
      throw DataError("the saved number '" + number.name + "' is not finite");
    }
  }
}

}  // namespace aurora
