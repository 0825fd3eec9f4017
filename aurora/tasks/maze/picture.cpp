#include "aurora/tasks/maze/picture.hpp"

#include <algorithm>
#include <cmath>

#include "aurora/tasks/maze/robot.hpp"

namespace aurora::maze {
namespace {

constexpr double kUnits = kWorldSize / static_cast<double>(kPictureSide);  // side of a pixel

// Lines of the picture's grid that bound the pixels under a disc: 20 / 9.375 pixels plus both ends.
constexpr std::size_t kMaxLines = 5;

std::uint8_t to_byte(double fraction) {
  // Right for what is never negative. NOLINTNEXTLINE(bugprone-incorrect-roundings)
  return static_cast<std::uint8_t>(255 * fraction + 0.5);
}

/// Area under half a disc's outline: the integral of sqrt(r^2 - s^2) for s from 0 to t, |t| <= r.
double half_disc_integral(double radius, double t) {
  const double height = std::sqrt(std::max(0.0, radius * radius - t * t));
  return (t * height + radius * radius * std::asin(std::clamp(t / radius, -1.0, 1.0))) / 2;
}

/// Length of the overlap of [a, a + a_length] and [b, b + b_length].
double overlap(double a, double a_length, double b, double b_length) {
  return std::max(0.0, std::min(a + a_length, b + b_length) - std::max(a, b));
}

/// Fraction of pixel (u, v) of the picture that is floor: the map's pixels are 3 x 3 units around
/// their centres, and outside the map all is wall.
double floor_fraction(const Map& map, std::size_t u, std::size_t v) {
  const double left = kUnits * static_cast<double>(u);
  const double top = kUnits * static_cast<double>(v);
  const auto first = [](double c) { return static_cast<int>(c / kPixelSize); };
  double area = 0;
  for (int j = first(top); j <= first(top + kUnits) + 1; ++j) {
    const double height = overlap(top, kUnits, kPixelSize * (j - 0.5), kPixelSize);
    for (int i = first(left); i <= first(left + kUnits) + 1; ++i) {
      const double width = overlap(left, kUnits, kPixelSize * (i - 0.5), kPixelSize);
      if (!map.wall({i, j})) area += width * height;
    }
  }
  return area / (kUnits * kUnits);
}

/// The pixels of the picture that an interval of the world touches, along one axis.
struct Extent {
  std::size_t begin;
  std::size_t end;
};

Extent pixels_under(double from, double to) {
  const double side = static_cast<double>(kPictureSide);
  return {static_cast<std::size_t>(std::clamp(std::floor(from / kUnits), 0.0, side)),
          static_cast<std::size_t>(std::clamp(std::ceil(to / kUnits), 0.0, side))};
}

}  // namespace

double disc_area(double radius, double x, double y) {
  x = std::clamp(x, -radius, radius);
  y = std::clamp(y, -radius, radius);
  const auto w = [radius](double t) { return half_disc_integral(radius, t); };
  // Row by row: rows within h of the middle reach beyond x and are cut there; of the others, all is
  // to the left of x (x > 0) or nothing is.
  const double h = std::sqrt(radius * radius - x * x);
  const double middle = std::clamp(y, -h, h);
  double area = x * (middle + h) + w(middle) + w(h);
  if (x > 0) area += 2 * (w(std::min(y, -h)) + w(radius)) + 2 * (w(std::max(y, h)) - w(h));
  return area;
}

Picture::Picture(const Map& map) {
  for (std::size_t v = 0; v < kPictureSide; ++v) {
    for (std::size_t u = 0; u < kPictureSide; ++u) {
      const std::size_t pixel = v * kPictureSide + u;
      floor_[pixel] = floor_fraction(map, u, v);
      for (std::size_t c = 0; c < kChannels; ++c) {
        empty_[pixel * kChannels + c] = to_byte(floor_[pixel]);
      }
    }
  }
}

void Picture::draw(float x, float y, std::span<std::uint8_t, kPictureBytes> out) const {
  std::copy(empty_.begin(), empty_.end(), out.begin());
  const Extent columns = pixels_under(x - kRobotRadius, x + kRobotRadius);
  const Extent rows = pixels_under(y - kRobotRadius, y + kRobotRadius);

  // The disc's area left of and above each crossing of the grid; differences give the pixels'.
  std::array<std::array<double, kMaxLines>, kMaxLines> area;
  for (std::size_t v = rows.begin; v <= rows.end; ++v) {
    for (std::size_t u = columns.begin; u <= columns.end; ++u) {
      area[v - rows.begin][u - columns.begin] =
          disc_area(kRobotRadius, kUnits * static_cast<double>(u) - x,
                    kUnits * static_cast<double>(v) - y) /
          (kUnits * kUnits);
    }
  }
  for (std::size_t v = rows.begin; v < rows.end; ++v) {
    for (std::size_t u = columns.begin; u < columns.end; ++u) {
      const auto& above = area[v - rows.begin];
      const auto& below = area[v - rows.begin + 1];
      const std::size_t a = u - columns.begin;
      const double disc = std::clamp(below[a + 1] - below[a] - above[a + 1] + above[a], 0.0, 1.0);
      // The disc takes its place from the floor: a robot that collides with nothing is not on
      // walls.
      const std::size_t pixel = v * kPictureSide + u;
      const double white = std::max(0.0, floor_[pixel] - disc);
      out[pixel * kChannels + 0] = to_byte(white);
      out[pixel * kChannels + 1] = to_byte(white);
      out[pixel * kChannels + 2] = to_byte(white + disc);
    }
  }
}

}  // namespace aurora::maze
