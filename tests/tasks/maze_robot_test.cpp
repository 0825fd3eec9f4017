#include "aurora/tasks/maze/robot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora::maze {
namespace {

// Places of the parameters among the genes.
constexpr std::size_t kW1 = 0;
constexpr std::size_t kW2 = 25;
constexpr std::size_t kB1 = 35;
constexpr std::size_t kB2 = 40;

float gene_of(double parameter) {
  return static_cast<float>(parameter / 10 + 0.5);
}

/// Genes with the given parameters (place, value in [-5, 5]) and all others 0.
std::vector<float> genes_with(std::initializer_list<std::pair<std::size_t, double>> parameters) {
  std::vector<float> genes(kGenes, gene_of(0));
  for (const auto& [place, value] : parameters) genes[place] = gene_of(value);
  return genes;
}

struct MazeRobot : testing::Test {
  Map map;
  RayTable rays{map};

  std::vector<Moment> trace(const std::vector<float>& genes) const {
    std::vector<Moment> moments;
    trace_episode(map, rays, genes, moments);
    return moments;
  }
};

struct BumperSteps {
  int left = 0;
  int right = 0;
  int any = 0;
  int first = 0;  // counted from 1; 0 is never
};

BumperSteps count_bumpers(const std::vector<Moment>& moments) {
  BumperSteps count;
  int number = 0;
  for (const Moment& moment : moments) {
    ++number;
    const bool left = moment.senses.left_bumper > 0;
    const bool right = moment.senses.right_bumper > 0;
    count.left += left ? 1 : 0;
    count.right += right ? 1 : 0;
    count.any += left || right ? 1 : 0;
    if ((left || right) && count.first == 0) count.first = number;
  }
  return count;
}

// Controller ------------------------------------------------------------------------------------

TEST(MazeController, GenesComeInTheOrderOfTheSpecification) {
  const Senses senses{.lasers = {1, 2, 4}, .left_bumper = 8, .right_bumper = 16};
  const double inputs[] = {1, 2, 4, 8, 16};
  for (std::size_t hidden = 0; hidden < 5; ++hidden) {
    for (std::size_t input = 0; input < 5; ++input) {
      for (std::size_t output = 0; output < 2; ++output) {
        Controller controller(genes_with({{kW1 + 5 * hidden + input, 0.01},
                                          {kB1 + hidden, 0.2},
                                          {kW2 + 5 * output + hidden, 0.3},
                                          {kB2 + output, 0.1}}));
        Outputs outputs = controller.step(senses);
        EXPECT_NEAR(outputs[output], std::tanh(0.1), 1e-6);
        EXPECT_NEAR(outputs[1 - output], 0, 1e-6);
        outputs = controller.step(senses);
        const double h = std::tanh(5 * 0.01 * inputs[input] + 0.2);
        EXPECT_NEAR(outputs[output], std::tanh(5 * 0.3 * h + 0.1), 1e-5)
            << hidden << ' ' << input << ' ' << output;
        EXPECT_NEAR(outputs[1 - output], 0, 1e-5);
      }
    }
  }
}

TEST(MazeController, OutputsAreOneStepLate) {
  Controller controller(genes_with({{kW1, 0.02}, {kW2, 0.5}}));
  Senses first;
  first.lasers = {10, 0, 0};
  Senses second;
  second.lasers = {20, 0, 0};
  EXPECT_NEAR(controller.step(first)[0], 0, 1e-6);
  EXPECT_NEAR(controller.step(second)[0], std::tanh(2.5 * std::tanh(1.0)), 1e-5);
  EXPECT_NEAR(controller.step(first)[0], std::tanh(2.5 * std::tanh(2.0)), 1e-5);
}

TEST(MazeController, RefusesGenotypesThatAreNotOne) {
  EXPECT_THROW(Controller(std::vector<float>(41, 0.5F)), DataError);
  EXPECT_THROW(Controller(std::vector<float>(43, 0.5F)), DataError);
  for (const float wrong : {-0.001F, 1.001F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    std::vector<float> genes(kGenes, 0.5F);
    genes[17] = wrong;
    EXPECT_THROW(Controller{genes}, DataError) << wrong;
  }
  EXPECT_NO_THROW(Controller(std::vector<float>(kGenes, 0.0F)));
  EXPECT_NO_THROW(Controller(std::vector<float>(kGenes, 1.0F)));
}

// Motion ----------------------------------------------------------------------------------------

TEST(MazeMotion, FollowsTheExactArc) {
  for (const float left : {-1.0F, -0.3F, 0.0F, 0.4F, 0.99F}) {
    for (const float right : {-0.8F, 0.0F, 0.4F, 1.0F}) {
      // Many small steps of the differential equation, by the midpoint rule.
      constexpr int kSubsteps = 2000;
      const double v = (5.0 * left + 5.0 * right) / 2 / kSubsteps;
      const double w = (5.0 * right - 5.0 * left) / 20 / kSubsteps;
      double x = 300;
      double y = 200;
      double heading = 0.5;
      for (int n = 0; n < kSubsteps; ++n) {
        x += v * std::cos(heading + w / 2);
        y += v * std::sin(heading + w / 2);
        heading += w;
      }
      const Pose pose = move({300, 200, 0.5F}, {left, right}).pose;
      EXPECT_NEAR(pose.x, x, 1e-4) << left << ' ' << right;
      EXPECT_NEAR(pose.y, y, 1e-4) << left << ' ' << right;
      EXPECT_NEAR(pose.heading, heading, 1e-6) << left << ' ' << right;
    }
  }
}

TEST(MazeMotion, WrapsTheHeading) {
  EXPECT_NEAR(move({300, 300, 3.0F}, {-1, 1}).pose.heading, 3.5 - 2 * std::numbers::pi, 1e-6);
  EXPECT_NEAR(move({300, 300, -3.0F}, {1, -1}).pose.heading, 2 * std::numbers::pi - 3.5, 1e-6);
  EXPECT_NEAR(move({300, 300, 3.0F}, {-0.1F, 0.1F}).pose.heading, 3.05, 1e-6);
}

// Sensors ---------------------------------------------------------------------------------------

/// The rule itself, one wall pixel at a time.
Bumpers bumpers_by_angle(std::uint16_t touched, float heading) {
  Bumpers result;
  for (std::size_t d = 0; d < kDirections; ++d) {
    if ((touched >> d & 1) == 0) continue;
    const Pixel p = kDirectionOffsets[d];
    float angle = std::atan2(static_cast<float>(p.j), static_cast<float>(p.i)) - heading;
    if (angle > kPi) angle -= 2 * kPi;
    if (angle < -kPi) angle += 2 * kPi;
    if (angle > 0 && angle < kPi / 2) result.right = true;
    if (angle < 0 && angle > -kPi / 2) result.left = true;
  }
  return result;
}

TEST(MazeBumpers, AgreeWithTheAngleOfEachDirection) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Stream stream(kSeed, Purpose::user);
  for (int n = 0; n < 20000; ++n) {
    const float heading = static_cast<float>(stream.uniform() * 2 - 1) * kPi;
    for (unsigned d = 0; d < kDirections; ++d) {
      const auto touched = static_cast<std::uint16_t>(1U << d);
      ASSERT_EQ(bumpers(touched, heading), bumpers_by_angle(touched, heading))
          << "direction " << d << ", heading " << heading;
    }
    const auto touched = static_cast<std::uint16_t>(stream.bits() & stream.bits() & 0xFFFF);
    ASSERT_EQ(bumpers(touched, heading), bumpers_by_angle(touched, heading))
        << "touched " << touched << ", heading " << heading;
  }
}

TEST(MazeBumpers, AheadAndSquareToTheHeadingSetNone) {
  for (unsigned d = 0; d < kDirections; ++d) {
    const Pixel p = kDirectionOffsets[d];
    const float heading = std::atan2(static_cast<float>(p.j), static_cast<float>(p.i));
    for (unsigned touched = 0; touched < kDirections; ++touched) {
      const unsigned turn = (touched - d) % kDirections;  // clockwise, in sixteenths
      const Bumpers expected{.left = turn > 12, .right = turn > 0 && turn < 4};
      EXPECT_EQ(bumpers(static_cast<std::uint16_t>(1U << touched), heading), expected)
          << "heading along " << d << ", touched " << touched;
    }
  }
}

TEST_F(MazeRobot, LasersReadTheGoldenValues) {
  struct Golden {
    Pose pose;
    std::array<float, 3> lasers;
  };
  const Golden golden[] = {
      {{100, 300, 0.0F}, {96.876F, 68.000F, 96.876F}}, {{300, 300, 1.2F}, {59.093F, 93.048F, 100}},
      {{300, 300, -2.0F}, {13.416F, 22.847F, 100}},    {{230, 520, -0.6F}, {37.336F, 100, 100}},
      {{90, 180, -1.0F}, {80.050F, 39.115F, 33.541F}}, {{60, 450, 0.7854F}, {100, 100, 100}}};
  for (const Golden& g : golden) {
    const std::array<float, 3> readings = read_lasers(rays, g.pose, direction_of(g.pose.heading));
    for (std::size_t laser = 0; laser < 3; ++laser) {
      EXPECT_NEAR(readings[laser], g.lasers[laser], 6e-4)
          << "laser " << laser << " at " << g.pose.x << ' ' << g.pose.y;
    }
  }
}

// Episodes --------------------------------------------------------------------------------------

TEST_F(MazeRobot, TheZeroControllerStaysAtTheStart) {
  const std::vector<float> genes = genes_with({});
  const Episode episode = run_episode(map, rays, genes);
  EXPECT_EQ(episode.end.x, 60);
  EXPECT_EQ(episode.end.y, 450);
  EXPECT_EQ(episode.fitness, 0);
  EXPECT_EQ(count_bumpers(trace(genes)).any, 0);
}

TEST_F(MazeRobot, FullSpeedAheadEndsAtTheLowerWall) {
  const std::vector<float> genes = genes_with({{kB2, 5}, {kB2 + 1, 5}});
  const Episode episode = run_episode(map, rays, genes);
  EXPECT_NEAR(episode.end.x, 187.268, 1e-3);
  EXPECT_NEAR(episode.end.y, 577.268, 1e-3);
  EXPECT_NEAR(episode.fitness, -3999.387, 2e-3);
  const BumperSteps bumped = count_bumpers(trace(genes));
  EXPECT_EQ(bumped.first, 37);
  EXPECT_EQ(bumped.right, 1964);
  EXPECT_EQ(bumped.left, 0);
}

TEST_F(MazeRobot, UnequalWheelsDriveAnArc) {
  const std::vector<Moment> moments = trace(genes_with({{kB2, 1}, {kB2 + 1, 2}}));
  EXPECT_NEAR(moments[0].pose.x, 62.972, 6e-4);
  EXPECT_NEAR(moments[0].pose.y, 453.126, 6e-4);
  EXPECT_NEAR(moments[0].pose.heading, 0.8360, 6e-5);
  EXPECT_NEAR(moments[9].pose.x, 81.664, 6e-4);
  EXPECT_NEAR(moments[9].pose.y, 486.775, 6e-4);
  EXPECT_NEAR(moments[9].pose.heading, 1.2915, 6e-5);
}

TEST_F(MazeRobot, GoldenControllersReachTheirPlaces) {
  struct Golden {
    int s;
    double x_100, y_100, x_end, y_end, fitness;
    int bumped;
  };
  const Golden golden[] = {{18, 191.45, 362.56, 193.19, 432.50, -3975.73, 1838},
                           {104, 328.03, 408.27, 328.03, 408.27, -3999.10, 1914},
                           {108, 157.29, 447.12, 157.29, 447.12, -3999.40, 1975},
                           {147, 17.54, 407.62, 17.28, 262.86, -3993.21, 0},
                           {148, 82.43, 340.94, 82.42, 340.92, -3522.58, 1820},
                           {211, 187.16, 493.94, 177.70, 490.67, -3999.65, 0}};
  for (const Golden& g : golden) {
    SCOPED_TRACE("s = " + std::to_string(g.s));
    std::vector<float> genes;
    for (std::size_t i = 0; i < kGenes; ++i) {
      const double value = static_cast<double>(i + 1) * g.s * 0.6180339887498949;
      genes.push_back(static_cast<float>(value - std::floor(value)));
    }
    std::vector<Moment> moments;
    const Episode episode = trace_episode(map, rays, genes, moments);
    EXPECT_NEAR(moments[99].pose.x, g.x_100, 0.02);
    EXPECT_NEAR(moments[99].pose.y, g.y_100, 0.02);
    EXPECT_NEAR(episode.end.x, g.x_end, 1);
    EXPECT_NEAR(episode.end.y, g.y_end, 1);
    EXPECT_NEAR(episode.fitness, g.fitness, 0.5);
    EXPECT_NEAR(count_bumpers(moments).any, g.bumped, 2);
  }
}

TEST_F(MazeRobot, EveryMomentFollowsFromTheOneBefore) {
  constexpr std::uint64_t kSeed = 21;
  for (std::uint32_t n = 0; n < 20; ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", individual " << n);
    Stream stream(kSeed, Purpose::genotype, 0, n);
    std::vector<float> genes(kGenes);
    for (float& gene : genes) gene = static_cast<float>(stream.uniform());
    std::vector<Moment> moments;
    const Episode episode = trace_episode(map, rays, genes, moments);

    // The same bits with and without a trace, and the trace ends where the episode does.
    ASSERT_EQ(run_episode(map, rays, genes), episode);
    ASSERT_EQ(moments.size(), kSteps);
    ASSERT_EQ(moments.back().pose, episode.end);

    Controller controller(genes);
    Pose pose;
    Senses senses;
    double fitness = 0;
    for (const Moment& moment : moments) {
      ASSERT_EQ(moment.outputs, controller.step(senses));
      fitness -= std::pow(moment.outputs[0], 2) + std::pow(moment.outputs[1], 2);
      // A collision keeps the place and the new heading; bumpers are silent without one.
      const auto [target, facing] = move(pose, moment.outputs);
      const Pixel pixel{pixel_index(target.x), pixel_index(target.y)};
      const bool collides = map.collides(pixel);
      ASSERT_EQ(moment.pose.x, collides ? pose.x : target.x);
      ASSERT_EQ(moment.pose.y, collides ? pose.y : target.y);
      ASSERT_EQ(moment.pose.heading, target.heading);
      ASSERT_LE(std::abs(moment.pose.heading), kPi);
      const Bumpers expected =
          collides ? bumpers_by_angle(map.touched(pixel), target.heading) : Bumpers{};
      ASSERT_EQ(moment.senses.left_bumper, expected.left ? 1 : 0);
      ASSERT_EQ(moment.senses.right_bumper, expected.right ? 1 : 0);
      ASSERT_EQ(moment.senses.lasers, read_lasers(rays, moment.pose, facing));
      pose = moment.pose;
      senses = moment.senses;
    }
    // Single precision sums up to 0.25 wrong in 2000 steps.
    EXPECT_NEAR(episode.fitness, fitness, 0.25);
  }
}

