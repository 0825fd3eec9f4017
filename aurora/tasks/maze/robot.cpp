#include "aurora/tasks/maze/robot.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "aurora/tasks/genes.hpp"

namespace aurora::maze {
namespace {

/// Bits [begin, begin + count) of 16, counted around the circle.
std::uint16_t arc(int begin, int count) {
  return std::rotl(static_cast<std::uint16_t>((1U << count) - 1), begin);
}

/// One step of an episode: the controller reads `senses`, the robot moves, the senses change.
Outputs step(const Map& map, const RayTable& rays, Controller& controller, Pose& pose,
             Senses& senses) {
  const Outputs outputs = controller.step(senses);

  // A collision undoes the translation, never the rotation.
  const auto [target, facing] = move(pose, outputs);
  const std::uint16_t touched = map.touched({pixel_index(target.x), pixel_index(target.y)});
  pose.heading = target.heading;
  senses.left_bumper = 0;
  senses.right_bumper = 0;
  if (touched == 0) {
    pose.x = target.x;
    pose.y = target.y;
  } else {
    const Bumpers pressed = bumpers(touched, pose.heading);
    senses.left_bumper = pressed.left ? 1.0F : 0.0F;
    senses.right_bumper = pressed.right ? 1.0F : 0.0F;
  }

  senses.lasers = read_lasers(rays, pose, facing);
  return outputs;
}

/// The episode. `observe(outputs, pose, senses)` is called at the end of every step.
template <class Observer>
Episode run(const Map& map, const RayTable& rays, std::span<const float> genes,
            const Observer& observe) {
  Controller controller(genes);
  Pose pose;
  Senses senses;
  // Summed in single precision on purpose: the golden values are, and it shows in the first
  // decimal.
  float fitness = 0;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Outputs outputs = step(map, rays, controller, pose, senses);
    fitness -= outputs[0] * outputs[0] + outputs[1] * outputs[1];
    observe(outputs, pose, senses);
  }
  return {pose, fitness};
}

}  // namespace

void Controller::check(std::span<const float> genes) {
  check_genes(genes, kGenes, "maze controller");
}

Controller::Controller(std::span<const float> genes) {
  check(genes);
  std::size_t gene = 0;
  const auto next = [&] { return value(genes, gene++); };
  for (std::size_t h = 0; h < kHidden; ++h) {
    for (std::size_t i = 0; i < kInputs; ++i) w1_[i][h] = next();
  }
  for (std::size_t o = 0; o < kOutputs; ++o) {
    for (std::size_t h = 0; h < kHidden; ++h) w2_[h][o] = next();
  }
  for (float& b : b1_) b = next();
  for (float& b : b2_) b = next();
}

Outputs Controller::step(const Senses& senses) {
  Outputs outputs = b2_;
  for (std::size_t h = 0; h < kHidden; ++h) {
    for (std::size_t o = 0; o < kOutputs; ++o) outputs[o] += w2_[h][o] * hidden_[h];
  }
  for (float& out : outputs) out = tanh_of(out);

  const std::array<float, kInputs> inputs{senses.lasers[0], senses.lasers[1], senses.lasers[2],
                                          senses.left_bumper, senses.right_bumper};
  std::array<float, kHidden> sums = b1_;
  for (std::size_t i = 0; i < kInputs; ++i) {
    for (std::size_t h = 0; h < kHidden; ++h) sums[h] += w1_[i][h] * inputs[i];
  }
  for (std::size_t h = 0; h < kHidden; ++h) hidden_[h] = tanh_of(sums[h]);
  return outputs;
}

Arrival move(const Pose& pose, const Outputs& outputs) {
  const float left = kMaxSpeed * outputs[0];
  const float right = kMaxSpeed * outputs[1];
  const float turn = (right - left) * (1 / kWheelSeparation);
  const float half_turn = turn * 0.5F;
  const float sinc = small_sinc(half_turn);
  const float distance = (left + right) * 0.5F * sinc;
  const Direction chord = direction_of(pose.heading + half_turn);

  // The heading is half a turn beyond the chord.
  const float cos = small_cos(half_turn);
  const float sin = half_turn * sinc;
  const Direction facing{chord.cos * cos - chord.sin * sin, chord.sin * cos + chord.cos * sin};
  float heading = pose.heading + turn;
  if (heading > kPi) heading -= 2 * kPi;
  if (heading < -kPi) heading += 2 * kPi;
  return {{pose.x + distance * chord.cos, pose.y + distance * chord.sin, heading}, facing};
}

Bumpers bumpers(std::uint16_t touched, float heading) {
  // The 16 directions and the quarter turns away from them cut the circle at the same places. So a
  // heading between two directions has the next four on its right and the last four on its left; a
  // heading along a direction has three on each side, since ahead and square to it do not count.
  int before = 0;      // directions below the heading
  int not_behind = 0;  // and those that are not above it
  for (const float angle : kDirectionAngles) {
    before += angle < heading ? 1 : 0;
    not_behind += angle <= heading ? 1 : 0;
  }
  const int along = not_behind - before;
  const int count = kDirections / 4 - along;
  return {.left = (touched & arc(before - count, count)) != 0,
          .right = (touched & arc(not_behind, count)) != 0};
}

std::array<float, 3> read_lasers(const RayTable& rays, const Pose& pose, Direction facing) {
  const float c = facing.cos;
  const float s = facing.sin;
  constexpr float kDiagonal = std::numbers::sqrt2_v<float> / 2;
  const std::array<float, 3> cosines{(c - s) * kDiagonal, c, (c + s) * kDiagonal};
  const std::array<float, 3> sines{(s + c) * kDiagonal, s, (s - c) * kDiagonal};

  const Pixel centre{pixel_index(pose.x), pixel_index(pose.y)};
  std::array<float, 3> readings;
  for (std::size_t laser = 0; laser < 3; ++laser) {
    const Pixel end{pixel_index(pose.x + kLaserRange * cosines[laser]),
                    pixel_index(pose.y + kLaserRange * sines[laser])};
    const Pixel hit = rays.hit(centre, {end.i - centre.i, end.j - centre.j});
    const float dx = kPixelSize * static_cast<float>(centre.i + hit.i) - pose.x;
    const float dy = kPixelSize * static_cast<float>(centre.j + hit.j) - pose.y;
    readings[laser] = std::min(std::sqrt(dx * dx + dy * dy), kLaserRange);
  }
  return readings;
}

Episode run_episode(const Map& map, const RayTable& rays, std::span<const float> genes) {
  return run(map, rays, genes, [](const Outputs&, const Pose&, const Senses&) {});
}

Episode trace_episode(const Map& map, const RayTable& rays, std::span<const float> genes,
                      std::vector<Moment>& trace) {
  trace.clear();
  trace.reserve(kSteps);
  return run(map, rays, genes,
             [&trace](const Outputs& outputs, const Pose& pose, const Senses& senses) {
               trace.push_back({outputs, pose, senses});
             });
}

}  // namespace aurora::maze
