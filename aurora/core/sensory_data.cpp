#include "aurora/core/sensory_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

const char* plural(ElementType element) {
  return element == ElementType::uint8 ? "bytes" : "floats";
}

}  // namespace

std::string describe(const SensoryShape& shape) {
  return fmt::format("{} {}", fmt::join(shape.extents, " x "), plural(shape.element));
}

void throw_other_shape(const SensoryShape& shape, std::size_t values, ElementType element) {
  throw DataError(
      fmt::format("the sensory data is {}, not {} {}", describe(shape), values, plural(element)));
}

}  // namespace aurora
