#include "aurora/storage/internal/frames.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr double kMaxFrameSeconds = 60;

}  // namespace

Rectangle changed(const Image& before, const Image& now) {
  std::size_t left = now.width, right = 0, top = now.height, bottom = 0;
  const std::size_t pitch = now.width * Image::kChannels;
  for (std::size_t y = 0; y < now.height; ++y) {
    const std::span old(&before.pixels[y * pitch], pitch);
    const std::span row(&now.pixels[y * pitch], pitch);
    if (std::ranges::equal(row, old)) continue;  // nearly all of them, and quickly seen
    const auto first = std::ranges::mismatch(row, old).in1 - row.begin();
    const auto last = row.rend() - std::mismatch(row.rbegin(), row.rend(), old.rbegin()).first - 1;
    left = std::min(left, static_cast<std::size_t>(first) / Image::kChannels);
    right = std::max(right, static_cast<std::size_t>(last) / Image::kChannels + 1);
    top = std::min(top, y);
    bottom = y + 1;
  }
  if (right == 0) return {};  // a frame has at least one pixel
  return {left, top, right - left, bottom - top};
}

void check_film(std::span<const Image> frames, double seconds_per_frame,
                const std::string& description, std::size_t most) {
  if (description.size() > kMaxDescription) throw UsageError("the description is too long");
  if (frames.empty()) throw UsageError("a film needs at least one frame");
  const Image& first = frames.front();
  for (const Image& frame : frames) {
    if (frame.width != first.width || frame.height != first.height) {
      throw UsageError(fmt::format("the frames of a film have one size, not {} x {} and {} x {}",
                                   first.width, first.height, frame.width, frame.height));
    }
    if (frame.empty() || frame.width > most || frame.height > most ||
        frame.pixels.size() != frame.width * frame.height * Image::kChannels) {
      throw UsageError(fmt::format("an image of {} x {} pixels with {} bytes cannot be written",
                                   frame.width, frame.height, frame.pixels.size()));
    }
  }
  if (!(seconds_per_frame >= 0 && seconds_per_frame <= kMaxFrameSeconds)) {
    throw UsageError(fmt::format("a frame is shown for 0 to {} seconds, not {}", kMaxFrameSeconds,
                                 seconds_per_frame));
  }
}

}  // namespace aurora
