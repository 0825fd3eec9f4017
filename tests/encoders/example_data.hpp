// Sensory data for the encoders' tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "aurora/core/random.hpp"
#include "aurora/core/sensory_data.hpp"

namespace aurora {

/// White pictures with a black wall and a blue spot of 3 x 3 pixels at a random place.
inline SensoryData spot_pictures(std::size_t rows, std::size_t side, std::uint64_t seed) {
  SensoryData data({{side, side, 3}, ElementType::uint8}, rows);
  Stream stream(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto picture = data.mutable_view().row<std::uint8_t>(i);
    std::ranges::fill(picture, std::uint8_t{255});
    std::fill_n(picture.begin() + static_cast<std::ptrdiff_t>(side / 2 * side * 3), side, 0);
    const std::size_t y = stream.below(side - 2), x = stream.below(side - 2);
    for (std::size_t dy = 0; dy < 3; ++dy) {
      for (std::size_t dx = 0; dx < 3; ++dx) {
        const std::size_t pixel = ((y + dy) * side + x + dx) * 3;
        picture[pixel] = picture[pixel + 1] = static_cast<std::uint8_t>(40 + 20 * dx);
        picture[pixel + 2] = 255;
      }
    }
  }
  return data;
}

/// Grey levels of a random brightness with a little noise, and a dark bar at a random height, in
/// any number of channels.
inline SensoryData bar_pictures(std::size_t rows, std::size_t height, std::size_t width,
                                std::size_t channels, std::uint64_t seed = 1) {
  SensoryData data({{height, width, channels}, ElementType::uint8}, rows);
  Stream stream(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto picture = data.mutable_view().row<std::uint8_t>(i);
    const std::uint64_t level = 100 + stream.below(100), bar = stream.below(height);
    for (std::size_t j = 0; j < picture.size(); ++j) {
      const std::uint64_t dark = j / (width * channels) == bar ? 80 : 0;
      picture[j] = static_cast<std::uint8_t>(level + stream.below(50) - dark);
    }
  }
  return data;
}

/// Sequences of `steps` x 2 values on arcs with random radius and opening: two hidden numbers.
inline SensoryData arcs(std::size_t rows, std::size_t steps, std::uint64_t seed) {
  SensoryData data({{steps, 2}, ElementType::float32}, rows);
  Stream stream(seed, Purpose::user);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto values = data.mutable_view().row<float>(i);
    const double radius = 0.5 + stream.uniform(), opening = 3.0 * stream.uniform();
    for (std::size_t t = 0; t < steps; ++t) {
      const double angle = opening * static_cast<double>(t) / static_cast<double>(steps);
      values[2 * t] = static_cast<float>(radius * std::cos(angle));
      values[2 * t + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
  return data;
}

/// Row i, feature j as a number: bytes mean value / 255.
inline double value_at(SensoryView data, std::size_t i, std::size_t j) {
  return data.shape().element == ElementType::uint8
             ? static_cast<double>(data.row<std::uint8_t>(i)[j]) / 255.0
             : static_cast<double>(data.row<float>(i)[j]);
}

}  // namespace aurora
