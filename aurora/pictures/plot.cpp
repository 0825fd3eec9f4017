#include "aurora/pictures/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <vector>

#include "aurora/pictures/canvas.hpp"
#include "aurora/pictures/text.hpp"

namespace aurora {
namespace {

constexpr std::size_t kSide = 512;  // of the square with the curves
constexpr std::size_t kGap = 16;    // between two plots, and at their edges
constexpr std::size_t kText = 2;    // pixels for one of a glyph
constexpr std::size_t kLine = 24;   // from one line of text to the next
constexpr std::size_t kTop = 3 * kLine;
constexpr std::size_t kBottom = 2 * kLine + 8;
constexpr std::size_t kLetter = kGlyphPitch * kText;
constexpr std::size_t kSwatch = 24;  // the line beside a name in a legend
constexpr double kWide = 5;
constexpr double kThin = 1.5;
constexpr Colour kPaper = {246, 246, 244};
constexpr Colour kGrid = {222, 222, 218};
constexpr Colour kInk = {70, 70, 70};
constexpr Colour kFaint = {150, 150, 150};
constexpr std::array<Colour, 6> kHues = {{{70, 120, 200},
                                          {225, 120, 50},
                                          {80, 160, 90},
                                          {170, 90, 180},
                                          {200, 80, 90},
                                          {120, 120, 120}}};

struct Extent {
  double low = 0;
  double high = 1;

  double middle() const { return (low + high) / 2; }
  double length() const { return high - low; }
};

/// Of the finite values at first, first + step, ... of both; never empty.
Extent range_of(std::span<const float> one, std::span<const float> other, std::size_t first,
                std::size_t step) {
  bool any = false;
  Extent range;
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

Extent widened(const Extent& range, double by) {
  return {range.low - by, range.high + by};
}

Colour darker(Colour colour) {
  const auto half = [](std::uint8_t c) { return static_cast<std::uint8_t>(c / 2); };
  return {half(colour.red), half(colour.green), half(colour.blue)};
}

/// Numbers 1, 2 or 5 times a power of ten apart, about five of them in a range.
struct Ticks {
  double step = 1;
  std::vector<double> at;

  explicit Ticks(const Extent& range, double least_step = 0) {
    const double rough = std::max(range.length() / 5, least_step);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= 0.9 * rough) step = factor * power;
    }
    // Ranges that are small beside their values may have no room for whole steps.
    const double first = std::ceil(range.low / step);
    for (double i = 0; i < 20 && (first + i) * step <= range.high; ++i) {
      at.push_back((first + i) * step);
    }
  }

  /// With the digits that tell one from the next.
  std::string text(double value) const {
    const double largest = std::max(std::abs(at.front()), std::abs(at.back()));
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    if (largest >= 1e6 || decimals > 5) return fmt::format("{:.3g}", value);
    return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimals);
  }
};

/// A square for curves with numbers along its axes, and room for a legend above and a name below.
class Plot {
 public:
  Plot(const Extent& x, const Extent& y, double least_step)
      : x_(x),
        y_(y),
        x_ticks_(x, least_step),
        y_ticks_(y, 0),
        canvas_(kSide, kSide, {.left = x.low, .right = x.high, .top = y.high, .bottom = y.low},
                kPaper) {
    for (const double at : x_ticks_.at) canvas_.line({at, y.low}, {at, y.high}, 1, kGrid);
    for (const double at : y_ticks_.at) canvas_.line({x.low, at}, {x.high, at}, 1, kGrid);
  }

  Canvas& canvas() { return canvas_; }

  /// The whole of it, with the name of the axis along the bottom.
  Image image(const std::string& name) const {
    std::size_t margin = 0;
    for (const double at : y_ticks_.at) {
      margin = std::max(margin, text_width(y_ticks_.text(at), kText));
    }
    const std::size_t left = margin + kGap;
    Image all(left + kSide + kGap, kTop + kSide + kBottom);
    paste(all, canvas_.image(), left, kTop);
    frame(all, left);
    for (const double at : y_ticks_.at) {
      const std::string text = y_ticks_.text(at);
      const double y = kTop + (y_.high - at) / y_.length() * kSide;
      draw_text(all, text, static_cast<double>(left - 8 - text_width(text, kText)),
                y - kGlyphHeight * kText / 2.0, kInk, kText);
    }
    double free = 0;  // from here on there is no number yet
    for (const double at : x_ticks_.at) {
      const std::string text = x_ticks_.text(at);
      const double width = static_cast<double>(text_width(text, kText));
      const double centre = static_cast<double>(left) + (at - x_.low) / x_.length() * kSide;
      const double begin = std::min(centre - width / 2, static_cast<double>(all.width) - width);
      if (begin < free) continue;
      draw_text(all, text, begin, kTop + kSide + 8, kInk, kText);
      free = begin + width + kLetter;
    }
    const double middle = static_cast<double>(left) + kSide / 2.0;
    draw_text(all, name, middle - static_cast<double>(text_width(name, kText)) / 2,
              kTop + kSide + 8 + kLine, kInk, kText);
    return all;
  }

 private:
  static void frame(Image& all, std::size_t left) {
    for (std::size_t i = 0; i < kSide; ++i) {
      all.set(left, kTop + i, kFaint);
      all.set(left + i, kTop + kSide - 1, kFaint);
    }
  }

