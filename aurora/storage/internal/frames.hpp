// What the formats of films have in common.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "aurora/pictures/image.hpp"

namespace aurora {

inline constexpr double kLastFrameSeconds = 1;         // at least
inline constexpr std::size_t kMaxDescription = 1'000;  // bytes

/// The part of a frame that is not as in the frame before.
struct Rectangle {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 1;
  std::size_t height = 1;
};

/// At least one pixel.
Rectangle changed(const Image& before, const Image& now);

/// UsageError if frames, their time or the description make no sense; sides are `most` at most.
void check_film(std::span<const Image> frames, double seconds_per_frame,
                const std::string& description, std::size_t most);

}  // namespace aurora
