// The hexapod on DART with Bullet's collision detection; the only file that sees either.
//
// Every episode has a world of its own: Bullet keeps contact points from step to step and its
// search tree remembers where things were, so a world that has run is not as new.
//
// Physics is DART's, but for one thing: how the matrix of its constraints comes about, which is
// where a naive driver spends most of its time. See LegwiseSolver.
#include <dart/collision/CollisionFilter.hpp>
#include <dart/collision/CollisionObject.hpp>
#include <dart/collision/bullet/BulletCollisionDetector.hpp>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/BoxedLcpSolver.hpp>
#include <dart/constraint/ConstrainedGroup.hpp>
#include <dart/constraint/ContactConstraint.hpp>
#include <dart/constraint/JointConstraint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "aurora/tasks/hexapod/simulation.hpp"

namespace aurora::hexapod {
namespace {

namespace dd = dart::dynamics;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Matrix63 = Eigen::Matrix<double, 6, 3>;

constexpr double kServoTime = std::numbers::pi * 0.015;  // s, from error to commanded velocity
constexpr std::size_t kBaseDofs = 6;

Eigen::Vector3d to_eigen(const Vector& v) {
  return {v.x, v.y, v.z};
}

Vector from_eigen(const Eigen::Vector3d& v) {
  return {v.x(), v.y(), v.z()};
}

// ---- The robot and its floor ----

void add_solid(dd::BodyNode* body, const dd::ShapePtr& shape, const Vector& middle) {
  dd::ShapeNode* node = body->createShapeNodeWith<dd::CollisionAspect, dd::DynamicsAspect>(shape);
  node->setRelativeTranslation(to_eigen(middle));
}

void set_mass(dd::BodyNode* body, const Mass& mass) {
  body->setInertia(dd::Inertia(mass.mass, mass.centre.x, mass.centre.y, mass.centre.z, mass.ixx,
                               mass.iyy, mass.izz, 0, mass.ixz, 0));
}

dd::RevoluteJoint::Properties joint_properties(std::size_t leg, std::size_t link) {
  dd::RevoluteJoint::Properties joint;
  joint.mName = "joint " + std::to_string(leg * kLegJoints + link);
  joint.mAxis = to_eigen(kLinks[link].axis);
  joint.mT_ParentBodyToJoint.translation() =
      to_eigen(link == 0 ? kHips[leg].position : kLinks[link].origin);
  if (link == 0) {
    joint.mT_ParentBodyToJoint.linear() =
        Eigen::AngleAxisd(kHips[leg].yaw, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  }
  return joint;
}

void set_actuator(dd::RevoluteJoint* joint, Actuators actuators) {
  joint->setActuatorType(actuators == Actuators::servo ? dd::Joint::SERVO : dd::Joint::VELOCITY);
  joint->setForceLowerLimit(0, -kMaxTorque);
  joint->setForceUpperLimit(0, kMaxTorque);
  joint->setVelocityLowerLimit(0, -kMaxSpeed);
  joint->setVelocityUpperLimit(0, kMaxSpeed);
  joint->setPositionLowerLimit(0, -kJointLimit);
  joint->setPositionUpperLimit(0, kJointLimit);
  // Velocity actuators go nowhere near the limits, whatever pushes them.
  joint->setLimitEnforcement(actuators == Actuators::servo);
}

dd::SkeletonPtr make_robot(Actuators actuators) {
  dd::SkeletonPtr robot = dd::Skeleton::create("hexapod");
  dd::BodyNode* base = robot->createJointAndBodyNodePair<dd::FreeJoint>().second;
  set_mass(base, kBaseMass);
  add_solid(base, std::make_shared<dd::BoxShape>(to_eigen(kBaseBox)), {});
  for (std::size_t leg = 0; leg < kLegs; ++leg) {
    dd::BodyNode* parent = base;
    for (std::size_t link = 0; link < kLegJoints; ++link) {
      const dd::BodyNode::AspectProperties name("body " +
                                                std::to_string(leg * kLegJoints + link + 1));
      const auto [joint, body] = robot->createJointAndBodyNodePair<dd::RevoluteJoint>(
          parent, joint_properties(leg, link), name);
      set_actuator(joint, actuators);
      set_mass(body, mass_of(leg, link));
      const Link& shape = kLinks[link];
      add_solid(body, std::make_shared<dd::BoxShape>(to_eigen(shape.box)), shape.middle);
      parent = body;
    }
    add_solid(parent, std::make_shared<dd::SphereShape>(kFootRadius), kFoot);
  }
  robot->setPosition(5, kStartHeight);
  robot->setGravity({0, 0, -kGravity});
  robot->setTimeStep(kTimeStep);
  return robot;
}

dd::SkeletonPtr make_floor() {
  constexpr double kThickness = 0.1;
  dd::SkeletonPtr floor = dd::Skeleton::create("floor");
  dd::BodyNode* body = floor->createJointAndBodyNodePair<dd::WeldJoint>().second;
  add_solid(body, std::make_shared<dd::BoxShape>(Eigen::Vector3d(10, 10, kThickness)),
            {0, 0, -kThickness / 2});
  floor->setMobile(false);
  return floor;
}

Bodies bodies_of(const dd::Skeleton& robot) {
  Bodies bodies;
  for (std::size_t b = 0; b < kBodies; ++b) {
    const Eigen::Isometry3d& pose = robot.getBodyNode(b)->getWorldTransform();
    for (int axis = 0; axis < 3; ++axis) {
      bodies[b].axes[static_cast<std::size_t>(axis)] = from_eigen(pose.linear().col(axis));
    }
    bodies[b].position = from_eigen(pose.translation());
  }
  return bodies;
}

// ---- Constraints ----

/// The robot's bodies collide with the floor and not with each other.
class FloorOnly : public dart::collision::CollisionFilter {
 public:
  explicit FloorOnly(const dd::Skeleton& floor) : floor_(floor.getBodyNode(0)->getShapeNode(0)) {}

  bool ignoresCollision(const dart::collision::CollisionObject* one,
                        const dart::collision::CollisionObject* other) const override {
    return one->getShapeFrame() != floor_ && other->getShapeFrame() != floor_;
  }

 private:
  const dd::ShapeFrame* floor_;
};

/// What a motion with angular and linear velocity (in this order) in the frame of `pose` is in the
/// frame in which `pose` is given.
Matrix6 twist_transform(const Eigen::Isometry3d& pose) {
  const Eigen::Matrix3d rotation = pose.linear();
  const Eigen::Vector3d p = pose.translation();
  Matrix6 transform;
  transform << rotation, Eigen::Matrix3d::Zero(), dart::math::makeSkewSymmetric(p) * rotation,
      rotation;
  return transform;
}

/// Solves DART's constraints as its own solver does, but for how A = J M^-1 J^T is made. DART sends
/// a unit impulse through the whole robot for each row of J. Here the mass matrix M is written down
/// once a step, all in the base's frame: legs meet only in the base, so with the legs' 3 x 3 blocks
/// D, their coupling C to the base and the base's block B,
///   a^T M^-1 b = u_a^T S^-1 u_b + [same leg] t_a^T D^-1 t_b,   u = w - C D^-1 t,
///   S = B - sum over legs of C D^-1 C^T,
/// where a row of J is a wrench w on the base and t on its leg's joints. With velocity actuators
/// impulses do not move the joints: t = 0, S = B.
class LegwiseSolver : public dart::constraint::BoxedLcpConstraintSolver {
 public:
  LegwiseSolver(dd::SkeletonPtr robot, Actuators actuators)
      : robot_(std::move(robot)), servo_(actuators == Actuators::servo) {
    for (std::size_t b = 0; b < kBodies; ++b) {
      inertias_[b] = robot_->getBodyNode(b)->getInertia().getSpatialTensor();
    }
  }

 protected:
  void solveConstrainedGroup(dart::constraint::ConstrainedGroup& group) override {
    const std::size_t size = group.getTotalDimension();
    if (size == 0) return;
    update_inertias();
    collect_rows(group);
    fill_matrix();
    solve_rows();
    std::size_t row = 0;
    for (std::size_t i = 0; i < group.getNumConstraints(); ++i) {
      const auto constraint = group.getConstraint(i);
      constraint->applyImpulse(&mX[static_cast<Eigen::Index>(row)]);
      constraint->excite();
      row += constraint->getDimension();
    }
  }

 private:
  static constexpr std::size_t kNoLeg = kLegs;

  struct LegState {
    std::array<Matrix6, kLegJoints> to_base;  // twist_transform of each body
    Matrix63 axes;                            // the joints' motions, in the base's frame
    Matrix63 coupling;                        // C
    Eigen::Matrix3d inverse;                  // D^-1
  };

  struct Row {
    std::size_t leg = kNoLeg;
    Vector6 wrench = Vector6::Zero();                    // w, then u, then L^-1 u with S = L L^T
    Eigen::Vector3d torques = Eigen::Vector3d::Zero();   // t
    Eigen::Vector3d response = Eigen::Vector3d::Zero();  // D^-1 t
    double mixing = 0;                                   // constraint force mixing
  };

  void update_inertias() {
    Matrix6 total = inertias_[0];
    Matrix6 saved = Matrix6::Zero();
    for (std::size_t leg = 0; leg < kLegs; ++leg) {
      LegState& state = legs_[leg];
      Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
      std::array<Matrix6, kLegJoints> inertia;
      for (std::size_t link = 0; link < kLegJoints; ++link) {
        const std::size_t body = 1 + leg * kLegJoints + link;
        pose = pose * robot_->getBodyNode(body)->getRelativeTransform();
        state.to_base[link] = twist_transform(pose);
        const Matrix6 from_base = twist_transform(pose.inverse());
        inertia[link].noalias() = from_base.transpose() * (inertias_[body] * from_base);
        state.axes.col(static_cast<Eigen::Index>(link)).noalias() =
            state.to_base[link].leftCols<3>() * to_eigen(kLinks[link].axis);
      }
      // A joint carries its body and those further out.
      inertia[1] += inertia[2];
      inertia[0] += inertia[1];
      total += inertia[0];
      if (!servo_) continue;
      for (std::size_t link = 0; link < kLegJoints; ++link) {
        const auto column = static_cast<Eigen::Index>(link);
        state.coupling.col(column).noalias() = inertia[link] * state.axes.col(column);
      }
      Eigen::Matrix3d block = state.axes.transpose() * state.coupling;
      block.triangularView<Eigen::StrictlyLower>() = block.transpose();
      state.inverse = block.inverse();
      saved.noalias() += state.coupling * state.inverse * state.coupling.transpose();
    }
    base_.compute(total - saved);
  }

  void collect_rows(dart::constraint::ConstrainedGroup& group) {
    const auto size = static_cast<Eigen::Index>(group.getTotalDimension());
    const Eigen::Index padded = (size + 3) / 4 * 4;  // what the solver wants of its rows
    mA.setZero(size, padded);
    mX.resize(size);
    mB.resize(size);
    mW.setZero(size);
    mLo.resize(size);
    mHi.resize(size);
    mFIndex.setConstant(size, -1);
    rows_.clear();
    std::size_t joint = 0;
    for (std::size_t i = 0; i < group.getNumConstraints(); ++i) {
      const auto constraint = group.getConstraint(i);
      const auto first = static_cast<Eigen::Index>(rows_.size());
      dart::constraint::ConstraintInfo info{&mX[first], &mLo[first],     &mHi[first],  &mB[first],
                                            &mW[first], &mFIndex[first], 1 / mTimeStep};
      constraint->getInformation(&info);
      const std::size_t rows = constraint->getDimension();
      for (std::size_t r = 0; r < rows; ++r) {
        int& friction = mFIndex[first + static_cast<Eigen::Index>(r)];
        if (friction >= 0) friction += static_cast<int>(first);
      }
      if (constraint->getType() == dart::constraint::JointConstraint::getStaticType()) {
        while (mJointConstraints[joint] != constraint) ++joint;  // there is one a joint, in order
        add_joint_row(joint);
      } else {
        for (std::size_t r = 0; r < rows; ++r) add_contact_row(*constraint, r);
      }
    }
  }

  void add_joint_row(std::size_t joint) {
    Row& row = rows_.emplace_back();
    row.leg = joint / kLegJoints;
    row.torques[static_cast<Eigen::Index>(joint % kLegJoints)] = 1;
    row.mixing = dart::constraint::JointConstraint::getConstraintForceMixing();
    finish(row);
  }

  /// A contact says what it does to a body when it is asked to apply a unit impulse.
  void add_contact_row(dart::constraint::ConstraintBase& contact, std::size_t index) {
    std::array<double, 3> unit{};
    unit[index] = 1;
    contact.applyImpulse(unit.data());
    Row& row = rows_.emplace_back();
    row.mixing = dart::constraint::ContactConstraint::getConstraintForceMixing();
    for (std::size_t b = 0; b < kBodies; ++b) {
      dd::BodyNode* body = robot_->getBodyNode(b);
      const Vector6 wrench = body->getConstraintImpulse();
      if (wrench.isZero(0)) continue;
      body->setConstraintImpulse(Vector6::Zero());
      place_wrench(row, b, wrench);
      break;
    }
    finish(row);
  }

  /// A wrench in the frame of a body, as one on the base and the joints in between.
  void place_wrench(Row& row, std::size_t body, const Vector6& wrench) {
    row.wrench = wrench;
    if (body == 0) return;
    row.leg = (body - 1) / kLegJoints;
    const std::size_t link = (body - 1) % kLegJoints;
    const LegState& leg = legs_[row.leg];
    // The inverse transpose of the twists' transform.
    const auto rotation = leg.to_base[link].topLeftCorner<3, 3>();
    const Eigen::Matrix3d skewed = leg.to_base[link].bottomLeftCorner<3, 3>();
    row.wrench.head<3>() = rotation * wrench.head<3>() + skewed * wrench.tail<3>();
    row.wrench.tail<3>() = rotation * wrench.tail<3>();
    for (Eigen::Index j = 0; j <= static_cast<Eigen::Index>(link); ++j) {
      row.torques[j] = leg.axes.col(j).dot(row.wrench);
    }
  }

  void finish(Row& row) {
    if (servo_ && row.leg != kNoLeg) {
      const LegState& leg = legs_[row.leg];
      row.response.noalias() = leg.inverse * row.torques;
      row.wrench.noalias() -= leg.coupling * row.response;
    } else {
      row.torques.setZero();
    }
    base_.matrixL().solveInPlace(row.wrench);
  }

  void fill_matrix() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto a = static_cast<Eigen::Index>(i);
      for (std::size_t j = 0; j <= i; ++j) {
        const auto b = static_cast<Eigen::Index>(j);
        double value = rows_[i].wrench.dot(rows_[j].wrench);
        if (rows_[i].leg == rows_[j].leg) value += rows_[i].torques.dot(rows_[j].response);
        mA(a, b) = value;
        mA(b, a) = value;
      }
      mA(a, a) *= 1 + rows_[i].mixing;
    }
  }