  Extent x_;
  Extent y_;
  Ticks x_ticks_;
  Ticks y_ticks_;
  Canvas canvas_;
};

/// Names in a line above a plot, each beside a piece of its line, for as long as there is room.
class Legend {
 public:
  Legend(Image& image, std::size_t line)
      : image_(image), x_(image.width - kSide - kGap), y_(kGap / 2 + line * kLine) {}

  void add(const std::string& name, Colour colour, double width) {
    if (full_) return;
    const std::size_t dots = text_width("...", kText) + 2 * kLetter;
    if (x_ + kSwatch + 8 + text_width(name, kText) + dots > image_.width) {
      full_ = true;
      return text("...");
    }
    const double height = kGlyphHeight * kText;
    Canvas swatch(kSwatch, kGlyphHeight * kText,
                  {.left = 0, .right = kSwatch, .top = 0, .bottom = height});
    swatch.line({4, height / 2}, {kSwatch - 4, height / 2}, width, colour);
    paste(image_, swatch.image(), x_, y_);
    x_ += kSwatch + 8;
    text(name);
  }

  void text(const std::string& words) {
    draw_text(image_, words, static_cast<double>(x_), static_cast<double>(y_), kInk, kText);
    x_ += text_width(words, kText) + 2 * kLetter;
  }

  /// The colours of time, between two words.
  void time() {
    text("start");
    x_ -= kLetter;
    for (std::size_t x = 0; x < 3 * kSwatch; ++x) {
      const Colour colour = time_colour(static_cast<double>(x) / (3 * kSwatch));
      for (std::size_t y = 4; y < 10; ++y) image_.set(x_ + x, y_ + y, colour);
    }
    x_ += 3 * kSwatch + kLetter;
    text("end");
  }

 private:
  Image& image_;
  std::size_t x_;
  std::size_t y_;
  bool full_ = false;
};

std::string name_of_value(std::size_t value) {
  return "value " + std::to_string(value + 1);
}

Image over_time(std::span<const float> sequence, std::size_t values, std::span<const float> again) {
  const std::size_t steps = sequence.size() / values;
  const double last = std::max(1.0, static_cast<double>(steps) - 1);
  const Extent y = range_of(sequence, again, 0, 1);
  Plot plot(widened({0, last}, 0.04 * last), widened(y, 0.06 * y.length()), 1);
  const auto draw = [&](std::span<const float> data, double width, bool dark) {
    for (std::size_t v = 0; v < values; ++v) {
      const Colour hue = kHues[v % kHues.size()];
      const Colour colour = dark ? darker(hue) : hue;
      for (std::size_t s = 0; s * values < data.size(); ++s) {
        const Place here = {static_cast<double>(s), data[s * values + v]};
        const std::size_t before = s == 0 ? 0 : s - 1;  // a single step is a dot
        plot.canvas().line({static_cast<double>(before), data[before * values + v]}, here, width,
                           colour);
      }
    }
  };
  draw(sequence, kWide, false);
  draw(again, kThin, true);
  Image image = plot.image("step");
  Legend kinds(image, 0);
  kinds.add("sensed", values == 1 ? kHues[0] : kFaint, kWide);
  if (!again.empty()) kinds.add("reconstructed", kInk, kThin);
  Legend names(image, 1);
  const bool brief = values > 3;
  if (brief) names.text("values");
  for (std::size_t v = 0; v < values && values > 1; ++v) {
    names.add(brief ? std::to_string(v + 1) : name_of_value(v), kHues[v % kHues.size()], kWide);
  }
  return image;
}

/// The same scale along both axes.
Image in_the_plane(std::span<const float> sequence, std::span<const float> again) {
  const Extent x = range_of(sequence, again, 0, 2);
  const Extent y = range_of(sequence, again, 1, 2);
  const double half = 0.55 * std::max(x.length(), y.length());
  Plot plot({x.middle() - half, x.middle() + half}, {y.middle() - half, y.middle() + half}, 0);
  const auto places = [](std::span<const float> data) {
    std::vector<Place> result;
    for (std::size_t i = 0; i + 1 < data.size(); i += 2) result.push_back({data[i], data[i + 1]});
    return result;
  };
  draw_path(plot.canvas(), places(sequence), kWide);
  const std::vector<Place> other = places(again);
  for (std::size_t i = 0; i + 1 < other.size(); ++i) {
    plot.canvas().line(other[i], other[i + 1], kThin, kBlack);
  }
  Image image = plot.image(name_of_value(0));
  Legend time(image, 0);
  time.time();
  if (!again.empty()) time.add("reconstructed", kBlack, kThin);
  Legend(image, 2).text(name_of_value(1));  // of the axis that goes up
  return image;
}

}  // namespace

Image plot_sequence(std::span<const float> sequence, std::size_t values,
                    std::span<const float> again) {
  assert(values > 0 && sequence.size() % values == 0);
  assert(again.empty() || again.size() == sequence.size());
  const Image curves = over_time(sequence, values, again);
  if (values != 2) return curves;
  const Image plane = in_the_plane(sequence, again);
  Image both(curves.width + plane.width, curves.height);
  paste(both, curves, 0, 0);
  paste(both, plane, curves.width, 0);
  return both;
}

}  // namespace aurora
