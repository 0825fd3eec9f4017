#include "aurora/tasks/maze/drawing.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "aurora/pictures/canvas.hpp"

namespace aurora::maze {
namespace {

constexpr std::size_t kPictureSize = 768;
constexpr std::size_t kFilmSize = 512;
constexpr std::size_t kStepsPerFrame = 20;
constexpr double kSecondsPerFrame = 0.05;
constexpr Colour kFloorColour = {250, 249, 246};
constexpr Colour kWallColour = {55, 60, 70};
constexpr Colour kRobotColour = {40, 90, 200};
constexpr Colour kBumperColour = {220, 40, 40};
constexpr Colour kLaserColour = {230, 110, 110};
constexpr Colour kStartColour = {60, 150, 80};

/// What is free ends here (see Map).
constexpr double kFreeFrom = 7.5;
constexpr double kFreeTo = 589.5;

Canvas empty_maze(std::size_t size) {
  constexpr double kSide = kWorldSize;
  Canvas canvas(size, size, {.left = 0, .right = kSide, .top = 0, .bottom = kSide}, kWallColour);
  canvas.polygon(
      std::array<Place, 4>{
          {{kFreeFrom, kFreeFrom}, {kFreeTo, kFreeFrom}, {kFreeTo, kFreeTo}, {kFreeFrom, kFreeTo}}},
      kFloorColour);
  for (const Wall& wall : walls()) {
    const double length = std::hypot(wall.x1 - wall.x0, wall.y1 - wall.y0);
    const double across_x = -(wall.y1 - wall.y0) / length * wall.thickness / 2;
    const double across_y = (wall.x1 - wall.x0) / length * wall.thickness / 2;
    canvas.polygon(std::array<Place, 4>{{{wall.x0 + across_x, wall.y0 + across_y},
                                         {wall.x1 + across_x, wall.y1 + across_y},
                                         {wall.x1 - across_x, wall.y1 - across_y},
                                         {wall.x0 - across_x, wall.y0 - across_y}}},
                   kWallColour);
  }
  canvas.ring({kStartX, kStartY}, canvas.pixels(kRobotRadius), 2, kStartColour);
  return canvas;
}

Place ahead(const Pose& pose, double angle, double distance) {
  return {pose.x + distance * std::cos(pose.heading + angle),
          pose.y + distance * std::sin(pose.heading + angle)};
}

void draw_robot(Canvas& canvas, const Moment& moment) {
  const Pose& pose = moment.pose;
  const double radius = canvas.pixels(kRobotRadius);
  const bool bumped = moment.senses.left_bumper > 0 || moment.senses.right_bumper > 0;
  canvas.disc({pose.x, pose.y}, radius, bumped ? kBumperColour : kWhite);
  canvas.disc({pose.x, pose.y}, radius - 1.5, kRobotColour);
  canvas.line({pose.x, pose.y}, ahead(pose, 0, kRobotRadius * 0.75), radius / 4, kWhite);
}

void draw_lasers(Canvas& canvas, const Moment& moment) {
  constexpr std::array<double, 3> kAngles = {std::numbers::pi / 4, 0, -std::numbers::pi / 4};
  const Pose& pose = moment.pose;
  for (std::size_t i = 0; i < kAngles.size(); ++i) {
    canvas.line({pose.x, pose.y}, ahead(pose, kAngles[i], moment.senses.lasers[i]), 1.5,
                kLaserColour, 0.8);
  }
}

std::vector<Place> path_of(std::span<const Moment> moments) {
  std::vector<Place> path = {{kStartX, kStartY}};
  for (const Moment& moment : moments) path.push_back({moment.pose.x, moment.pose.y});
  return path;
}

}  // namespace

Drawing draw_episode(std::span<const Moment> moments) {
  if (moments.empty()) return {};
  const std::vector<Place> path = path_of(moments);
  Canvas picture = empty_maze(kPictureSize);
  draw_path(picture, path, 3);
  draw_robot(picture, moments.back());

  Drawing drawing{picture.image(), {}, kSecondsPerFrame};
  Canvas trail = empty_maze(kFilmSize);
  for (std::size_t step = 0; step < moments.size(); ++step) {
    draw_path_piece(trail, path, step, 2);
    if ((step + 1) % kStepsPerFrame != 0 && step + 1 != moments.size()) continue;
    Canvas frame = trail;
    draw_lasers(frame, moments[step]);
    draw_robot(frame, moments[step]);
    drawing.film.push_back(frame.image());
  }
  return drawing;
}

Image draw_backdrop() {
  return empty_maze(kPictureSize).image();
}

}  // namespace aurora::maze