  /// Dantzig's algorithm, which may fail and destroys its input; then Gauss-Seidel.
  void solve_rows() {
    mABackup = mA;
    mXBackup = mX;
    mBBackup = mB;
    mLoBackup = mLo;
    mHiBackup = mHi;
    mFIndexBackup = mFIndex;
    const int size = static_cast<int>(rows_.size());
    const bool solved = mBoxedLcpSolver->solve(size, mA.data(), mX.data(), mB.data(), 0, mLo.data(),
                                               mHi.data(), mFIndex.data(), true);
    if (solved && mX.allFinite()) return;
    mX = mXBackup;
    mSecondaryBoxedLcpSolver->solve(size, mABackup.data(), mX.data(), mBBackup.data(), 0,
                                    mLoBackup.data(), mHiBackup.data(), mFIndexBackup.data(),
                                    false);
    if (!mX.allFinite()) mX.setZero();
  }

  dd::SkeletonPtr robot_;
  bool servo_;
  std::array<Matrix6, kBodies> inertias_;
  std::array<LegState, kLegs> legs_;
  Eigen::LLT<Matrix6> base_;  // of S
  std::vector<Row> rows_;
};

// ---- Episodes ----

class DartSimulator : public Simulator {
 public:
  explicit DartSimulator(Actuators actuators) : actuators_(actuators) {}

