// Bring your own robot: a complete task in one file, and a program that knows it.
//
// The robot throws a ball in a room with a bouncy floor and two walls. Three genes: angle, speed
// and moment of release. It senses where the ball is, 32 times during two seconds. Try:
//
//   build/bin/own_task run thrower --iterations 200
//   build/bin/own_task list tasks
//   build/bin/own_task show runs/thrower-aurora-csc-uniform-10-seed1 --random 3
//   echo 0.6 0.5 0 | build/bin/own_task evaluate thrower --genes -
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "apps/aurora/command_line.hpp"
#include "aurora/pictures/canvas.hpp"
#include "aurora/runs/parts.hpp"

namespace {

constexpr int kSamples = 32;
constexpr double kSeconds = 2.0;
constexpr double kRoom = 4.0;  // metres from wall to wall
constexpr double kBounce = 0.7;

struct Ball {
  double x, y, vx, vy;

  void step(double dt) {
    vy -= 9.81 * dt;
    x += vx * dt;
    y += vy * dt;
    if (y < 0) {
      y = -y;
      vy = -kBounce * vy;
    }
    if (x < 0 || x > kRoom) {
      x = std::clamp(x, 0.0, kRoom);
      vx = -kBounce * vx;
    }
  }
};

double speed_of(std::span<const float> genes) {
  return 6.0 * genes[1];
}

// An episode: where the ball is at each sample. Everything comes from the genes, which are in
// [0, 1], so equal genotypes give equal bits.
std::vector<Ball> throw_ball(std::span<const float> genes) {
  const double angle = std::numbers::pi * genes[0];
  const double speed = speed_of(genes);
  const int released_at = static_cast<int>(genes[2] * kSamples / 2);
  Ball ball{kRoom / 2, 1.0, speed * std::cos(angle), speed * std::sin(angle)};
  std::vector<Ball> samples;
  for (int s = 0; s < kSamples; ++s) {
    constexpr int kStepsPerSample = 20;
    for (int k = 0; k < kStepsPerSample && s >= released_at; ++k) {
      ball.step(kSeconds / (kSamples * kStepsPerSample));
    }
    samples.push_back(ball);
  }
  return samples;
}

class Thrower : public aurora::Task {
 public:
  Thrower() {
    spec_.name = "thrower";
    spec_.genotype_size = 3;
    spec_.sensory = {{kSamples, 2}, aurora::ElementType::float32};
    spec_.ground_truth = {{"x", 0, kRoom, "m"}, {"y", 0, 3, "m"}};  // the hand-coded descriptor
    spec_.worst_fitness = -36;                                      // no throw is faster than 6 m/s
    spec_.defaults = {"run.iterations=500", "container.target_size=1000", "variation.rate=0.3"};
  }

  const aurora::TaskSpec& spec() const override { return spec_; }

  // Rows are individuals.
  void evaluate(aurora::MatrixView<const float> genotypes,
                aurora::EvaluationView out) const override {
    for (std::size_t i = 0; i < genotypes.rows(); ++i) {
      const std::vector<Ball> samples = throw_ball(genotypes.row(i));
      std::vector<float> trajectory;
      for (const Ball& ball : samples) {
        trajectory.push_back(static_cast<float>(ball.x));
        trajectory.push_back(static_cast<float>(ball.y));
      }
      out.sensory.set_row(i, trajectory);  // an error if it is not what the specification says
      const double speed = speed_of(genotypes.row(i));
      out.fitness[i] = static_cast<float>(-speed * speed);  // gentle throws are better
      out.ground_truth(i, 0) = static_cast<float>(samples.back().x);
      out.ground_truth(i, 1) = static_cast<float>(samples.back().y);
    }
  }

  // For `show`; may be left out.
  aurora::Drawing draw(std::span<const float> genotype) const override {
    // The room from the side: 4 m are 640 pixels, y runs upwards.
    aurora::Canvas room(640, 480, {.left = 0, .right = kRoom, .top = 3, .bottom = 0});
    constexpr aurora::Colour kStone = {90, 95, 105};
    room.line({0, 0}, {kRoom, 0}, 16, kStone);
    for (const double wall : {0.0, kRoom}) room.line({wall, 0}, {wall, 3}, 16, kStone);
    room.line({kRoom / 2, 0}, {kRoom / 2, 0.9}, 6, {190, 195, 205});  // what it throws from
    std::vector<aurora::Place> path;
    for (const Ball& ball : throw_ball(genotype)) path.push_back({ball.x, ball.y});

    aurora::Drawing drawing;
    drawing.seconds_per_frame = kSeconds / kSamples;
    for (std::size_t i = 0; i < path.size(); ++i) {  // a frame a sample
      if (i > 0) aurora::draw_path_piece(room, path, i - 1, 3);
      aurora::Canvas frame = room;
      frame.disc(path[i], 12, {200, 60, 40});
      drawing.film.push_back(frame.image());
    }
    drawing.picture = drawing.film.back();
    return drawing;
  }

 private:
  aurora::TaskSpec spec_;
};

}  // namespace

int main(int argc, char** argv) {
  aurora::Parts parts = aurora::builtin_parts();
  parts.tasks.add(aurora::part<aurora::NoOptions>("thrower", "throws a ball in a room (an example)")
                      .made_by([](const aurora::NoOptions&, const aurora::TaskContext&) {
                        return std::make_unique<Thrower>();
                      }));
  return aurora::command_line(argc, argv, parts);
}
