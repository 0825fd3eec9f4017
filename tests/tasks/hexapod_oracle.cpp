#include "tests/tasks/hexapod_oracle.hpp"

#include <dart/collision/CollisionObject.hpp>
#include <dart/collision/bullet/BulletCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/DegreeOfFreedom.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace aurora::hexapod {
namespace {

using namespace dart::dynamics;
using Eigen::Vector3d;

void add(BodyNode* body, const ShapePtr& shape, const Vector3d& where) {
  body->createShapeNodeWith<VisualAspect, CollisionAspect, DynamicsAspect>(shape)
      ->setRelativeTranslation(where);
}

Inertia inertia(double mass, const Vector3d& centre, double xx, double yy, double zz,
                double xz = 0) {
  return Inertia(mass, centre.x(), centre.y(), centre.z(), xx, yy, zz, 0, xz, 0);
}

SkeletonPtr robot(Actuators actuators) {
  const double hips[6][3] = {{0.093, -0.053, -0.7864},  {0, -0.075, -1.5708},
                             {-0.093, -0.053, -2.3562}, {-0.093, 0.053, 2.3516},
                             {0, 0.075, 1.5708},        {0.093, 0.053, 0.7854}};
  SkeletonPtr skeleton = Skeleton::create("hexapod");
  BodyNode* base = skeleton->createJointAndBodyNodePair<FreeJoint>().second;
  base->setInertia(inertia(0.6791, {0, 0, 0}, 0.001854, 0.003218, 0.004888));
  add(base, std::make_shared<BoxShape>(Vector3d(0.228, 0.181, 0.042)), {0, 0, 0});
  for (int leg = 0; leg < 6; ++leg) {
    BodyNode* parent = base;
    for (int link = 0; link < 3; ++link) {
      const std::string name = std::to_string(leg) + std::to_string(link);
      RevoluteJoint::Properties properties;
      properties.mName = "joint " + name;
      const auto [joint, body] = parent->createChildJointAndBodyNodePair<RevoluteJoint>(
          properties, BodyNode::AspectProperties("body " + name));
      joint->setAxis(Vector3d(0, link == 0 ? 0 : link == 1 ? 1 : -1, link == 0 ? 1 : 0));
      Eigen::Isometry3d origin = Eigen::Isometry3d::Identity();
      if (link == 0) {
        origin.translate(Vector3d(hips[leg][0], hips[leg][1], 0));
        origin.rotate(Eigen::AngleAxisd(hips[leg][2], Vector3d::UnitZ()));
      } else {
        origin.translate(Vector3d(link == 1 ? 0.056 : 0.081, 0, 0));
      }
      joint->setTransformFromParentBodyNode(origin);
      joint->setPositionLowerLimit(0, -1.5708);
      joint->setPositionUpperLimit(0, 1.5708);
      joint->setLimitEnforcement(true);
      joint->setForceLowerLimit(0, -4);
      joint->setForceUpperLimit(0, 4);
      joint->setVelocityLowerLimit(0, -5);
      joint->setVelocityUpperLimit(0, 5);
      joint->setActuatorType(actuators == Actuators::servo ? Joint::SERVO : Joint::VELOCITY);
      if (link == 0) {
        const Vector3d centre = leg == 2 ? Vector3d(0, 0.028, 0) : Vector3d(0.028, 0, 0);
        body->setInertia(inertia(0.0199, centre, 6.158e-6, 5.830e-6, 5.830e-6));
        add(body, std::make_shared<BoxShape>(Vector3d(0.061, 0.041, 0.041)), {0.028, 0, 0});
      } else if (link == 1) {
        body->setInertia(inertia(0.1872, {0.0405, 0, 0}, 3.154e-5, 1.896e-4, 1.972e-4));
        add(body, std::make_shared<BoxShape>(Vector3d(0.0835, 0.0424, 0.0285)), {0.0405, 0, 0});
      } else {
        body->setInertia(
            inertia(0.0911, {0.039, 0, -0.03195}, 1.668e-4, 1.605e-4, 2.741e-5, 9.703e-6));
        add(body, std::make_shared<BoxShape>(Vector3d(0.026, 0.026, 0.158)), {0.039, 0, -0.03195});
        add(body, std::make_shared<SphereShape>(0.025), {0.039, 0, -0.11095});
      }
      parent = body;
    }
  }
  return skeleton;
}

/// The signal in three plain steps: square wave, circular convolution, circular shift.
std::vector<double> signal(double amplitude, double phase, double duty) {
  std::vector<double> square(100), smooth(100), shifted(100);
  const int high = static_cast<int>(std::trunc(100 * duty));
  for (int i = 0; i < 100; ++i) square[i] = i < high ? amplitude : -amplitude;
  for (int i = 0; i < 100; ++i) {
    double weights = 0;
    for (int d = -10; d <= 10; ++d) {
      const double weight = std::exp(-d * d / 18.0);
      smooth[i] += weight * square[(i + d + 100) % 100];
      weights += weight;
    }
    smooth[i] /= weights;
  }
  const int shift = static_cast<int>(std::floor(100 * phase));
  for (int i = 0; i < 100; ++i) shifted[i] = smooth[(i + shift) % 100];
  return shifted;
}

Vector from_eigen(const Vector3d& v) {
  return {v.x(), v.y(), v.z()};
}

Motion motion_of(const Skeleton& robot) {
  const BodyNode& base = *robot.getBodyNode(0);
  const Eigen::Isometry3d& pose = base.getWorldTransform();
  Motion motion;
  for (int axis = 0; axis < 3; ++axis) {
    motion.base.axes[static_cast<std::size_t>(axis)] = from_eigen(pose.linear().col(axis));
  }
  motion.base.position = from_eigen(pose.translation());
  motion.angular = from_eigen(base.getSpatialVelocity().head<3>());
  motion.linear = from_eigen(base.getSpatialVelocity().tail<3>());
  for (std::size_t joint = 0; joint < 18; ++joint) {
    motion.angles[joint] = robot.getPosition(6 + joint);
    motion.speeds[joint] = robot.getVelocity(6 + joint);
  }
  return motion;
}

/// DART's contacts, with the directions of friction that it makes of their normals.
Touches touches_of(const dart::collision::CollisionResult& result, const Skeleton& robot) {
  Touches touches;
  for (const dart::collision::Contact& contact : result.getContacts()) {
    if (contact.penetrationDepth < 0) continue;
    const auto* one =
        contact.collisionObject1->getShapeFrame()->asShapeNode()->getBodyNodePtr().get();
    const auto* other =
        contact.collisionObject2->getShapeFrame()->asShapeNode()->getBodyNodePtr().get();
    const BodyNode* body = one->getSkeleton().get() == &robot ? one : other;
    const std::size_t index = body->getIndexInSkeleton();
    const std::size_t leg = index == 0 ? kLegs : (index - 1) / 3;
    Touch touch{contact.point.x(), contact.point.y(), contact.penetrationDepth};
    const double tilt = std::hypot(contact.normal.x(), contact.normal.y());
    if (tilt > 1e-6) {
      touch.cos = contact.normal.y() / tilt;
      touch.sin = -contact.normal.x() / tilt;
    }
    touches.places[leg][touches.counts[leg]++] = {touch, index == 0 ? 0 : 1 + (index - 1) % 3};
  }
  return touches;
}

}  // namespace

