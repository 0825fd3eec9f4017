#include "aurora/pictures/plot.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "aurora/pictures/canvas.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSide = 512;
constexpr std::size_t kGap = 16;
constexpr double kWide = 5;
constexpr double kThin = 1.5;
constexpr Colour kPaper = {246, 246, 244};
constexpr Colour kGrid = {222, 222, 218};
constexpr std::array<Colour, 6> kHues = {{{70, 120, 200},
                                          {225, 120, 50},
                                          {80, 160, 90},
                                          {170, 90, 180},
                                          {200, 80, 90},
                                          {120, 120, 120}}};

struct Range {
  double low = 0;
  double high = 1;

  double middle() const { return (low + high) / 2; }
  double length() const { return high - low; }
};

/// Of the finite values at first, first + step, ... of both; never empty.
Range range_of(std::span<const float> one, std::span<const float> other, std::size_t first,
               std::size_t step) {
  bool any = false;
  Range range;
  for (const auto& values : {one, other}) {
    for (std::size_t i = first; i < values.size(); i += step) {
      const double value = values[i];
      if (!std::isfinite(value)) continue;
      range.low = any ? std::min(range.low, value) : value;
      range.high = any ? std::max(range.high, value) : value;
      any = true;
    }
  }
  if (range.length() < 1e-6 * std::max(1.0, std::abs(range.low))) {
    range = {range.middle() - 0.5, range.middle() + 0.5};
  }
  return range;
}

Range widened(const Range& range, double by) {
  return {range.low - by, range.high + by};
}

Colour darker(Colour colour) {
  const auto half = [](std::uint8_t c) { return static_cast<std::uint8_t>(c / 2); };
  return {half(colour.red), half(colour.green), half(colour.blue)};
}

Canvas paper(const Range& x, const Range& y) {
  Canvas canvas(kSide, kSide, {.left = x.low, .right = x.high, .top = y.high, .bottom = y.low},
                kPaper);
  constexpr int kLines = 5;
  for (int i = 0; i < kLines; ++i) {
    const double share = (i + 0.5) / kLines;
    const double at_x = x.low + share * x.length();
    const double at_y = y.low + share * y.length();
    canvas.line({at_x, y.low}, {at_x, y.high}, 1, kGrid);
    canvas.line({x.low, at_y}, {x.high, at_y}, 1, kGrid);
  }
  return canvas;
}

Image over_time(std::span<const float> sequence, std::size_t values, std::span<const float> again) {
  const std::size_t steps = sequence.size() / values;
  const double last = std::max(1.0, static_cast<double>(steps) - 1);
  const Range y = range_of(sequence, again, 0, 1);
  Canvas canvas = paper(widened({0, last}, 0.04 * last), widened(y, 0.06 * y.length()));
  const auto draw = [&](std::span<const float> data, double width, bool dark) {
    for (std::size_t v = 0; v < values; ++v) {
      const Colour hue = kHues[v % kHues.size()];
      const Colour colour = dark ? darker(hue) : hue;
      for (std::size_t s = 0; s * values < data.size(); ++s) {
        const Place here = {static_cast<double>(s), data[s * values + v]};
        const std::size_t before = s == 0 ? 0 : s - 1;  // a single step is a dot
        canvas.line({static_cast<double>(before), data[before * values + v]}, here, width, colour);
      }
    }
  };
  draw(sequence, kWide, false);
  draw(again, kThin, true);
  return canvas.image();
}

/// The same scale along both axes.
Image in_the_plane(std::span<const float> sequence, std::span<const float> again) {
  const Range x = range_of(sequence, again, 0, 2);
  const Range y = range_of(sequence, again, 1, 2);
  const double half = 0.55 * std::max(x.length(), y.length());
  Canvas canvas =
      paper({x.middle() - half, x.middle() + half}, {y.middle() - half, y.middle() + half});
  const auto places = [](std::span<const float> data) {
    std::vector<Place> result;
    for (std::size_t i = 0; i + 1 < data.size(); i += 2) result.push_back({data[i], data[i + 1]});
    return result;
  };
  draw_path(canvas, places(sequence), kWide);
  const std::vector<Place> other = places(again);
  for (std::size_t i = 0; i + 1 < other.size(); ++i) {
    canvas.line(other[i], other[i + 1], kThin, kBlack);
  }
  return canvas.image();
}

}  // namespace

Image plot_sequence(std::span<const float> sequence, std::size_t values,
                    std::span<const float> again) {
  assert(values > 0 && sequence.size() % values == 0);
  assert(again.empty() || again.size() == sequence.size());
  Image curves = over_time(sequence, values, again);
  if (values != 2) return curves;
  Image both(2 * kSide + kGap, kSide);
  paste(both, curves, 0, 0);
  paste(both, in_the_plane(sequence, again), kSide + kGap, 0);
  return both;
}

}  // namespace aurora
