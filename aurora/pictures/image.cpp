#include "aurora/pictures/image.hpp"

#include <algorithm>
#include <cassert>

namespace aurora {

Image::Image(std::size_t columns, std::size_t rows, Colour background)
    : width(columns), height(rows), pixels(columns * rows * kChannels) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) set(x, y, background);
  }
}

Colour Image::at(std::size_t x, std::size_t y) const {
  assert(x < width && y < height);
  const std::uint8_t* pixel = &pixels[(y * width + x) * kChannels];
  return {pixel[0], pixel[1], pixel[2]};
}

void Image::set(std::size_t x, std::size_t y, Colour colour) {
  assert(x < width && y < height);
  std::uint8_t* pixel = &pixels[(y * width + x) * kChannels];
  pixel[0] = colour.red;
  pixel[1] = colour.green;
  pixel[2] = colour.blue;
}

void paste(Image& onto, const Image& image, std::size_t left, std::size_t top) {
  if (left >= onto.width || top >= onto.height) return;
  const std::size_t bytes = std::min(image.width, onto.width - left) * Image::kChannels;
  const std::size_t rows = std::min(image.height, onto.height - top);
  for (std::size_t y = 0; y < rows; ++y) {
    std::copy_n(image.pixels.data() + y * image.width * Image::kChannels, bytes,
                onto.pixels.data() + ((top + y) * onto.width + left) * Image::kChannels);
  }
}

Image halved(const Image& image) {
  Image half(image.width / 2, image.height / 2);
  const std::size_t pitch = image.width * Image::kChannels;
  for (std::size_t y = 0; y < half.height; ++y) {
    for (std::size_t x = 0; x < half.width; ++x) {
      for (std::size_t c = 0; c < Image::kChannels; ++c) {
        const std::uint8_t* corner = &image.pixels[2 * y * pitch + 2 * x * Image::kChannels + c];
        const unsigned sum =
            corner[0] + corner[Image::kChannels] + corner[pitch] + corner[pitch + Image::kChannels];
        half.pixels[(y * half.width + x) * Image::kChannels + c] =
            static_cast<std::uint8_t>((sum + 2) / 4);
      }
    }
  }
  return half;
}

Image to_image(std::span<const std::uint8_t> bytes, std::size_t height, std::size_t width,
               std::size_t channels, std::size_t enlarge) {
  assert((channels == 1 || channels == 3) && bytes.size() == height * width * channels);
  Image image(width * enlarge, height * enlarge);
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      const std::uint8_t* from = &bytes[(y / enlarge * width + x / enlarge) * channels];
      image.set(
          x, y,
          channels == 3 ? Colour{from[0], from[1], from[2]} : Colour{from[0], from[0], from[0]});
    }
  }
  return image;
}

}  // namespace aurora
