// What the encoders share when their state leaves or enters them (files, other engines).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "aurora/encoders/encoder.hpp"
#include "aurora/encoders/scaling.hpp"

namespace aurora {

/// Name and shape of an array that a state must hold.
struct ArraySpec {
  std::string name;
  std::vector<std::size_t> shape;
};

/// "64 x 64 x 3", for messages.
std::string describe(std::span<const std::size_t> extents);

/// The scaling as the first two arrays of every state: `scaling.mean` and `scaling.scale`, both
/// with the extents of the sensory data.
std::vector<ArraySpec> scaling_specs(const SensoryShape& shape);
void append_scaling(std::vector<NamedArray>& state, const SensoryShape& shape,
                    const InputScaling& scaling);

/// DataError unless `state` holds exactly these arrays in this order, with as many values as their
/// shapes say, all finite, and every `scaling.scale` above zero.
void check_state(std::span<const NamedArray> state, std::span<const ArraySpec> expected);

/// DataError unless the data has the encoder's shape and the results have a place for every row.
void check_shape(const SensoryShape& expected, SensoryView data);
void check_outputs(std::size_t rows, std::size_t cols, MatrixView<float> out,
                   std::span<float> error);

}  // namespace aurora
