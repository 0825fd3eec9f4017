// Episodes of the Air-Hockey arm on Box2D, what our own engine is held against. Every episode has a
// world of its own (a few of its 1000 steps' worth to build), so nothing of one can reach another.
#include <box2d/box2d.h>

#include <cmath>
#include <numbers>

#include "aurora/tasks/air_hockey/simulation.hpp"

namespace aurora::air_hockey {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr int kVelocityIterations = 6;
constexpr int kPositionIterations = 2;

// The stretched arm ends 7 cm before the walls: no need to look for contacts between the two.
constexpr uint16 kWallBit = 0x0002;
constexpr uint16 kNotWalls = static_cast<uint16>(~kWallBit);

// A limit at pi does nothing while the joint is further away than it can turn in a step, and is
// solved six times a step if it is on: this far from pi it is.
constexpr float kLimitOnFrom = 2.5F;

// From the origin to the middle line of a link: base and link touch at 4 to 6 cm, and the end of an
// arm whose joints all turn as fast as they can covers 3 cm in a step.
constexpr float kBesideBase = 0.15F;

b2Vec2 to_box2d(Point p) {
  return {p.x, p.y};
}
Point from_box2d(b2Vec2 v) {
  return {v.x, v.y};
}

/// The table, the arm and, once it is there, the puck.
class Table {
 public:
  Table() {
    for (const float side : {kTableHalf, -kTableHalf}) {
      add_static({0, side}, kTableHalf, kWallHalfThickness, kWallBit);
    }
    for (const float side : {kTableHalf, -kTableHalf}) {
      add_static({side, 0}, kWallHalfThickness, kTableHalf, kWallBit);
    }
    b2Body* last = add_static({0, 0}, kBaseHalf, kBaseHalf, b2Filter().categoryBits);
    float density = 1;
    for (std::size_t i = 0; i < kJoints; ++i) {
      b2PolygonShape shape;
      shape.SetAsBox(kLinkLength / 2, kLinkHalfThickness);
      const float begin = kLinkLength * static_cast<float>(i);
      b2Body* link = add_arm_part(shape, {begin + kLinkLength / 2, 0}, density);
      joints_[i] = add_motor(last, link, begin);
      last = link;
      density /= kDensityRatio;
    }
    b2CircleShape shape;
    shape.m_radius = kTipRadius;
    const float end = kLinkLength * kJoints;
    tip_ = add_arm_part(shape, {end, 0}, kTipDensity);
    add_motor(last, tip_, end)->EnableLimit(false);
  }

  void add_puck() {
    b2BodyDef body;
    body.type = b2_dynamicBody;
    body.position = to_box2d(kPuckStart);
    b2CircleShape shape;
    shape.m_radius = kPuckRadius;
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.density = kPuckDensity;
    fixture.friction = kFriction;
    fixture.restitution = kPuckRestitution;
    fixture.restitutionThreshold = 0;
    puck_ = world_.CreateBody(&body);
    puck_->CreateFixture(&fixture);
  }

  /// Sets the motors for the targets; returns the sum of the squared commands.
  float command(std::span<const float, kJoints> targets) {
    float squares = 0;
    for (std::size_t i = 0; i < kJoints; ++i) {
      const float angle = joints_[i]->GetJointAngle();
      const float speed = kGain * (targets[i] - angle);
      joints_[i]->SetMotorSpeed(speed);
      joints_[i]->EnableLimit(std::abs(angle) > kLimitOnFrom);
      squares += speed * speed;
    }
    return squares;
  }

  void step() {
    // Swept collision is for what can hit something static within a step: a puck that moves, and
    // links beside the base.
    world_.SetContinuousPhysics((puck_ != nullptr && puck_->IsAwake()) || is_beside_base());
    world_.Step(kTimeStep, kVelocityIterations, kPositionIterations);
  }

  Point puck() const { return from_box2d(puck_->GetPosition()); }

  Moment moment() const {
    Moment moment;
    for (std::size_t i = 0; i < kJoints; ++i) {
      moment.arm[i] = from_box2d(joints_[i]->GetAnchorA());
      moment.commands[i] = joints_[i]->GetMotorSpeed();
    }
    moment.arm[kJoints] = from_box2d(tip_->GetPosition());
    moment.puck_exists = puck_ != nullptr;
    if (moment.puck_exists) moment.puck = puck();
    return moment;
  }