  void run(std::span<const Controller> controllers, std::span<Bodies> ends) const override {
    for (std::size_t n = 0; n < controllers.size(); ++n) {
      ends[n] = run(controllers[n], [](const Bodies&) {});
    }
  }

  std::vector<Bodies> trace(const Controller& controller) const override {
    std::vector<Bodies> moments;
    run(controller, [&](const Bodies& bodies) { moments.push_back(bodies); });
    return moments;
  }

 private:
  template <class Observe>
  Bodies run(const Controller& controller, const Observe& observe) const {
    const dd::SkeletonPtr robot = make_robot(actuators_);
    const dd::SkeletonPtr floor = make_floor();
    LegwiseSolver solver(robot, actuators_);
    solver.setCollisionDetector(dart::collision::BulletCollisionDetector::create());
    solver.getCollisionOption().collisionFilter = std::make_shared<FloorOnly>(*floor);
    solver.setTimeStep(kTimeStep);
    solver.addSkeleton(floor);
    solver.addSkeleton(robot);

    double time = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      command(*robot, controller.targets(time));
      advance(*robot, solver);
      time += kTimeStep;
      // The engine must not be asked to go on with what is no number.
      if (!robot->getPositions().allFinite() || !robot->getVelocities().allFinite()) {
        return nowhere();
      }
      observe(bodies_of(*robot));
    }
    return bodies_of(*robot);
  }

