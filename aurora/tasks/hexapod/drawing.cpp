#include "aurora/tasks/hexapod/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "aurora/pictures/canvas.hpp"
#include "aurora/pictures/text.hpp"
#include "aurora/tasks/hexapod/camera.hpp"
#include "aurora/tasks/hexapod/simulation.hpp"

namespace aurora::hexapod {
namespace {

constexpr std::size_t kMoments = 4;
constexpr std::size_t kTile = 320;  // of the picture
constexpr std::size_t kFilmTile = 512;
constexpr std::size_t kGap = 8;
constexpr std::size_t kStepsPerFrame = 2;
constexpr double kMargin = 0.34;  // from the base's centre to beyond the feet
constexpr double kFarAway = 3;    // cameras, so that perspective is slight
constexpr double kDotSpacing = 0.25;
constexpr double kFlat = 0.0005;  // half height of a dot
constexpr Colour kDot = {205, 205, 205};
constexpr Colour kHorizon = {214, 228, 240};
constexpr Colour kFront = {255, 210, 0};

/// The part of the floor that an episode takes place on: a square.
struct Stage {
  Vector centre;
  double half = 0;
};

bool is_somewhere(const Bodies& bodies) {
  const Vector& p = bodies[0].position;
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
}

Stage stage_of(std::span<const Bodies> moments) {
  Vector low = moments.front()[0].position;
  Vector high = low;
  for (const Bodies& bodies : moments) {
    const Vector& p = bodies[0].position;
    low = {std::min(low.x, p.x), std::min(low.y, p.y), 0};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), 0};
  }
  low.z = high.z = 0;
  return {0.5 * (low + high), std::max(high.x - low.x, high.y - low.y) / 2 + kMargin};
}

Solid floor_dot(double x, double y, double radius, const Colour& colour) {
  Transform pose;
  pose.position = {x, y, 0};
  return {Shape::cylinder, {radius, radius, kFlat}, pose, colour};
}

std::vector<Solid> floor_dots(const Stage& stage) {
  // The side camera sees further than the stage.
  const double reach = 2 * stage.half;
  std::vector<Solid> dots;
  const auto first = [](double from) { return std::ceil(from / kDotSpacing) * kDotSpacing; };
  for (double y = first(stage.centre.y - reach); y <= stage.centre.y + reach; y += kDotSpacing) {
    for (double x = first(stage.centre.x - reach); x <= stage.centre.x + reach; x += kDotSpacing) {
      dots.push_back(floor_dot(x, y, 0.008, kDot));
    }
  }
  return dots;
}

/// The robot at a moment on its way, with what shows where it came from.
std::vector<Solid> scene(std::span<const Bodies> moments, std::size_t now,
                         std::span<const Solid> floor) {
  std::vector<Solid> solids(floor.begin(), floor.end());
  for (std::size_t i = 0; i <= now; ++i) {
    const Vector& p = moments[i][0].position;
    const double moment =
        static_cast<double>(i) / std::max(1.0, static_cast<double>(moments.size()) - 1);
    const auto [red, green, blue] = time_colour(moment);
    solids.push_back(floor_dot(p.x, p.y, 0.006, {red, green, blue}));
  }
  const auto robot = solids_of(moments[now]);
  solids.insert(solids.end(), robot.begin(), robot.end());
  Transform front = moments[now][0];
  front.position = front * Vector{0.42 * kBaseBox.x, 0, kBaseBox.z / 2};
  solids.push_back({Shape::box, {0.012, 0.03, 0.004}, front, kFront});
  return solids;
}

Camera from_above(const Stage& stage) {
  return {.position = stage.centre + Vector{0, 0, kFarAway},
          .target = stage.centre,
          .up = {0, 1, 0},
          .half_width = stage.half / kFarAway};
}

Camera from_the_side(const Stage& stage) {
  return {.position = stage.centre + Vector{0, -kFarAway, 0.35},
          .target = stage.centre + Vector{0, 0, 0.1},
          .up = {0, 0, 1},
          .half_width = stage.half / kFarAway};
}

/// Twice as large at first, so that edges become smooth. Only the sky is white.
Image look(const Camera& camera, std::span<const Solid> solids, std::size_t side) {
  Image large(2 * side, 2 * side);
  render(camera, solids, 2 * side, large.pixels);
  for (auto pixel = large.pixels.begin(); pixel != large.pixels.end(); pixel += kChannels) {
    if (std::all_of(pixel, pixel + kChannels, [](auto c) { return c == 255; })) {
      std::ranges::copy(kHorizon, pixel);
    }
  }
  return halved(large);
}

}  // namespace

Drawing draw_episode(std::span<const Bodies> moments) {
  if (moments.empty() || !std::ranges::all_of(moments, is_somewhere)) return {};
  const Stage stage = stage_of(moments);
  const Camera above = from_above(stage);
  const Camera beside = from_the_side(stage);
  const std::vector<Solid> floor = floor_dots(stage);

  Drawing drawing;
  drawing.seconds_per_frame = static_cast<double>(kStepsPerFrame) * kTimeStep;  // as it happens
  drawing.picture = Image(kMoments * (kTile + kGap) - kGap, 2 * kTile + kGap);
  for (std::size_t i = 0; i < kMoments; ++i) {
    const auto solids = scene(moments, i * (moments.size() - 1) / (kMoments - 1), floor);
    paste(drawing.picture, look(above, solids, kTile), i * (kTile + kGap), 0);
    paste(drawing.picture, look(beside, solids, kTile), i * (kTile + kGap), kTile + kGap);
  }
  for (std::size_t step = 0; step < moments.size(); step += kStepsPerFrame) {
    const auto solids = scene(moments, step, floor);
    Image& frame = drawing.film.emplace_back(2 * kFilmTile + kGap, kFilmTile);
    paste(frame, look(above, solids, kFilmTile), 0, 0);
    paste(frame, look(beside, solids, kFilmTile), kFilmTile + kGap, 0);
  }
  return drawing;
}

Image draw_gait(const Walk& walk, std::size_t width) {
  constexpr std::size_t kLine = 28;
  constexpr std::size_t kBar = 18;
  constexpr std::size_t kNames = 160;
  constexpr std::size_t kTextScale = 2;
  constexpr aurora::Colour kStance = {50, 60, 80};
  constexpr aurora::Colour kSwing = {232, 234, 238};
  constexpr aurora::Colour kText = {70, 70, 70};
  Image image(width, kLegs * kLine);
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    const std::size_t top = leg * kLine + (kLine - kBar) / 2;
    draw_text(image, kLegNames[leg], 0, static_cast<double>(top + 2), kText, kTextScale);
    for (std::size_t x = kNames; x < width; ++x) {
      const Moment& moment = walk[(x - kNames) * kSteps / (width - kNames)];
      for (std::size_t y = top; y < top + kBar; ++y) {
        image.set(x, y, moment.stands_on[leg] ? kStance : kSwing);
      }
    }
  }
  return image;
}

}  // namespace aurora::hexapod
