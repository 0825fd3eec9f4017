// The Air-Hockey episode as the specification tells it, with none of the short cuts of
// air_hockey/episode.cpp: every contact is looked for, limits and swept collisions are always on.
#pragma once

#include <box2d/box2d.h>

#include <array>
#include <numbers>
#include <span>

namespace aurora::air_hockey {

struct OracleEpisode {
  double fitness = 0;
  std::array<float, 100> puck{};
};

inline OracleEpisode oracle_episode(std::span<const float> genes) {
  constexpr float kPi = std::numbers::pi_v<float>;
  b2World world({0, 0});
  const auto body = [&](b2BodyType type, float x, float y, const b2Shape& shape,
                        b2FixtureDef fixture) {
    b2BodyDef definition;
    definition.type = type;
    definition.position.Set(x, y);
    fixture.shape = &shape;
    b2Body* made = world.CreateBody(&definition);
    made->CreateFixture(&fixture);
    return made;
  };
  const auto box = [](float half_width, float half_height) {
    b2PolygonShape shape;
    shape.SetAsBox(half_width, half_height);
    return shape;
  };
  const auto disc = [](float radius) {
    b2CircleShape shape;
    shape.m_radius = radius;
    return shape;
  };
  body(b2_staticBody, 0, 1, box(1, 0.01F), {});
  body(b2_staticBody, 0, -1, box(1, 0.01F), {});
  body(b2_staticBody, 1, 0, box(0.01F, 1), {});
  body(b2_staticBody, -1, 0, box(0.01F, 1), {});

  b2Body* last = body(b2_staticBody, 0, 0, box(0.0225F, 0.0225F), {});
  std::array<b2RevoluteJoint*, 5> joints;
  for (int i = 0; i < 5; ++i) {
    b2FixtureDef fixture;
    fixture.friction = 0.8F;
    const float begin = 0.225F * static_cast<float>(i);
    b2Body* next;
    if (i < 4) {
      fixture.density = std::array{1.0F, 1 / 1.5F, 1 / 1.5F / 1.5F, 1 / 1.5F / 1.5F / 1.5F}[i];
      next = body(b2_dynamicBody, begin + 0.1125F, 0, box(0.1125F, 0.009F), fixture);
    } else {
      fixture.density = 0.1F;
      next = body(b2_dynamicBody, begin, 0, disc(0.0135F), fixture);
    }
    b2RevoluteJointDef joint;
    joint.Initialize(last, next, {begin, 0});
    joint.enableLimit = i < 4;
    joint.lowerAngle = -kPi;
    joint.upperAngle = kPi;
    joint.enableMotor = true;
    joint.maxMotorTorque = 1;
    joints[i] = static_cast<b2RevoluteJoint*>(world.CreateJoint(&joint));
    last = next;
  }

  OracleEpisode episode;
  b2Body* puck = nullptr;
  std::array<float, 4> targets{};
  for (int step = 1; step <= 1000; ++step) {
    if (step == 501) {
      b2FixtureDef fixture;
      fixture.density = 0.2F;
      fixture.friction = 0.8F;
      fixture.restitution = 0.8F;
      fixture.restitutionThreshold = 0;
      puck = body(b2_dynamicBody, 0.55F, 0.5F, disc(0.05F), fixture);
    }
    for (int i = 0; i < 4; ++i) {
      if (step % 2 == 0) targets[i] = kPi * (2 * genes[(step <= 500 ? 0 : 4) + i] - 1);
      const float speed = 0.3F * (targets[i] - joints[i]->GetJointAngle());
      joints[i]->SetMotorSpeed(speed);
      episode.fitness -= static_cast<double>(speed) * speed;
    }
    world.Step(0.01F, 6, 2);
    if (step > 500 && step % 10 == 0) {
      episode.puck[2 * ((step - 500) / 10 - 1)] = puck->GetPosition().x;
      episode.puck[2 * ((step - 500) / 10 - 1) + 1] = puck->GetPosition().y;
    }
  }
  return episode;
}

}  // namespace aurora::air_hockey