  static void command(dd::Skeleton& robot, const std::array<double, kJoints>& targets) {
    for (std::size_t j = 0; j < kJoints; ++j) {
      const double error = targets[j] - robot.getPosition(kBaseDofs + j);
      robot.setCommand(kBaseDofs + j, std::clamp(error / kServoTime, -kMaxSpeed, kMaxSpeed));
    }
  }

  /// A step of DART's world that has nothing in it but the robot (and a floor, which stays).
  static void advance(dd::Skeleton& robot, LegwiseSolver& solver) {
    robot.computeForwardDynamics();
    robot.integrateVelocities(kTimeStep);
    solver.solve();
    if (robot.isImpulseApplied()) {
      robot.computeImpulseForwardDynamics();
      robot.setImpulseApplied(false);
    }
    robot.integratePositions(kTimeStep);
    robot.clearInternalForces();
    robot.clearExternalForces();
    robot.resetCommands();
  }

  static Bodies nowhere() {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr Vector kNowhere = {kNaN, kNaN, kNaN};
    Bodies bodies;
    bodies.fill({{kNowhere, kNowhere, kNowhere}, kNowhere});
    return bodies;
  }

  Actuators actuators_;
};

}  // namespace
}  // namespace aurora::hexapod

extern "C" aurora::hexapod::Simulator* aurora_make_dart_simulator(
    aurora::hexapod::Actuators actuators) {
  return new aurora::hexapod::DartSimulator(actuators);
}
