// Which of the four pixels of a 2x2 max-pool won, two bits per individual: what the gradient needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aurora/encoders/native/lanes.hpp"

namespace aurora::native {

/// Bits "in the lower row" and "in the right column" as masks over the lanes of a register. How
/// many registers make a group, and so the order in memory, depends on the instruction set.
class Winners {
 public:
  Winners(std::size_t height, std::size_t width, std::size_t channels)
      : width_(width), channels_(channels), pixels_(height * width), bits_(room()) {}

  /// For registers of Lanes lanes: the masks of pixel (y, x) and a channel, for the register that
  /// starts at `lane`; the second mask follows kMaskBytes<Lanes> after the first.
  template <std::size_t Lanes>
  std::uint8_t* at(std::size_t y, std::size_t x, std::size_t channel, std::size_t lane) {
    return bits_.data() + index<Lanes>(y, x, channel, lane);
  }
  template <std::size_t Lanes>
  const std::uint8_t* at(std::size_t y, std::size_t x, std::size_t channel,
                         std::size_t lane) const {
    return bits_.data() + index<Lanes>(y, x, channel, lane);
  }

  template <std::size_t Lanes>
  static constexpr std::size_t kMaskBytes = (Lanes + 7) / 8;

 private:
  std::size_t room() const { return kLanes * pixels_ * channels_ * 2 * kMaskBytes<1>; }

  template <std::size_t Lanes>
  std::size_t index(std::size_t y, std::size_t x, std::size_t channel, std::size_t lane) const {
    const std::size_t pixel = lane / Lanes * pixels_ + y * width_ + x;
    return (pixel * channels_ + channel) * 2 * kMaskBytes<Lanes>;
  }

  std::size_t width_, channels_, pixels_;
  std::vector<std::uint8_t> bits_;
};

}  // namespace aurora::native
