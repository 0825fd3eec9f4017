#include "aurora/tasks/air_hockey/drawing.hpp"

#include <array>
#include <vector>

#include "aurora/pictures/canvas.hpp"

namespace aurora::air_hockey {
namespace {

constexpr std::size_t kPictureSize = 768;
constexpr std::size_t kFilmSize = 512;
constexpr std::size_t kStepsPerFrame = 10;
constexpr double kSecondsPerFrame = 0.05;  // twice as fast as it happens
constexpr std::size_t kPoses = 9;
constexpr double kEdge = 1.05;  // of what is seen
constexpr Colour kRoom = {225, 225, 222};
constexpr Colour kTable = {247, 249, 251};
constexpr Colour kWall = {55, 60, 70};
constexpr Colour kArm = {60, 90, 120};
constexpr Colour kJoint = {30, 40, 55};
constexpr Colour kPuck = {225, 70, 60};

Place place(Point point) {
  return {point.x, point.y};
}

void draw_square(Canvas& canvas, double half, Colour colour) {
  canvas.polygon(std::array<Place, 4>{{{-half, -half}, {half, -half}, {half, half}, {-half, half}}},
                 colour);
}

Canvas empty_table(std::size_t size, double edge = kEdge) {
  Canvas canvas(size, size, {.left = -edge, .right = edge, .top = edge, .bottom = -edge}, kRoom);
  draw_square(canvas, kTableHalf + kWallHalfThickness, kWall);
  draw_square(canvas, kTableHalf - kWallHalfThickness, kTable);
  draw_square(canvas, kBaseHalf, kWall);
  return canvas;
}

void draw_arm(Canvas& canvas, const Moment& moment, double opacity) {
  for (std::size_t i = 0; i < kJoints; ++i) {
    canvas.line(place(moment.arm[i]), place(moment.arm[i + 1]),
                canvas.pixels(2 * kLinkHalfThickness), kArm, opacity);
  }
  for (std::size_t i = 0; i < kJoints; ++i) {
    canvas.disc(place(moment.arm[i]), canvas.pixels(kLinkHalfThickness) * 0.7, kJoint, opacity);
  }
  canvas.disc(place(moment.arm.back()), canvas.pixels(kTipRadius), kJoint, opacity);
}

void draw_puck(Canvas& canvas, Point puck) {
  canvas.disc(place(puck), canvas.pixels(kPuckRadius), kPuck);
  canvas.disc(place(puck), canvas.pixels(kPuckRadius) * 0.55, kWhite, 0.35);
}

void draw_puck_start(Canvas& canvas) {
  canvas.ring(place(kPuckStart), canvas.pixels(kPuckRadius), 1.5, kPuck, 0.7);
}

/// Where the puck is from its appearance on.
std::vector<Place> puck_path(std::span<const Moment> moments) {
  std::vector<Place> path;
  for (const Moment& moment : moments) {
    if (moment.puck_exists) path.push_back(place(moment.puck));
  }
  return path;
}

Image picture_of(std::span<const Moment> moments, std::span<const Place> path) {
  Canvas canvas = empty_table(kPictureSize);
  for (std::size_t i = 0; i < kPoses; ++i) {
    const double share = static_cast<double>(i) / (kPoses - 1);
    draw_arm(canvas, moments[i * (moments.size() - 1) / (kPoses - 1)],
             i + 1 == kPoses ? 1 : 0.12 + 0.3 * share);
  }
  draw_puck_start(canvas);
  draw_path(canvas, path, 4);
  draw_puck(canvas, moments.back().puck);
  return canvas.image();
}

}  // namespace

Drawing draw_episode(std::span<const Moment> moments) {
  if (moments.empty()) return {};
  const std::vector<Place> path = puck_path(moments);
  Drawing drawing{picture_of(moments, path), {}, kSecondsPerFrame};
  Canvas trail = empty_table(kFilmSize);
  draw_puck_start(trail);
  std::size_t drawn = 0;  // points of the path
  for (std::size_t step = 0; step < moments.size(); ++step) {
    const Moment& moment = moments[step];
    if (moment.puck_exists && ++drawn > 1) draw_path_piece(trail, path, drawn - 2, 2.5);
    if ((step + 1) % kStepsPerFrame != 0 && step + 1 != moments.size()) continue;
    Canvas frame = trail;
    draw_arm(frame, moment, 1);
    if (moment.puck_exists) draw_puck(frame, moment.puck);
    drawing.film.push_back(frame.image());
  }
  return drawing;
}

Image draw_backdrop() {
  Canvas canvas = empty_table(kPictureSize, kTableHalf);
  draw_puck_start(canvas);
  return canvas.image();
}

}  // namespace aurora::air_hockey
