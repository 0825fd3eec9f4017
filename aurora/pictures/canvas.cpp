#include "aurora/pictures/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace aurora {
namespace {

Place operator-(Place a, Place b) {
  return {a.x - b.x, a.y - b.y};
}
double dot(Place a, Place b) {
  return a.x * b.x + a.y * b.y;
}
bool finite(Place a) {
  return std::isfinite(a.x) && std::isfinite(a.y);
}

double distance_to_segment(Place p, Place from, Place to) {
  const Place along = to - from;
  const Place offset = p - from;
  const double squared = dot(along, along);
  const double t = squared > 0 ? std::clamp(dot(offset, along) / squared, 0.0, 1.0) : 0;
  return std::hypot(offset.x - t * along.x, offset.y - t * along.y);
}

std::uint8_t mix(std::uint8_t below, std::uint8_t above, double share) {
  return static_cast<std::uint8_t>(std::lround(below + share * (above - below)));
}

Colour mix(Colour below, Colour above, double share) {
  return {mix(below.red, above.red, share), mix(below.green, above.green, share),
          mix(below.blue, above.blue, share)};
}

/// The first pixel of [0, size) that a range may touch, or the one after its last.
std::size_t clipped(double place, std::size_t size) {
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(size)));
}

}  // namespace

Canvas::Canvas(std::size_t width, std::size_t height, const Window& window, Colour background)
    : image_(width, height, background), window_(window) {}

Place Canvas::to_pixels(Place place) const {
  return {
      (place.x - window_.left) / (window_.right - window_.left) * static_cast<double>(image_.width),
      (place.y - window_.top) / (window_.bottom - window_.top) *
          static_cast<double>(image_.height)};
}

double Canvas::pixels(double length) const {
  return std::abs(length / (window_.right - window_.left)) * static_cast<double>(image_.width);
}

/// Paints where `distance`, that of a pixel's centre to the edge (negative inside), is below half a
/// pixel; low and high bound the shape.
template <class Distance>
void Canvas::fill(Place low, Place high, Colour colour, double opacity, Distance distance) {
  if (!finite(low) || !finite(high)) return;
  const std::size_t right = clipped(high.x + 2, image_.width);
  const std::size_t bottom = clipped(high.y + 2, image_.height);
  for (std::size_t y = clipped(low.y - 1, image_.height); y < bottom; ++y) {
    for (std::size_t x = clipped(low.x - 1, image_.width); x < right; ++x) {
      const Place centre = {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double covered = std::clamp(0.5 - distance(centre), 0.0, 1.0);
      if (covered > 0) image_.set(x, y, mix(image_.at(x, y), colour, opacity * covered));
    }
  }
}

void Canvas::line(Place from, Place to, double width, Colour colour, double opacity) {
  const Place a = to_pixels(from);
  const Place b = to_pixels(to);
  const double radius = width / 2;
  fill({std::min(a.x, b.x) - radius, std::min(a.y, b.y) - radius},
       {std::max(a.x, b.x) + radius, std::max(a.y, b.y) + radius}, colour, opacity,
       [=](Place p) { return distance_to_segment(p, a, b) - radius; });
}

void Canvas::disc(Place centre, double radius, Colour colour, double opacity) {
  line(centre, centre, 2 * radius, colour, opacity);
}

void Canvas::ring(Place centre, double radius, double width, Colour colour, double opacity) {
  const Place c = to_pixels(centre);
  const double outer = radius + width / 2;
  fill({c.x - outer, c.y - outer}, {c.x + outer, c.y + outer}, colour, opacity,
       [=](Place p) { return std::abs(std::hypot(p.x - c.x, p.y - c.y) - radius) - width / 2; });
}

void Canvas::polygon(std::span<const Place> corners, Colour colour, double opacity) {
  if (corners.size() < 3) return;
  std::vector<Place> points;
  constexpr double kFar = std::numeric_limits<double>::max();
  Place low = {kFar, kFar};
  Place high = {-kFar, -kFar};
  for (const Place& corner : corners) {
    const Place p = points.emplace_back(to_pixels(corner));
    if (!finite(p)) return;
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  double area = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Place& a = points[i];
    const Place& b = points[(i + 1) % points.size()];
    area += a.x * b.y - a.y * b.x;
  }
  if (area < 0) std::ranges::reverse(points);
  fill(low, high, colour, opacity, [&](Place p) {
    double outside = -kFar;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Place side = points[(i + 1) % points.size()] - points[i];
      const Place offset = p - points[i];
      const double length = std::hypot(side.x, side.y);
      if (length > 0) {
        outside = std::max(outside, (offset.x * side.y - offset.y * side.x) / length);
      }
    }
    return outside;
  });
}

Colour time_colour(double moment) {
  constexpr std::array<Colour, 4> kStops = {
      {{40, 70, 190}, {140, 50, 180}, {215, 50, 100}, {240, 140, 20}}};
  const double place = std::clamp(moment, 0.0, 1.0) * static_cast<double>(kStops.size() - 1);
  const auto stop = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  return mix(kStops[stop], kStops[stop + 1], place - static_cast<double>(stop));
}

void draw_path_piece(Canvas& canvas, std::span<const Place> places, std::size_t index,
                     double width) {
  const double moment =
      (static_cast<double>(index) + 0.5) / (static_cast<double>(places.size()) - 1);
  canvas.line(places[index], places[index + 1], width, time_colour(moment));
}

void draw_path(Canvas& canvas, std::span<const Place> places, double width) {
  for (std::size_t i = 0; i + 1 < places.size(); ++i) draw_path_piece(canvas, places, i, width);
}

}  // namespace aurora