 private:
  /// Is a link so near to the base (in the origin) that it might hit it in this step?
  bool is_beside_base() const {
    for (std::size_t i = 1; i < kJoints; ++i) {  // the first link shares a joint with it
      const b2Transform& pose = joints_[i]->GetBodyB()->GetTransform();
      const b2Vec2 axis = pose.q.GetXAxis();
      const float along = b2Clamp(-b2Dot(pose.p, axis), -kLinkLength / 2, kLinkLength / 2);
      if ((pose.p + along * axis).LengthSquared() < kBesideBase * kBesideBase) return true;
    }
    return false;
  }

  b2Body* add_static(Point centre, float half_width, float half_height, uint16 category) {
    b2BodyDef body;
    body.position = to_box2d(centre);
    b2PolygonShape shape;
    shape.SetAsBox(half_width, half_height);
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.filter.categoryBits = category;
    b2Body* added = world_.CreateBody(&body);
    added->CreateFixture(&fixture);
    return added;
  }

  b2Body* add_arm_part(const b2Shape& shape, Point centre, float density) {
    b2BodyDef body;
    body.type = b2_dynamicBody;
    body.position = to_box2d(centre);
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.density = density;
    fixture.friction = kFriction;
    fixture.filter.maskBits = kNotWalls;
    b2Body* added = world_.CreateBody(&body);
    added->CreateFixture(&fixture);
    return added;
  }

  /// Bodies that share a joint do not collide (Box2D's default).
  b2RevoluteJoint* add_motor(b2Body* from, b2Body* to, float x) {
    b2RevoluteJointDef joint;
    joint.Initialize(from, to, {x, 0});
    joint.lowerAngle = -kPi;
    joint.upperAngle = kPi;
    joint.enableLimit = true;
    joint.enableMotor = true;
    joint.maxMotorTorque = kMotorTorque;
    return static_cast<b2RevoluteJoint*>(world_.CreateJoint(&joint));
  }

  b2World world_{{0, 0}};
  std::array<b2RevoluteJoint*, kJoints> joints_;
  b2Body* tip_;
  b2Body* puck_ = nullptr;
};

/// The one loop behind run() and trace(); `observe` sees the table after every step.
template <class Observe>
Episode simulate(std::span<const float> genes, Observe observe) {
  Table table;
  Episode episode;
  double squares = 0;
  std::array<float, kJoints> targets{};
  for (std::size_t step = 1; step <= kSteps; ++step) {
    if (step == kPhaseSteps + 1) table.add_puck();
    if (step % 2 == 0) {  // targets are refreshed at 50 Hz
      const std::size_t first = step <= kPhaseSteps ? 0 : kJoints;
      for (std::size_t i = 0; i < kJoints; ++i) targets[i] = kPi * (2 * genes[first + i] - 1);
    }
    squares += table.command(targets);
    table.step();
    observe(table);
    if (step > kPhaseSteps && step % kSampleEvery == 0) {
      const std::size_t sample = (step - kPhaseSteps) / kSampleEvery - 1;
      const Point puck = table.puck();
      episode.puck[2 * sample] = puck.x;
      episode.puck[2 * sample + 1] = puck.y;
    }
  }
  episode.fitness = static_cast<float>(-squares);
  return episode;
}

/// Fills a table that Box2D fills with its first contact, in a way that threads could trip over:
/// two discs on top of each other are a contact.
void prepare_engine() {
  static const bool prepared = [] {
    b2World world({0, 0});
    b2BodyDef body;
    body.type = b2_dynamicBody;
    b2CircleShape shape;
    shape.m_radius = 1;
    for (int i = 0; i < 2; ++i) world.CreateBody(&body)->CreateFixture(&shape, 1);
    world.Step(kTimeStep, kVelocityIterations, kPositionIterations);
    return true;
  }();
  static_cast<void>(prepared);
}

class Box2dSimulator : public Simulator {
 public:
  Box2dSimulator() { prepare_engine(); }

  void run(MatrixView<const float> genotypes, std::span<Episode> episodes) const override {
    for (std::size_t n = 0; n < genotypes.rows(); ++n) {
      episodes[n] = simulate(genotypes.row(n), [](const Table&) {});
    }
  }

  std::vector<Moment> trace(std::span<const float> genes) const override {
    std::vector<Moment> moments;
    moments.reserve(kSteps);
    simulate(genes, [&](const Table& table) { moments.push_back(table.moment()); });
    return moments;
  }
};

}  // namespace
}  // namespace aurora::air_hockey

extern "C" aurora::air_hockey::Simulator* aurora_make_box2d_simulator() {
  return new aurora::air_hockey::Box2dSimulator();
}
