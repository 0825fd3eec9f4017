// What an episode of the hexapod is judged by: ground truth and fitness of the base's final pose.
#pragma once

#include <array>

#include "aurora/tasks/hexapod/geometry.hpp"

namespace aurora::hexapod {

/// x, y, z, pitch, roll, yaw. With f, l, u the forward, left and up axes of the base, r = f
/// projected on the ground and normalised, th = z x r:
///   pitch = acos(f.z), negated unless u.z > 0 (a flat robot has pi/2),
///   roll = acos(th.l), negated unless th.u < 0,
///   yaw = acos(r.x) with the sign of r.y.
std::array<double, 6> ground_truth(const Transform& base);

/// -|yaw - 2 atan2(Y, X)|, both wrapped: 0 for a robot that looks along the circular arc that took
/// it from the start to where it is; in [-pi, 0]. yaw is the z angle of the XYZ Euler
/// decomposition, rounded to 0.01; X and Y are those of a point 0.15 above the base's centre.
double fitness(const Transform& base);

}  // namespace aurora::hexapod