TEST_F(MazeRobot, LasersFollowTheWalkAlongAnEpisode) {
  std::vector<float> genes(kGenes);
  Stream stream(3, Purpose::genotype);
  for (float& gene : genes) gene = static_cast<float>(stream.uniform());
  for (const Moment& moment : trace(genes)) {
    const Pose& pose = moment.pose;
    const Pixel centre{pixel_index(pose.x), pixel_index(pose.y)};
    for (std::size_t laser = 0; laser < 3; ++laser) {
      const float angle = pose.heading + kPi / 4 * (1 - static_cast<float>(laser));
      // Where rounding could put the end into either of two pixels, there is nothing to check.
      const double ex = (pose.x + 100 * std::cos(static_cast<double>(angle))) / 3;
      const double ey = (pose.y + 100 * std::sin(static_cast<double>(angle))) / 3;
      const auto doubtful = [](double c) { return std::abs(c - std::floor(c) - 0.5) < 1e-4; };
      if (doubtful(ex) || doubtful(ey)) continue;
      const Pixel end{static_cast<int>(std::lround(ex)) - centre.i,
                      static_cast<int>(std::lround(ey)) - centre.j};
      const int steps = walk_ray(map, centre, end);
      double expected = 100;
      if (steps != kNoHit) {
        const Pixel at = ray_steps(end)[static_cast<std::size_t>(steps - 1)].at;
        expected = std::min(
            100.0, std::hypot(3.0 * (centre.i + at.i) - pose.x, 3.0 * (centre.j + at.j) - pose.y));
      }
      ASSERT_NEAR(moment.senses.lasers[laser], expected, 1e-3);
    }
  }
}

}  // namespace
}  // namespace aurora::maze
