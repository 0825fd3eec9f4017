// Our own engine against Box2D: touches of shapes one by one, and whole episodes, robot by robot
// and by their distributions, in the long version (fidelity.hpp) beside those of Box2D against
// itself with genes that differ by 1e-6.
#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <vector>

#include "aurora/tasks/air_hockey/simulation.hpp"
#include "aurora/tasks/air_hockey/touches.hpp"
#include "tests/tasks/air_hockey_robots.hpp"
#include "tests/tasks/fidelity.hpp"

namespace aurora::air_hockey {
namespace {

constexpr std::uint64_t kSeed = 8;

// Touches ---------------------------------------------------------------------------------------

b2Transform transform_of(const Frame& place, float angle) {
  b2Transform transform;
  transform.Set({place.centre.x, place.centre.y}, angle);
  return transform;
}

bool same(const Touch& ours, const b2Manifold& theirs) {
  const auto near = [](Point a, b2Vec2 b) { return std::hypot(a.x - b.x, a.y - b.y) < 1e-5F; };
  if (static_cast<int>(ours.count) != theirs.pointCount) return false;
  if (ours.count == 0) return true;
  if (ours.flipped != (theirs.type == b2Manifold::e_faceB)) return false;
  if (!near(ours.normal, theirs.localNormal)) return false;
  for (std::size_t i = 0; i < ours.count; ++i) {  // in the same order
    if (!near(ours.points[i], theirs.points[i].localPoint)) return false;
  }
  // The lines may go through different points.
  const Point along = {theirs.localPoint.x - ours.line.x, theirs.localPoint.y - ours.line.y};
  return std::abs(ours.normal.x * along.x + ours.normal.y * along.y) < 1e-5F;
}

TEST(AirHockeyFidelity, TouchesAreBox2ds) {
  Stream stream(kSeed, Purpose::user);
  const auto draw = [&](double size) {
    return static_cast<float>(size * (2 * stream.uniform() - 1));
  };
  const Box link = {kLinkLength / 2, kLinkHalfThickness};
  b2PolygonShape link_shape, base_shape;
  link_shape.SetAsBox(link.half_x, link.half_y);
  base_shape.SetAsBox(kBaseHalf, kBaseHalf);
  b2CircleShape puck;
  puck.m_radius = kPuckRadius;
  std::size_t touching = 0;
  std::size_t different = 0;
  constexpr int kPoses = 100'000;
  for (int i = 0; i < kPoses; ++i) {
    const bool with_base = i % 2 == 0;
    const Box box = with_base ? Box{kBaseHalf, kBaseHalf} : link;
    const b2PolygonShape& shape = with_base ? base_shape : link_shape;
    const float angle = with_base ? 0 : draw(3);
    const float other_angle = draw(3);
    const Frame first = {{draw(0.1), draw(0.1)}, {std::cos(angle), std::sin(angle)}};
    const Frame second = {{draw(0.2), draw(0.2)}, {std::cos(other_angle), std::sin(other_angle)}};
    b2Manifold manifold;
    b2CollidePolygons(&manifold, &shape, transform_of(first, angle), &link_shape,
                      transform_of(second, other_angle));
    touching += manifold.pointCount > 0 ? 1 : 0;
    different += same(touch(first, box, second, link), manifold) ? 0 : 1;
    b2CollidePolygonAndCircle(&manifold, &shape, transform_of(first, angle), &puck,
                              transform_of(second, 0));
    touching += manifold.pointCount > 0 ? 1 : 0;
    different += same(touch(first, box, second.centre, kPuckRadius), manifold) ? 0 : 1;
  }
  std::cout << touching << " touches, " << different << " differ\n";
  EXPECT_GT(touching, kPoses / 4);
  EXPECT_LE(different, touching / 10'000);  // rounding decides ties
}

// Whole episodes --------------------------------------------------------------------------------

constexpr const char* kNames[] = {"x", "y", "fitness", "angle 1", "angle 2", "angle 3", "angle 4"};
constexpr std::size_t kColumns = std::size(kNames);
using Columns = std::array<std::vector<double>, kColumns>;

struct Ends {
  std::vector<double> fitness;
  std::vector<Moment> last;

  bool moved(std::size_t n) const {
    return std::hypot(last[n].puck.x - kPuckStart.x, last[n].puck.y - kPuckStart.y) > 1e-3F;
  }
};

double fitness_of(const std::vector<Moment>& moments) {
  double sum = 0;
  for (const Moment& moment : moments) {
    for (const double command : moment.commands) sum += command * command;
  }
  return -sum;
}

Ends ends_of(Engine engine, const Matrix<float>& genotypes) {
  const auto simulator = make_simulator(engine);
  const std::size_t count = genotypes.rows();
  Ends ends{std::vector<double>(count), std::vector<Moment>(count)};
  for_each(count, [&](std::size_t n) {
    const std::vector<Moment> moments = simulator->trace(genotypes.row(n));
    ends.fitness[n] = fitness_of(moments);
    ends.last[n] = moments.back();
  });
  return ends;
}

Columns columns_of(const Ends& ends) {
  Columns columns;
  for (std::size_t n = 0; n < ends.last.size(); ++n) {
    columns[0].push_back(ends.last[n].puck.x);
    columns[1].push_back(ends.last[n].puck.y);
    columns[2].push_back(ends.fitness[n]);
    const auto angles = angles_of(ends.last[n]);
    for (std::size_t j = 0; j < kJoints; ++j) columns[3 + j].push_back(angles[j]);
  }
  return columns;
}

/// How far apart two engines are, robot by robot.
struct Difference {
  std::vector<double> puck;     // m
  std::vector<double> fitness;  // of the fitness
  std::vector<double> angle;    // the largest of a robot's, rad
};

double share_of(const std::vector<double>& values, double more_than) {
  const auto more = std::ranges::count_if(values, [&](double v) { return v > more_than; });
  return values.empty() ? 0 : static_cast<double>(more) / static_cast<double>(values.size());
}

Difference difference(const char* who, const Ends& a, const Ends& b) {
  Difference d;
  for (std::size_t n = 0; n < a.last.size(); ++n) {
    const Point p = a.last[n].puck;
    const Point q = b.last[n].puck;
    if (a.moved(n) || b.moved(n)) d.puck.push_back(std::hypot(p.x - q.x, p.y - q.y));
    d.fitness.push_back(std::abs(a.fitness[n] / b.fitness[n] - 1));
    const auto one = angles_of(a.last[n]);
    const auto other = angles_of(b.last[n]);
    double largest = 0;
    for (std::size_t j = 0; j < kJoints; ++j) {
      largest =
          std::max(largest, std::abs(std::remainder(one[j] - other[j], 2 * std::numbers::pi)));
    }
    d.angle.push_back(largest);
  }
  std::cout << who << ": " << d.puck.size() << " pucks moved, of which "
            << 100 * share_of(d.puck, 1e-2) << " % end more than 1 cm apart (median "
            << quantile(d.puck, 0.5) << " m, 90 % " << quantile(d.puck, 0.9)
            << "); fitness differs by " << quantile(d.fitness, 0.5) << " (median), 99 % "
            << quantile(d.fitness, 0.99) << "; angles by " << quantile(d.angle, 0.5)
            << " rad, more than 0.01 rad in " << 100 * share_of(d.angle, 0.01) << " %\n";
  return d;
}

struct Allowed {
  double pucks;    // share of those that moved that may end more than 1 cm elsewhere
  double angles;   // share of arms that may end more than 0.01 rad elsewhere
  double fitness;  // difference of nineteen in twenty, at most
};

void show_box2d_beside_itself(Matrix<float> genotypes, const Ends& box2d) {
  for (std::size_t n = 0; n < genotypes.rows(); ++n) {
    for (float& gene : genotypes.row(n)) gene += gene < 0.5F ? 1e-6F : -1e-6F;
  }
  const Ends perturbed = ends_of(Engine::box2d, genotypes);
  difference("Box2D with itself", perturbed, box2d);
  const Columns one = columns_of(perturbed);
  const Columns other = columns_of(box2d);
  for (std::size_t i = 0; i < kColumns; ++i) {
    std::cout << kNames[i] << ": Box2D with itself p " << same_distribution(one[i], other[i])
              << '\n';
  }
}

void expect_like_box2d(Kind kind, std::size_t count, Allowed allowed) {
  count *= times();
  const Matrix<float> genotypes = robots(kind, count, kSeed);
  const Ends lanes = ends_of(Engine::lanes, genotypes);
  const Ends box2d = ends_of(Engine::box2d, genotypes);
  const Difference ours = difference("lanes", lanes, box2d);
  EXPECT_LE(share_of(ours.puck, 1e-2), allowed.pucks);
  EXPECT_LE(share_of(ours.angle, 0.01), allowed.angles);
  EXPECT_LT(quantile(ours.puck, 0.5), 1e-4);
  EXPECT_LT(quantile(ours.fitness, 0.5), 1e-5);
  EXPECT_LT(quantile(ours.fitness, 0.95), allowed.fitness);

  std::size_t moved[2] = {};
  for (std::size_t n = 0; n < count; ++n) {
    moved[0] += lanes.moved(n) ? 1 : 0;
    moved[1] += box2d.moved(n) ? 1 : 0;
  }
  std::cout << "moved: " << moved[0] << ", Box2D " << moved[1] << '\n';
  EXPECT_NEAR(static_cast<double>(moved[0]), static_cast<double>(moved[1]),
              2 + 0.002 * static_cast<double>(count));

  const Columns mine = columns_of(lanes);
  const Columns theirs = columns_of(box2d);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double p = same_distribution(mine[i], theirs[i]);
    std::cout << kNames[i] << ": median " << quantile(mine[i], 0.5) << ", Box2D "
              << quantile(theirs[i], 0.5) << ", p " << p << '\n';
    // The same genotypes on both: anything but nearly 1 is a difference.
    EXPECT_GT(p, 0.5) << kNames[i] << ", seed " << kSeed;
  }
  if (beside_itself()) show_box2d_beside_itself(genotypes, box2d);
}

// What is left of differences are contacts of one body with two others: Box2D solves the one first
// whose boxes around the bodies overlapped last, we always the same.
TEST(AirHockeyFidelity, RandomArmsEndWhereBox2dsDo) {
  expect_like_box2d(Kind::random, 2000, {.pucks = 0.06, .angles = 0.006, .fitness = 1e-5});
}

TEST(AirHockeyFidelity, ArmsThatHitThePuckEndWhereBox2dsDo) {
  expect_like_box2d(Kind::hitting, 500, {.pucks = 0.01, .angles = 0.001, .fitness = 1e-5});
}

TEST(AirHockeyFidelity, PucksOnTopOfTheArmEndWhereBox2dsDo) {
  expect_like_box2d(Kind::under_puck, 500, {.pucks = 0.01, .angles = 0.001, .fitness = 1e-5});
}

// Links lie on each other and on the base, and motors press them.
TEST(AirHockeyFidelity, FoldedArmsEndWhereBox2dsDo) {
  expect_like_box2d(Kind::folded, 500, {.pucks = 0, .angles = 0.15, .fitness = 3e-3});
}

// 14 of them move the puck.
TEST(AirHockeyFidelity, TheFastestArmsEndWhereBox2dsDo) {
  expect_like_box2d(Kind::corners, 256, {.pucks = 0.2, .angles = 0.15, .fitness = 1e-3});
}

}  // namespace
}  // namespace aurora::air_hockey