Transform oracle_episode(std::span<const float> genes, Actuators actuators, double lift,
                         const std::function<void(const OracleStep&)>& observe) {
  std::vector<std::vector<double>> signals;
  for (std::size_t first = 0; first < 36; first += 3) {
    const auto gene = [&](std::size_t i) { return std::round(1000.0 * genes[first + i]) / 1000; };
    signals.push_back(signal(gene(0), gene(1), gene(2)));
  }
  const auto world = dart::simulation::World::create();
  world->setTimeStep(0.03);
  world->setGravity({0, 0, -9.81});
  world->getConstraintSolver()->setCollisionDetector(
      dart::collision::BulletCollisionDetector::create());
  const SkeletonPtr floor = Skeleton::create("floor");
  add(floor->createJointAndBodyNodePair<WeldJoint>().second,
      std::make_shared<BoxShape>(Vector3d(10, 10, 0.1)), {0, 0, -0.05});
  floor->setMobile(false);
  const SkeletonPtr hexapod = robot(actuators);
  hexapod->setPosition(5, 0.15 + lift);
  world->addSkeleton(floor);
  world->addSkeleton(hexapod);
  for (int step = 0; step < 100; ++step) {
    OracleStep seen;
    seen.before = motion_of(*hexapod);
    const int i = static_cast<int>(std::floor(100 * world->getTime())) % 100;
    for (std::size_t joint = 0; joint < 18; ++joint) {
      const std::size_t leg = joint / 3;
      const double target =
          joint % 3 == 0 ? -M_PI / 8 * signals[2 * leg][i] : M_PI / 4 * signals[2 * leg + 1][i];
      seen.targets[joint] = target;
      DegreeOfFreedom* dof = hexapod->getDof(6 + joint);
      dof->setCommand(std::clamp((target - dof->getPosition()) / (M_PI * 0.015), -5.0, 5.0));
    }
    world->step();
    seen.after = motion_of(*hexapod);
    seen.touches = touches_of(world->getLastCollisionResult(), *hexapod);
    if (observe) observe(seen);
  }
  return motion_of(*hexapod).base;
}

}  // namespace aurora::hexapod
