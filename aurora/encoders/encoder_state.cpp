#include "aurora/encoders/encoder_state.hpp"

#include <algorithm>
#include <cmath>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr char kMean[] = "scaling.mean";
constexpr char kScale[] = "scaling.scale";

std::size_t product(std::span<const std::size_t> extents) {
  std::size_t n = 1;
  for (std::size_t e : extents) n *= e;
  return n;
}

void check_array(const NamedArray& array, const ArraySpec& expected) {
  const std::string where = "encoder state: array '" + array.name + "' ";
  if (array.name != expected.name) {
    throw DataError(where + "stands where '" + expected.name + "' should be");
  }
  if (array.shape != expected.shape) {
    throw DataError(where + "has shape " + describe(array.shape) + " instead of " +
                    describe(expected.shape));
  }
  if (array.values.size() != product(expected.shape)) {
    throw DataError(where + "holds " + std::to_string(array.values.size()) +
                    " values, its shape says " + std::to_string(product(expected.shape)));
  }
  if (!std::ranges::all_of(array.values, [](float x) { return std::isfinite(x); })) {
    throw DataError(where + "holds values that are not finite");
  }
  if (array.name == kScale &&
      !std::ranges::all_of(array.values, [](float x) { return x > 0.0F; })) {
    throw DataError(where + "holds values that are not above zero");
  }
}

}  // namespace

std::string describe(std::span<const std::size_t> extents) {
  std::string text;
  for (std::size_t e : extents) text += (text.empty() ? "" : " x ") + std::to_string(e);
  return text.empty() ? "()" : text;
}

std::vector<ArraySpec> scaling_specs(const SensoryShape& shape) {
  return {{kMean, shape.extents}, {kScale, shape.extents}};
}

void append_scaling(std::vector<NamedArray>& state, const SensoryShape& shape,
                    const InputScaling& scaling) {
  state.push_back({kMean, shape.extents, scaling.mean});
  state.push_back({kScale, shape.extents, scaling.scale});
}

void check_state(std::span<const NamedArray> state, std::span<const ArraySpec> expected) {
  if (state.size() != expected.size()) {
    throw DataError("encoder state: " + std::to_string(state.size()) + " arrays instead of " +
                    std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < state.size(); ++i) check_array(state[i], expected[i]);
}

void check_shape(const SensoryShape& expected, SensoryView data) {
  if (data.rows() > 0 && data.shape() != expected) {
    throw DataError("the sensory data has shape " + describe(data.shape().extents) +
                    (data.shape().element == ElementType::uint8 ? " (bytes)" : " (floats)") +
                    ", the encoder was made for " + describe(expected.extents) +
                    (expected.element == ElementType::uint8 ? " (bytes)" : " (floats)"));
  }
}

void check_outputs(std::size_t rows, std::size_t cols, MatrixView<float> out,
                   std::span<float> error) {
  if (out.rows() != rows || out.cols() != cols) {
    throw DataError("the encoder writes " + std::to_string(rows) + " x " + std::to_string(cols) +
                    " values, the matrix given has " + std::to_string(out.rows()) + " x " +
                    std::to_string(out.cols()));
  }
  if (!error.empty() && error.size() != rows) {
    throw DataError("the encoder writes " + std::to_string(rows) + " errors, there is room for " +
                    std::to_string(error.size()));
  }
}

}  // namespace aurora
