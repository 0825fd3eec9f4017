#include "aurora/tasks/vases/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "aurora/pictures/canvas.hpp"

namespace aurora::vases {
namespace {

constexpr std::size_t kPictureSize = 512;
constexpr std::size_t kFilmSize = 384;
constexpr std::size_t kFrames = 24;
constexpr double kSecondsPerFrame = 0.08;
constexpr std::size_t kShades = 8;  // of the half that is seen from outside
constexpr Colour kTable = {120, 104, 92};
constexpr Colour kClay = {150, 78, 48};
constexpr Colour kInside = {238, 222, 208};
constexpr Colour kMark = {40, 90, 200};
constexpr Window kWindow = {.left = -22, .right = 22, .top = 38, .bottom = -6};

/// A turn around the right edge of the foot, by the slope that it is tilted to.
class Tilt {
 public:
  Tilt(double foot, double slope)
      : foot_(foot), cos_(1 / std::sqrt(1 + slope * slope)), sin_(slope * cos_) {}
  Place operator()(double x, double z) const {
    const double from_edge = x - foot_;
    return {foot_ + cos_ * from_edge + sin_ * z, cos_ * z - sin_ * from_edge};
  }

 private:
  double foot_, cos_, sin_;
};

/// A piece of a slice, from x[0] to x[1] at its bottom and from x[2] to x[3] at its top; a little
/// higher than the slice, so that there are no seams.
void fill(Canvas& canvas, const Tilt& tilt, std::size_t slice, std::array<double, 4> x,
          Colour colour) {
  const double bottom = kSlice * static_cast<double>(slice);
  const double top = std::min(bottom + 1.2 * kSlice, kHeight);
  canvas.polygon(std::array<Place, 4>{{tilt(x[0], bottom), tilt(x[1], bottom), tilt(x[3], top),
                                       tilt(x[2], top)}},
                 colour);
}

Colour shaded(double share) {
  const double light = 1.25 - 0.65 * share;
  const auto shade = [&](std::uint8_t c) {
    return static_cast<std::uint8_t>(std::min(255.0, light * c));
  };
  return {shade(kClay.red), shade(kClay.green), shade(kClay.blue)};
}

void draw_tilted(Canvas& canvas, const Profile& profile, double slope) {
  const Tilt tilt(profile[0], slope);
  // The left half is cut: all of it, and what it holds. The first slice is the bottom.
  for (std::size_t i = 0; i < kSlices; ++i) {
    fill(canvas, tilt, i, {-profile[i], 0, -profile[i + 1], 0}, kClay);
  }
  for (std::size_t i = 1; i < kSlices; ++i) {
    fill(canvas, tilt, i, {kWall - profile[i], 0, kWall - profile[i + 1], 0}, kInside);
  }
  for (std::size_t i = 0; i < kSlices; ++i) {
    const double a = profile[i];
    const double b = profile[i + 1];
    // From the dark rim inwards, each over the one before.
    for (std::size_t shade = kShades; shade > 0; --shade) {
      const double to = static_cast<double>(shade) / kShades;
      fill(canvas, tilt, i, {0, to * a, 0, to * b}, shaded(to));
    }
  }
  canvas.ring(tilt(0, measure(profile).centre), canvas.pixels(0.6), 3, kMark);
}

Canvas table(std::size_t size) {
  Canvas canvas(size, size, kWindow);
  canvas.line({kWindow.left, -0.2}, {kWindow.right, -0.2}, canvas.pixels(0.4), kTable);
  return canvas;
}

}  // namespace

Drawing draw_vase(const Profile& profile) {
  Canvas picture = table(kPictureSize);
  draw_tilted(picture, profile, 0);
  Drawing drawing{picture.image(), {}, kSecondsPerFrame};
  const Measures measures = measure(profile);
  for (std::size_t frame = 0; frame <= kFrames; ++frame) {
    Canvas canvas = table(kFilmSize);
    draw_tilted(canvas, profile, measures.slope * static_cast<double>(frame) / kFrames);
    drawing.film.push_back(canvas.image());
  }
  return drawing;
}

}  // namespace aurora::vases
